# SPDX-License-Identifier: Apache-2.0
# gabion-test: timeout=200 needs=ulfm
# Another user of the machine cannot insert state into a run through /dev/shm: neither by making the folder of the
# next run in advance (its name contained the launcher's process and the time), nor with a known name, nor by a link
# in its place. The id stamped on all files there is not visible to others.
set -u
: "${GABION_BUILD:?}" "${GABION_LAUNCH:?}"
[ "$(id -u)" = 0 ] || exit 77 # somebody else can only be played by root
command -v setpriv >/dev/null || exit 77
gabion=$GABION_BUILD/bin/gabion
work=$(mktemp -d)
mine=/dev/shm/gabion-test-other.$$
trap 'rm -rf "$work" "$mine"* ${planted:-}' EXIT
chmod 755 "$work"
cd "$work" || exit 1
failures=0
complain() { printf '%s\n' "$*"; failures=$((failures + 1)); }
somebody() { setpriv --reuid 65534 --regid 65534 --clear-groups "$@"; }

case_of() { # case_of VELOCITY
  cat <<YAML
run: {steps: 1500}
domain: {cells: [32, 16], block: [8, 8]}
fluid: {omega: 1.5}
boundaries:
  y_min: {type: wall}
  y_max: {type: velocity, velocity: [$1, 0]}
resilience: {memory: {every: 5}}
YAML
}
case_of 0.05 >case.yaml
case_of -0.01 >theirs.yaml
checksum() { sed -n 's/.*"checksum": "\([0-9a-f]*\)".*/\1/p' "$1/summary.json" 2>/dev/null; }
wait_for() { # wait_for TEXT FILE
  for _ in $(seq 600); do grep -qs -e "$1" "$2" && return; sleep 0.05; done
  complain "no \`$1' in $2 within half a minute"
}
ranks_of() { grep -lszx "OTHER_USER_TEST=$$.$1" /proc/[0-9]*/environ | cut -d/ -f3; }
variable() { tr '\0' '\n' <"/proc/$1/environ" | sed -n "s/^$2=//p"; }
"$GABION_LAUNCH" -n 2 -t 1 -- "$gabion" run case.yaml --out whole >whole.txt 2>&1 || complain "the undisturbed run failed: $(cat whole.txt)"

# Images of another run, to be planted; during the run, the part visible to others is checked.
OTHER_USER_TEST=$$.loot "$GABION_LAUNCH" -n 2 -t 1 --relaunch 1 -- "$gabion" run theirs.yaml --out loot --set run.steps=1000000 >loot.txt 2>&1 &
launcher=$!
wait_for '"event": "checkpoint", "of_step": 1.....*' loot/events.jsonl
rank=$(pgrep -f "^$gabion run theirs.yaml --out loot" | head -n 1)
folder=$(variable "$rank" GABION_NODE_MEMORY)
id=$(variable "$rank" GABION_RUN)
[ -d "$folder" ] || complain "no folder for snapshots: '$folder'"
[ "$(stat -c '%a %u' "$folder")" = '700 0' ] || complain "the folder for snapshots is open: $(stat -c '%a %u' "$folder")"
[[ $id =~ ^[0-9a-f]{32}$ ]] || complain "the run has no id: '$id'"
[[ $folder = *$launcher* ]] && complain "the name of the folder can be guessed: $folder"
if [ -n "$id" ]; then
  for each in /proc/[0-9]*/cmdline; do
    if { tr '\0' ' ' <"$each"; } 2>/dev/null | grep -q "$id"; then
      complain "the id of the run is among the arguments of ${each%/*}"
    fi
  done
fi
somebody cat "/proc/$rank/environ" >/dev/null 2>&1 && complain 'others can read the environment of a process'
somebody ls "$folder" >/dev/null 2>&1 && complain 'others can look into the folder'
# Any launcher of this user, e.g. of another test, removes the remains of a killed one, but not files locked by a
# process.
exec 8<"$folder"
flock --shared 8
kill -KILL "$launcher" $(ranks_of loot) 2>/dev/null
wait "$launcher" 2>/dev/null
for _ in $(seq 200); do [ -z "$(ranks_of loot)" ] && break; sleep 0.05; done
cp -r "$folder" loot.images
rm -rf "$folder"
exec 8<&-
[ -n "$(find loot.images -name '*.mem')" ] || complain 'nothing to plant'
chmod -R a+rX loot.images

# plant FOLDER: as somebody else
plant() {
  somebody bash -c "umask 0; mkdir '$1' && cp -r loot.images/* '$1' && chmod -R 777 '$1'" || complain "cannot plant in $1"
}
# The folder that the next launcher would choose by its process and the time, made before it.
bash -c 'echo $$ >next.pid; until [ -e go ]; do sleep 0.05; done
  exec "$@"' launch "$GABION_LAUNCH" -n 2 -t 1 --relaunch 1 -- "$gabion" run case.yaml --out guessed >guessed.txt 2>&1 &
wait_for . next.pid
now=$(date +%s)
for ((at = now; at < now + 20; at++)); do
  planted="${planted:-} /dev/shm/gabion-node.$(cat next.pid).$at"
  plant "/dev/shm/gabion-node.$(cat next.pid).$at"
done
touch go
wait $! || complain "the run failed: $(cat guessed.txt)"
[ "$(checksum guessed)" = "$(checksum whole)" ] || complain "planted images were gone on from: $(checksum guessed), expected $(checksum whole)"

# refused NAME TEXT: the folder $mine.NAME, with a known name and id, is not used
refused() {
  "$GABION_LAUNCH" -n 2 -t 1 -- env GABION_NODE_MEMORY="$mine.$1" GABION_RUN="${id:-none}" "$gabion" run case.yaml --out "$1" >"$1.txt" 2>&1
  local code=$?
  [ $code = 1 ] || complain "$1: exit code $code: $(cat "$1.txt")"
  grep -q "$2" "$1.txt" || complain "$1: it did not say '$2': $(cat "$1.txt")"
  [ -z "$(checksum "$1")" ] || complain "$1: it went on from what was planted: $(checksum "$1"), expected none"
}
plant "$mine.known"
refused known "belongs to user 65534, not to user 0"
somebody ln -s "$work/loot.images" "$mine.link"
refused link 'is a link'
mkdir -m 755 "$mine.open"
refused open 'is open to others (mode 755)'
exit $((failures > 0))

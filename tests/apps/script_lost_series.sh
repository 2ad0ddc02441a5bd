# SPDX-License-Identifier: Apache-2.0
# gabion-test: timeout=150 labels=quick
# A table is removed, renamed, cut or replaced during the run: it is completely restored if its rows can be recovered;
# otherwise the run names the missing rows. There is never a hole.
. "$GABION_SOURCE/tests/apps/common.sh"
[ -n "${GABION_BAD_DISK:-}" ] || exit 77

cat >flow.yaml <<'YAML'
run: {steps: 60, processes: 1}
domain: {cells: [32, 16], block: [16, 16]}
fluid: {omega: 1.5, velocity: 0.05, length: 6}
boundaries:
  x_min: {type: velocity, velocity: [0.05, 0]}
  x_max: {type: outflow}
bodies: [{name: disc, type: sphere, centre: [10, 8], radius: 3}]
resilience: {memory: {every: 10}}
output:
  forces: {every: 2}
  points: [{name: a, at: [5, 5]}]
  probes: {every: 2, quantities: [velocity]}
YAML
lose() { # lose FILE HOW: loses out/FILE during the run
  rm -rf out
  BAD_DISK=$work/out BAD_DISK_LOSE=$1 BAD_DISK_HOW=$2 LD_PRELOAD=$GABION_BAD_DISK timeout 60 "$gabion" run flow.yaml --out out \
    >said.txt 2>&1 || complain "$1, $2: exit code $?, it said: $(cat said.txt)"
  [ "$(checksum out)" = "$(checksum whole)" ] || complain "$1, $2: another checksum"
  [ -s "out/$1" ] || complain "$1, $2: there is none: $(ls out)"
  [ "$(tr -d '\000' <"out/$1" | wc -c)" = "$(wc -c <"out/$1")" ] || complain "$1, $2: NUL bytes: $(od -c "out/$1" | head -3)"
}
run 0 1 flow.yaml
mv out whole
for file in forces.csv probes.csv; do
  [ "$(wc -l <whole/$file)" -ge 31 ] || complain "$file: $(cat whole/$file)"
  for how in remove rename replace; do
    lose $file $how
    said "$file was removed, renamed or replaced while the run writes it"
    cmp -s whole/$file out/$file || complain "$file, $how: it is another one"
  done
  grep -q 'of somebody else' "out/${file%.csv}_1.csv" || complain "$file, replace: what somebody put there is gone: $(ls out)"
done
for how in cut overwrite; do
  lose forces.csv $how
  said 'forces.csv was cut, changed or removed: its rows'
  said 'are missing'
  # The head, then rows of the undisturbed run, each whole, the last one among them.
  [ "$(head -n 1 out/forces.csv)" = "$(head -n 1 whole/forces.csv)" ] || complain "$how: another head: $(head -n 1 out/forces.csv)"
  [ "$(tail -n 1 out/forces.csv)" = "$(tail -n 1 whole/forces.csv)" ] || complain "$how: another end: $(tail -n 1 out/forces.csv)"
  if grep -vxFf whole/forces.csv out/forces.csv; then complain "$how: rows that are none"; fi
  [ "$(wc -l <out/forces.csv)" -lt "$(wc -l <whole/forces.csv)" ] || complain "$how: nothing was lost"
done
finish

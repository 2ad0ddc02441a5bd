# SPDX-License-Identifier: Apache-2.0
# gabion-test: timeout=300 needs=ulfm
# State of a run in node memory does not stay there after its launcher is killed or gives up: the next launcher of the
# same user removes it on every node, and the same command resumes from it, if it is of this case, with the
# undisturbed result. State of a living run is kept, also while none of its processes lives. Each emulated node, and
# the machine of the launcher, has a separate host name and /dev/shm.
. "$GABION_SOURCE/tests/launch/nodes/nodes.sh"
unshare --mount --uts bash -c 'mount -t tmpfs none /dev/shm' 2>/dev/null || exit 77
holders=
clean_up() {
  # shellcheck disable=SC2046 # words on purpose
  kill -KILL $holders $(processes_of) 2>/dev/null
  wait 2>/dev/null
  rm -rf "$work"
}
trap clean_up EXIT

for node in front nodeA nodeB; do
  unshare --mount --uts bash -c "mount -t tmpfs none /dev/shm && hostname $node && touch $work/up.$node && exec sleep 1000" &
  holders+=" $!"
  echo $! >"holder.$node"
  for _ in $(seq 200); do [ -e "up.$node" ] && break; sleep 0.05; done
done
on() { # on NODE COMMAND...
  local node=$1; shift
  nsenter -t "$(cat "$work/holder.$node")" -m -u -- env GABION_NODE="$node" bash -c "cd $work; $*"
}
cat >agent.sh <<SH
#!/bin/bash
# agent.sh HOST COMMAND...; queries of nodes wait while the file \`slow' exists, but not until the node is given up
host=\$1; shift
if [ "\$*" = true ]; then while [ -e "$work/slow" ] && ((SECONDS < 5)); do touch "$work/asked"; sleep 0.05; done; fi
exec nsenter -t "\$(cat "$work/holder.\$host")" -m -u -- env GABION_NODE=\$host NODES_TEST=$$ bash -c "cd $work; \$*"
SH
chmod +x agent.sh
box 400 '[32, 16]' >case.yaml
box 400 '[32, 16]' 0.02 >changed.yaml
# A run completes within a second: before a busy machine has checked or killed it. So it waits in the middle, at the
# 300th step that it computes; a resumed run has fewer steps.
hold='rank=1,step=0,phase=exchange,visit=300,stopped=100'
left() { # files on the nodes
  local node
  for node in front nodeA nodeB; do on $node 'ls -d /dev/shm/gabion-node*' 2>/dev/null | sed "s/^/$node: /"; done
}
is_clean() { [ -z "$(left)" ] || complain "$1: left behind: $(left)"; }
# launch CASE OUT [options of the launcher]: in the background, on both nodes, with all that is needed to find it; $injections are its own
launch() {
  local out=$2 program=("$gabion" run "$1" --out "$2") injection
  for injection in ${injections:-}; do program+=(--inject "$injection"); done
  shift 2
  exec_on front "$GABION_LAUNCH" -n 2 -t 1 --relaunch 2 --hosts nodeA:1,nodeB:1 --agent "$work/agent.sh" "$@" \
    --mpi-args "$nodes_mpi" -- "${program[@]}" >>"$out.txt" 2>&1 &
  launcher=$!
}
exec_on() { # in the process that calls it, so that its number is the launcher's
  local node=$1; shift
  exec nsenter -t "$(cat "$work/holder.$node")" -m -u -- env NODES_TEST=$$ bash -c "cd $work; exec \"\$@\"" run "$@"
}
under_way() { wait_for '"event": "fault injection".*"stopped"' "$1/events.jsonl" "$1.txt"; } # and waits
wake() { # wakes waiting processes as soon as there is one
  local pid
  while kill -0 $launcher 2>/dev/null; do
    for pid in $(processes_of); do
      if { tr '\0' ' ' <"/proc/$pid/cmdline"; } 2>/dev/null | grep -qx 'sleep 100 '; then kill "$pid"; return; fi
    done
    sleep 0.05
  done
}
went_on_at_once() { # went_on_at_once OUT: the lock of the dead run was not watched for signs of life
  ! grep -q 'waiting for a sign of life' "$1.txt" || complain "$1: it waited for a dead run: $(tr -d '\0' <"$1.txt")"
}
ended() { # ended OUT: in order, with the result of the undisturbed run
  wait $launcher; code=$?
  [ $code = 0 ] || complain "$1: exit code $code: $(tr -d '\0' <"$1.txt")"
  [ "$(checksum "$1")" = "$(checksum "${2:-whole}")" ] || complain "$1: $(checksum "$1"), expected $(checksum "${2:-whole}")"
}
killed() { # killed [everything]: the launcher alone, whose job then ends by itself, or with all processes of the run
  if [ $# = 0 ]; then kill -KILL $launcher; else kill_all || complain "processes stay: $(processes_of)"; fi
  wait $launcher 2>/dev/null
  for _ in $(seq 200); do [ -z "$(processes_of nodeA)$(processes_of nodeB)" ] && return; sleep 0.05; done
  complain "the launcher was killed, and processes stay: $(processes_of)"
}

launch case.yaml whole
wait $launcher || complain "the undisturbed run failed: $(tr -d '\0' <whole.txt)"
is_clean 'after the undisturbed run'
launch changed.yaml whole2
wait $launcher || complain "the other undisturbed run failed: $(tr -d '\0' <whole2.txt)"

injections=$hold launch case.yaml alone
under_way alone
for node in nodeA nodeB; do
  [ "$(on $node 'stat -c "%a %u" /dev/shm/gabion-node*')" = "700 $(id -u)" ] || complain "$node: folder $(left)"
done
id=$(for pid in $(processes_of nodeA); do tr '\0' '\n' <"/proc/$pid/environ" | sed -n 's/^GABION_RUN=//p'; done | head -n 1)
[[ $id =~ ^[0-9a-f]{32}$ ]] || complain "no id of the run: '$id'"
for pid in $(processes_of); do
  { tr '\0' ' ' <"/proc/$pid/cmdline"; } 2>/dev/null | grep -q "${id:-none}" && complain "the id is among the arguments of process $pid"
done

# The launcher is killed: its job stops, perhaps with a checkpoint on disk, or is ended; no files stay.
killed
injections=$hold launch case.yaml alone
ended alone
grep -q '"event": "continued"' alone/events.jsonl || complain "it did not go on: $(tr -d '\0' <alone.txt)"
went_on_at_once alone
is_clean 'after a launcher was killed'

# It is killed with all processes: the same command resumes from memory.
injections=$hold launch case.yaml again
under_way again
killed everything
[ "$(left | grep -c 'node[AB]:')" = 2 ] || complain "nothing is left to go on from: $(left)"
injections=$hold launch case.yaml again
ended again
grep -q 'has left its state in node memory: resuming from there' again.txt || complain "it said nothing of it: $(tr -d '\0' <again.txt)"
grep -q '"event": "continued".*in the memory of the nodes' again/events.jsonl || complain "it did not go on from memory: $(tr -d '\0' <again.txt)"
went_on_at_once again
cmp -s whole/integrals.csv again/integrals.csv ||
  complain "going on: another series: $(diff whole/integrals.csv again/integrals.csv)"
is_clean 'after going on'

# The same command, but the file of the case has changed meanwhile: the state in memory is not of this case.
cp case.yaml edited.yaml
injections=$hold launch edited.yaml edited
under_way edited
killed everything
cp changed.yaml edited.yaml
injections=$hold launch edited.yaml edited
wake # it starts from the beginning
ended edited whole2
went_on_at_once edited
grep -q 'not of this run and case' edited.txt || complain "it did not say that it had another case: $(tr -d '\0' <edited.txt)"
is_clean 'after another case'

# Another command removes state that no run resumes, and keeps state in use: by processes, or by a launcher that is
# determining the remaining nodes.
injections=$hold launch case.yaml gone
under_way gone
killed everything
[ "$(left | grep -c 'node[AB]:')" = 2 ] || complain "nothing is left to remove: $(left); it said: $(tr -d '\0' <gone.txt)"
injections=$hold,attempt=0 launch case.yaml living
living=$launcher
under_way living
launch case.yaml short --start-retries 0
ended short
[ "$(left | grep -c 'node[AB]:')" = 2 ] || complain "not the folders of the living run alone: $(left)"
touch slow
lose $living nodeA nodeB
for _ in $(seq 1200); do [ -e asked ] && break; sleep 0.05; done
[ -e asked ] || complain "nobody asked whether the nodes are there: $(tr -d '\0' <living.txt)"
launch case.yaml second
wait_for '"event": "start"' second/events.jsonl second.txt # after the removal by its launcher
rm -f slow
ended second
launcher=$living
ended living
grep -q '"event": "continued".*in the memory of the nodes' living/events.jsonl || complain "a living run lost what it had: $(tr -d '\0' <living.txt)"
is_clean 'after two runs at a time'

# The launcher gives up.
injections="$hold,attempt=0 rank=0,step=0,phase=exchange,visit=20,stopped=99,attempt=1" launch case.yaml given --relaunch 1
under_way given
lose $launcher nodeA nodeB
wait_for '"stopped": 99' given/events.jsonl given.txt
grep -q '"event": "continued"' given/events.jsonl || complain "it did not go on: $(tr -d '\0' <given.txt)"
lose $launcher nodeA nodeB
wait $launcher && complain "it did not give up: $(tr -d '\0' <given.txt)"
is_clean "after giving up ($(tail -n 1 given.txt))"
finish

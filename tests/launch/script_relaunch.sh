# SPDX-License-Identifier: Apache-2.0
# gabion-test: timeout=500 needs=ulfm
# The daemon of a node dies with all its processes, and with it the whole job: the launcher restarts it on the
# remaining nodes, and it resumes from their memory, with the undisturbed result. Nodes are emulated: processes with
# separate host names.
. "$GABION_SOURCE/tests/launch/nodes/nodes.sh"
box 400 '[32, 16]' >case.yaml
# A run is over within a second: before a busy machine has killed anybody, if it does not wait. One of its ranks does.
hold='rank=0,step=300,phase=exchange,stopped=20,attempt=0'

launch() { # launch OUT [options of the launcher]: in the background; its first job waits, but for that of `whole'
  local out=$1; shift
  "$GABION_LAUNCH" -n 3 -t 1 --hosts nodeA:1,nodeB:1,nodeC:1 --agent "$work/agent.sh" \
    --mpi-args "$nodes_mpi" "$@" -- "$gabion" run case.yaml --out "$out" $([ "$out" = whole ] || echo "--inject $hold") >"$out.txt" 2>&1 &
  launcher=$!
}
processes_die() { # processes_die NODE...: all at once: stopped first, so that none sees another one die and acts on it
  local node victims=
  for node; do victims+=" $(processes_of "$node")"; done
  # shellcheck disable=SC2086
  kill -STOP $victims 2>/dev/null
  # shellcheck disable=SC2086
  kill -KILL $victims 2>/dev/null
}
memory() { grep -ls "^pid $launcher " /dev/shm/gabion-node-*/run | sed 's|/run$||'; } # folders of the launcher
nodes_die() { # with their processes (and those of $with), their answer, their memory
  local node folder
  for node; do touch "down.$node"; done
  folder=$(memory)
  [ -n "$folder" ] || complain "the launcher has no folder in /dev/shm"
  processes_die "$@" ${with:-}
  for node; do rm -rf "${folder:?}/$node"; done
}

launch whole
wait $launcher || complain "the undisturbed run failed: $(cat whole.txt)"

# GABION_ROUNDS=50: number of deaths, each at another step and on another node.
for round in $(seq "${GABION_ROUNDS:-1}"); do
  node=node$(echo B C A | cut -d' ' -f$((round % 3 + 1)))
  rm -rf out down.*
  launch out --relaunch 2
  wait_for "\"event\": \"checkpoint\", \"of_step\": $((5 + round * 7 % 250 / 5 * 5))," out/events.jsonl
  nodes_die "$node"
  wait $launcher; code=$?
  [ $code = 0 ] || complain "$node died: exit code $code; it said: $(tr -d '\0' <out.txt)"
  grep -q "node $node does not answer" out.txt || complain "$node died, unnoticed: $(tr -d '\0' <out.txt)"
  grep -q 'in the memory of the nodes' out/events.jsonl || complain "it did not go on from memory: $(tr -d '\0' <out.txt)"
  [ "$(checksum out)" = "$(checksum whole)" ] || complain "$node died: $(checksum out), expected $(checksum whole)"
  cmp -s whole/integrals.csv out/integrals.csv || complain "$node died: another series"
  left=$(memory)
  [ -z "$left" ] || complain "left in memory: $(find "$left")"
done

# A process of the next job dies while that job resumes from memory: the following job succeeds. A fault injection of
# the first job, for a rank that the next one lacks, is over.
rm -f down.*
"$GABION_LAUNCH" -n 3 -t 1 --relaunch 3 --hosts nodeA:1,nodeB:1,nodeC:1 --agent "$work/agent.sh" \
  --mpi-args "$nodes_mpi" -- "$gabion" run case.yaml --out twice --inject $hold --inject rank=1,step=0,phase=recovery,visit=2,attempt=1 --inject rank=2,step=100000,attempt=0 >twice.txt 2>&1 &
launcher=$!
wait_for '"event": "checkpoint", "of_step": [1-9]' twice/events.jsonl
nodes_die nodeC
wait $launcher; code=$?
[ $code = 0 ] || complain "with a death while it went on: exit code $code; it said: $(tr -d '\0' <twice.txt)"
grep -q 'relaunch 2 of' twice.txt || complain "it was not relaunched twice: $(tr -d '\0' <twice.txt)"
[ "$(grep -c 'in the memory of the nodes' twice/events.jsonl)" -ge 1 ] ||
  complain "it did not go on from memory: $(tr -d '\0' <twice.txt)"
[ "$(checksum twice)" = "$(checksum whole)" ] || complain "another result after the second death"
[ $failures = 0 ] || finish # already reported: further tests would only fail later

# With spares on the remaining nodes it returns at full size: the number of active processes is kept, spares are given
# up. A spare runs a rank whose process had died before; that rank returns, too. With many spares, their number per
# node is counted again.
full_size() { # full_size NAME SPARES LEFT OPTIONS...: node B dies; nodes A and C have capacity for four processes and LEFT spares
  local name=$1 spares=$2 left=$3
  shift 3
  rm -f down.*
  "$GABION_LAUNCH" -n 4 --spares "$spares" -t 1 --relaunch 1 --agent "$work/agent.sh" --mpi-args "$nodes_mpi" "$@" \
    --out "$name" --inject $hold >"$name.txt" 2>&1 &
  launcher=$!
  wait_for '"event": "checkpoint", "of_step": 15[0-9]' "$name/events.jsonl"
  nodes_die nodeB
  wait $launcher; code=$?
  [ $code = 0 ] || complain "$name: exit code $code; it said: $(tr -d '\0' <"$name.txt")"
  grep -q 'relaunching on 4 processes' "$name.txt" || complain "$name: not relaunched on 4: $(tr -d '\0' <"$name.txt")"
  grep -q 'in the memory of the nodes' "$name/events.jsonl" || complain "$name: not from memory: $(tr -d '\0' <"$name.txt")"
  for member in '"ranks": 4,' '"living": 4,' "\"spares\": $left,"; do
    grep -q "$member" "$name/summary.json" || complain "$name: not $member in $(grep -E '"(ranks|living|spares)"' "$name/summary.json")"
  done
  [ "$(checksum "$name")" = "$(checksum whole)" ] || complain "$name: another result at full size"
  cmp -s whole/integrals.csv "$name/integrals.csv" || complain "$name: another series"
}
full_size all_spares 2 0 --hosts nodeA:2,nodeB:2,nodeC:2 -- "$gabion" run case.yaml
full_size one_spare 3 1 --hosts nodeA:2,nodeB:2,nodeC:3 -- "$gabion" run case.yaml
full_size called 2 0 --hosts nodeA:2,nodeB:2,nodeC:2 -- "$gabion" run case.yaml --inject rank=1,step=60,phase=exchange,attempt=0
grep -q 'rank 1 died, spare took over' called.txt || complain "called: no spare took over: $(tr -d '\0' <called.txt)"
full_size of_each 1/node 2 --hosts nodeA:3,nodeB:3,nodeC:3 -- "$gabion" run case.yaml

# Two of three nodes: more than copies tolerate. The process on the third dies with them: it might live long enough to
# report the loss (exit code 3), since mpirun ends it when it notices the missing daemons.
rm -f down.*
launch lost --relaunch 1
wait_for '"event": "checkpoint", "of_step": [1-9]' lost/events.jsonl
with=nodeC nodes_die nodeA nodeB
wait $launcher; code=$?
grep -q 'nothing to resume from' lost/log.txt || complain "what is gone was not noticed: $(tr -d '\0' <lost.txt)"
[ $code = 0 ] || complain "with nothing left it starts at the beginning: exit code $code; it said: $(tr -d '\0' <lost.txt)"
[ "$(checksum lost)" = "$(checksum whole)" ] || complain "another result from the beginning"
finish

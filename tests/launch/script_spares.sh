# SPDX-License-Identifier: Apache-2.0
# gabion-test: timeout=300 labels=quick needs=ulfm
# Spare processes of a run and of each node: their number by command line or case, the called ones, and the warning
# when copies share a node. Nodes are emulated: processes with separate host names.
. "$GABION_SOURCE/tests/launch/nodes/nodes.sh"
box 60 '[64, 32]' >case.yaml

run() { # run EXIT OPTIONS OF THE LAUNCHER -- ARGUMENTS OF THE RUN
  local expected=$1 options=() code=0
  shift
  while [ "$1" != -- ]; do options+=("$1"); shift; done
  shift
  rm -rf out
  "$GABION_LAUNCH" -t 1 --stall 60 "${options[@]}" -- "$gabion" run case.yaml --out out "$@" >said.txt 2>&1 || code=$?
  [ "$code" = "$expected" ] || complain "exit $code instead of $expected: ${options[*]} -- $*
it said: $(cat said.txt)"
}
on_nodes() { # on_nodes HOSTS ARGUMENTS...
  local hosts=$1
  shift
  run 0 --hosts "$hosts" --agent "$work/agent.sh" --mpi-args "$nodes_mpi" "$@"
  [ "$(checksum)" = "$undisturbed" ] || complain "another checksum on $hosts: $*"
}
member() { sed -n "s/.*\"$1\": \([0-9]*\),.*/\1/p" out/summary.json | head -n 1; }
has() { [ "$(member "$1")" = "$2" ] || complain "$1 is $(member "$1") instead of $2"; }
called() { # the processes that were called, in order
  local processes
  processes=$(sed -n 's/.*"event": "called".*"process": \([0-9]*\).*/\1/p' out/events.jsonl | tr '\n' ' ')
  [ "$processes" = "$1 " ] || complain "called were the processes $processes instead of $1"
}
said() { grep -q -e "$1" said.txt || complain "expected it to say \`$1', but it said: $(cat said.txt)"; }

run 0 -n 2 -- --set resilience.separate=none
undisturbed=$(checksum)
has spares 0
[ ! -e out/fencing ] || complain 'a run on one node takes fencing tokens'

# The number of the case is started; the command line has priority; with fewer the run is refused.
two='resilience.spares={count: 2}' each='resilience.spares={count: 1, per: node}'
run 0 -n 2 -- --set "$two" --inject rank=1,step=30,phase=compute
has spares 2; has spares_left 1; has living 2
[ "$(checksum)" = "$undisturbed" ] || complain "a spare that the case asked for: another checksum"
"$gabion" status out | grep -q 'on 2 processes, and 2 spare' || complain "gabion status does not say the spares"
run 2 -n 2 --spares 1 -- --set "$two"
said "this job has 1 spare processes instead of 2.*gabion-launch -n 2 --spares 2 --"
run 2 -n 2 --spares 2 -- --set "$each"
said "this job has 0/node spare processes instead of 1/node.*--spares 1/node --"
run 2 -n 2 -- --set "$two" --set 'resilience.strategies=[shrink]'
said "no strategy of resilience.strategies calls spare processes"
"$gabion" plan case.yaml -n 4 --per-node 2 --set "$each" | grep -q 'processes to be started: 6' || complain "plan does not count the spares"
"$gabion" check case.yaml --set "$each" 2>&1 | grep -q 'spare processes: 1 on each node' || complain "check does not say the spares"
for bad in -1 2/nodes x ''; do
  "$GABION_LAUNCH" --spares "$bad" -- true >said.txt 2>&1 && complain "--spares '$bad' is taken"
  said 'is neither a number of processes nor NUMBER/node'
done
"$GABION_LAUNCH" --mpi-args '--hostfile nodes.txt' --spares 1/node -- true >said.txt 2>&1 && complain "nodes that nobody knows are counted"
said 'on how many nodes is not known'

# The last process of each node waits, and the nearest is called: that of the same node, though another one is lower.
on_nodes nodeA:3,nodeB:3 -n 4 -- --set "$each" --inject rank=3,step=30,phase=compute --inject rank=2,step=45,phase=compute
has spares 2; has spares_left 0
called '5 4'
# Each recovery took a fencing token with the survivors, and the end a last one; on one node no process can be cut
# off.
[ "$(ls -v out/fencing | tr '\n' ' ')" = '1 2 3 4 ' ] || complain "fencing tokens: $(ls -v out/fencing)"
grep -qx 'gone 2 3 end' out/fencing/3 || complain "the last fencing token: $(cat out/fencing/3)"

# The copy of the one rank lies with the other, on another node, until the spare there takes the place of the first.
on_nodes nodeB:1,nodeA:2 -n 2 --spares 1 -- --inject rank=0,step=30,phase=compute
said 'redundancy: .* any one node as a whole'
said 'a spare sits in another node .* the loss of a node may be more than they cover'
grep -q '"event": "failure domains", "kind": "node", "separate": false' out/events.jsonl || complain "no event says that copies share a node"
# Where the other nodes have capacity for it copies are placed so that they stay apart.
on_nodes nodeA:2,nodeB:2,nodeC:2 -n 4 --spares 2 -- --inject rank=0,step=30,phase=compute --inject rank=1,step=45,phase=compute
grep -q 'the loss of a node may be more' said.txt && complain "copies share a node though there are two others"
finish

# SPDX-License-Identifier: Apache-2.0
# gabion-test: timeout=420 needs=ulfm
# Respawned processes are on the nodes of the dead ones; for a node that has lost all initial processes, on the node
# with the fewest ranks, also one after the other. Copies are placed accordingly. Nodes are emulated: processes with
# separate host names.
. "$GABION_SOURCE/tests/launch/nodes/nodes.sh"
set -o pipefail
box 60 '[64, 32]' | sed 's/{every: 5}}/{every: 5}, strategies: [respawn, shrink]}/' >case.yaml

member() { sed -n "s/.*\"$1\": \([0-9]*\),.*/\1/p" out/summary.json | head -n 1; }
said() { grep -q -e "$1" said.txt || complain "expected it to say \`$1', but it said: $(cat said.txt)"; }
on_nodes() { # on_nodes HOSTS PROCESSES ARGUMENTS...: all ranks are run at the end, with the undisturbed result
  local hosts=$1 processes=$2 code=0
  shift 2
  rm -rf out
  timeout 150 "$GABION_LAUNCH" -t 1 --stall 60 --retries 0 --hosts "$hosts" --agent "$work/agent.sh" \
    --mpi-args "$nodes_mpi --mca btl_tcp_if_include lo" -n "$processes" -- "$gabion" run case.yaml \
    --out out "$@" 2>&1 </dev/null | tr -d '\0' >said.txt || code=$?
  [ "$code" = 0 ] || complain "exit $code on $hosts: $*
it said: $(cat said.txt)"
  [ "$(checksum)" = "$undisturbed" ] || complain "another checksum on $hosts: $*"
  [ "$(member living)" = "$processes" ] || complain "$(member living) of $processes processes on $hosts: $*"
  if grep -q -e 'do not sit where they were to' -e 'positions of respawned processes are unknown' said.txt; then
    complain "replacement processes sit elsewhere: $(cat said.txt)"
  fi
}
respawned_on() { # respawned_on NODES: where replacement processes were started
  local nodes
  nodes=$(sed -n 's/^ *process \([0-9]*\) was respawned on \(.*\)/\2/p' said.txt | sort | paste -sd' ')
  [ "$nodes" = "$1" ] || complain "replacement processes sit on '$nodes' instead of '$1'"
}
apart()    { if grep -q 'the loss of a node may be more' said.txt; then complain "copies share a node: $(cat said.txt)"; fi; }

rm -rf out
"$GABION_LAUNCH" -t 1 --stall 60 -n 4 -- "$gabion" run case.yaml --out out --set 'resilience.strategies=[shrink]' >said.txt 2>&1
undisturbed=$(checksum)
[ -n "$undisturbed" ] || complain "no checksum"

# Next to the remaining processes of its node; two, each on its own.
on_nodes nodeA:2,nodeB:2,nodeC:2 6 --inject rank=3,step=30,phase=compute
respawned_on nodeB
apart
on_nodes nodeA:2,nodeB:2,nodeC:2 6 --inject rank=1+3,step=30,phase=exchange
respawned_on 'nodeA nodeB'
apart
# All of a node: one on each of the others, which have equally many ranks; and on the emptier one, also if the node of
# the starting process is fuller. Copies are on different nodes again.
on_nodes nodeA:2,nodeB:2,nodeC:2 6 --inject rank=2+3,step=30,phase=compute
respawned_on 'nodeA nodeC'
apart
on_nodes nodeA:3,nodeB:1,nodeC:2 6 --inject rank=3,step=30,phase=compute
respawned_on nodeC
apart
# One after the other: on two nodes, and the starting process, then its replacement.
on_nodes nodeA:2,nodeB:2,nodeC:2 6 --inject rank=3,step=30,phase=compute --inject rank=5,step=45,phase=exchange
respawned_on 'nodeB nodeC'
apart
on_nodes nodeA:2,nodeB:2,nodeC:2 6 --inject rank=0,step=30,phase=compute --inject rank=0,step=45,phase=compute,incarnation=1
respawned_on 'nodeA nodeA'
apart
# All of a node, then all that another one was started with: there a replacement process is left alone, and stays so.
on_nodes nodeA:2,nodeB:2,nodeC:2 6 --inject rank=2+3,step=30,phase=compute --inject rank=4+5,step=45,phase=compute
respawned_on 'nodeA nodeA nodeA nodeC'
# One node is left: then copies share it, which is said.
on_nodes nodeA:2,nodeB:2 4 --inject rank=2+3,step=30,phase=compute
respawned_on "nodeA nodeA"
grep -q 'a new process sits in another node .* the loss of a node may be more than they cover' said.txt ||
  complain "nobody says that copies share a node: $(cat said.txt)"
grep -q '"event": "failure domains", "kind": "node", "separate": false' out/events.jsonl || complain "no event says that copies share a node"
exit $((failures > 0))

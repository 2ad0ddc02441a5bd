# SPDX-License-Identifier: Apache-2.0
# Without --dead-after, the default on several nodes: a silent process is not dead, for any time, since its system
# acknowledges messages to it; a pulled cable counts as a death.
# gabion-test: timeout=240 labels=network waits=1 needs=ulfm
. "$GABION_SOURCE/tests/network/nodes.sh"
. "$GABION_SOURCE/tests/network/cut.sh"

nodes_up 3
silence="--cut-after 5"
three=nod1:1,nod2:1,nod3:1
make_reference $three 3
for step in 20 320; do # at 20, its connections are just made
  run_args="--inject rank=1,step=$step,phase=exchange,stopped=12" launch stopped$step $three 3
  judge stopped$step 0
  has_event stopped$step '"event": "fault injection"' || complain "stopped at $step: nobody was stopped"
  has_event stopped$step '"event": "fault noticed"' && complain "stopped at $step: a process that was stopped counted as dead"
done
for node in 1 3; do
  cut_at cut$node $three 3 320 exchange 1 $node
  judge cut$node 0
  plug $node
  has_event cut$node "\"lost\": \[$((node - 1))\]" || complain "no recovery from the loss of rank $((node - 1))"
done
# It stops before it has first checked its new connections, and its cable is slow when it continues: the answer to its
# query takes longer than the interval of checks. Silent for 12 s, queried without an answer, and yet no process is
# cut off.
reference=short
make_reference $three 3 --set run.steps=30
run_args="--set run.steps=30 --inject rank=1,step=2,phase=exchange,stopped=12" launch slow $three 3
wait_until "the stop" has_event slow '"event": "fault injection"'
bad_cable 2 200 0
judge slow 0
has_event slow '"event": "fault noticed"' && complain "slow: a process counted as dead that went on and was not answered at once"
[ -e slow/fencing/cut-1 ] && complain "slow: a cut was announced"
finish

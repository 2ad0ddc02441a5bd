# SPDX-License-Identifier: Apache-2.0
# The cable is put back: before the silence counts as a death the run is undisturbed; afterwards excluded processes
# detect it and end, whenever they are heard again, and their messages cause no further loss.
# gabion-test: timeout=400 labels=network waits=1 needs=ulfm
. "$GABION_SOURCE/tests/network/nodes.sh"
. "$GABION_SOURCE/tests/network/cut.sh"

nodes_up 3
three=nod1:1,nod2:1,nod3:1
make_reference $three 3

# Heard again before it counts as dead.
cut_at moment $three 3 320 exchange 1 3
sleep 4
plug 3
judge moment 0
has_event moment '"event": "recovery"' && complain "moment: a death was noticed where there was none"

# As soon as the others have gone on, or some time afterwards. They stand still a while behind the recovery, so as to be there.
for node in 1 3; do
  case_args="--inject rank=1,step=450,phase=exchange,stopped=3" cut_at back$node $three 3 320 exchange 1 $node
  wait_until "back$node: the recovery" has_event back$node '"event": "recovery"'
  plug $node
  judge back$node 0
  [ "$(grep -c '"event": "recovery"' back$node/events.jsonl)" = 1 ] || complain "back$node: more than one recovery"
done
finish

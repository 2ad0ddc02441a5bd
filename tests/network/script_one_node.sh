# SPDX-License-Identifier: Apache-2.0
# One of three nodes, any, loses its cable: the other two continue, with the result of the undisturbed run. Rank 0 is
# the critical one: its process is the root of agreements in MPI and waits for no process, so the others must detect
# its loss.
# gabion-test: timeout=240 labels=network waits=1 needs=ulfm
. "$GABION_SOURCE/tests/network/nodes.sh"
. "$GABION_SOURCE/tests/network/cut.sh"

nodes_up 3
dead_after=6
three=nod1:1,nod2:1,nod3:1
make_reference $three 3
for node in 1 2 3; do
  cut_at out$node $three 3 320 exchange 1 $node
  judge out$node 0
  plug $node
  has_event out$node "\"lost\": \[$((node - 1))\]" || complain "no recovery from the loss of rank $((node - 1))"
  grep -qx "gone $((node - 1)) end" out$node/fencing/2 || complain "the token does not say that rank $((node - 1)) is left out"
done
finish

# SPDX-License-Identifier: Apache-2.0
# With strategy `spare`, a spare replaces a process that was cut off: the run continues at full size, and the excluded
# process ends, also if its cable is put back. Excluding a spare has no effect.
# gabion-test: timeout=400 labels=network waits=1 needs=ulfm
. "$GABION_SOURCE/tests/network/nodes.sh"
. "$GABION_SOURCE/tests/network/cut.sh"

nodes_up 4
silence="--cut-after 5"
four=nod1:1,nod2:1,nod3:1,nod4:1
launch_options="--spares 1"
case_args="--set resilience.strategies=[spare,shrink]"
make_reference nod1:1,nod2:1,nod3:1 3
number() { sed -n "s/.*\"$1\": \([0-9]*\).*/\1/p" "$2/summary.json" | head -n 1; }
for node in 2 1; do
  cut_at cut$node $four 3 320 exchange 2 $node
  [ $node = 2 ] || { wait_until "the cut" test -e cut$node/fencing/cut-1; plug $node; }
  judge cut$node 0
  plug $node
  has_event cut$node "\"lost\": \[$((node - 1))\].*\"strategy\": \"spare\"" || complain "no spare took the place of rank $((node - 1))"
  [ "$(number living cut$node)" = 3 ] || complain "rank $((node - 1)) is cut off: $(number living cut$node) of 3 are left"
done
# Long enough for it to find out and to ask for the rest of the run, which it must not have.
case_args+=" --inject rank=0,step=500,phase=exchange,stopped=20"
cut_at resting $four 3 320 exchange 2 4
judge resting 0
[ "$(number living resting)" = 3 ] || complain "a spare is cut off: $(number living resting) of 3 are left"
has_event resting '"event": "recovery"' && complain "a recovery from the loss of a spare"
finish

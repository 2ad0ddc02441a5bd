# SPDX-License-Identifier: Apache-2.0
# The launcher is cut off from all nodes, which reach each other: the run continues and completes, and the launcher,
# which shares the folders with it, reports that.
# gabion-test: timeout=240 labels=network waits=1 needs=ulfm
. "$GABION_SOURCE/tests/network/nodes.sh"
. "$GABION_SOURCE/tests/network/cut.sh"

nodes_up 3
second_hub 1 2 3
three=nod1:1,nod2:1,nod3:1
make_reference $three 3
cut_at alone $three 3 320 exchange 1 hub
judge alone 0
has_event alone '"event": "fault noticed"' && complain "a fault was noticed where nobody is cut off from anybody"
finish

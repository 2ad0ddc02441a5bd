# SPDX-License-Identifier: Apache-2.0
# The network of four nodes breaks in halves, or in three parts: one part continues or, if none has all data, data is
# lost. Never two parts continue, and the end of the run is reported once.
# gabion-test: timeout=400 labels=network waits=1 needs=ulfm
. "$GABION_SOURCE/tests/network/nodes.sh"
. "$GABION_SOURCE/tests/network/cut.sh"

nodes_up 4
dead_after=6
second_hub 3 4 # which stay connected with each other, but not with the launcher
four=nod1:1,nod2:1,nod3:1,nod4:1
make_reference $four 4
# The partner of a rank is half the way round: each half has a copy of everything.
cut_at halves $four 4 320 exchange 1 hub
judge halves 0
plug hub
# Alone nod1 and nod2 have not.
cut_at thirds $four 4 320 exchange 1 hub 2
judge thirds 0
plug hub 2
finish

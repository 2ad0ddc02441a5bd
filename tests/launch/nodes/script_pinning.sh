# SPDX-License-Identifier: Apache-2.0
# A process is bound to as many cores as it has threads on request if there are enough, otherwise to none.
# gabion-test: timeout=60
. "$GABION_SOURCE/tests/launch/common.sh"

allowed() { sed -n 's/^Cpus_allowed_list:[[:space:]]*//p' "$@"; }
everything=$(allowed /proc/self/status)
show='grep Cpus_allowed_list /proc/self/status; echo pinned=$GABION_PINNED'

launch 1 -v --pin never -n 1 -t 1 -- sh -c "$show"
said 'not bound to cores: as told'
said 'pinned=0'
[ "$(allowed out)" = "$everything" ] || complain "not bound, but on cores $(allowed out) of $everything"

launch 1 -v --pin always -n 1 -t 100000 -- sh -c "$show"
said 'fewer cores than threads'
said 'pinned=0'

launch 1 -v --pin always --mpi-args '--bind-to none' -n 1 -t 1 -- sh -c "$show"
said 'pinned=0'

launch 1 -v --pin always -n 1 -t 1 -- sh -c "$show"
said 'bound to 1 core'
said 'pinned=1'
# one core: hardware threads that are siblings of each other, which the list shows as one number or one range
allowed out | grep -Eqx '[0-9]+([-,][0-9]+)?' || complain "bound to a core, but allowed on $(allowed out)"
finish

# SPDX-License-Identifier: Apache-2.0
# The cable returns just when the silence begins to count as death: when a process has announced the cut, or when the
# first process has counted another one as dead. Processes that were cut off stay so, together: one part continues, as
# without the cable.
# gabion-test: timeout=400 labels=network waits=1 needs=ulfm
. "$GABION_SOURCE/tests/network/nodes.sh"
. "$GABION_SOURCE/tests/network/cut.sh"

nodes_up 4
second_hub 3 4
dead_after=6
six=nod1:2,nod2:2,nod3:1,nod4:1
make_reference $six 6
# back_when NAME CABLE WHAT COMMAND...: the cable is put back when the command succeeds
back_when() {
  local name=$1 cable=$2
  cut_at "$name" $six 6 320 exchange 1 "$cable"
  wait_until "$name: $3" "${@:4}" && plug "$cable"
  judge "$name" 0
  plug "$cable"
  [ "$(grep -c '"event": "recovery"' "$name/events.jsonl")" = 1 ] || complain "$name: not one recovery"
}
for cable in 1 3 hub; do
  back_when announced$cable $cable "an announcement" test -e announced$cable/fencing/cut-1
  back_when noticed$cable $cable "a process that counts another one as dead" has_event noticed$cable '"event": "fault noticed"'
done
finish

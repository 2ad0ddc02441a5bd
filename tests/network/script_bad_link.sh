# SPDX-License-Identifier: Apache-2.0
# The cable of a node delays its frames by 50 ms and loses 5 % of them: slow, but without a death, with the usual
# times and with shorter ones, and the result is that of the undisturbed run.
# gabion-test: timeout=400 labels=network waits=1 needs=ulfm
. "$GABION_SOURCE/tests/network/nodes.sh"
. "$GABION_SOURCE/tests/network/cut.sh"

nodes_up 3
three=nod1:1,nod2:1,nod3:1
steps=${NETWORK_STEPS:-100}
make_reference $three 3 --set run.steps="$steps"
bad_cable 3 50 5
# Nothing said: the usual times.
for silence in " " "--dead-after 10"; do
  rm -rf bad
  run_args="--set run.steps=$steps" launch bad $three 3
  judge bad 0
  has_event bad '"event": "fault noticed"' && complain "a process counted as dead behind a bad cable"
  [ -e bad/fencing/cut-1 ] && complain "a cut was announced behind a bad cable"
done
# Segments that node had to send again: the cable was bad indeed.
again=$(ip netns exec nod3 awk '/^Tcp:/ { if (seen++) print $13 }' /proc/net/snmp)
[ "${again:-0}" -gt 0 ] || complain "nothing was lost on the way"
finish

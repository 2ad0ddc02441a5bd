# SPDX-License-Identifier: Apache-2.0
# A cable is pulled during the start of MPI: put back soon, the run completes; otherwise it completes without that
# node, or ends without a result. And a cable is pulled during the last step and the report of the end.
# gabion-test: timeout=400 labels=network waits=1 needs=ulfm
. "$GABION_SOURCE/tests/network/nodes.sh"
. "$GABION_SOURCE/tests/network/cut.sh"

nodes_up 3
three=nod1:1,nod2:1,nod3:1
make_reference $three 3
are_up() { [ "$(pgrep -fc "^$gabion run")" -ge "$1" ]; }
# Its first step takes as long as it takes to see that processes are there: the run cannot be over before.
run_args="--inject rank=0,step=0,stopped=4"
for processes in 1 3; do
  # A start that has lost a daemon of MPI is made again, and again where the machine is so busy that the cable is still away.
  launch soon$processes $three 3 --start-within 100 --start-retries 5
  wait_until "$processes processes" are_up $processes && pull 2
  sleep 2
  plug 2
  judge soon$processes 0
  launch never$processes $three 3 --start-within 15
  wait_until "$processes processes" are_up $processes && pull 2
  wait $job
  code=$?
  none_left never$processes
  plug 2
  case $code in
    0) [ "$(checksum never$processes)" = "$(checksum ref)" ] || complain "never$processes: completed with another result" ;;
    1 | 76) [ "$(checksum never$processes | cut -c1-4)" = none ] || complain "never$processes: ended with $code, and has a result" ;;
    *) complain "never$processes: ended with $code: $(tail -5 never$processes.txt)" ;;
  esac
done
dead_after=8
for node in 1 3; do
  for phase in exchange reduction; do
    cut_at end$node$phase $three 3 599 $phase 1 $node
    judge end$node$phase 0
    plug $node
  done
done
finish

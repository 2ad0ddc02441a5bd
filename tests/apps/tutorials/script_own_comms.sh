# SPDX-License-Identifier: Apache-2.0
# gabion-test: timeout=120 needs=ulfm
# A program with its own communicators has no local recovery: `check' and `plan' report that if its table declares
# them (gab_solver.own_comms); a run reports it in any case, and an undeclared communicator. The next strategy handles
# its deaths.
. "$GABION_SOURCE/tests/apps/common.sh"
gabion=$GABION_BUILD/tests/apps/helper_own_comms
case=$GABION_SOURCE/tests/faults/local_runs/local.yaml
short="--set run.steps=40 --set output.forces.every=20 --set output.fields.every=20"
. "$GABION_SOURCE/tests/faults/local_runs/local_common.sh"
not_in_force="strategy 'local' will not be in force: the program has its own communicators"
unsaid='gab_solver.own_comms of flow does not say so'
ended='the program has its own communicators: its faults are global'

launch 0 4 0 --set 'resilience.strategies=[shrink]'
expected=$(checksum) lines=$(series)

export OWN_COMMS="made said"
check 0 "$case" $short
said "$not_in_force"
not_said 'delays mask each other'
plan 0 "$case"
said 'strategy local will not be in force'
not_said 'log of local recovery'
plan 0 "$case" --json
said '"local_in_force": false'
not_said steps_to_log_the_state
check 0 "$case" $short --set 'resilience.strategies=[spare, shrink]'
not_said 'its own communicators'
launch 0 4 1 --inject rank=1,step=33,phase=compute
same "made and said"
said_once "$ended"
not_said "$unsaid"
[ "$(strategies)" = "spare " ] || complain "made and said: strategies $(strategies)"

export OWN_COMMS="made"
check 0 "$case" $short
not_said 'its own communicators'
launch 0 4 1 --inject rank=1,step=33,phase=compute
same "made"
said_once "$ended"
said_once "$unsaid"
[ "$(strategies)" = "spare " ] || complain "made: strategies $(strategies)"

export OWN_COMMS=
check 0 "$case" $short
said 'delays mask each other over 20 steps at most'
plan 0 "$case" --json
said '"local_in_force": true'
launch 0 4 1 --inject rank=1,step=33,phase=compute
alone "neither" 1
not_said 'its own communicators'
finish

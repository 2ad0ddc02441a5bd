# SPDX-License-Identifier: Apache-2.0
# gabion-test: timeout=300 needs=ulfm
# Strategy `local` with clusters, of a flow and of a phase field on several levels: a rank that rolls back with its
# cluster between any two tasks of a step restarts its exchanges and couplings of levels. Always the bits and the
# series of the undisturbed run.
. "$GABION_SOURCE/tests/apps/common.sh"
case=$GABION_SOURCE/tests/faults/local_runs/local_levels.yaml
short="--set run.steps=60 --set output.forces.every=30 --set output.fields.every=30"
. "$GABION_SOURCE/tests/faults/local_runs/local_common.sh"
two="--set resilience.local.clusters=2 --set resilience.local.verify=true"

launch 0 4 0 --set 'resilience.strategies=[shrink]'
expected=$(checksum) lines=$(series)
# shellcheck disable=SC2086 # words on purpose
{
launch 0 4 1 $two --inject rank=1,step=29,phase=exchange
cluster "flow, the root goes back" 1 "0 "
launch 0 4 1 $two --inject rank=2,step=57,phase=compute
cluster "flow, the other cluster" 1 "3 "
launch 0 4 2 $two --inject rank=0,step=55,phase=compute --inject rank=3,step=55,phase=compute
cluster "flow, both at once" 2 "1 2 "
}

case=$GABION_SOURCE/tests/faults/local_runs/local_phase_levels.yaml
short="--set run.steps=120 --verbose"
launch 0 4 0 --set 'resilience.strategies=[shrink]'
expected=$(checksum) lines=$(series)
said 'step 60: the grid adapts'
# shellcheck disable=SC2086
{
launch 0 4 1 $two --inject rank=1,step=75,phase=compute
cluster "phase field, the root goes back" 1 "0 "
launch 0 4 1 $two --inject rank=2,step=95,phase=exchange
cluster "phase field, the other cluster" 1 "3 "
launch 0 4 2 $two --inject rank=2,step=55,phase=compute --inject rank=1,step=77,phase=compute
cluster "phase field, one, an adaptation, another one" 2 "0 3 "
}
finish

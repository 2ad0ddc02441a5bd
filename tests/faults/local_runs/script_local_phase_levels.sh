# SPDX-License-Identifier: Apache-2.0
# gabion-test: timeout=200 needs=ulfm
# Strategy `local` with a phase field with wider cells away from interfaces: its grid changes in steps that involve
# all ranks. Always the bits and the series of the undisturbed run.
. "$GABION_SOURCE/tests/apps/common.sh"
case=$GABION_SOURCE/tests/faults/local_runs/local_phase_levels.yaml
short="--set run.steps=120 --verbose"
. "$GABION_SOURCE/tests/faults/local_runs/local_common.sh"

launch 0 4 0 --set 'resilience.strategies=[shrink]'
expected=$(checksum) lines=$(series)
said 'step 60: the grid adapts'
launch 0 4 2
same "nobody dies"
said 'step 60: the grid adapts'
[ "$(member meetings)" = 0 ] || complain "nobody dies: agreements"
for injection in rank=0,step=59,phase=exchange rank=1,step=75,phase=compute rank=2,step=95,phase=exchange rank=3,step=119,phase=reduction; do
  launch 0 4 1 --set resilience.local.verify=true --inject $injection
  alone "$injection" 1
  verified "$injection"
done
launch 0 4 2 --inject rank=2,step=55,phase=compute --inject rank=1,step=77,phase=compute
alone "one, an adaptation, another one" 2
launch 0 4 2 --inject rank=2,step=60,phase=adapt-migrate
same "while the grid changes"
[ "$(strategies)" = "spare " ] || complain "while the grid changes: strategies $(strategies)"
finish

# SPDX-License-Identifier: Apache-2.0
# gabion-test: timeout=200 needs=ulfm
# A body force controls the mean velocity along a periodic axis: in a channel it converges to the exact one, for any
# interval; the same bits on other numbers of processes, in temporal blocks, after deaths and restarts; refusals with
# their place.
. "$GABION_SOURCE/tests/apps/common.sh"

# U = 0.1, half height 1, viscosity 0.05: 3 nu U / h^2 = 0.015 for the mean over the height; over 16 cell centres 1 + 1/512 less.
cat >drive.yaml <<'END'
run: {steps: 6000}
domain: {cells: [16, 16], block: [8, 8], dx: 0.125}
fluid: {viscosity: 0.05, mean_velocity: [0.1, 0]}
units: {dt: 0.02}
boundaries:
  y_min: {type: wall}
  y_max: {type: wall}
resilience: {memory: {every: 7}}
END
for every in 1 10 100; do
  run 0 1 drive.yaml --set fluid.mean_velocity_every=$every
  said 'mean velocity along x 0.1 m/s, held by an acceleration of 0.0149708 m/s^2'
done
run 0 1 drive.yaml --set run.steps=200 --set lbm.temporal_blocking=1
expected=$(checksum)
run 0 1 drive.yaml --set run.steps=200 --set lbm.temporal_blocking=4
[ "$(checksum)" = "$expected" ] || complain 'another checksum with temporal blocks'

cat >>drive.yaml <<'END'
bodies: [{name: c, type: cylinder, centre: [1, 0.9], radius: 0.3}]
refinement: {levels: 1, criteria: [{type: box, lo: [0, 0], hi: [0.3, 0.4]}]}
END
sed -i 's/steps: 6000/steps: 60/' drive.yaml
run 0 1 drive.yaml
expected=$(checksum)
run 0 3 drive.yaml --inject rank=1,step=23,phase=exchange
said 'rank 1 died'
[ "$(checksum)" = "$expected" ] || complain 'another checksum after a death'
rm -rf out
timeout 100 "$GABION_LAUNCH" -n 3 --spares 1 -- "$gabion" run drive.yaml --set 'resilience.strategies=[local, shrink]' \
  --inject rank=0,step=23,phase=exchange --out out >said.txt 2>&1 || complain "local: $(cat said.txt)"
said 'rank 0 died'
[ "$(checksum)" = "$expected" ] || complain 'another checksum under local'
for steps in 50 53; do # with and without an adjustment at the step of the checkpoint
  run 0 1 drive.yaml --set run.steps=$steps --set resilience.disk.every=25
  "$gabion" run drive.yaml --set resilience.disk.every=25 --out out >said.txt 2>&1 || complain "not resumed: $(cat said.txt)"
  [ "$(checksum)" = "$expected" ] || complain "another checksum after a restart at step $steps"
done
run 0 1 drive.yaml --set fluid.mean_velocity='[0.11, 0]'
[ "$(checksum)" != "$expected" ] || complain 'the mean velocity changes nothing'

# The permeability is that of the force in the end, as a fixed one gives it.
permeability() { sed -n 's/.*permeability along x: \([-0-9.e]*\) m^2.*/\1/p' said.txt; }
run 0 1 drive.yaml --set run.steps=2500 --set fluid.mean_velocity='[0.01, 0]'
driven=$(permeability)
held=$(sed -n 's/.*held by an acceleration of \([-0-9.e]*\) .*/\1/p' said.txt)
run 0 1 drive.yaml --set run.steps=2500 --set fluid.mean_velocity='[0, 0]' --set fluid.acceleration="[$held, 0]"
echo "permeability: $driven, $(permeability)"
awk -v a="$driven" -v b="$(permeability)" 'BEGIN { exit !(a > 0 && b > 0 && a / b > 0.999 && a / b < 1.001) }' ||
  complain "permeability $driven with a mean velocity, $(permeability) with a fixed acceleration $held"

check 2 drive.yaml --set fluid.mean_velocity='[0, 1]'
said 'fluid.mean_velocity: is 1 along y, where the domain is not periodic: give boundaries.y_min a velocity or flow_rate'
check 2 drive.yaml --set fluid.mean_velocity='[0, 0]' --set fluid.mean_velocity_every=5
said 'fluid.mean_velocity_every: has no effect without mean_velocity'
check 2 drive.yaml --set fluid.mean_velocity='[9, 0]'
said 'Mach'
finish

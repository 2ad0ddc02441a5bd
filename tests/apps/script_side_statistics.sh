# SPDX-License-Identifier: Apache-2.0
# gabion-test: timeout=200 needs=ulfm
# The factor of a side may use statistics of the flow: a resistance at an outlet gives the analytic flow rate at second order, for any
# interval; a windkessel ends at its resistance; the same bits on other numbers of processes, in temporal blocks, after deaths and
# restarts, on levels; refusals with their place.
. "$GABION_SOURCE/tests/apps/common.sh"

# A channel of resistance 12 nu L / H^3 and an outlet of the same: half of the flow rate. Links sum the parabola at the centres of cells:
# 1 + 1 / (2 H^2) more flow through the channel.
cat >resistance.yaml <<'END'
run: {steps: 6000}
domain: {cells: [16, 8], block: [8, 4]}
fluid: {viscosity: 0.0555, density: 1}
units: {dt: 1}
constants: {resistance: "12 * 0.0555 * 16 / 8^3"}
boundaries:
  x_min: {type: pressure, pressure: 1.0e-3}
  x_max: {type: pressure, pressure: 1, factor: "-resistance * flow_rate( x_max )", factor_limit: 0.01}
  y_min: {type: wall}
  y_max: {type: wall}
resilience: {memory: {every: 7}}
output: {sides: {every: 1000}}
END
# off HEIGHT: relative error of the flow rate, at one Reynolds number; no number if the pressure at the outlet is not that of the resistance
off() {
  tail -n 1 out/sides.csv | awk -F, -v h="$1" '{ r = 12 * 0.0555 * 2 / h^2; p = -r * $5 / $6 - 1
    if (!(p > -1e-4 && p < 1e-4)) print "pressure", p; else printf "%.8f\n", $3 * 2 * r / (0.064 / h^2) - 1 }'
}
for every in 1 10 50; do
  run 0 1 resistance.yaml --set statistics.every=$every
  coarse=$(off 8)
  awk -v e="$coarse" 'BEGIN { exit !(e > 0.0037 && e < 0.0040) }' || complain "every $every: error $coarse of the flow rate"
done
run 0 1 resistance.yaml --set 'domain.cells=[32, 16]' --set run.steps=9000 --set boundaries.x_min.pressure=2.5e-4 --set 'constants.resistance=12 * 0.0555 * 32 / 16^3'
fine=$(off 16)
echo "error of the flow rate: $coarse on 8 cells, $fine on 16"
awk -v c="$coarse" -v f="$fine" 'BEGIN { exit !(c / f > 3.7 && c / f < 4.3) }' || complain "not of second order: $coarse, $fine"

# dp/dt = (Q - p / R) / C, by the value at the last measurement
sed -e 's/^  x_min: .*/  x_min: {type: velocity, flow_rate: 0.02, profile: parabolic}/' \
  -e 's|"-res[^"]*"|"previous + interval / 5.0e4 * (-flow_rate(x_max) - previous / 0.02)"|' resistance.yaml >windkessel.yaml
run 0 1 windkessel.yaml --set run.steps=12000
tail -n 1 out/sides.csv | awk -F, '{ exit !($6 / 4e-4 > 0.9999 && $6 / 4e-4 < 1.0001 && $5 < -0.0199999 && $5 > -0.0200001) }' ||
  complain "windkessel: $(tail -n 1 out/sides.csv)"

run 0 1 resistance.yaml --set run.steps=200 --set lbm.temporal_blocking=1
expected=$(checksum)
run 0 1 resistance.yaml --set run.steps=200 --set lbm.temporal_blocking=4
[ "$(checksum)" = "$expected" ] || complain 'another checksum with temporal blocks'

# All statistics, a patch, a body, levels.
cat >all.yaml <<'END'
run: {steps: 60}
domain: {cells: [32, 16], block: [8, 8]}
fluid: {omega: 1.5}
statistics: {every: 3}
boundaries:
  x_min: {type: velocity, velocity: [0.05, 0], profile: parabolic, factor: "max(-1, 0.5 + 4 * (0.03 - mean_velocity_x) - 90 * kinetic_energy + mean_velocity_y)",
    factor_limit: 2}
  x_max: {type: pressure, patches: [{name: vent, region: box, lo: [0, 4], hi: [0, 9], type: pressure, pressure: 0.01,
    factor: "previous / 2 + mean_pressure(x_min) - flow_rate(vent) * interval * (t > 5) + mean_pressure(x_max)", factor_limit: 15}]}
  y_min: {type: wall}
  y_max: {type: wall}
bodies: [{name: c, type: cylinder, centre: [10, 7.2], radius: 2.4}]
refinement: {levels: 1, criteria: [{type: box, lo: [0, 0], hi: [2, 3]}]}
resilience: {memory: {every: 7}}
END
run 0 1 all.yaml
expected=$(checksum)
run 0 3 all.yaml
[ "$(checksum)" = "$expected" ] || complain 'another checksum on 3 processes'
run 0 3 all.yaml --inject rank=1,step=23,phase=exchange --inject rank=0,step=41,phase=commit
said 'rank 1 died'
[ "$(checksum)" = "$expected" ] || complain 'another checksum after deaths'
for phase in exchange reduction; do
  rm -rf out
  timeout 100 "$GABION_LAUNCH" -n 3 --spares 1 -- "$gabion" run all.yaml --set 'resilience.strategies=[local, shrink]' \
    --inject rank=0,step=26,phase=$phase --out out >said.txt 2>&1 || complain "local: $(cat said.txt)"
  said 'rank 0 died'
  [ "$(checksum)" = "$expected" ] || complain "another checksum under local, $phase"
done
for steps in 30 32; do # with and without a measurement at the step of the checkpoint
  run 0 1 all.yaml --set run.steps=$steps --set resilience.disk.every=$steps
  "$gabion" run all.yaml --set resilience.disk.every=25 --out out >said.txt 2>&1 || complain "not resumed: $(cat said.txt)"
  [ "$(checksum)" = "$expected" ] || complain "another checksum after a restart at step $steps"
done
run 0 1 all.yaml --set statistics.every=4
[ "$(checksum)" != "$expected" ] || complain 'the interval changes nothing'

check 0 resistance.yaml
said "x_max: factor '-resistance * flow_rate( x_max )', at most 0.01, of statistics measured every 10 steps"
x_max() { check 2 resistance.yaml --set "boundaries.x_max.factor=$1"; }
x_max 'flow_rate(outlet)'
said 'boundaries.x_max.factor: flow_rate(outlet): not a side or patch that fluid passes; there are: x_min, x_max'
x_max 'mean_pressure(z_min)'
said 'not a side or patch; there are: x_min, x_max, y_min, y_max'
x_max 'flow_rate()'
said 'needs a name after flow_rate'
x_max '1e-4 / flow_rate(x_max)'
said 'is inf at time 0, where all statistics are 0'
x_max 't'
said 'boundaries.x_max.factor_limit: has no effect: boundaries.x_max.factor uses no statistics'
check 2 resistance.yaml --set 'boundaries.x_min.factor=mean_velocity_x'
said 'boundaries.x_min.factor: uses statistics of the flow: give factor_limit'
check 2 windkessel.yaml --set statistics.every=3 --set 'boundaries.x_max={type: pressure}'
said 'statistics.every: has no effect: no factor of a side uses statistics'
run 2 1 resistance.yaml --set boundaries.x_max.factor_limit=1e-5
said "boundaries.x_max.factor: the formula '-resistance * flow_rate( x_max )' is"
said 'beyond factor_limit = 1e-05'
run 2 1 resistance.yaml --set 'boundaries.x_max.factor="t < 20 ? 0 : 1e-6 / (mean_velocity_y * 0)"'
said 'at time 20'
finish

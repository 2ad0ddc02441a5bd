# SPDX-License-Identifier: Apache-2.0
# gabion-test: timeout=200 needs=ulfm
# Fluids whose viscosity depends on the shear rate, in parameter files: exact channels in physical units, on two levels and between pressure sides;
# the same bits on other numbers of processes, after deaths and restarts; refusals with their place.
. "$GABION_SOURCE/tests/apps/common.sh"

# Of exponent 1/2, u = 1 - |2 y - 1|^3 with the acceleration sqrt(24) at consistency / density = 1.
cat >fluid.yaml <<'END'
run: {steps: 800}
domain: {cells: [8, 16], block: [4, 4], dx: 0.0625}
fluid: {model: power_law, consistency: 1000, exponent: 0.5, density: 1000, velocity: 1, length: 1, acceleration: [4.898979485566356, 0]}
units: {dt: 6.5e-4}
boundaries: {y_min: {type: wall}, y_max: {type: wall}}
initial: {type: formula, velocity_x: "1 - abs(2 * y - 1)^3"}
output:
  probes: {every: 800, quantities: [velocity, shear_rate, viscosity]}
  points: [{name: low, at: [0.2, 0.21875]}, {name: high, at: [0.2, 0.78125]}]
END
# value COLUMN: the last one. near A B SHARE
value() { python3 -c 'import csv, sys; print(list(csv.DictReader(open("out/probes.csv")))[-1][sys.argv[1]])' "$1"; }
near() { awk -v a="$1" -v b="$2" -v s="$3" 'BEGIN { exit !(a - b <= s * b && b - a <= s * b) }' || complain "$1 is not within $3 of $2"; }
exact=0.822021
run 0 1 fluid.yaml
said 'fluid power_law, exponent 0.5, consistency 1000 Pa s^0.5'
near "$(value low.velocity.x)" $exact 0.01
near "$(value low.shear_rate)" 1.8984 0.02           # 6 (1 - 2 y)^2
near "$(value low.viscosity)" 0.7258 0.02            # 1 / sqrt(shear rate)
run 0 1 fluid.yaml --set fluid.exponent=1
near "$(value low.viscosity)" 1 1e-6
run 0 1 fluid.yaml --set fluid.largest_viscosity=0.5 --set fluid.least_viscosity=0.5 --set run.steps=10
near "$(value low.viscosity)" 0.5 1e-6
# The viscosity or the Reynolds number gives the consistency.
run 0 1 fluid.yaml --set run.steps=100
expected=$(checksum)
sed 's/consistency: 1000/viscosity: 1/' fluid.yaml >viscosity.yaml
run 0 1 viscosity.yaml --set run.steps=100
[ "$(checksum)" = "$expected" ] || complain 'another checksum by the viscosity'
run 0 1 viscosity.yaml --set run.steps=100 --set fluid.reynolds=1
[ "$(checksum)" = "$expected" ] || complain 'another checksum by the Reynolds number'

# On two levels, in both of them.
cat >>fluid.yaml <<'END'
refinement: {levels: 1, criteria: [{type: box, lo: [0, 0], hi: [0.5, 0.24]}]}
END
sed -i 's/0.21875/0.234375/' fluid.yaml
run 0 1 fluid.yaml
near "$(value low.velocity.x)" 0.850098 0.01
near "$(value high.velocity.x)" $exact 0.01

# Other models, the same bits with deaths and restarts.
cat >>fluid.yaml <<'END'
bodies: [{name: c, type: cylinder, centre: [0.25, 0.55], radius: 0.1}]
resilience: {memory: {every: 7}}
END
sed -i 's/steps: 800/steps: 60/' fluid.yaml
for model in 'model=carreau relaxation_time=0.3 viscosity_at_high_shear=0.1' 'model=herschel_bulkley yield_stress=300'; do
  set -- fluid.yaml
  for word in $model; do set -- "$@" --set "fluid.$word"; done
  [[ $model != *carreau* ]] || sed 's/consistency: 1000/viscosity: 1/' fluid.yaml >carreau.yaml
  [[ $model != *carreau* ]] || set -- carreau.yaml "${@:2}"
  run 0 1 "$@"
  expected=$(checksum)
  run 0 3 "$@" --inject rank=1,step=23,phase=exchange
  said 'rank 1 died'
  [ "$(checksum)" = "$expected" ] || complain "$model: another checksum after a death"
  rm -rf out
  timeout 100 "$GABION_LAUNCH" -n 3 --spares 1 -- "$gabion" run "$@" --set 'resilience.strategies=[local, shrink]' \
    --inject rank=0,step=23,phase=exchange --out out >said.txt 2>&1 || complain "local: $(cat said.txt)"
  said 'rank 0 died'
  [ "$(checksum)" = "$expected" ] || complain "$model: another checksum under local"
done
run 0 1 "$@" --set run.steps=50 --set resilience.disk.every=25
"$gabion" run "$@" --set resilience.disk.every=25 --out out >said.txt 2>&1 || complain "not resumed: $(cat said.txt)"
[ "$(checksum)" = "$expected" ] || complain 'another checksum after a restart'
run 0 1 "$@" --set run.steps=50 --set resilience.disk.every=25
"$gabion" run "$@" --set resilience.disk.every=25 --set fluid.yield_stress=310 --out out >said.txt 2>&1 && complain 'resumed with another fluid'
said 'fluid.yield_stress'

# The stress on the wall of a pipe is half of its radius times density and acceleration; the viscosity there is half of that of the cell next to it.
cat >pipe.yaml <<'END'
run: {steps: 864}
domain: {cells: [16, 16, 4], block: [16, 16, 4], dx: 0.08333333333333333}
fluid: {model: power_law, exponent: 0.5, consistency: 1000, density: 1000, velocity: 1, length: 1, acceleration: [0, 0, 9.797958971132712]}
units: {dt: 0.0011574074074074073}
initial: {type: formula, velocity_z: "max(0, 1 - (2 * sqrt((x - 0.675)^2 + (y - 0.65)^2))^3)"}
bodies: [{name: pipe, type: cylinder, axis: z, centre: [0.675, 0.65, 0], radius: 0.5, inside: fluid}]
output:
  forces: {every: 864, parts: true}
  probes: {every: 864, quantities: [wall_shear_stress]}
  points: [{name: wall, at: [1.125, 0.625, 0.1]}]
END
run 0 1 pipe.yaml
near "$(value wall.wall_shear_stress.z)" 2449.49 0.06
[ "$(python3 -c 'import csv; print(0.85 < float(list(csv.DictReader(open("out/forces.csv")))[-1]["pipe.friction_fz"]) / (2449.49 * 3.14159 / 3) < 1.05)')" = True ] ||
  complain "friction of the pipe: $(cat out/forces.csv)"

# Refusals.
refuse() { # TEXT CASE [options]
  local text=$1
  shift
  refused 1 "$@"
  said "$text"
}
refuse 'fluid.yield_stress: has no effect with fluid.model: power_law' fluid.yaml --set fluid.yield_stress=1
refuse 'fluid.exponent: has no effect with fluid.model: newtonian' carreau.yaml --set fluid.model=newtonian
refuse 'fluid.model: carreau needs fluid.relaxation_time' carreau.yaml --set fluid.model=carreau
refuse 'fluid.model: herschel_bulkley needs fluid.yield_stress' fluid.yaml --set fluid.model=herschel_bulkley
refuse 'fluid.consistency: gives the viscosity already' fluid.yaml --set fluid.viscosity=1
refuse 'lbm.collision: must be trt with fluid.model: power_law' fluid.yaml --set lbm.collision=rr
refuse 'the least viscosity, 2 m^2/s, is above the largest, 1' fluid.yaml --set fluid.least_viscosity=2 --set fluid.largest_viscosity=1
refuse 'fluid.viscosity_at_high_shear: must be below the viscosity at rest, 1 m^2/s' carreau.yaml --set fluid.model=carreau \
  --set fluid.relaxation_time=1 --set fluid.viscosity_at_high_shear=2
refuse 'boundaries.x_max.sponge_viscosity: needs fluid.model: newtonian' fluid.yaml --set boundaries.x_min.type=outflow \
  --set boundaries.x_max.type=outflow --set boundaries.x_max.sponge_thickness=0.25 --set boundaries.x_max.sponge_viscosity=2
refuse 'boundaries.y_min.eddy_height: needs fluid.model: newtonian' fluid.yaml --set boundaries.y_min.roughness_length=0.01 \
  --set boundaries.y_min.eddy_height=0.3
finish

# SPDX-License-Identifier: Apache-2.0
# gabion-test: timeout=120 labels=quick
# Computable but meaningless cases are refused, or cause a warning, with the place in the file and the numbers; check
# and run report the same about the collision on refined grids.
. "$GABION_SOURCE/tests/apps/common.sh"
. "$GABION_SOURCE/tests/apps/phase/phase_common.sh"

# case EXPRESSION CODE TEXT: the small flow, changed by sed.
case_is() {
  sed -e "$1" good.yaml >changed.yaml
  cmp -s good.yaml changed.yaml && complain "$1 changes nothing"
  check "$2" changed.yaml
  said "$3"
}
check 0 good.yaml
not_said 'warning'

# ---- boxes that fill or drain; a lid does not
case_is 's/velocity: \[0.05, 0\]/velocity: [0.05, -0.01]/' 2 'changed.yaml:6:'
said 'boundaries.y_max: fluid enters through sides of type velocity and there is no side of type pressure or outflow'
said 'would change by 62.5 % in 1000 steps' # 0.01 over 16 cells
case_is 's/velocity: \[0.05, 0\]/velocity: [0, 0.01]/' 2 'fluid leaves through'
cat >channel.yaml <<'YAML'
run: {steps: 20}
domain: {cells: [32, 16], block: [8, 8]}
fluid: {omega: 1.5}
boundaries:
  x_min: {type: velocity, velocity: [0.05, 0], profile: parabolic}
  x_max: {type: velocity, velocity: [0.05, 0], profile: parabolic}
  y_min: {type: wall}
  y_max: {type: wall}
bodies:
  - {type: cylinder, centre: [10, 8], radius: 4}
YAML
check 0 channel.yaml
not_said 'warning'
sed '/x_max/s/, profile: parabolic//' channel.yaml >changed.yaml
check 2 changed.yaml
said 'changed.yaml:6:'
said 'fluid leaves through'
sed '/x_max/s/velocity.*/outflow}/' channel.yaml >changed.yaml
check 0 changed.yaml

# ---- bodies that are not there
sed 's/centre: .10, 8./centre: [10, 21]/' channel.yaml >changed.yaml
check 2 changed.yaml
said 'changed.yaml:10:'
said 'the body lies outside of the domain: along y it reaches from 17 to 25, the domain from 0 to 16'
sed 's/centre: .10, 8./centre: [10, 18]/' channel.yaml >changed.yaml
check 0 changed.yaml

# ---- bodies that cover no cell: a plate between centres of cells, a white picture, a shape in a corner of a cell
thin='  - {name: plate, type: box, lo: [9.6, 2], hi: [10.4, 9]}'
sed "s/  - {type: cylinder.*/$thin/" channel.yaml >changed.yaml
check 2 changed.yaml
said 'changed.yaml:10:'
said 'bodies.0: the body covers no cell: its extent is 0.8 x 7 cells of the finest level'
sed 's/9.6, 2/9.5, 2/' changed.yaml >thick.yaml # the surface counts as inside
check 0 thick.yaml
not_said 'warning'
sed "s/  - {type: cylinder.*/$thin/; s/9.6, 2/9.7, 2/; s/10.4, 9/10.3, 9/" channel.yaml >finer.yaml
cat >>finer.yaml <<'YAML'
refinement: {levels: 2, every: 10, criteria: [{type: vorticity, above: 0.1, below: 0.05}]}
YAML
check 0 finer.yaml
said 'bodies.0 covers no cell of level 0, only of level 1 and finer: it exists only where the grid is as fine'
sed 's/type: vorticity, above: 0.1, below: 0.05/type: bodies, distance: 1/' finer.yaml >near.yaml
check 0 near.yaml
not_said 'covers no cell'
picture white.png False
picture dot.png 'x == 12 and y == 6'
for name in white dot; do
  sed "s/  - {type: cylinder.*/  - {name: p, type: mask, file: $name.png, lo: [0, 0], hi: [32, 16]}/" channel.yaml >$name.yaml
done
if check 0 dot.yaml && ! grep -qi 'libpng' said.txt; then
  check 2 white.yaml
  said 'bodies.0: the body covers no cell: its extent is 32 x 16 cells'
fi

# ---- bodies that push fluid into a closed box, or take it from one
push='  - {name: piston, type: box, lo: [-5, 2], hi: [4, 9], velocity: [0.02, 0]}'
sed "s/  - {type: cylinder.*/$push/; /x_m.*/d" channel.yaml >piston.yaml
sed 's/^boundaries:/boundaries:\n  x_min: {type: wall}\n  x_max: {type: wall}/' piston.yaml >changed.yaml
check 2 changed.yaml
said 'bodies.0.velocity: the body pushes fluid at one end only, since a side of the domain cuts it'
said 'would change by 27.3 % in 1000 steps' # 7 cells of 0.02 in 32 x 16
sed 's/0.02, 0/0, 0.02/' changed.yaml >along.yaml # moves in the surface where the side cuts it
check 0 along.yaml
sed 's/x_max: .*/x_max: {type: outflow}/' changed.yaml >open.yaml
check 0 open.yaml
sed 's/lo: \[-5, 2\]/lo: [2, 2]/' changed.yaml >whole.yaml # inflow at one end equals outflow at the other
check 0 whole.yaml

# ---- flows without a balance
cat >pushed.yaml <<'YAML'
run: {steps: 100}
domain: {cells: [32, 16], block: [8, 8]}
fluid: {omega: 1.5, acceleration: [0.0001, 0]}
YAML
check 0 pushed.yaml
said 'pushed.yaml:3:'
said 'nothing holds the fluid (no walls, no bodies): fluid.acceleration gives all of it 0.01 m/s in the end'
check 2 pushed.yaml --set run.steps=10000
said 'at the end it would have 1 m/s, 1 cells per step, more than 0.2'
check 0 pushed.yaml --set boundaries.y_min.type=wall --set boundaries.y_max.type=wall
not_said 'warning'

# ---- rates
check 0 good.yaml --set fluid.omega=0.4
said 'omega is 0.4 (viscosity 0.667 on the lattice), below 0.5'
check 0 good.yaml --set lbm.collision=srt --set lbm.magic=0.25
said '--set lbm.magic=0.25: lbm.magic has no effect: lbm.collision is srt, not trt or mrt'
check 0 good.yaml --set lbm.rate_energy=1.2
said 'lbm.rate_energy has no effect: lbm.collision is trt, not mrt'
check 0 good.yaml --set lbm.collision=mrt --set lbm.rate_energy=1.2 --set lbm.rate_stress=1.2
not_said 'lbm.rate_energy has no effect'
said 'lbm.rate_stress has no effect: the domain has 2 dimensions'

# ---- check and run report the same about borders between levels
cat >levels.yaml <<'YAML'
run: {steps: 2}
domain: {cells: [64, 64], block: [8, 8]}
fluid: {omega: 1.9}
boundaries:
  y_min: {type: wall}
  y_max: {type: velocity, velocity: [0.1, 0]}
refinement:
  levels: 1
  criteria:
    - {type: box, lo: [20, 20], hi: [30, 30]}
YAML
run 0 1 levels.yaml
said 'magic parameter of the collision is bounded'
grep -E 'magic|borders' said.txt >of_run
check 0 levels.yaml
grep -E 'magic|borders' said.txt >of_check
cmp -s of_run of_check || complain "check: $(cat of_check)
run: $(cat of_run)"

# ---- concentrations
sed 's/composition: \[0.70691, 0.146545\]/composition: [0.70691, -0.146545]/' grow.yaml >changed.yaml
check 2 changed.yaml
said 'composition: the concentration -0.146545 is outside [0, 1]'
sed 's/composition: \[0.70691, 0.146545\]/composition: [0.70691, 0.346545]/' grow.yaml >changed.yaml
check 2 changed.yaml
said 'the concentrations sum to 1.05346: that of the last component would be -0.053455'
finish

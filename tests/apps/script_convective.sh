# SPDX-License-Identifier: Apache-2.0
# gabion-test: timeout=240 needs=ulfm
# Convective outlets keep populations beyond the side. A grid that adapts to a vortex on its way out, next to a patch with
# its own advection velocity, has the same bits on other numbers of processes, with migration, after deaths with shrink
# and local, and after a restart from disk. Its sides have the change of the mass. Its pressure is drawn to
# the given one. Refusals name their place.
. "$GABION_SOURCE/tests/apps/common.sh"

cat >leave.yaml <<'END'
run: {steps: 180}
domain: {cells: [40, 24], block: [8, 8]}
fluid: {viscosity: 0.01}
units: {dt: 1}
initial: {type: vortices, velocity: [0.1, 0], vortices: [{centre: [27, 9], radius: 3, speed: 0.04}]}
boundaries:
  x_min: {type: velocity, velocity: [0.1, 0]}
  x_max:
    type: convective
    advection_velocity: 0.1
    patches: [{name: upper, region: box, lo: [40, 13], hi: [40, 20], type: convective, advection_velocity: 0.07, relaxation: 2}]
  y_min: {type: free_slip}
  y_max: {type: convective, advection_velocity: 0.02}
bodies: [{name: post, type: box, lo: [37, 11], hi: [41, 13], wall: staircase}]
refinement:
  levels: 1
  every: 20
  criteria: [{type: vorticity, above: 0.012, below: 0.009}]
resilience: {memory: {every: 25}}
END
run 0 1 leave.yaml
expected=$(checksum)
said 'the grid adapted 5 times'
same() { [ "$(checksum)" = "$expected" ] || complain "another checksum $*"; }
run 0 2 leave.yaml --set balance.work=measured --set balance.every=15 --set balance.above=1.0
same 'with blocks that move'
run 0 3 leave.yaml --inject rank=2,step=93,phase=exchange
said 'rank 2 died'
same 'after a death'
rm -rf out
timeout 100 "$GABION_LAUNCH" -n 3 --spares 1 -- "$gabion" run leave.yaml --set 'resilience.strategies=[local, shrink]' \
  --inject rank=1,step=93,phase=exchange --inject rank=0,step=148,phase=exchange --out out >said.txt 2>&1 || complain "local: $(cat said.txt)"
said 'rank 1 died'
said 'rank 0 died'
same 'under local'
run 0 2 leave.yaml --set resilience.disk.every=50 --set run.steps=110
"$gabion" run leave.yaml --set resilience.disk.every=50 --out out >said.txt 2>&1 || complain "not resumed: $(cat said.txt)"
grep -Eq 'step (100|110)' said.txt || complain "not resumed: $(cat said.txt)"
same 'after a restart'
run 0 1 leave.yaml --set boundaries.x_max.advection_velocity=0.11
[ "$(checksum)" != "$expected" ] || complain 'the advection velocity changes nothing'

# A body at the outlet between cells of level 0: when blocks merge and split, numbers of solid cells are no state.
cat >body.yaml <<'END'
run: {steps: 400}
domain: {cells: [64, 24], block: [8, 8]}
fluid: {viscosity: 0.004}
units: {dt: 1}
initial: {type: vortices, velocity: [0.1, 0], vortices: [{centre: [57, 15.8], radius: 1.5, speed: 0.06}, {centre: [40, 15.8], radius: 1.5, speed: 0.06}, {centre: [23, 15.8], radius: 1.5, speed: 0.06}]}
boundaries:
  x_min: {type: velocity, velocity: [0.1, 0]}
  x_max: {type: convective, advection_velocity: 0.1}
  y_min: {type: free_slip}
  y_max: {type: free_slip}
bodies: [{name: post, type: box, lo: [62.2, 8.2], hi: [66, 9.7], wall: interpolated}]
refinement:
  levels: 1
  every: 20
  criteria: [{type: vorticity, above: 0.03, below: 0.02, lo: [57, 14.5], hi: [64, 15.9]}]
resilience: {memory: {every: 7}}
END
run 0 1 body.yaml
expected=$(checksum)
run 0 2 body.yaml --inject rank=1,step=152,phase=exchange
said 'rank 1 died'
same 'after a death beside a body'
run 0 1 body.yaml --set resilience.disk.every=1000 --set run.steps=147
"$gabion" run body.yaml --set resilience.disk.every=1000 --out out >said.txt 2>&1 || complain "not resumed: $(cat said.txt)"
same 'after a restart at an odd step beside a body'

# One level: sparse blocks and two fields; the flow rates are the change of the mass.
sed '/^refinement:/,/criteria/d' leave.yaml >even.yaml
run 0 1 even.yaml --set output.sides.every=1 --set output.integrals.every=1
expected=$(checksum)
paste -d, out/integrals.csv out/sides.csv >both.csv
python3 - both.csv <<'PY' || complain "mass and flow rates: $(tail -n 2 both.csv)"
import csv, sys
rows = list(csv.reader(open(sys.argv[1])))
flows = [i for i, name in enumerate(rows[0]) if name.endswith(".flow")]
mass, cells = rows[0].index("mass"), 40 * 24 - 3 * 2
most = worst = 0
for before, row in zip(rows[1:], rows[2:]):
    change, flow = (float(row[mass]) - float(before[mass])) * cells, sum(float(row[i]) for i in flows)
    most, worst = max(most, abs(change)), max(worst, abs(change - flow))
print("mass: change up to %.3e, off by %.3e" % (most, worst))
sys.exit(not (len(flows) == 4 and most > 1e-3 and worst < 1e-11))
PY
run 0 1 even.yaml --set lbm.kernel=sparse
same 'with sparse blocks'
run 0 2 even.yaml --set lbm.kernel=vector
same 'with another kernel'

# The density is drawn to the given one.
sed 's/advection_velocity: 0.1$/&\n    pressure: 0.02/; s/advection_velocity: 0.07/&, pressure: 0.02/; s/advection_velocity: 0.02}/advection_velocity: 0.02, pressure: 0.02}/' even.yaml >drawn.yaml
run 0 1 drawn.yaml --set run.steps=500 --set output.sides.every=500
awk -F, 'NR == 1 { for (i = 1; i <= NF; i++) if ($i == "x_max.pressure") c = i } END { print $c; exit !($c > 0.01 && $c < 0.03) }' out/sides.csv ||
  complain "pressure drawn to 0.02: $(tail -n 1 out/sides.csv)"

refuse() { # refuse WORDS CHANGE
  check 2 leave.yaml --set "boundaries.x_max.$2"
  said "$1"
}
refuse 'boundaries.x_max.advection_velocity' advection_velocity=0
refuse 'boundaries.x_max.advection_velocity: is 0.6 cells per step, which must be below 0.5' advection_velocity=0.6
sed 's/advection_velocity: 0.1$/pressure: 0/' leave.yaml >none.yaml
check 2 none.yaml
said 'advection_velocity'
finish

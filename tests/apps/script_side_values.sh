# SPDX-License-Identifier: Apache-2.0
# gabion-test: timeout=240 needs=ulfm,formulas
# Flow rates, profiles and pressures of sides: the report of `check` on each side, mass that is constant to rounding
# between two flow rates, second order for oscillating flow from an inlet and between two pressures, the same bits on
# other numbers of processes, after deaths and on levels, and refusals with their place.
. "$GABION_SOURCE/tests/apps/common.sh"

cat >box.yaml <<'END'
run: {steps: 40}
domain: {cells: [32, 16], block: [8, 8], length: 2}
fluid: {viscosity: 0.01}
units: {dt: 0.0125}
boundaries:
  x_min: {type: velocity, flow_rate: 0.1, profile: parabolic}
  x_max: {type: velocity, flow_rate: -0.1}
  y_min: {type: wall}
  y_max: {type: wall}
bodies:
  - {name: block, type: box, lo: [-1, -1], hi: [0.2, 0.3], wall: staircase}
resilience: {memory: {every: 7}}
output: {integrals: {every: 1}}
END
check 0 box.yaml
said 'x_min (velocity): area 0.6875 m, hydraulic diameter 1.375 m, flow rate 0.1 m^2/s in, mean velocity 0.1455 m/s, Re 20'
said 'x_max (velocity): area 1 m, hydraulic diameter 2 m, flow rate 0.1 m^2/s out, mean velocity 0.1 m/s, Re 20'
check 0 box.yaml --set 'boundaries.x_min.factor=1 + 0.5 * cos(pi * t / 0.3)' --set 'boundaries.x_max.factor=1 + 0.5 * cos(pi * t / 0.3)' --set boundaries.x_min.ramp_time=0.1 --set boundaries.x_max.ramp_time=0.1
said 'flow rate 0.15 m^2/s in, mean velocity 0.2182 m/s, Re 30 at its peak; at the start, flow rate 0 m^2/s in'

# keeps_mass MOST WHAT: integrals.csv of the last run.
keeps_mass() {
  awk -F, -v most="$1" 'NR == 1 { for (i = 1; i <= NF; i++) if ($i == "mass") c = i } NR == 2 { first = $c } NR > 1 { d = $c / first - 1; if (d < 0) d = -d; if (!(d < most)) exit 1 }
    END { if (NR < 40) exit 1 }' out/integrals.csv || complain "mass, $2: $(tail -n 2 out/integrals.csv)"
}
run 0 1 box.yaml
said 'x_min (velocity): area 0.6875 m'
keeps_mass 1e-13 'profile and body'
run 0 1 box.yaml --set boundaries.x_min.profile=logarithmic --set boundaries.x_min.reference_height=0.4 --set boundaries.x_min.roughness_length=0.01
keeps_mass 1e-13 'logarithmic'
sed 's/profile: parabolic//' box.yaml >levels.yaml
echo 'refinement: {levels: 1, criteria: [{type: box, lo: [0, 0], hi: [0.3, 0.4]}]}' >>levels.yaml
run 0 1 levels.yaml
grep -Eq '"blocks_of_levels": \[[1-9][0-9]*, [1-9]' out/summary.json || complain "no two levels: $(cat said.txt)"
keeps_mass 1e-13 'levels'

# An outflow draws the pressure faster with a larger coefficient; the usual one is 2.
sed 's/x_max: .*/x_max: {type: outflow, pressure: 0.5}/' box.yaml >drawn.yaml
drawn=
for sigma in 0.5 2 8; do
  run 0 1 drawn.yaml --set boundaries.x_max.relaxation=$sigma
  drawn="$drawn $(awk -F, 'NR == 1 { for (i = 1; i <= NF; i++) if ($i == "mass") c = i } END { print $c }' out/integrals.csv)"
  [ $sigma != 2 ] || expected=$(checksum)
done
echo "$drawn" | awk '{ exit !($2 > $1 + 1e-6 && $3 > $2 + 1e-6) }' || complain "mass that outflows draw: $drawn"
run 0 1 drawn.yaml
[ "$(checksum)" = "$expected" ] || complain 'the usual relaxation of an outflow is not 2'
check 2 drawn.yaml --set boundaries.x_max.relaxation=0
said 'boundaries.x_max.relaxation'

# The same bits on other numbers of processes, and after deaths, with a profile that turns and pressures in time and place.
printf '0 1\n0.25 1.5\n0.5 1\n' >pump.csv
cat >turns.yaml <<'END'
run: {steps: 60}
domain: {cells: [32, 16], block: [8, 8], length: 2}
fluid: {viscosity: 0.01}
units: {dt: 0.0125}
boundaries:
  x_min: {type: velocity, flow_rate: 0.1, profile: womersley, period: 0.4, ramp_time: 0.2, turbulence_intensity: 0.1, turbulence_length: 0.2}
  x_max: {type: pressure, pressure: 0.05, shape: 1 + 0.1 * y, series: pump.csv, series_repeats: true, sponge_thickness: 0.5, sponge_damping: 1, sponge_viscosity: 4}
  y_min: {type: wall, slip_length: 0.05}
  y_max: {type: wall, roughness_length: 0.01, eddy_height: 0.4}
bodies:
  - {name: block, type: box, lo: [-1, -1], hi: [0.2, 0.3], wall: staircase}
resilience: {memory: {every: 7}}
refinement: {levels: 1, criteria: [{type: box, lo: [0, 0], hi: [0.3, 0.4]}]}
END
run 0 1 turns.yaml
expected=$(checksum)
run 0 3 turns.yaml --inject rank=1,step=23,phase=exchange
said 'rank 1 died'
[ "$(checksum)" = "$expected" ] || complain 'another checksum after a death'
rm -rf out
timeout 100 "$GABION_LAUNCH" -n 3 --spares 1 -- "$gabion" run turns.yaml --set 'resilience.strategies=[local, shrink]' \
  --inject rank=0,step=23,phase=exchange --out out >said.txt 2>&1 || complain "local: $(cat said.txt)"
said 'rank 0 died'
[ "$(checksum)" = "$expected" ] || complain 'another checksum under local'
for change in boundaries.x_min.flow_rate=0.11 boundaries.x_min.period=0.5 boundaries.x_max.shape=1 boundaries.x_max.sponge_damping=0.8 boundaries.x_min.turbulence_seed=2 "boundaries.x_min.turbulence_stresses=[4e-4, 1e-4, 5e-5]" boundaries.y_min.slip_length=0.06 boundaries.y_max.roughness_length=0.011 boundaries.y_max.eddy_height=0.3; do
  run 0 1 turns.yaml --set "$change"
  [ "$(checksum)" != "$expected" ] || complain "$change changes nothing"
done
# In a layer of eddies the stress is uniform over the height: that on the ground and on the lid follows from the
# populations with the viscosity of the layer.
cat >ground.yaml <<'END'
run: {steps: 8000}
domain: {cells: [4, 16], block: [4, 8]}
fluid: {viscosity: 1e-7}
units: {dt: 1}
lbm: {collision: rr}
initial: {type: uniform, velocity: [-0.04, 0]}
boundaries:
  y_min: {type: wall, roughness_length: 0.1, eddy_height: 16}
  y_max: {type: velocity, velocity: [-0.05, 0]}
output:
  sides: {every: 8000, forces: true}
  probes: {every: 8000, quantities: [wall_shear_stress]}
  points: [{name: ground, at: [2, 0.5]}, {name: lid, at: [2, 15.5]}]
END
run 0 1 ground.yaml
paste -d, out/sides.csv out/probes.csv | awk -F, 'NR == 1 { for (i = 1; i <= NF; i++) if ($i == "y_min.fx" || $i ~ /^(ground|lid).*[._]x$/) column[++n] = i }
  function off(a, b) { return a / b - 1 > 0.03 || a / b - 1 < -0.03 }
  END { exit n != 3 || !($column[1] < -4e-5) || off(4 * $column[2], $column[1]) || off(-4 * $column[3], $column[1]) }' ||
  complain "stress on the ground: $(paste -d, out/sides.csv out/probes.csv)"

"$gabion" check turns.yaml --set lbm.collision=smagorinsky >said.txt 2>&1 && complain 'eddy_height with smagorinsky: taken'
said 'boundaries.y_max.eddy_height: collision smagorinsky'
"$gabion" check turns.yaml --set boundaries.y_max.eddy_height=0.015 >said.txt 2>&1 && complain 'eddy_height below the first cell: taken'
said 'boundaries.y_max.eddy_height: has no effect: it is 0.48 cells of the finest level'
"$gabion" check turns.yaml --set boundaries.y_max.eddy_height=0.016 >said.txt 2>&1 || complain "eddy_height above the first cell: $(cat said.txt)"
run 0 1 turns.yaml --set resilience.disk.every=20
"$gabion" run turns.yaml --set resilience.disk.every=20 --set run.steps=80 --set boundaries.x_min.flow_rate=0.11 --out out >said.txt 2>&1 && complain 'another flow rate: resumed'
said 'of another case'
"$gabion" run turns.yaml --set resilience.disk.every=20 --set run.steps=80 --set bodies.0.torque_point=[0,0.1] --out out >said.txt 2>&1 && complain 'another torque_point: resumed'
said 'bodies.0.torque_point'
"$gabion" run turns.yaml --set resilience.disk.every=20 --set run.steps=80 --out out >said.txt 2>&1 || complain "not resumed: $(cat said.txt)"
resumed=$(checksum)
run 0 1 turns.yaml --set run.steps=80
[ "$(checksum)" = "$resumed" ] || complain 'another checksum after a restart'

# Blocks at a side with a shaped pressure do not share their links: sparse blocks share none. A pressure that balances
# a body force along the side leaves the fluid at rest.
cat >rise.yaml <<'END'
run: {steps: 3000}
domain: {cells: [16, 32], block: [4, 4], length: 1}
fluid: {viscosity: 0.05, acceleration: [0, 0.4]}
units: {dt: 0.004}
boundaries:
  x_min: {type: pressure, pressure: 0.4, shape: 1 + y}
  x_max: {type: pressure, pressure: 0.4, shape: 1 + y}
  y_min: {type: wall}
  y_max: {type: wall}
output: {probes: {every: 3000, quantities: [pressure, velocity]}, points: [{name: a, at: [0.03125, 0.53125]}, {name: b, at: [0.03125, 1.46875]}]}
END
run 0 1 rise.yaml
expected=$(checksum)
awk -F, 'END { d = ($7 - $3) / (0.4 * 0.9375) - 1; exit !(NR > 1 && d < 0.02 && d > -0.02 && $5 < 0.01 && $5 > -0.01) }' out/probes.csv || complain "pressure along a side: $(tail -n 1 out/probes.csv)"
run 0 1 rise.yaml --set lbm.kernel=sparse
[ "$(checksum)" = "$expected" ] || complain 'another checksum with sparse blocks'

# Oscillating flow in a channel, alpha = 2, from rest over three periods: behind an inlet with the mean cos(2 pi t),
# and between two pressures with the difference cos(2 pi t). Half height 1, period 1, viscosity 2 pi / 4.
womersley() { # womersley CELLS KIND: largest error over 8 heights over the largest velocity
  cat >channel.yaml <<END
run: {time: 3}
domain: {cells: [$1, $1], block: [$(($1 / 2)), $(($1 / 2))], dx: $(awk "BEGIN { print 2 / $1 }")}
fluid: {viscosity: 1.5707963267948966}
units: {dt: $(awk "BEGIN { print (8 / $1) ^ 2 / 400 }")}
boundaries:
  x_min: $3
  x_max: {type: pressure}
  y_min: {type: wall}
  y_max: {type: wall}
output: {probes: {every: 1000000, quantities: [velocity]}, lines: [{name: a, from: [0.125, 0.125], to: [0.125, 1.875], count: 8}]}
END
  run 0 1 channel.yaml
  python3 - out/probes.csv "$2" <<'PY'
import cmath, csv, math, sys
last = list(csv.reader(open(sys.argv[1])))
names, last = last[0], [float(x) for x in last[-1]]
t, k = last[1], cmath.sqrt(1j) * 2
columns = [i for i, n in enumerate(names) if n.endswith(".x") or n.endswith("_x")]
worst = most = 0
for n, i in enumerate(columns):
    y = 0.125 + 0.25 * n - 1
    w = 1 - cmath.cosh(k * y) / cmath.cosh(k)
    w = w * 0.01 / (1 - cmath.tanh(k) / k) if sys.argv[2] == "inlet" else w * 0.01 / (2 * 2j * math.pi)
    u = (w * cmath.exp(2j * math.pi * t)).real
    most, worst = max(most, abs(w)), max(worst, abs(last[i] - u))
print("%.4e" % (worst / most if len(columns) == 8 else math.nan), end=" ")
PY
}
of_order_two() { # of_order_two ERRORS LEAST MOST WHAT
  echo "$4: $1"
  echo "$1" | awk -v least="$2" -v most="$3" '{ p = log($1 / $2) / log(3); exit !($2 < 0.01 && $2 > 1e-7 && p > least && p < most) }' || complain "$4: errors $1 are not of second order"
}
inlet='{type: velocity, velocity: [0.01, 0], profile: womersley, period: 1}'
errors="$(womersley 8 inlet "$inlet")$(womersley 24 inlet "$inlet")"
of_order_two "$errors" 1.7 2.5 'oscillating inlet'
drive='{type: pressure, pressure: 0.01, factor: cos(2 * pi * t)}'
errors="$(womersley 8 drive "$drive")$(womersley 24 drive "$drive")"
of_order_two "$errors" 1.5 3 'oscillating pressure'

# The same in a tube of radius 1, an interpolated wall: at five places that are centres of cells of both grids.
tube() { # tube DX CELLS_X CELLS_YZ
  cat >tube.yaml <<END
run: {time: 2}
domain: {cells: [$2, $3, $3], block: [$2, $3, $3], dx: $1, origin: [0, -1.2, -1.2]}
fluid: {viscosity: 1.5707963267948966}
units: {dt: $(awk "BEGIN { print $1 * $1 / 25 }")}
boundaries:
  x_min: {type: velocity, velocity: [0.01, 0, 0], profile: womersley, period: 1, radius: 1}
  x_max: {type: pressure}
  y_min: {type: wall}
  y_max: {type: wall}
  z_min: {type: wall}
  z_max: {type: wall}
bodies: [{name: tube, type: cylinder, axis: x, centre: [0, 0, 0], radius: 1, inside: fluid}]
output:
  probes: {every: 1000000, quantities: [velocity]}
  points: [{name: a, at: [1.05, 0.15, 0.15]}, {name: b, at: [1.05, 0.45, 0.15]}, {name: c, at: [1.05, 0.75, 0.15]}, {name: d, at: [1.05, 0.45, 0.45]}, {name: e, at: [1.05, -0.75, -0.45]}]
END
  run 0 1 tube.yaml
  python3 - out/probes.csv <<'PY'
import cmath, csv, math, sys
def bessel(order, z):
    term = (z / 2) ** order
    total = term
    for k in range(1, 60):
        term *= -z * z / 4 / (k * (k + order))
        total += term
    return total
last = list(csv.reader(open(sys.argv[1])))
names, last = last[0], [float(x) for x in last[-1]]
turn = cmath.exp(0.75j * math.pi) * 2
worst = most = 0
columns = [i for i, n in enumerate(names) if n.endswith(".x")]
for (y, z), i in zip([(0.15, 0.15), (0.45, 0.15), (0.75, 0.15), (0.45, 0.45), (0.75, 0.45)], columns):
    w = 0.01 * (1 - bessel(0, turn * math.hypot(y, z)) / bessel(0, turn)) / (1 - 2 * bessel(1, turn) / (turn * bessel(0, turn)))
    most, worst = max(most, abs(w)), max(worst, abs(last[i] - (w * cmath.exp(2j * math.pi * last[1])).real))
print("%.4e" % (worst / most if len(columns) == 5 else math.nan), end=" ")
PY
}
of_order_two "$(tube 0.3 7 8)$(tube 0.1 21 24)" 1.7 3 'oscillating flow in a tube'
check 0 tube.yaml --set units.dt=0.01
said 'sound on the lattice crosses the domain in'

# Meaningless values.
fails() { # fails WORDS OPTIONS...: check refuses box.yaml with them
  local words=$1
  shift
  check 2 box.yaml "$@"
  said "$words"
}
X=boundaries.x_min
fails 'must not be 0' --set $X.flow_rate=0
fails 'Mach' --set $X.flow_rate=9 --set boundaries.x_max.flow_rate=-9
fails "$X.flow_rate: the profile lets 0 cells per step pass" --set bodies.0.hi='[0.2, 2]'
fails 'pipe needs radius' --set $X.profile=pipe
fails 'in 2D there are no tubes' --set $X.profile=pipe --set $X.radius=0.2
fails 'womersley needs period' --set $X.profile=womersley
fails 'has no effect: the profile is parabolic' --set $X.exponent=0.2
fails 'must be a side next to this one' --set $X.profile=power_law --set $X.exponent=0.2 --set $X.reference_height=1 --set $X.ground=x_max
fails 'must be above the displacement height 0.4' --set $X.profile=logarithmic --set $X.reference_height=0.3 --set $X.displacement_height=0.4 --set $X.roughness_length=0.01
fails 'the Womersley number is' --set $X.profile=womersley --set $X.period=1e-9
sed 's/x_min: .*/x_min: {type: velocity}/' box.yaml >none.yaml
check 2 none.yaml
said 'needs velocity, flow_rate or from'
sed 's/x_max: .*/x_max: {type: pressure, factor: cos(t)}/' box.yaml >zero.yaml
check 2 zero.yaml
said 'is 0: shape, factor, series and ramp_time have no effect'
check 2 zero.yaml --set boundaries.x_max.pressure=1 --set boundaries.x_max.factor=100
said 'boundaries.x_max.pressure: its largest value changes the density'
check 2 zero.yaml --set boundaries.x_max.pressure=1 --set 'boundaries.x_max.shape=1 / (y - 0.03125)'
said "boundaries.x_max.shape: the formula '1 / (y - 0.03125)'"
# The slip length is in cells of the level of a block, whichever process has made the lists of another level before.
cat >slips.yaml <<'END'
run: {steps: 40}
domain: {cells: [32, 16], block: [8, 8], dx: 0.125}
fluid: {viscosity: 0.02, velocity: 0.4, length: 0.6}
units: {lattice_velocity: 0.05}
boundaries:
  x_min: {type: velocity, velocity: [0.4, 0]}
  x_max: {type: outflow}
  y_min: {type: wall}
  y_max: {type: wall, slip_length: 0.05}
bodies:
  - {name: rod, type: cylinder, centre: [1.6, 0.95], radius: 0.3}
refinement: {levels: 2, every: 10, criteria: [{type: bodies, distance: 0.05}, {type: vorticity, above: 1.5, below: 1}]}
END
run 0 1 slips.yaml
said 'boundaries.y_max: where a border between levels meets this wall'
expected=$(checksum)
for n in 2 3; do
  run 0 $n slips.yaml
  [ "$(checksum)" = "$expected" ] || complain "another checksum of a slip wall on $n processes"
done
cat >slip_levels.yaml <<'END'
run: {steps: 3000}
domain: {cells: [16, 8], block: [4, 4], dx: 0.25}
fluid: {viscosity: 0.05, velocity: 0.4, length: 2, acceleration: [0.02, 0]}
units: {lattice_velocity: 0.05}
boundaries: {y_min: {type: wall}, y_max: {type: wall, slip_length: 0.5}}
refinement: {levels: 2, criteria: [{type: box, level: 1, lo: [-1, -1], hi: [9, 9]}, {type: box, level: 2, lo: [2.0, -1], hi: [9, 9]}]}
output: {probes: {every: 3000, quantities: [velocity]}, points: [{name: near, at: [3.01, 1.99]}]}
END
run 0 1 slip_levels.yaml
# 0.155; 0.170 without a border, 0.109 with the slip length of the other level
tail -n 1 out/probes.csv | awk -F, '{ exit !($3 > 0.145 && $3 < 0.17) }' || complain "velocity at a slip wall of level 2: $(tail -n 1 out/probes.csv)"
finish

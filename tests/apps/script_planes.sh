# SPDX-License-Identifier: Apache-2.0
# gabion-test: timeout=200 needs=ulfm
# Planes: files have the same bytes on other numbers of processes, after deaths (of rank 0 under local, too) and a
# restart. So has a flow with an inlet from such a file: a uniform flow is reproduced to rounding, and a channel
# converges to the precursor. Refusals.
. "$GABION_SOURCE/tests/apps/common.sh"
. "$GABION_SOURCE/tests/apps/street.sh"

{
  street
  echo "$adapts"
  echo 'output: {planes: [{name: behind, axis: x, position: 2.3, every: 5}, {name: along, axis: y, position: 0.95, every: 7, start: 3, quantities: [velocity, vorticity]}]}'
} >street.yaml
run 0 1 street.yaml
said 'plane: out/behind.h5'
keep out/behind.h5 out/along.h5 out/behind.csv out/along.csv
same_anyhow street.yaml

# Another plane under the same name begins a new file when the run resumes.
run 0 1 street.yaml --set run.steps=25 --set resilience.disk.every=25
"$gabion" run street.yaml --set run.steps=40 --set resilience.disk.every=25 --set output.planes.0.position=2 --out out >said.txt 2>&1 ||
  complain "not resumed: $(cat said.txt)"
said 'behind.h5 was begun by a run with another plane: it is out/behind_1.h5 now'
said 'behind.csv was begun by a run with other rows: it is out/behind_1.csv now'
not_said 'along.csv was begun'
[ -s out/behind.h5 ] && [ -s out/behind_1.h5 ] && [ "$(sed -n 2p out/behind.csv | cut -d, -f1)" -gt 25 ] || complain "files: $(ls out)"

bad() { # SETTING TEXT
  check 2 street.yaml --set "$1"
  said "$2"
}
bad output.planes.0.axis=z 'in 2D there is no axis z: give x or y'
bad output.planes.0.position=4.1 'x = 4.1 is outside the domain, which ranges from 0 to 4'
bad 'output.planes.0.quantities=[speed, nothing]' 'nothing'
bad output.planes.0.every=0 'every = 0 is out of range'
bad output.planes.0.name=a/b 'a/b'
bad output.planes.1.name=behind 'behind'
run 2 1 street.yaml --set output.integrals.every=5 --set output.planes.1.name=integrals
said 'output.planes.1.name: the files would be those of another table'
sed 's/position: 2.3, //' street.yaml >bare.yaml
check 2 bare.yaml
said 'bare.yaml:13:19: missing key output.planes.0.position'

# A plane as inflow, of a flow that varies: the cells behind the rod again, twice as wide, on levels.
run 0 1 street.yaml
cp out/behind.h5 .
playing() {
  street | sed 's/x_min: .*/x_min: {type: velocity, from: behind.h5, from_time: 0.1, from_scale: 0.9}/; s/steps: 60/steps: 50/'
  echo "$adapts"
  echo 'output: {planes: [{name: inlet, axis: x, position: 0, every: 5}]}'
}
playing >playing.yaml
run 0 1 playing.yaml
grep -q '# boundaries.x_min.from has content [0-9a-f]*' out/case.yaml || complain "no hash: $(head -3 out/case.yaml)"
keep out/inlet.h5
same_anyhow playing.yaml
for change in from_time=0.09 from_scale=0.8 from_repeats=true; do
  run 0 1 playing.yaml --set "boundaries.x_min.$change"
  [ "$(checksum)" = "$expected" ] && [ "$change" != from_repeats=true ] && complain "$change changes nothing"
done
wrong() { # EDIT TEXT: of the inlet
  playing | sed "$1" >wrong.yaml
  check 2 wrong.yaml
  said "$2"
}
wrong 's/from_time: 0.1/from_time: 0.3/' 'wrong.yaml:6:33: boundaries.x_min.from: '
said 'has the times from 0 to '
wrong 's/from_time: 0.1/from_time: -0.1/' 'the run needs those from -0.1 to '
wrong 's/from: behind.h5/from: nothing.h5/' 'nothing.h5'
wrong 's/from: behind.h5/from: wrong.yaml/' 'wrong.yaml cannot be read as HDF5'
wrong 's/from: behind.h5/velocity: [0.4, 0]/' 'boundaries.x_min.from_time: has no effect without boundaries.x_min.from'
wrong 's/from: behind.h5/from: behind.h5, velocity: [0.4, 0]/' 'velocity'
wrong 's/from: behind.h5/from: behind.h5, profile: parabolic/' 'and from exclude each other'
wrong 's/from: behind.h5/from: behind.h5, turbulence_stresses: [1e-4, 1e-4, 0], turbulence_length: 0.3/' 'turbulence_stresses: and from exclude each other'
wrong 's/from_scale: 0.9/from_offset: [0, 0.1]/' 'the plane ranges from 0.1 to 2.1 along y, what it is for from 0 to 2'
wrong 's/x_min: {.*/x_min: {type: velocity, velocity: [0.4, 0]}/; s/y_max: {.*/y_max: {type: velocity, from: behind.h5}/' 'is a plane across x; the side is across y'

# Uniform flow stays uniform; a channel behind the plane of another one has its profile to second order.
uniform() {
  cat <<'END'
run: {steps: 300, check_every: 100}
domain: {cells: [8, 8], block: [4, 4], dx: 0.125}
fluid: {viscosity: 0.03}
units: {dt: 0.05}
boundaries:
  y_min: {type: free_slip}
  y_max: {type: free_slip}
initial: {type: formula, velocity_x: 0.1}
output: {integrals: {every: 100}, planes: [{name: mid, axis: x, position: 0.5, every: 100}]}
END
}
uniform >uniform.yaml
run 0 1 uniform.yaml
cp out/mid.h5 .
uniform | sed 's/^boundaries:/&\n  x_min: {type: velocity, from: mid.h5}\n  x_max: {type: pressure}/' >same.yaml
run 0 1 same.yaml
awk -F, 'NR == 1 {for (i = 1; i <= NF; i++) column[$i] = i} NR > 1 {worst = $column["max_speed"] - 0.1; if (worst * worst > 1e-30) exit 1}' out/integrals.csv ||
  complain "not uniform: $(cat out/integrals.csv)"
channel() { # CELLS SIDES LENGTH
  cat <<END
run: {time: 8}
domain: {cells: [$3, $1], block: [8, 8], dx: $(awk "BEGIN {print 1 / $1}")}
fluid: {viscosity: 0.06}
units: {dt: $(awk "BEGIN {print 1.28 / $1 / $1}")}
boundaries:
$2
  y_min: {type: wall}
  y_max: {type: wall}
initial: {type: formula, velocity_x: "y * (1 - y)"}
output: {points: [{name: p, at: [1.01, 0.49]}], probes: {every: 1000, quantities: [velocity]}, planes: [{name: plane, axis: x, position: 0, interval: 4}]}
END
}
for cells in 8 16; do
  channel $cells '' 8 | sed 's/^fluid: {/&acceleration: [0.12, 0], /; s/points.*planes/planes/' >precursor.yaml
  run 0 1 precursor.yaml
  cp out/plane.h5 precursor.h5
  channel $cells '  x_min: {type: velocity, from: precursor.h5}
  x_max: {type: pressure}' $((2 * cells)) >behind.yaml
  run 0 1 behind.yaml
  tail -n 1 out/probes.csv | cut -d, -f3
done >found.txt
awk -v n=8 '{y = 0.5 - 0.5 / n; e[NR] = $1 - y * (1 - y); n *= 2} END {print e[1], e[2]; e[1] *= e[1]; e[2] *= e[2]; exit !(NR == 2 && e[2] > 0 && e[1] / e[2] > 12 && e[1] / e[2] < 40)}' found.txt >said.txt ||
  complain "not of second order: $(cat found.txt said.txt)"
finish

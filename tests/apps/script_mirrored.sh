# SPDX-License-Identifier: Apache-2.0
# gabion-test: timeout=120
# Forces and torques of a body across a border between levels, and flows and forces of adjacent sides, of a case and
# its mirror image or with exchanged axes: the same numbers except for signs and names. The order of two overlapping
# sponges does not matter.
. "$GABION_SOURCE/tests/apps/common.sh"
last() { tail -n 1 "$1/$2.csv"; }

cat >ball.yaml <<'YAML'
run: {steps: 20}
domain: {cells: [24, 16, 16], block: [8, 8, 8], length: 24}
fluid: {viscosity: 0.03}
units: {dt: 1}
boundaries: {x_min: {type: velocity, velocity: [0.05, 0, 0]}, x_max: {type: outflow}, y_min: {type: wall}, y_max: {type: wall}, z_min: {type: wall}, z_max: {type: wall}}
bodies: [{name: b, type: sphere, centre: [9, 7, 6], radius: 3.2}]
refinement: {levels: 1, criteria: [{type: box, lo: [4, 0, 0], hi: [15, 16, 8]}]}
output: {forces: {every: 20}}
YAML
run 0 1 ball.yaml
mv out one
sed 's/x_min: \(.*\), x_max: {type: outflow}/x_max: \1, x_min: {type: outflow}/; s/\[0.05, 0, 0\]/[-0.05, 0, 0]/; s/\[9, 7, 6\]/[15, 7, 6]/
  s/lo: \[4, 0, 0\], hi: \[15, 16, 8\]/lo: [9, 0, 0], hi: [20, 16, 8]/' ball.yaml >mirrored.yaml
run 0 2 mirrored.yaml
# step, time, fx, fy, fz, ..., tx, ty, tz by name
python3 - one/forces.csv out/forces.csv <<'END' || complain "mirror: $(last one forces); $(last out forces)"
import csv, sys
a, b = (list(csv.DictReader(open(path)))[-1] for path in sys.argv[1:])
size = max(abs(float(a["b.f" + c])) for c in "xyz")
for name, sign in (("fx", -1), ("fy", 1), ("fz", 1), ("tx", 1), ("ty", -1), ("tz", -1)):
    this, other = float(a["b." + name]), sign * float(b["b." + name])
    assert abs(this - other) <= 1e-12 * size, (name, this, other)
assert abs(float(a["b.tx"])) < 0.005 * size, "a torque out of the plane of symmetry"
assert abs(float(a["b.ty"])) > 1e-4 * size
END

cat >corner.yaml <<'YAML'
run: {steps: 30}
domain: {cells: [12, 8], block: [4, 4], length: 12}
fluid: {viscosity: 0.05}
units: {dt: 1}
boundaries: {x_min: {type: velocity, velocity: [0.05, 0.01]}, x_max: {type: pressure, sponge_thickness: 5, sponge_damping: 1}, y_min: {type: outflow, sponge_thickness: 4, sponge_damping: 1, sponge_velocity: [0, 0]}, y_max: {type: velocity, velocity: [0.01, -0.03]}}
output: {sides: {every: 30, forces: true}}
YAML
run 0 1 corner.yaml
mv out corner
sed 's/cells: \[12, 8\]/cells: [8, 12]/; s/length: 12/length: 8/; s/x_min/X_min/; s/x_max/X_max/; s/y_min/x_min/; s/y_max/x_max/; s/X_/y_/g
  s/\[0.05, 0.01\]/[0.01, 0.05]/; s/\[0.01, -0.03\]/[-0.03, 0.01]/' corner.yaml >turned.yaml
run 0 1 turned.yaml
python3 - corner/sides.csv out/sides.csv <<'END' || complain "turned: $(last corner sides); $(last out sides)"
import csv, sys
a, b = (list(csv.DictReader(open(path)))[-1] for path in sys.argv[1:])
swap = str.maketrans("xy", "yx")
compared = 0
for name, value in a.items():
    if "." not in name: continue
    side, what = name.split(".")
    other = b[side[0].translate(swap) + side[1:] + "." + (what.translate(swap) if what in ("fx", "fy") else what)]
    assert abs(float(value) - float(other)) < 1e-12, (name, value, other)
    compared += float(value) != 0
assert compared >= 10, compared
END
# A uniform flow at an angle: each side has its part of the flow and of its momentum.
cat >uniform.yaml <<'YAML'
run: {steps: 2}
domain: {cells: [8, 8], block: [4, 4], length: 8}
fluid: {viscosity: 0.1}
units: {dt: 1}
initial: {velocity: [0.05, 0.03]}
boundaries: {x_min: {type: velocity, velocity: [0.05, 0.03]}, y_min: {type: velocity, velocity: [0.05, 0.03]}, x_max: {type: outflow}, y_max: {type: outflow}}
output: {sides: {every: 2, forces: true}}
YAML
run 0 1 uniform.yaml
python3 - out/sides.csv <<'END' || complain "uniform: $(last out sides)"
import csv, sys
row = list(csv.DictReader(open(sys.argv[1])))[-1]
for name, wanted in (("x_min.flow", 0.4), ("y_min.flow", 0.24), ("x_max.flow", -0.4), ("y_max.flow", -0.24), ("x_min.fx", -0.02),
                     ("x_min.fy", -0.012), ("y_min.fx", -0.012), ("y_min.fy", -0.0072)):
    assert abs(float(row[name]) - wanted) < 1e-9, (name, row[name], wanted)
END
finish

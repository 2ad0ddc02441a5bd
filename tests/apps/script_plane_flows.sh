# SPDX-License-Identifier: Apache-2.0
# gabion-test: timeout=100
# Integrals over planes: in a steady duct behind an inlet with a given flow rate, each plane has that flow rate: to 2e-5
# on one level, across a body as well, and to 1e-3 across and near level borders; in 2D and 3D. Mean velocity, mean pressure
# and area are those of Poiseuille's flow and of the cells. The bytes do not depend on processes, blocks and block order; the
# results of summary.json are the last row.
. "$GABION_SOURCE/tests/apps/common.sh"

# verify PYTHON: with the planes and sides of the results, the columns of NAME.csv and near(value, wanted, relative error).
verify() {
  python3 - "$1" >>complaints.txt 2>&1 <<'PY' || complain "$(cat complaints.txt)"
import csv, glob, json, sys
results = json.load(open("out/summary.json"))["results"]
planes, sides = ({p["name"]: p for p in results[kind]} for kind in ("planes", "sides"))
rows = {name: [{k: float(v) for k, v in row.items()} for row in csv.DictReader(open("out/%s.csv" % name))] for name in planes}
def near(value, wanted, error):
    assert abs(value - wanted) <= error * abs(wanted), (value, wanted, value / wanted - 1)
unit = "flow_rate_m2_per_s" if "flow_rate_m2_per_s" in next(iter(planes.values())) else "flow_rate_m3_per_s"
flow = {name: p[unit] for name, p in planes.items()}
for name, p in planes.items():
    last = rows[name][-1]
    assert [last[k] for k in ("flow", "velocity", "pressure", "area")] == list(p.values())[1:], (last, p)
exec(sys.argv[1])
PY
}

flat() {
  cat <<'END'
run: {steps: 3200, check_every: 1600}
domain: {cells: [48, 16], block: [8, 8], dx: 0.0625}
fluid: {viscosity: 0.3}
units: {dt: 0.004}
boundaries:
  x_min: {type: velocity, flow_rate: 0.2, profile: parabolic}
  x_max: {type: pressure}
  y_min: {type: wall}
  y_max: {type: wall}
bodies:
  - {name: rod, type: cylinder, centre: [0.8, 0.45], radius: 0.2, wall: staircase}
output:
  sides: {every: 3200}
  planes:
    - {name: inlet, axis: x, position: 0, every: 1600}
    - {name: across, axis: x, position: 0.81, every: 1600}
    - {name: face, axis: x, position: 1.5, every: 1600}
    - {name: later, axis: x, position: 2.5, every: 3200, start: 3200}
    - {name: end, axis: x, position: 3, every: 1600}
    - {name: along, axis: y, position: 1, every: 1300}
END
}
flat >flat.yaml
run 0 1 flat.yaml
verify '
for name in ("inlet", "across", "face", "later", "end"): near(flow[name], 0.2, 2e-5)
near(flow["end"], -sides["x_max"][unit], 1e-5)
assert [len(rows[name]) for name in ("inlet", "later")] == [3, 1]
assert [row["step"] for row in rows["along"]] == [0, 1300, 2600, 3200]
assert planes["face"]["area_m"] == 1 and planes["along"]["area_m"] == 3
# without the solid cells of the layer
assert planes["across"]["area_m"] == 1 - sum((0.78125 - 0.8) ** 2 + ((k + 0.5) / 16 - 0.45) ** 2 < 0.04 for k in range(16)) / 16
density = lambda p: 1 + 3 * (0.004 / 0.0625) ** 2 * p["pressure_Pa"]
for name in ("inlet", "across", "face"): near(planes[name]["velocity_m_per_s"] * planes[name]["area_m"] * density(planes[name]), 0.2, 1e-3)
# 12 nu U / h^2, between centres of cells; half-way walls with the magic parameter have it to rounding, compressibility aside
near((planes["later"]["pressure_Pa"] - planes["end"]["pressure_Pa"]) / (2.53125 - 2.96875), -12 * 0.3 * 0.2, 1e-2)
'
cp -r out one
run 0 3 flat.yaml --set 'domain.block=[16, 4]'
for file in one/*.csv; do cmp -s "$file" "out/${file#one/}" || complain "${file#one/} depends on processes or blocks"; done

# A plane beside the border of levels, and one that crosses both.
flat | sed 's/^output:/refinement: {levels: 1, criteria: [{type: box, lo: [2.1, 0.1], hi: [2.9, 0.2]}]}\n&/' >levels.yaml
run 0 1 levels.yaml
verify '
for name in ("inlet", "across", "face", "later", "end"): near(flow[name], 0.2, 2e-4)
assert planes["later"]["area_m"] == 1
'
rm -rf one && cp -r out one
run 0 3 levels.yaml
for file in one/*.csv; do cmp -s "$file" "out/${file#one/}" || complain "${file#one/} depends on processes, on levels"; done

cat >duct.yaml <<'END'
run: {steps: 1800, check_every: 900}
domain: {cells: [16, 8, 8], block: [4, 4, 4], dx: 0.125}
fluid: {viscosity: 0.2}
units: {dt: 0.006}
boundaries:
  x_min: {type: velocity, flow_rate: 0.1, profile: parabolic}
  x_max: {type: pressure}
  y_min: {type: wall}
  y_max: {type: wall}
  z_min: {type: wall}
  z_max: {type: wall}
bodies:
  - {name: ball, type: sphere, centre: [0.5, 0.45, 0.5], radius: 0.2, wall: staircase}
refinement: {levels: 1, criteria: [{type: box, lo: [1.1, 0.6, 0], hi: [1.4, 0.9, 0.4]}]}
output:
  sides: {every: 1800}
  planes: [{name: inlet, axis: x, position: 0, every: 900}, {name: across, axis: x, position: 0.5, every: 900}, {name: border, axis: x, position: 1.3, every: 900}, {name: end, axis: x, position: 2, every: 900}]
END
run 0 2 duct.yaml
verify '
for name in planes: near(flow[name], 0.1, 1e-3)
assert planes["border"]["area_m2"] == 1 and 0.8 < planes["across"]["area_m2"] < 0.95
'

# Warm fluid at rest: its weight moves nothing through a plane.
cat >warm.yaml <<'END'
run: {steps: 2000, check_every: 0}
domain: {cells: [8, 16], block: [8, 8], dx: 0.0625}
fluid: {viscosity: 0.1}
units: {dt: 0.004}
boundaries: {x_min: {type: wall}, x_max: {type: wall}, y_min: {type: wall}, y_max: {type: wall}}
scalars: [{name: heat, diffusivity: 0.1, initial: 1, reference: 0, expansion: 0.1, gravity: [0, -10]}]
output: {planes: [{name: middle, axis: y, position: 0.53125, every: 2000, quantities: [velocity]}]}
END
run 0 1 warm.yaml
python3 -c 'import csv
last = list(csv.DictReader(open("out/middle.csv")))[-1]
assert float(last["area"]) == 0.5 and abs(float(last["velocity"])) < 5e-5 and abs(float(last["flow"])) < 5e-5, last' || complain "warm: $(cat out/middle.csv)"
finish

# SPDX-License-Identifier: Apache-2.0
# gabion-test: timeout=100 labels=quick needs=ulfm
# The section `porous`: a plug has the pressure drop of the law between two planes, and force / area is that drop; the same bits and tables on
# 3 processes with a death, by shrink and local, and on adaptive levels; `check` shows cells and drag; what cannot be is refused, by `run` too;
# a canopy on rough ground keeps the log law; a start from a run with the same drag continues it to the bit.
. "$GABION_SOURCE/tests/apps/common.sh"

cat >plug.yaml <<'YAML'
run: {steps: 3000, processes: 3}
domain: {cells: [48, 16], block: [8, 8], length: 0.48}
fluid: {viscosity: 1.0e-4, density: 1000, velocity: 0.002, length: 0.1}
units: {dt: 0.05}
boundaries:
  x_min: {type: velocity, velocity: [0.002, 0]}
  x_max: {type: pressure}
  y_min: {type: free_slip}
  y_max: {type: free_slip}
initial: {velocity: [0.002, 0]}
porous:
  - {name: plug, type: box, lo: [0.16, -1], hi: [0.32, 1], permeability: [4.0e-4, 1.0e-4], forchheimer: [50]}
resilience: {memory: {every: 100}}
output:
  porous: {every: 50}
  planes:
    - {name: before, axis: x, position: 0.12, every: 500}
    - {name: behind, axis: x, position: 0.36, every: 500}
YAML
# 0.16 m * 1000 kg/m^3 * (1e-4 / 4e-4 * 0.002 + 50 * 0.002^2) = 0.112 Pa
run 0 1 plug.yaml
python3 - <<'END' || complain 'the pressure drop is not that of the law'
import csv, json
found = json.load(open("out/summary.json"))["results"]
planes = {plane["name"]: plane["pressure_Pa"] for plane in found["planes"]}
plug = found["porous"][0]
force, drop = plug["force_N_per_m"][0] / 0.16, planes["before"] - planes["behind"]
rows = list(csv.reader(line for line in open("out/porous.csv") if not line.startswith("#")))
last = dict(zip(rows[0], map(float, rows[-1])))
name = next(key for key in last if key.startswith("plug.fx"))

near = lambda a, b, share: abs(a / b - 1) < share
raise SystemExit(not (near(drop, 0.112, 2e-3) and near(force, 0.112, 2e-3) and near(plug["superficial_velocity_m_per_s"][0], 0.002, 6e-3) and
                      near(plug["pressure_gradient_Pa_per_m"][0], 0.7, 2e-3) and near(last[name], plug["force_N_per_m"][0], 1e-12)))
END
plain=$(checksum)
cp out/porous.csv alone.csv
run 0 3 plug.yaml --inject rank=1,step=330,phase=exchange
said 'rank 1 died'
[ "$(checksum)" = "$plain" ] || complain 'another checksum after a death'
cmp -s out/porous.csv alone.csv || complain 'another porous.csv after a death'
rm -rf out
timeout 100 "$GABION_LAUNCH" -n 3 --spares 1 -- "$gabion" run plug.yaml --set 'resilience.strategies=[local, shrink]' \
  --inject rank=0,step=330,phase=exchange --out out >said.txt 2>&1 || complain "local: $(cat said.txt)"
[ "$(checksum)" = "$plain" ] || complain 'another checksum after a local recovery'
cmp -s out/porous.csv alone.csv || complain 'another porous.csv after a local recovery'

# A disc on levels that follow the flow; heat drives, too.
sed -e '/^output:/,$d' -e 's/steps: 3000/steps: 120/' -e 's/type: box, lo: .*, permeability/type: cylinder, centre: [0.2, 0.08], radius: 0.04, permeability/' plug.yaml >disc.yaml
cat >>disc.yaml <<'YAML'
refinement: {levels: 1, every: 10, criteria: [{type: vorticity, above: 0.02, below: 0.01}]}
scalars: [{name: heat, diffusivity: 1.0e-4, initial: 1, expansion: 1.0e-3, reference: 0, gravity: [0, -0.01]}]
scalar_boundaries: [{type: value, at: [x_min], value: 1.2}]
output: {porous: {every: 10}}
YAML
run 0 1 disc.yaml
plain=$(checksum)
cp out/porous.csv alone.csv
run 0 3 disc.yaml --inject rank=2,step=57,phase=compute
[ "$(checksum)" = "$plain" ] || complain 'another checksum on levels after a death'
cmp -s out/porous.csv alone.csv || complain 'another porous.csv on levels after a death'

timeout 20 "$gabion" check plug.yaml >said.txt 2>&1 || complain "check: $(cat said.txt)"
said 'porous region plug: permeability 0.0004, 0.0001 m^2, Darcy number 0.04, Forchheimer 50 1/m, 256 cells; the drag takes 0.05 of the momentum in a step'
refused() { # refused TEXT SED
  sed "$2" plug.yaml >wrong.yaml
  ! timeout 20 "$gabion" check wrong.yaml >said.txt 2>&1 || complain "not refused: $2"
  said "$1"
}
refused 'wrong.yaml:12:74: porous.0.permeability' 's/\[4.0e-4, 1.0e-4\]/[1.0e-6]/'
said 'gives a drag of 5 of the momentum in a step of level 0, more than 1.9: shorten units.dt to 0.019 s'
refused 'gives a drag that grows by' 's/forchheimer: \[50\]/forchheimer: [10000]/'
refused 'is needed' 's/permeability: [^]]*\], //'
refused 'needs one number, or 2, one for each axis' 's/\[4.0e-4, 1.0e-4\]/[1, 1, 1]/'
refused 'covers no centre of a fluid cell' 's/lo: \[0.16, -1\], hi: \[0.32, 1\]/lo: [0.161, 0], hi: [0.162, 1]/'
refused 'there are no porous regions' '/^porous:/d; /name: plug/d'
refused 'unknown key' 's/type: box/wall: staircase, type: box/'
refused 'needs a fluid with one viscosity' 's/fluid: {/fluid: {model: power_law, exponent: 0.8, /'
runs_not() { # runs_not TEXT SED: refused by check and run
  refused "$1" "$2"
  ! timeout 20 "$gabion" run wrong.yaml --out wrong >said.txt 2>&1 || complain "runs: $2"
  said "$1"
}
runs_not 'wrong.yaml:12:74: porous.0.permeability: gives a drag of 5' 's/\[4.0e-4, 1.0e-4\]/[1.0e-6]/'
runs_not 'wrong.yaml:5:20: lbm.collision: smagorinsky takes the drag of porous regions for a rate of strain' 's/^boundaries:/lbm: {  collision: smagorinsky}\n&/'
runs_not 'boundaries.y_min.eddy_height: takes the drag' 's/y_min: .*/y_min: {type: wall, roughness_length: 0.001, eddy_height: 0.02}/; s/viscosity: 1.0e-4/viscosity: 1.0e-6/'
for outlet in outflow characteristic 'convective, advection_velocity: 0.002'; do
  runs_not 'wrong.yaml:7:17: boundaries.x_max.type: is an outlet that takes the drag of porous.0 for pressure' \
    "s/type: pressure/type: $outlet/; s/hi: \[0.32/hi: [1/"
  sed "s/type: pressure/type: $outlet/; s/hi: \[0.32/hi: [0.47/" plug.yaml >beside.yaml
  timeout 20 "$gabion" check beside.yaml >said.txt 2>&1 || complain "a region a cell before $outlet: $(cat said.txt)"
done
# On levels blocks refuse it: a patch of the side, above y = 0.1, and a region on level 1.
sed 's/x_max: .*/x_max: {type: pressure, patches: [{name: vent, type: outflow, region: box, lo: [0, 0.1], hi: [0, 1]}]}/; s/^initial/refinement: {levels: 1, criteria: [{type: box, lo: [0.4, 0], hi: [1, 1]}]}\n&/' plug.yaml >vent.yaml
vent() { sed "s/lo: \[0.16, -1\], hi: \[0.32, 1\]/lo: [0.16, -1], hi: [1, $1]/; s/steps: 3000/steps: 5/" vent.yaml >vented.yaml; }
vent 0.1
run 0 1 vented.yaml
vent 0.106
! timeout 20 "$gabion" run vented.yaml --out wrong >said.txt 2>&1 || complain 'runs next to the vent'
said 'porous region plug: has cells at boundaries.x_max.patches.0, an outlet that takes the drag for pressure'

# Only the drag holds the fluid of a periodic box.
cat >held.yaml <<'YAML'
run: {steps: 2000}
domain: {cells: [4, 4], block: [4, 4], dx: 1}
fluid: {viscosity: 0.1, velocity: 0.05, length: 4, acceleration: [1.0e-3, 0]}
units: {dt: 1}
porous: [{type: box, lo: [-1, -1], hi: [9, 9], permeability: [5]}]
YAML
run 0 1 held.yaml
! grep -q 'nothing holds' said.txt || complain "says that nothing holds the fluid: $(cat said.txt)"

# A canopy on rough ground: the force on the ground is that of the log law with the velocity of the first cell, and with that on the canopy all of
# the body force.
cat >canopy.yaml <<'YAML'
run: {steps: 3000}
domain: {cells: [4, 8], block: [4, 8], dx: 0.5}
fluid: {viscosity: 1.0e-2, density: 1.2, velocity: 2, length: 4, acceleration: [0.2, 0]}
units: {dt: 0.01}
initial: {velocity: [0.6, 0]}
boundaries: {y_min: {type: wall, roughness_length: 0.02}, y_max: {type: free_slip}}
porous: [{name: canopy, type: box, lo: [-9, -9], hi: [99, 99], permeability: [0.0333]}]
output:
  sides: {every: 3000, forces: true}
  probes: {every: 3000, quantities: [velocity]}
  points: [{name: a, at: [1, 0.25]}]
YAML
run 0 1 canopy.yaml
python3 - <<'END' || complain 'the force on the ground is not that of the log law'
import csv, json, math
last = lambda name: list(csv.DictReader(line for line in open(name) if not line.startswith("#")))[-1]
wall, u = float(last("out/sides.csv")["y_min.fx"]), float(last("out/probes.csv")["a.velocity.x"])
law = 1.2 * 2 * (0.4 * u / math.log(0.27 / 0.02)) ** 2
drag = json.load(open("out/summary.json"))["results"]["porous"][0]["force_N_per_m"][0]
print(wall, law, drag)
raise SystemExit(not (abs(wall / law - 1) < 1e-3 and abs((wall + drag) / (1.2 * 0.2 * 8) - 1) < 1e-3))
END

# A start from a run with the same drag continues it to the bit; with another drag the velocity is taken over.
sed -e 's/steps: 3000/steps: 60/' plug.yaml >whole.yaml
run 0 1 whole.yaml
plain=$(checksum)
run 0 1 whole.yaml --set run.steps=40 --set resilience.disk.every=40
mv out before
sed -e 's/^initial: .*/initial: {type: run, from: before}/' whole.yaml >rest.yaml
run 0 2 rest.yaml --set run.steps=20
[ "$(checksum)" = "$plain" ] || complain "another state than that of the run itself: $(checksum), not $plain"
finish

# SPDX-License-Identifier: Apache-2.0
# gabion-test: timeout=200 needs=ulfm
# Heat and species in a flow, by parameter file: a heated cylinder and a dye in a channel on levels that adapt. The same bits, tables and
# pictures on other numbers of processes, after deaths (of rank 0 under local, too) and a restart; a steady flow takes up what its walls
# give; refusals with their place.
. "$GABION_SOURCE/tests/apps/common.sh"

cat >heat.yaml <<'END'
run: {steps: 60, check_every: 20}
domain: {cells: [32, 16], block: [8, 8], dx: 0.125}
fluid: {viscosity: 0.02, velocity: 0.4, length: 0.6}
units: {lattice_velocity: 0.05}
boundaries:
  x_min: {type: velocity, velocity: [0.4, 0]}
  x_max: {type: outflow}
  y_min: {type: wall}
  y_max: {type: free_slip}
bodies:
  - {name: rod, type: cylinder, centre: [1.6, 0.95], radius: 0.3}
  - {name: fin, type: box, lo: [2.5, 0.4], hi: [2.9, 0.8], wall: staircase}
refinement: {levels: 1, every: 10, criteria: [{type: bodies, distance: 0.1}, {type: vorticity, above: 1.5, below: 1}]}
scalars:
  - {name: temperature, unit: K, prandtl: 0.7, capacity: 1200, initial: 300, expansion: 3e-3, gravity: [0, -1], difference: 10}
  - {name: dye, schmidt: 2, bounded: true, initial: "exp(-4 * ((x - 1)^2 + (y - 1)^2))", source: "0.1 * (1 + cos(3 * t)) * (y > 1.5)", difference: 1}
scalar_boundaries:
  - {type: value, scalar: temperature, at: [x_min], value: 300}
  - {type: value, scalar: temperature, at: [rod], value: 310}
  - {type: flux, scalar: temperature, at: [fin], flux: 500}
  - {type: transfer, scalar: temperature, at: [y_min], coefficient: 20, outside: 290}
  - {type: value, scalar: dye, at: [x_min, fin], value: 0.5}
  - {type: adiabatic, scalar: dye, at: [rod]}
output:
  scalars: {every: 6}
  probes: {every: 10, quantities: [temperature, dye]}
  points: [{name: behind, at: [2.2, 1]}]
  slices: [{quantity: temperature, every: 30}]
  fields: {quantities: [temperature, dye, velocity]}
resilience: {memory: {every: 7}}
END
keep() { rm -rf kept && mkdir kept && cp out/scalars.csv out/probes.csv out/temperature_*.png kept; }
same() {
  [ "$(checksum)" = "$expected" ] || complain "$1: another checksum"
  for file in kept/*; do cmp -s "$file" "out/${file#kept/}" || complain "$1: ${file#kept/} differs"; done
}
run 0 1 heat.yaml
expected=$(checksum)
keep
run 0 3 heat.yaml --inject rank=1,step=23,phase=exchange --inject rank=2,step=30,phase=output
said 'rank 1 died'
same 'after deaths'
rm -rf out
timeout 100 "$GABION_LAUNCH" -n 3 --spares 1 -- "$gabion" run heat.yaml --set 'resilience.strategies=[local, shrink]' \
  --set resilience.local.verify=true --inject rank=0,step=23,phase=exchange --out out >said.txt 2>&1 || complain "local: $(cat said.txt)"
said 'rank 0 died'
same 'under local'
run 0 2 heat.yaml --set run.steps=25 --set resilience.disk.every=25
"$gabion" run heat.yaml --set resilience.disk.every=25 --out out >said.txt 2>&1 || complain "not resumed: $(cat said.txt)"
same 'after a restart'
"$gabion" plan heat.yaml --processes 2 >said.txt 2>&1 || "$gabion" plan heat.yaml >said.txt 2>&1 || complain "plan: $(cat said.txt)"
said 'populations, scalars'

# Between two plates at 1 and 3 through which nothing flows: Fourier's law, in W.
cat >plates.yaml <<'END'
run: {steps: 400}
domain: {cells: [8, 8], block: [4, 4], dx: 0.5}
fluid: {viscosity: 0.02, length: 4}
units: {dt: 1}
boundaries: {y_min: {type: wall}, y_max: {type: wall}}
scalars: [{name: heat, diffusivity: 0.05, capacity: 10, initial: "1 + y / 2", difference: 2}]
scalar_boundaries: [{type: value, at: [y_min], value: 1}, {type: value, at: [y_max], value: 3}]
END
run 0 1 plates.yaml
said 'heat, y_max: Nusselt number 1'
grep -q '"flux_y_max": 1, "nusselt_y_max": 1}' out/summary.json || complain "not 10 * 0.05 * 2 / 4 * 4: $(grep results out/summary.json)"

# A patch of a side has its own condition: what a nozzle lets in has its value, the wall around it another one.
cat >nozzle.yaml <<'END'
run: {steps: 200}
domain: {cells: [16, 16], block: [8, 8], dx: 0.25}
fluid: {viscosity: 0.05, velocity: 0.2, length: 1}
units: {lattice_velocity: 0.05}
boundaries:
  x_min: {type: wall, patches: [{name: nozzle, region: box, lo: [0, 1], hi: [0, 3], type: velocity, velocity: [0.2, 0]}]}
  x_max: {type: outflow}
  y_min: {type: wall}
  y_max: {type: wall}
scalars: [{name: heat, diffusivity: 0.02, initial: 0}]
scalar_boundaries: [{type: value, at: [nozzle], value: 1}]
output: {scalars: {every: 200}}
END
run 0 2 nozzle.yaml
# Half of the faces carry 0.2 * 2 m^2/s in; cells at the edges of the jet are warmer than that and conduct some of it back (doc/heat.md).
awk -F, 'END { exit !($6 > 0.394 && $6 < 0.401 && $5 < 1.06) }' out/scalars.csv || complain "the nozzle: $(cat out/scalars.csv)"
sed 's/at: \[nozzle\]/at: [y_min]/' nozzle.yaml >bad.yaml
check 2 bad.yaml
said 'boundaries.x_min.patches.0: fluid flows in, but heat has no value there'

refuse() { # LINE-EDIT TEXT
  sed "$1" heat.yaml >bad.yaml
  check 2 bad.yaml
  said "$2"
}
refuse 's/^  - {type: value, scalar: temperature, at: \[x_min\].*//' 'boundaries.x_min: fluid flows in, but temperature has no value there'
refuse 's/at: \[rod\], value/at: [rot], value/' "'rot' is neither a side (x_min, ...) nor the name of a body or patch"
refuse 's/scalar: dye, at: \[rod\]/scalar: die, at: [rod]/' "there is no scalar 'die'"
refuse 's/name: dye/name: speed/' "'speed' is a quantity of the flow"
refuse 's/gravity: \[0, -1\], //' 'scalars.0.gravity: is needed: expansion is given'
refuse 's/schmidt: 2, //' 'needs diffusivity, prandtl or schmidt'
refuse 's/schmidt: 2, /schmidt: 2, substeps: 1, /; s/viscosity: 0.02/viscosity: 1.5/' 'at least'
refuse 's/at: \[y_min\]/at: [x_min]/' 'x_min has a condition of temperature already'
refuse 's/quantities: \[temperature, dye\]/quantities: [temperature, die]/' 'die'
refuse 's/name: dye/name: d.y/' "bad.yaml:16:12: scalars.1.name: \`d.y' is not a valid name of a quantity"
refuse 's/name: dye/name: mean_dye/; s/^output:/output:\n  means: {quantities: [velocity]}/' "'mean_dye' could be a quantity of output.means"
refuse 's/initial: 300,/initial: "sqrt(x - 1)", reference: 300,/' "scalars.0.initial: the formula 'sqrt(x - 1)' is -nan at (0.0625, 0.0625"
refuse 's/at: \[fin\], flux/at: [fin, rod], flux/' 'scalar_boundaries.2.at: rod has a condition of temperature already'
refuse 's/name: fin/name: y_max/' "bodies.1.name: 'y_max' is the name of a side"
refuse 's/y_max: {type: free_slip}/y_max: {type: wall, patches: [{name: rod, region: box, lo: [1, 0], hi: [2, 0], type: wall}]}/' \
  "bodies.0.name: 'rod' is the name of boundaries.y_max.patches.0"
refuse 's/y_max: {type: free_slip}/y_max: {type: wall, patches: [{name: lid, region: box, lo: [1, 0], hi: [2, 0], type: wall}]}/; s/at: \[fin\], flux/at: [lid], flux/; s/at: \[y_min\]/at: [y_min, lid]/' \
  'lid has a condition of temperature already'

# Fluid may turn inwards where nothing is known of it; a hot patch counts in the speed that buoyancy can reach.
sed 's/velocity: \[0.4, 0\]/velocity: [-0.4, 0], factor: cos(t)/; s/at: \[x_min/at: [y_max/' heat.yaml >turns.yaml
check 0 turns.yaml
said 'boundaries.x_min: where its factor or shape lets fluid in, temperature has the value of the cell'
cat >lid.yaml <<'END'
run: {steps: 1}
domain: {cells: [16, 16], block: [8, 8], dx: 1}
fluid: {viscosity: 0.001}
units: {dt: 1}
boundaries: {x_min: {type: wall}, x_max: {type: wall}, y_max: {type: wall}, y_min: {type: wall, patches: [{name: lid, region: box, lo: [4, 0], hi: [8, 0], type: wall}]}}
scalars: [{name: heat, diffusivity: 0.001, expansion: 1e-3, gravity: [0, -1]}]
scalar_boundaries: [{type: value, at: [lid], value: 1}]
END
check 0 lid.yaml
said 'height) 0.126 cells per step'
sed 's/initial: 300, expansion: 3e-3, gravity: \[0, -1\],/initial: 300 + x,/' heat.yaml >offset.yaml
check 0 offset.yaml
said 'scalars.0.reference is not given, so 0, but initial lies between 300.062 and 303.938'
finish

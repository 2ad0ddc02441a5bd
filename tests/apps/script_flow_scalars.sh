# SPDX-License-Identifier: Apache-2.0
# gabion-test: timeout=200 needs=ulfm
# Heat and species in a flow, by parameter file: a heated cylinder and a dye in a channel on adaptive levels, with eddies. The same
# bits, tables and pictures on other numbers of processes, after deaths (of rank 0 under local, too) and a restart; a
# steady flow absorbs the heat of its walls; refusals with their place.
. "$GABION_SOURCE/tests/apps/common.sh"
. "$GABION_SOURCE/tests/apps/street.sh"

{
  street
  cat <<'END'
  - {name: fin, type: box, lo: [2.5, 0.4], hi: [2.9, 0.8], wall: staircase}
scalars:
  - {name: temperature, unit: K, prandtl: 0.7, turbulent_prandtl: 0.9, capacity: 1200, initial: 300, expansion: 3e-3, gravity: [0, -1], difference: 10}
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
lbm: {collision: smagorinsky}
END
  echo "$adapts"
} >heat.yaml
run 0 1 heat.yaml
keep out/scalars.csv out/probes.csv out/temperature_*.png
same_anyhow heat.yaml
"$gabion" plan heat.yaml --processes 2 >said.txt 2>&1 || "$gabion" plan heat.yaml >said.txt 2>&1 || complain "plan: $(cat said.txt)"
said 'populations, scalars'

# Between two plates at 1 and 3 through which nothing flows: Fourier's law, in W.
cat >plates.yaml <<'END'
run: {steps: 400}
domain: {cells: [8, 8], block: [4, 4], dx: 0.5}
fluid: {viscosity: 0.02, length: 4}
units: {dt: 1}
boundaries: {y_min: {type: wall}, y_max: {type: wall}}
scalars: [{name: heat, diffusivity: 0.05, capacity: 10, initial: "1 + y / 2", reference: 2, difference: 2}]
scalar_boundaries: [{type: value, at: [y_min], value: 1}, {type: value, at: [y_max], value: 3}]
END
run 0 1 plates.yaml
said 'heat, y_max: Nusselt number 1'
grep -q '"flux_y_max": 1, "nusselt_y_max": 1}' out/summary.json || complain "not 10 * 0.05 * 2 / 4 * 4: $(grep results out/summary.json)"

# A patch of a side has its own condition: inflow of a nozzle has its value, the wall around it another one.
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
# The same flow rate with a velocity that vanishes at the edges: no value leaves the range by more than 0.5 %.
sed 's/velocity: \[0.2, 0\]}/velocity: [0.3, 0], profile: parabolic}/' nozzle.yaml >parabolic.yaml
run 0 1 parabolic.yaml --set run.steps=800
awk -F, 'END { exit !($6 > 0.4 && $6 < 0.405 && $5 > 0.9 && $5 < 1.005) }' out/scalars.csv || complain "the parabolic nozzle: $(cat out/scalars.csv)"
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
refuse 's/scalar: dye, at: \[rod\]/scalar: die, at: [rod]/' "scalar_boundaries.5.scalar: 'die' is not the name of a scalar"
refuse 's/name: dye/name: speed/' "'speed' is a quantity of the flow"
refuse 's/gravity: \[0, -1\], //' 'scalars.0.gravity: is needed: expansion is given'
refuse 's/collision: smagorinsky/collision: trt/' 'scalars.0.turbulent_prandtl: needs an eddy viscosity: set lbm.collision: smagorinsky'
refuse 's/schmidt: 2, //' 'needs diffusivity, prandtl or schmidt'
refuse 's/schmidt: 2, /schmidt: 2, substeps: 1, /; s/viscosity: 0.02/viscosity: 1.5/' 'at least'
refuse 's/at: \[y_min\]/at: [x_min]/' 'x_min has a condition of temperature already'
refuse 's/quantities: \[temperature, dye\]/quantities: [temperature, die]/' 'die'
refuse 's/name: dye/name: d.y/' "bad.yaml:15:12: scalars.1.name: \`d.y' is not a valid name of a quantity"
refuse 's/name: dye/name: mean_dye/; s/^output:/output:\n  means: {quantities: [velocity]}/' "'mean_dye' could be a quantity of output.means"
refuse 's/initial: 300,/initial: "sqrt(x - 1)", reference: 300,/' "scalars.0.initial: the formula 'sqrt(x - 1)' is -nan at (0.0625, 0.0625); it has to be finite in all cells"
refuse 's/source: "[^"]*"/source: "sqrt(1 - x)"/' "scalars.1.source: the formula 'sqrt(1 - x)' is -nan at (1.0625, 0.0625); it has to be finite"
refuse 's/source: "[^"]*"/source: "1 \/ (t - t)"/' "scalars.1.source: the formula '1 / (t - t)' is inf at (0.0625, 0.0625), time 0; it has to be finite"
refuse 's/scalar: temperature, at: \[fin\]/at: [fin]/' 'scalar_boundaries.2.scalar: is needed: the case has 2 scalars'
refuse 's/schmidt: 2, /diffusivity: 1e4, /' 'scalars.1.substeps: more than 1000 sub-steps would be needed: the diffusivity is '
said 'lower it or units.dt'
refuse 's/schmidt: 2, bounded: true/diffusivity: 1e-9/' 'too small for a speed of 0.05 cells per step; raise it, lower units.dt, or set bounded: true'
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
# So do initial values by formula.
sed 's/expansion: 1e-3/initial: "x", reference: 0, &/' lid.yaml >warm.yaml
check 0 warm.yaml
said 'height) 0.498 cells per step'
refuse 's/initial: 300, expansion: 3e-3, gravity: \[0, -1\],/initial: 300 + x,/' \
  'scalars.0.reference: is needed: initial lies between 300.062 and 303.938, far from the default 0, so that temperature would change near inlets; set a value in that range, e.g. 302'
sed 's/initial: 300, expansion: 3e-3, gravity: \[0, -1\],/initial: 300 + x, reference: 302,/' heat.yaml >offset.yaml
check 0 offset.yaml

# A source that is not finite at a step that `check` does not try: the run names the key, and the flow is not blamed.
sed 's/initial: 0/&, source: "1e-3 * sqrt((t - 2.45) * (t - 2.55))"/' nozzle.yaml >gap.yaml
run 4 2 gap.yaml --set run.check_every=10
said_once 'diverged: heat is '
said_once 'what may help for heat: scalars.0.source (now 1e-3 * sqrt((t - 2.45) * (t - 2.55))) finite everywhere and at all times'
not_said 'smaller omega'
finish

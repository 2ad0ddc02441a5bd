# SPDX-License-Identifier: Apache-2.0
# gabion-test: timeout=200 needs=ulfm labels=quick
# Conducting bodies by parameter file: a heated rod on a plate in a channel on adaptive levels, with blocks inside of the plate. The same
# bits, tables and pictures on other numbers of processes, after deaths (of rank 0 under local, too) and a restart, and from sparse
# blocks; the plate of a triangulated surface; layers between two sides in W; refusals with their place.
. "$GABION_SOURCE/tests/apps/common.sh"
. "$GABION_SOURCE/tests/apps/street.sh"

{
  street
  cat <<'END'
  - {name: plate, type: box, lo: [0.9, -1], hi: [3.1, 1.02]}
scalars:
  - {name: temperature, unit: K, prandtl: 0.7, turbulent_prandtl: 0.9, capacity: 1200, initial: 300, expansion: 3e-3, gravity: [0, -1], difference: 10}
  - {name: salt, diffusivity: 0.05, bounded: true, initial: "x", source: "0.1 * y", reference: 2}
scalar_boundaries:
  - {type: value, scalar: temperature, at: [x_min], value: 300}
  - {type: value, scalar: temperature, at: [y_min], value: 310}
  - {type: conducting, scalar: temperature, at: [rod], conductivity: 100, capacity: 2400, source: 20000}
  - {type: conducting, scalar: temperature, at: [plate], conductivity: 10, capacity: 600}
  - {type: value, scalar: salt, at: [x_min], value: 0}
  - {type: value, scalar: salt, at: [rod], value: 3}
  - {type: conducting, scalar: salt, at: [plate], conductivity: 0.02, capacity: 0.5, source: 0.1}
lbm: {collision: smagorinsky}
output:
  scalars: {every: 6}
  slices: [{quantity: temperature, every: 30}, {quantity: salt, every: 30}]
  fields: {quantities: [temperature, salt]}
resilience: {memory: {every: 7}}
END
  echo "$adapts"
} >heated.yaml
run 0 1 heated.yaml
said 'temperature: rod conducts 2.917 times as well as the fluid, with 2 times its capacity'
keep out/scalars.csv out/temperature_*.png out/salt_*.png
same_anyhow heated.yaml

# Without buoyancy, by a kernel whose blocks store fluid cells only: some have none.
sed '/expansion/s/expansion: 3e-3, gravity: \[0, -1\], //' heated.yaml >passive.yaml
run 0 1 passive.yaml --set run.steps=20
expected=$(checksum)
run 0 2 passive.yaml --set run.steps=20 --set lbm.kernel=sparse
[ "$(checksum)" = "$expected" ] || complain 'another checksum with sparse blocks'

# Layers of 1 m and 3 m between 1 and 3: 0.05 * 10 W/(m K) of the fluid, 2 W/(m K) of the slab, in a steady state.
cat >layers.yaml <<'END'
run: {steps: 1500}
domain: {cells: [8, 8], block: [4, 4], dx: 0.5}
fluid: {viscosity: 0.02, length: 4}
units: {dt: 1}
boundaries: {y_min: {type: wall}, y_max: {type: wall}}
bodies: [{name: slab, type: box, lo: [-1, -1], hi: [9, 3]}]
scalars: [{name: heat, diffusivity: 0.05, capacity: 10, initial: 2, difference: 2}]
scalar_boundaries:
  - {type: value, at: [y_min], value: 1}
  - {type: value, at: [y_max], value: 3}
  - {type: conducting, at: [slab], conductivity: 2, capacity: 5}
END
run 0 2 layers.yaml
# 4 m * 2 K / (3 m / 2 + 1 m / 0.5)
python3 - <<'END' || complain "not 16/7: $(grep results out/summary.json)"
import json
heat = json.load(open("out/summary.json"))["results"]["scalars"]["heat"]
exact = 4 * 2 / (3 / 2 + 1 / 0.5)
assert abs(heat["flux_y_max"] / exact - 1) < 1e-9 and abs(heat["flux_y_min"] / exact + 1) < 1e-9
assert abs(heat["flux_slab"] / exact + 1) < 1e-9 and abs(heat["nusselt_slab"] * 0.5 * 2 / 4 * 4 / exact + 1) < 1e-9
assert abs(heat["mean_slab"] - (1 + exact / 4 * 1.5 / 2)) < 1e-9 and abs(heat["max_slab"] - (1 + exact / 4 * 2.75 / 2)) < 1e-9
END

# The same slab as a closed surface of triangles.
python3 - >slab.stl <<'END'
lo, hi = (-1, -1, -9), (9, 3, 9)
corner = lambda i: " ".join(str((hi if i >> k & 1 else lo)[k]) for k in range(3))
print("solid slab")
for face in ((0, 2, 3, 1), (4, 5, 7, 6), (0, 1, 5, 4), (2, 6, 7, 3), (0, 4, 6, 2), (1, 3, 7, 5)):
    for a, b, c in (face[:3], (face[0], face[2], face[3])):
        print("facet normal 0 0 0\nouter loop")
        for i in (a, b, c):
            print("vertex " + corner(i))
        print("endloop\nendfacet")
print("endsolid slab")
END
{ grep -v '^bodies' layers.yaml; echo 'bodies: [{name: slab, type: mesh, file: slab.stl}]'; } >mesh.yaml
sed -i 's/cells: \[8, 8\], block: \[4, 4\]/cells: [8, 8, 4], block: [4, 4, 4]/; s/steps: 1500/steps: 30/' mesh.yaml
sed 's/^bodies.*/bodies: [{name: slab, type: box, lo: [-1, -1, -9], hi: [9, 3, 9]}]/' mesh.yaml >box.yaml
run 0 1 box.yaml
flux=$(sed -n 's/.*"flux_slab": \([-0-9.e]*\).*/\1/p' out/summary.json)
run 0 1 mesh.yaml
[ "$(sed -n 's/.*"flux_slab": \([-0-9.e]*\).*/\1/p' out/summary.json)" = "$flux" ] || complain "a mesh: $(grep results out/summary.json)"

# A rod of 400 K wholly inside of an adiabatic plate: what cells of the plate hold does not get into it when the grid adapts.
cat >inside.yaml <<'END'
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
  - {name: rod, type: cylinder, centre: [1.5, 0], radius: 0.45}
  - {name: plate, type: box, lo: [0.9, -1], hi: [3.1, 0.6]}
scalars:
  - {name: temperature, prandtl: 0.7, initial: "300 + 100 * ((x - 1.5)^2 + y^2 < 0.25)", reference: 300}
scalar_boundaries:
  - {type: value, at: [x_min], value: 300}
  - {type: conducting, at: [rod], conductivity: 1e-6, capacity: 1}
refinement: {levels: 1, every: 10, start: 10, criteria: [{type: vorticity, above: 0.5, below: 0.2}]}
output: {scalars: {every: 60}}
END
run 0 1 inside.yaml
said 'the grid adapted'
column=$(head -n 1 out/scalars.csv | tr , '\n' | grep -n 'rod.mean' | cut -d: -f1)
tail -n 1 out/scalars.csv | cut -d, -f"${column:-1}" | awk '{ exit !($1 > 399.9 && $1 < 400.1) }' ||
  complain "the mean of the rod: $(head -n 1 out/scalars.csv) $(tail -n 1 out/scalars.csv)"
check 2 inside.yaml --set 'initial={type: run, from: out}'
said "initial.from: the temperature inside of conducting bodies cannot be taken from another run yet: body 'rod'"

refuse() { # LINE-EDIT TEXT
  sed "$1" layers.yaml >bad.yaml
  check 2 bad.yaml
  said "$2"
}
refuse 's/at: \[slab\]/at: [x_max]/' 'scalar_boundaries.2.at: x_max is periodic'
refuse 's/value: 1}/value: 1}\n  - {type: conducting, at: [y_max], conductivity: 1, capacity: 1}/' "'y_max' is not a body: only bodies are conducting"
refuse 's/hi: \[9, 3\]/&, velocity: [0.01, 0]/' "'slab' moves, but a conducting body is at rest"
refuse 's/conductivity: 2,/conductivity: 2000,/' 'scalars.0.substeps: more than 1000 sub-steps would be needed: slab conducts with up to'
said 'wall: staircase'
refuse 's/conductivity: 2, //' 'conductivity'
finish

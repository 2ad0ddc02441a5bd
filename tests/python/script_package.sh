# SPDX-License-Identifier: Apache-2.0
# gabion-test: timeout=120 budget=20 labels=quick
# The Python package reads what runs have written: tables, fields on levels, tracers; it starts runs; the examples of doc/python.md run.
. "$GABION_SOURCE/tests/apps/common.sh"
python=
for candidate in python3 /usr/bin/python3; do
  "$candidate" -c 'import numpy, h5py' 2>/dev/null && python=$candidate && break
done
[ -n "$python" ] || { echo 'skipped: no Python with numpy and h5py'; exit 77; }
export PYTHONPATH=$GABION_SOURCE/python GABION_BIN=$GABION_BUILD/bin MPLCONFIGDIR=$work/matplotlib
export PYTHONDONTWRITEBYTECODE=1

cat >cavity.yaml <<'YAML'
run: {title: cavity, steps: 200}
domain: {cells: [32, 32], block: [8, 8], length: 1}
fluid: {viscosity: 0.05, velocity: 1, length: 1}
units: {lattice_velocity: 0.1}
boundaries:
  x_min: {type: wall}
  x_max: {type: wall}
  y_min: {type: wall}
  y_max: {type: velocity, velocity: [1, 0]}
output:
  fields: {every: 100, quantities: [velocity, density]}
  integrals: {every: 10}
  points: [{name: middle, at: [0.5, 0.5]}]
  probes: {every: 10, quantities: [speed]}
  planes: [{name: middle, axis: x, position: 0.5, every: 50}]
YAML
# Two levels around a sphere, a process that dies, tracers.
cat >levels.yaml <<'YAML'
run: {title: levels, steps: 24}
domain: {cells: [24, 16, 16], block: [8, 8, 8], dx: 0.25}
refinement: {levels: 1, criteria: [{type: bodies, distance: 0.4}]}
fluid: {viscosity: 0.02}
units: {dt: 0.1}
boundaries: {x_min: {type: velocity, velocity: [0.1, 0.01, 0.02]}, x_max: {type: outflow}, z_min: {type: free_slip}, z_max: {type: free_slip}}
bodies: [{name: ball, type: sphere, centre: [2, 2, 2], radius: 0.6}]
tracers: {seeds: [{type: line, from: [0.5, 1, 1], to: [0.5, 3, 3], count: 9}]}
output:
  tracers: {every: 12}
  fields: {every: 12, quantities: [velocity, density, level], precision: double}
  integrals: {every: 12}
  forces: {every: 4}
  points: [{name: a, at: [2.9, 2.2, 1.3]}, {name: b, at: [5, 1.1, 3.3]}]
  probes: {every: 12, quantities: [velocity]}
  planes:
    - {name: behind, axis: x, position: 2.9375, every: 6, quantities: [velocity, density]}
    - {name: level, axis: z, position: 1.8125, every: 12, spacing: 0.25}
YAML
run 0 3 levels.yaml --inject rank=2,step=15,phase=exchange
"$python" "$GABION_SOURCE/tests/python/check_package.py" "$GABION_SOURCE/doc/python.md" >said.txt 2>&1 || complain "$(tail -n 40 said.txt)"
grep -q '^all of them$' said.txt || complain "not at the end: $(tail -n 5 said.txt)"
finish

# SPDX-License-Identifier: Apache-2.0
# gabion-test: timeout=200 labels=quick
# Mass in a closed box is constant to rounding over 1000 steps, with a sliding lid and with bodies inside; so it is between grains
# whose walls are interpolated, with the same bits on one process, on two, and after a checkpoint. Runs without an open side have
# the change of the mass in their log.
. "$GABION_SOURCE/tests/physics/common.sh"

# drift NAME: greatest deviation of the mass from its start, relative.
drift() {
  awk -F, 'NR == 1 { for (i = 1; i <= NF; i++) if ($i == "mass") c = i }
      NR == 2 { start = $c }
      NR > 2 { d = ($c - start) / start; if (d < 0) d = -d; if (!(d <= most)) most = d; rows++ }
      END { if (rows < 10) print "too few rows"; else printf "%.6g", most + 0 }' "$work/$1/integrals.csv"
}
cat >"$work/box.yaml" <<'YAML'
run: {steps: 1000}
domain: {cells: [64, 64], block: [16, 16], length: 1}
fluid: {reynolds: 100, velocity: 1, length: 1}
units: {lattice_velocity: 0.08}
boundaries:
  x_min: {type: wall}
  x_max: {type: wall}
  y_min: {type: wall}
  y_max: {type: velocity, velocity: [1, 0]}
output:
  integrals: {every: 100}
YAML
{ cat "$work/box.yaml"
  cat <<'YAML'
bodies:
  - {name: disc, type: sphere, centre: [0.6, 0.55], radius: 0.13, wall: staircase}
  - {name: brick, type: box, lo: [0.1, 0.1], hi: [0.3, 0.42], wall: staircase}
YAML
} >"$work/bodies.yaml"
cat >"$work/cube.yaml" <<'YAML'
run: {steps: 1000}
domain: {cells: [24, 24, 24], block: [12, 12, 12]}
fluid: {omega: 1.6}
boundaries:
  x_min: {type: wall}
  x_max: {type: wall}
  y_min: {type: free_slip}
  y_max: {type: wall}
  z_min: {type: wall}
  z_max: {type: velocity, velocity: [0.05, 0, 0]}
bodies:
  - {name: ball, type: sphere, centre: [11, 12, 12], radius: 4, wall: staircase}
output:
  integrals: {every: 100}
YAML
cat >"$work/grains.yaml" <<'YAML'
run: {steps: 1000}
domain: {cells: [32, 32], block: [16, 16], dx: 1}
fluid: {viscosity: 0.02, velocity: 0.05, length: 8, acceleration: [5e-5, 0]}
units: {dt: 1}
bodies:
  - {name: a, type: sphere, centre: [8.3, 8.2], radius: 4.3}
  - {name: b, type: sphere, centre: [23.7, 12.4], radius: 5.1}
  - {name: c, type: sphere, centre: [14.1, 24.6], radius: 4.7}
output:
  integrals: {every: 100}
YAML
for name in box bodies cube grains; do
  run_case $name 2 "$work/$name.yaml"
  within "$name: relative drift of mass" "$(drift $name)" 0 1e-12
  grep -q 'mass: relative change over the run' "$work/$name/log.txt" || { echo "$name: no mass in the log"; failed=1; }
done
checksum() { grep -o 'checksum [0-9a-f]*' "$work/$1/log.txt" | tail -n 1; }
run_case alone 1 "$work/grains.yaml" --set lbm.kernel=sparse
run_case stopped 1 "$work/grains.yaml" --set run.steps=500 --set resilience.disk.every=100
mv "$work/stopped" "$work/continued"
run_case continued 1 "$work/grains.yaml" --set resilience.disk.every=100
for name in alone continued; do
  [ "$(checksum $name)" = "$(checksum grains)" ] || { echo "$name: another checksum"; failed=1; }
done
exit $failed

# gabion-test: timeout=200 labels=quick
# Mass in a closed box is constant to rounding over 1000 steps, with a sliding lid and with bodies inside.
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
for name in box bodies cube; do
  run_case $name 2 "$work/$name.yaml"
  within "$name: relative drift of mass" "$(drift $name)" 0 1e-12
done
exit $failed

# SPDX-License-Identifier: Apache-2.0
# gabion-test: timeout=3600 labels=long
# Heat by parameter file: the cavity heated from its side at Rayleigh numbers 1e3 to 1e6 within 0.5 % of de Vahl Davis (1983), at 1e7
# on levels within 1 % of Le Quéré (1991, Computers & Fluids 20, 29); the onset of
# convection between rigid plates within 0.5 % of 1708, from growth rates below and above it; a hot cylinder at Re 20 and 40 within 3 %
# of Bharti, Chhabra & Eswaran (2007, Heat Mass Transfer 43, 639), whose domain is 60 diameters wide, ours 32; in a vortex street at Re 100
# within 2 % of Lange, Durst & Breuer (1998, Int. J. Heat Mass Transfer 41, 3409).
. "$GABION_SOURCE/tests/physics/common.sh"

root() { awk -v x="$1" 'BEGIN { printf "%.17g", sqrt(0.71 / x) }'; }
cavity() { # RAYLEIGH CELLS STEPS LOW HIGH
  run_case "cavity$1" 2 "$flow/heated_cavity.yaml" --set fluid.viscosity="$(root "$1")" --set "domain.cells=[$2, $2]" \
      --set run.steps="$3" --set units.lattice_velocity=0.15 --set output.scalars.every="$3" --set output.slices.0.every="$3" \
      --set output.slices.1.every="$3"
  within "Nusselt number of the cavity, Ra $1" "$(last_of "cavity$1/scalars.csv" temperature.x_min.nusselt)" "$4" "$5"
}
cavity 1e3 32 6000 1.1124 1.1236
cavity 1e4 64 20000 2.2318 2.2542
cavity 1e5 80 36000 4.4964 4.5416
cavity 1e6 128 110000 8.773 8.861

# Cells at the walls are half as wide. The flow is not quite steady: 16.471, in the end 16.490.
run_case cavity1e7 2 "$flow/heated_cavity.yaml" --set fluid.viscosity="$(root 1e7)" --set 'domain.cells=[128, 128]' --set 'domain.block=[8, 8]' \
    --set run.steps=110000 --set units.lattice_velocity=0.15 --set output.scalars.every=110000 --set output.slices.0.every=110000 \
    --set output.slices.1.every=110000 --set refinement.levels=1 \
    --set 'refinement.criteria=[{type: box, level: 1, lo: [0, 0], hi: [0.12, 1]}, {type: box, level: 1, lo: [0.88, 0], hi: [1, 1]}, {type: box, level: 1, lo: [0, 0], hi: [1, 0.06]}, {type: box, level: 1, lo: [0, 0.94], hi: [1, 1]}]'
within "Nusselt number of the cavity on levels, Ra 1e7" "$(last_of cavity1e7/scalars.csv temperature.x_min.nusselt)" 16.358 16.688

# A periodic box of two heights: k = pi / height, where the critical number is 0.2 larger than 1707.8. Roll and background are told apart by two
# points half a wave length apart.
cat >"$work/plates.yaml" <<'END'
run: {steps: 20000}
domain: {cells: [64, 32], block: [32, 32], dx: 0.03125}
fluid: {viscosity: 0.02, velocity: 1, length: 1}
units: {lattice_velocity: 0.1}
boundaries: {y_min: {type: wall}, y_max: {type: wall}}
scalars:
  - {name: temperature, prandtl: 0.71, initial: "0.5 - y + 1e-3 * sin(pi * y) * cos(pi * x)", reference: 0, expansion: 1, gravity: [0, -1]}
scalar_boundaries: [{type: value, at: [y_min], value: 0.5}, {type: value, at: [y_max], value: -0.5}]
output:
  probes: {every: 5000, quantities: [temperature]}
  points: [{name: a, at: [0.01, 0.51]}, {name: b, at: [1.01, 0.51]}]
END
rate() { # NAME: growth from 10000 to 20000 steps
  awk -F, '$1 == 10000 { t = $2; d = $3 - $4 } $1 == 20000 { print log(($3 - $4) / d) / ($2 - t) }' "$work/$1/probes.csv"
}
for rayleigh in 1620 1800; do
  run_case "plates$rayleigh" 1 "$work/plates.yaml" --set fluid.viscosity="$(root $rayleigh)"
done
within "growth rate at Ra 1620" "$(rate plates1620)" -0.03 -1e-3
within "growth rate at Ra 1800" "$(rate plates1800)" 1e-3 0.03
onset=$(awk -v below="$(rate plates1620)" -v above="$(rate plates1800)" 'BEGIN { print 1620 - below * 180 / (above - below) }')
within "Rayleigh number of the onset" "$onset" 1699.5 1716.5

cylinder() { # REYNOLDS LOW HIGH
  run_case "cylinder$1" 2 "$flow/heated_cylinder.yaml" --set fluid.reynolds="$1" --set run.time=40
  within "Nusselt number of the cylinder, Re $1" "$(last_of "cylinder$1/scalars.csv" temperature.cylinder.nusselt)" "$2" "$3"
}
cylinder 20 2.391 2.539
cylinder 40 3.184 3.381

# The mean over five periods of the street, with cells a 32nd of the diameter.
run_case cylinder100 2 "$flow/heated_cylinder.yaml" --set fluid.reynolds=100 --set run.time=130 --set 'initial.velocity=[1, 0.1]' \
    --set refinement.levels=3 --set output.scalars.interval=0.5 \
    --set 'refinement.criteria=[{type: box, level: 1, lo: [-3, -3], hi: [9, 3]}, {type: box, level: 2, lo: [-1.5, -1.5], hi: [3, 1.5]}, {type: box, level: 3, lo: [-0.8, -0.8], hi: [1.2, 0.8]}]'
mean=$(awk -F, 'NR == 1 { for (i = 1; i <= NF; i++) if ($i == "temperature.cylinder.nusselt") c = i } NR > 1 && $2 > 99.9 { s += $c; n++ } END { print s / n }' "$work/cylinder100/scalars.csv")
within "Nusselt number of the cylinder, Re 100" "$mean" 5.026 5.230
exit $failed

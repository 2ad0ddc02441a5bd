# SPDX-License-Identifier: Apache-2.0
# gabion-test: timeout=1500 labels=long
# A laminar round jet from a patch of a side, mean velocity times diameter over viscosity 60, against Schlichting's solution. With the
# momentum flux K of a section, the distance from the virtual origin is 3 K / (8 pi nu u) by the velocity u on the axis, and
# r sqrt(K) / (5.269 nu) by the radius r of half that velocity. Both grow as x from 8 to 32 radii, with the same origin. With more cells
# per radius less of the momentum flux of the nozzle, pi / 3, is lost.
. "$GABION_SOURCE/tests/physics/common.sh"

# jet NAME PARTS: a quarter of the jet, PARTS / 8 cells of level 0 and PARTS / 2 of level 2 per radius. It starts from the solution. The
# far sides let in what the jet takes, 8 pi nu per length.
jet() {
  local s='50.6 * (y^2 + z^2) / (x + 5)^2' block=$2
  { cat <<YAML
run: {time: 240}
domain: {cells: [$((5 * block)), $((3 * block)), $((3 * block))], block: [$block, $block, $block], length: 40}
fluid: {viscosity: 0.016666666666666667, velocity: 1, length: 2}
units: {lattice_velocity: 0.1}
lbm: {collision: trt}
boundaries:
  x_min:
    type: free_slip
    patches:
      - {name: nozzle, region: box, lo: [0, 0, 0], hi: [0, 1, 1], type: velocity, velocity: [1, 0, 0], profile: pipe, centre: [0, 0, 0], radius: 1, ramp_time: 4}
  x_max: {type: outflow}
  y_min: {type: free_slip}
  y_max: {type: velocity, velocity: [0, -1, 0], shape: 1.6 / (576 + z^2)}
  z_min: {type: free_slip}
  z_max: {type: velocity, velocity: [0, 0, -1], shape: 1.6 / (576 + y^2)}
initial:
  type: formula
  velocity_x: 6.75 / (x + 5) / (1 + $s)^2
  velocity_y: 3.375 * y / (x + 5)^2 * (1 - $s) / (1 + $s)^2
  velocity_z: 3.375 * z / (x + 5)^2 * (1 - $s) / (1 + $s)^2
refinement:
  levels: 2
  criteria:
    - {type: box, level: 1, lo: [0, 0, 0], hi: [40, 8, 8]}
    - {type: box, lo: [0, 0, 0], hi: [40, 4, 4]}
output:
  probes: {interval: 240, quantities: [velocity, level]}
  slices:
    - {quantity: speed, interval: 240, axis: z, position: 0.01}
  lines:
YAML
    awk -v parts="$2" 'BEGIN { f = 2 / parts
      for (x = 8; x <= 32; x += 4)
        printf "    - {name: x%d_, from: [%d.001, %.12g, %.12g], to: [%d.001, %.12g, %.12g], count: %d}\n", x, x, f / 2, f / 2, x, 24 - f / 2, f / 2, 24 / f }'
  } >"$work/$1.yaml"
  run_case "$1" 2 "$work/$1.yaml"
}

# sections NAME PARTS: by section place, velocity on the axis, radius of half of it, momentum flux over that of the nozzle, and both
# distances. A profile of the solution has 1 / sqrt(u) linear in the square of the radius; so it is interpolated.
sections() {
  awk -F, -v parts="$2" 'NR == 1 { for (i = 1; i <= NF; i++) column[$i] = i }
    END { pi = atan2(0, -1); nu = 1 / 60; f = 2 / parts
      for (x = 8; x <= 32; x += 4) {
        cells = 0; before = -1
        for (k = 0; k < 24 / f; k++) {
          h = 8 / parts / 2 ^ $column["x" x "_" k ".level"]
          y = (int((k + 0.5) * f / h) + 0.5) * h
          if (y == before) continue
          before = y; cells++
          u[cells] = $column["x" x "_" k ".velocity.x"]; r[cells] = sqrt(y ^ 2 + h ^ 2 / 4)
          if (cells == 1) at = (int(x / h) + 0.5) * h
        }
        a = 1 / sqrt(u[1]); b = 1 / sqrt(u[2])
        axis = 1 / (a - (b - a) * r[1] ^ 2 / (r[2] ^ 2 - r[1] ^ 2)) ^ 2
        for (i = 2; u[i] > axis / 2; i++);
        a = 1 / sqrt(u[i - 1]); b = 1 / sqrt(u[i])
        half = sqrt(r[i - 1] ^ 2 + (1 / sqrt(axis / 2) - a) / (b - a) * (r[i] ^ 2 - r[i - 1] ^ 2))
        flux = u[1] ^ 2 * r[1] ^ 2 / 2
        for (i = 2; i <= cells && r[i] < 22 && r[i] < 6 * half; i++) flux += (u[i] ^ 2 * r[i] + u[i - 1] ^ 2 * r[i - 1]) / 2 * (r[i] - r[i - 1])
        flux *= 2 * pi
        printf "%.6g %.6g %.6g %.6g %.6g %.6g\n", at, axis, half, flux / (pi / 3), 3 * flux / (8 * pi * nu * axis), half * sqrt(flux) / (5.269 * nu)
      } }' "$work/$1/probes.csv"
}
# slope_of COLUMN: of a table of sections, over x, by least squares, and where the line is 0.
slope_of() {
  awk -v c="$1" '{ n++; x += $1; y += $c; xx += $1 ^ 2; xy += $1 * $c } END { s = (n * xy - x * y) / (n * xx - x ^ 2); printf "%.6g %.6g\n", s, (x - y / s) / n }'
}

lost=
for parts in 8 12; do
  jet "jet$parts" $parts
  sections "jet$parts" $parts >"$work/sections$parts"
  [ "$(wc -l <"$work/sections$parts")" -eq 7 ]
  printf '%s cells per radius\n%10s %10s %10s %10s %10s %10s\n' $((parts / 2)) x 'u axis' 'r half' 'K' 'by u' 'by r half'
  awk '{ printf "%10.2f %10.5f %10.4f %10.4f %10.3f %10.3f\n", $1, $2, $3, $4, $5, $6 }' "$work/sections$parts"
  read -r by_u origin_u <<<"$(slope_of 5 <"$work/sections$parts")"
  read -r by_r origin_r <<<"$(slope_of 6 <"$work/sections$parts")"
  read -r least most <<<"$(awk 'NR == 1 { lo = hi = $4 } { if ($4 < lo) lo = $4; if ($4 > hi) hi = $4 } END { print lo, hi }' "$work/sections$parts")"
  within "distance by the velocity on the axis, over x" "$by_u" 0.98 1.02
  within "distance by the half radius, over x" "$by_r" 0.98 1.02
  within "virtual origins" "$(awk -v a="$origin_u" -v b="$origin_r" 'BEGIN { print a - b }')" -0.4 0.4
  within "momentum flux, largest over least" "$(awk -v a="$most" -v b="$least" 'BEGIN { print a / b }')" 1 1.06
  lost="$lost $(awk 'NR == 1 { print 1 - $4 }' "$work/sections$parts")"
done
read -r coarse fine <<<"$lost"
within "momentum flux lost at the nozzle, fine over coarse" "$(awk -v a="$fine" -v b="$coarse" 'BEGIN { print a / b }')" 0 0.85
exit $failed

# SPDX-License-Identifier: Apache-2.0
# gabion-test: timeout=600 labels=long
# The driven channel, finer in one half. With the border along the flow it is the parabola to machine precision at
# omega 1. Where the flow crosses the border, the error of the flow rate falls with second order in the cell width, the
# greatest error of a velocity, in the cells between border and wall, nearly so.
. "$GABION_SOURCE/tests/physics/common.sh"

# channel NAME CELLS BLOCK STEPS BOX: a square channel and the velocity along all rows of cells of level 1, in the
# first column behind both borders and in the middle of both halves.
channel() {
  local name=$1 n=$2
  { cat <<YAML
run: {steps: $4}
domain: {cells: [$n, $n], block: [$3, $3], length: 1}
fluid: {omega: 1, viscosity: 0.1, velocity: 0.1, length: 1, acceleration: [0.08, 0]}
boundaries:
  y_min: {type: wall}
  y_max: {type: wall}
refinement:
  levels: 1
  criteria:
    - {type: box, $5}
output:
  probes: {every: $4, quantities: [velocity, level]}
  integrals: {every: $4}
  lines:
YAML
    awk -v n="$n" 'BEGIN { h = 0.25 / n; split(h " " 0.25 " " 0.5 + h " " 0.75, x, " ")
      for (i = 1; i <= 4; i++)
        printf "    - {name: c%d_, from: [%.12g, %.12g], to: [%.12g, %.12g], count: %d}\n", i, x[i], h, x[i], 1 - h, 2 * n }'
  } >"$work/$name.yaml"
  run_case "$name" 2 "$work/$name.yaml"
}
# errors NAME CELLS: greatest error of a velocity, and error of the flow rate, relative to the maximum 0.1 and to
# what cells of level 0 have.
errors() {
  awk -F, -v n="$2" 'NR == 1 { for (i = 1; i <= NF; i++) column[$i] = i }
      END { for (i = 1; i <= 4; i++) {
              rate = exact_rate = 0
              for (k = 0; k < 2 * n; k++) {
                h = 1 / n / 2 ^ $column["c" i "_" k ".level"]
                y = (int((k + 0.5) / (2 * n) / h) + 0.5) * h; exact = 0.4 * y * (1 - y)
                e = $column["c" i "_" k ".velocity.x"] - exact; if (e < 0) e = -e; if (e > most) most = e
                rate += $column["c" i "_" k ".velocity.x"]; exact_rate += exact }
              e = 1 - rate / exact_rate; if (e < 0) e = -e; if (e > off) off = e }
            printf "%.6g %.6g", most / 0.1, off }' "$work/$1/probes.csv"
}
order() { awk -v a="$1" -v b="$2" 'BEGIN { print log(a / b) / log(2) }'; }

channel along 16 8 18000 "lo: [0, 0], hi: [1, 0.49]"
read -r most off <<<"$(errors along 16)"
within "border along the flow: greatest error" "$most" 0 2e-12
channel across16 16 8 4700 "lo: [0, 0], hi: [0.49, 1]"
channel across32 32 16 18700 "lo: [0, 0], hi: [0.49, 1]"
read -r most16 off16 <<<"$(errors across16 16)"
read -r most32 off32 <<<"$(errors across32 32)"
printf 'border across the flow, 16 and 32 cells: greatest error %s %s, error of the flow rate %s %s\n' \
    "$most16" "$most32" "$off16" "$off32"
within "order of the flow rate" "$(order "$off16" "$off32")" 1.8 3
within "order of the greatest error" "$(order "$most16" "$most32")" 1.6 3
within "greatest error, 32 cells" "$most32" 0 0.001
within "error of the flow rate, 32 cells" "$off32" 0 0.0006
exit $failed

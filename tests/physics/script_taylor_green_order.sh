# SPDX-License-Identifier: Apache-2.0
# gabion-test: timeout=300
# Taylor-Green vortices in 2D converge with second order in the cell width (diffusive scaling).
. "$GABION_SOURCE/tests/physics/common.sh"

# error CELLS: mean square error of the velocity along a line, relative to the amplitude, at t = 0.5.
error() {
  awk -F, -v n="$1" 'NR == 1 { for (i = 1; i <= NF; i++) column[$i] = i }
      END { pi = atan2(0, -1); k = 2 * pi; t = $column["time"]
            decay = exp(-2 * 0.01 * k * k * t); x = (int(n / 4) + 0.5) / n
            for (j = 0; j < n; j++) {
              y = (j + 0.5) / n
              du = $column["l" j ".velocity.x"] - sin(k * x) * cos(k * y) * decay
              dv = $column["l" j ".velocity.y"] + cos(k * x) * sin(k * y) * decay
              sum += du * du + dv * dv }
            printf "%.8g", sqrt(sum / n) / decay }' "$work/tg$1/probes.csv"
}

for cells in 32 64 128; do
  velocity=$(awk -v n=$cells 'BEGIN { print 0.04 * 32 / n }')
  x=$(awk -v n=$cells 'BEGIN { printf "%.9g", (int(n / 4) + 0.5) / n }')
  first=$(awk -v n=$cells 'BEGIN { printf "%.9g", 0.5 / n }')
  last=$(awk -v n=$cells 'BEGIN { printf "%.9g", (n - 0.5) / n }')
  run_case tg$cells 2 "$flow/taylor_green_2d.yaml" --set run.time=0.5 --set "domain.cells=[$cells, $cells]" \
      --set units.lattice_velocity="$velocity" --set output.probes.interval=0.5 \
      --set 'output.probes.quantities=[velocity]' --set output.lines.0.name=l \
      --set "output.lines.0.from=[$x, $first]" --set "output.lines.0.to=[$x, $last]" \
      --set output.lines.0.count=$cells
done
e32=$(error 32) e64=$(error 64) e128=$(error 128)
printf 'relative errors: 32^2 %s, 64^2 %s, 128^2 %s\n' "$e32" "$e64" "$e128"
within "order from 32 to 64 cells" "$(awk -v a="$e32" -v b="$e64" 'BEGIN { print log(a / b) / log(2) }')" 1.9 3
within "order from 64 to 128 cells" "$(awk -v a="$e64" -v b="$e128" 'BEGIN { print log(a / b) / log(2) }')" 1.9 3
exit $failed

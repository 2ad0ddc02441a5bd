# SPDX-License-Identifier: Apache-2.0
# gabion-test: timeout=3000 labels=long
# Schäfer & Turek 1996, case 2D-1 (Re 20, steady), on three levels with interpolated walls: drag, lift and pressure
# difference inside the bands of the reference.
. "$GABION_SOURCE/tests/physics/common.sh"

run_case cylinder 4 "$flow/cylinder_2d1_refined.yaml"
# Pressure at the surface: the parabola through three cells before or behind it, mean of two rows.
difference=$(awk -F, '
    function cell(line, k) { return $column[line k ".pressure"] }
    function at_surface(line) { return (15 * cell(line, 0) - 10 * cell(line, 1) + 3 * cell(line, 2)) / 8 }
    NR == 1 { for (i = 1; i <= NF; i++) column[$i] = i }
    END { front = (at_surface("front_below") + at_surface("front_above")) / 2
          back = (at_surface("back_below") + at_surface("back_above")) / 2
          print front - back }' "$work/cylinder/probes.csv")
within "c_D" "$(last_of cylinder/forces.csv cylinder.cx)" 5.57 5.59
within "c_L" "$(last_of cylinder/forces.csv cylinder.cy)" 0.0104 0.0110
within "pressure difference" "$difference" 0.1172 0.1176
exit $failed

# SPDX-License-Identifier: Apache-2.0
# gabion-test: timeout=3000 labels=long
# Schäfer & Turek 1996, case 3D-1Z (Re 20, steady), on a uniform grid as symmetric as the cylinder: drag and lift
# inside the bands of the reference, and steady.
. "$GABION_SOURCE/tests/physics/common.sh"

run_case cylinder 3 "$flow/cylinder_3d1z.yaml"
within "c_D" "$(last_of cylinder/forces.csv cylinder.cx)" 6.05 6.25
within "c_L" "$(last_of cylinder/forces.csv cylinder.cy)" 0.008 0.01
awk -F, 'NR == 1 { for (i = 1; i <= NF; i++) column[$i] = i; next }
    $2 >= 9 { d = $column["cylinder.cx"]; l = $column["cylinder.cy"]
              if (!rows++) drag_least = drag_most = d + 0
              if (rows == 1) lift_least = lift_most = l + 0
              if (d > drag_most) drag_most = d
              if (d < drag_least) drag_least = d
              if (l > lift_most) lift_most = l
              if (l < lift_least) lift_least = l }
    END { printf "%.6f %.6f\n", rows ? drag_most - drag_least : 1, rows ? lift_most - lift_least : 1 }' \
    "$work/cylinder/forces.csv" >"$work/spread"
read -r drag lift <"$work/spread"
within "spread of c_D in the last 3 s" "$drag" 0 0.05
within "spread of c_L in the last 3 s" "$lift" 0 0.0005
exit $failed

# SPDX-License-Identifier: Apache-2.0
# gabion-test: timeout=3000 labels=long
# Schäfer & Turek 1996, case 2D-2 (Re 100, vortex street), on a uniform grid: greatest drag and Strouhal number
# within 3 %, over the last two seconds (about six periods).
. "$GABION_SOURCE/tests/physics/common.sh"

run_case cylinder 4 "$flow/cylinder_2d2.yaml"
awk -F, 'NR == 1 { for (i = 1; i <= NF; i++) column[$i] = i; next }
    $2 >= 6 { t = $2; d = $column["cylinder.cx"]; l = $column["cylinder.cy"]
              if (d > drag) drag = d
              if (rows++ && before < 0 && l >= 0) {
                zero = t_before - before / (l - before) * (t - t_before)
                if (!zeros++) first = zero }
              before = l; t_before = t }
    END { printf "%.6f %.6f\n", drag, (zeros > 2 ? (zeros - 1) / (zero - first) * 0.1 / 1.0 : 0) }' \
    "$work/cylinder/forces.csv" >"$work/result"
read -r drag strouhal <"$work/result"
within "greatest c_D (reference 3.22 to 3.24)" "$drag" 3.1234 3.3372
within "Strouhal number (0.295 to 0.305)" "$strouhal" 0.28615 0.31415
exit $failed

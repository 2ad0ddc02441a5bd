# SPDX-License-Identifier: Apache-2.0
# gabion-test: timeout=2400 labels=long
# Schäfer & Turek 1996, case 2D-1 (Re 20, steady), on a uniform grid: drag and pressure difference within 3 %.
. "$GABION_SOURCE/tests/physics/common.sh"

run_case cylinder 4 "$flow/cylinder_2d1.yaml"
drag=$(last_of cylinder/forces.csv cylinder.cx)
front=$(last_of cylinder/probes.csv front.pressure) back=$(last_of cylinder/probes.csv back.pressure)
within "c_D (reference 5.57 to 5.59)" "$drag" 5.403 5.758
within "pressure difference (0.1172 to 0.1176)" "$(awk -v a="$front" -v b="$back" 'BEGIN { print a - b }')" \
    0.11368 0.12113
exit $failed

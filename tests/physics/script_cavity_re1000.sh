# SPDX-License-Identifier: Apache-2.0
# gabion-test: timeout=3000 labels=long
# Lid-driven cavity at Re 1000 on 256^2 cells: centre lines within 1 % of the lid speed of Ghia et al. 1982, as
# root mean square, and everywhere within 1 % of the spectral solution of Botella & Peyret 1998, from which the v
# of Ghia et al. at the right wall differs by up to 1.9 %.
. "$GABION_SOURCE/tests/physics/common.sh"

run_case cavity 4 "$flow/cavity_re1000.yaml"
awk -v n=256 -v re=1000 -f "$GABION_SOURCE/tests/physics/ghia.awk" "$work/cavity/probes.csv" >"$work/table"
grep '^[uv]' "$work/table"
within "root mean square difference to Ghia et al." "$(awk '/^rms/ { print $2 }' "$work/table")" 0 0.01
within "greatest difference to Botella & Peyret" "$(awk '/^spectral/ { print $2 }' "$work/table")" 1e-9 0.01
exit $failed

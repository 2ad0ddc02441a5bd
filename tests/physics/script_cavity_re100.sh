# SPDX-License-Identifier: Apache-2.0
# gabion-test: timeout=300
# Lid-driven cavity at Re 100 on 128^2 cells: centre lines within 1 % of the lid speed of Ghia et al. 1982.
. "$GABION_SOURCE/tests/physics/common.sh"

run_case cavity 2 "$flow/cavity.yaml" --set run.time=25 --set output.probes.interval=25
awk -v n=128 -v re=100 -f "$GABION_SOURCE/tests/physics/ghia.awk" "$work/cavity/probes.csv" >"$work/table"
grep '^[uv]' "$work/table"
within "root mean square difference" "$(awk '/^rms/ { print $2 }' "$work/table")" 0 0.01
within "greatest difference" "$(awk '/^most/ { print $2 }' "$work/table")" 0 0.01
exit $failed

# SPDX-License-Identifier: Apache-2.0
# gabion-test: timeout=1200 labels=long
# Lid-driven cavity at Re 1000 on 64^2 cells, finer where the flow says so and along the lid: centre lines within
# 1 % of the lid speed of Ghia et al. 1982, as root mean square, and everywhere of Botella & Peyret 1998.
. "$GABION_SOURCE/tests/physics/common.sh"

# Points at the centres of cells of level 2; the levels say at which cell centres the values really are.
line() { printf '{name: %s, from: [%s], to: [%s], count: 256}' "$@"; }
run_case cavity 4 "$flow/cavity_refined.yaml" --set run.time=60 --set output.probes.interval=60 \
    --set 'output.probes.quantities=[velocity, level]' --set 'output.slices=[]' --set "output.lines=[
      $(line left '0.498046875, 0.001953125' '0.498046875, 0.998046875'),
      $(line right '0.501953125, 0.001953125' '0.501953125, 0.998046875'),
      $(line below '0.001953125, 0.498046875' '0.998046875, 0.498046875'),
      $(line above '0.001953125, 0.501953125' '0.998046875, 0.501953125')]"
awk -v n=256 -v base=0.015625 -v re=1000 -f "$GABION_SOURCE/tests/physics/ghia.awk" "$work/cavity/probes.csv" \
    >"$work/table"
grep '^[uv]' "$work/table"
within "root mean square difference to Ghia et al." "$(awk '/^rms/ { print $2 }' "$work/table")" 0 0.01
within "greatest difference to Botella & Peyret" "$(awk '/^spectral/ { print $2 }' "$work/table")" 1e-9 0.01
exit $failed

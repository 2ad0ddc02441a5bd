# SPDX-License-Identifier: Apache-2.0
# gabion-test: timeout=7200 labels=long
# Taylor-Green vortex in 3D at Re 1600 on 128^3 cells: the dissipation, -d/dt of the kinetic energy, has its
# maximum within 5 % of t = 9 (DeBonis 2013).
. "$GABION_SOURCE/tests/physics/common.sh"

run_case vortex 4 "$flow/taylor_green_3d.yaml" --set 'domain.cells=[128, 128, 128]' \
    --set 'domain.block=[32, 32, 32]' --set fluid.reynolds=1600 --set run.time=10.5 \
    --set 'output.slices=[]' --set resilience.memory.every=never
# Differences over 0.4 time units are free of the sound waves of the weakly compressible method.
peak=$(awk -F, 'NR == 1 { for (i = 1; i <= NF; i++) if ($i == "kinetic_energy") c = i; next }
    { rows++; t[rows] = $2; e[rows] = $c }
    END { for (i = 3; i <= rows - 2; i++) {
            d = (e[i - 2] - e[i + 2]) / (t[i + 2] - t[i - 2]); if (d > most) { most = d; when = t[i] } }
          print when }' "$work/vortex/integrals.csv")
within "time of the greatest dissipation" "$peak" 8.55 9.45
exit $failed

# SPDX-License-Identifier: Apache-2.0
# gabion-test: timeout=300
# The driven channel is the parabola to machine precision, at any omega (TRT, magic parameter 3/16).
. "$GABION_SOURCE/tests/physics/common.sh"

for omega in 0.6 1.0 1.7; do
  run_case "channel-$omega" 2 "$flow/channel.yaml" --set fluid.omega=$omega --set fluid.velocity=0.1 \
      --set 'fluid.acceleration=[0.08, 0]' --set 'domain.cells=[16, 16]' --set 'domain.block=[8, 8]' \
      --set 'output.lines.0.from=[0.53125, 0.03125]' --set 'output.lines.0.to=[0.53125, 0.96875]' \
      --set output.lines.0.count=16 --set run.steps=40000 --set output.probes.every=40000 \
      --set output.integrals.every=40000
  # Greatest error relative to the maximum a H^2 / (8 nu) = 0.1.
  error=$(awk -F, 'NR == 1 { for (i = 1; i <= NF; i++) column[$i] = i }
      END { for (k = 0; k < 16; k++) {
              y = (k + 0.5) / 16; exact = 0.08 / (2 * 0.1) * y * (1 - y)
              e = $column["u" k ".velocity.x"] - exact; if (e < 0) e = -e; if (e > most) most = e }
            printf "%.6g", most / 0.1 }' "$work/channel-$omega/probes.csv")
  within "omega $omega: greatest relative error" "$error" 0 2e-12
done
exit $failed

# SPDX-License-Identifier: Apache-2.0
# Shared by the tests of lost blocks that are approximated; to be sourced behind common.sh and phase_common.sh. On six
# processes the pairs that keep each other's images are 0 and 3, 1 and 4, 2 and 5.
sed -i 's/cells: \[24, 36\], block: \[12, 6\]/cells: [48, 48], block: [8, 8]/; s/height: 14, seeds: 5, shares: .*}/height: 14, seeds: 8}/;
        s/row: 16/row: 30/' grow.yaml
cat >>grow.yaml <<'YAML'
output: {profile: {every: 60}}
YAML
approximate='resilience.strategies=[shrink, reconstruct]'
# The second one dies when it has noticed the death of the first, and before the repair: always in the same recovery,
# and always in its first round.
pair='--inject rank=1,step=130,phase=compute --inject rank=4,step=124,phase=repair'

# is_near NAME: phase fractions sum up to 1 everywhere, shares of the solids and the front are near those in whole/.
is_near() {
  awk -F, 'NR > 1 && ($6 + $7 + $8 + $9 - 1)^2 > 1e-20 { exit 1 }' out/profile.csv || complain "$1: fractions: $(tail -1 out/profile.csv)"
  awk -v a="$(value whole/front.csv height)" -v b="$(value out/front.csv height)" 'BEGIN { d = a - b; exit !(d * d <= 36) }' ||
    complain "$1: the front is far off: $(tail -1 out/front.csv)"
  local solid
  for solid in alpha beta gamma; do
    awk -v a="$(value whole/front.csv $solid)" -v b="$(value out/front.csv $solid)" \
        'BEGIN { d = a - b; exit !(d * d <= 0.05^2) }' || complain "$1: share of $solid: $(tail -1 out/front.csv)"
  done
}
# is_approximate NAME BLOCKS: all records of the run report the approximation.
is_approximate() {
  said 'the result is an APPROXIMATION'
  said "of an APPROXIMATION from step 120 on: $2 blocks of which no copy was left were approximated"
  grep -q "\"event\": \"reconstruction\", .*\"blocks\": $2," out/events.jsonl || complain "$1: no event"
  grep -q "\"reconstructed_blocks\": $2," out/summary.json || complain "$1: summary.json does not say so"
  grep -q '"approximate_from_step": 120,' out/summary.json || complain "$1: summary.json does not say since when"
  "$gabion" status out >status.txt
  grep -q "APPROXIMATE from step 120 on: $2 blocks were approximated" status.txt || complain "$1: gabion status: $(cat status.txt)"
}

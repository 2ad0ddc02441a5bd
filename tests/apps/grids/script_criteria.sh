# SPDX-License-Identifier: Apache-2.0
# gabion-test: timeout=100 labels=quick
# Criteria of refinement: a user-defined one (helper_drop.c) is listed with the built-in ones, in help and parameter
# files; it measures the field of the file; blocks split where it requires that and merge elsewhere; several criteria
# combine. Diffusion conserves, and the owners of blocks do not matter.
. "$GABION_SOURCE/tests/apps/common.sh"
gabion=$GABION_BUILD/tests/apps/helper_drop

cat >case.yaml <<'YAML'
run: {steps: 1200}
domain: {cells: [96, 64], block: [8, 8]}
drop:
  every: 20
  refinement:
    levels: 2
    every: 10
    criteria:
      - {type: wet_cells, field: water, above: 0.5, below: 0.2}
resilience: {memory: {every: 50}}
YAML
blocks() { tr -d '\n ' <out/summary.json | sed -n 's/.*"blocks_of_levels":\[\([0-9,]*\)\].*/\1/p'; }

run 0 1 case.yaml --set run.steps=0
first=$(blocks)
echo "$first" | awk -F, '{ exit !(NF == 3 && $3 >= 16 && $1 + $2 + $3 < 70) }' || complain "not fine around the drop alone: $first"
run 0 1 case.yaml --set run.steps=0 --set drop.refinement.criteria.0.type=value --set drop.refinement.criteria.0.above=0.1 \
  --set drop.refinement.criteria.0.below=0.01
[ "$(blocks)" = "$first" ] || complain "the same said by another criterion gives another grid: $(blocks), not $first"
run 0 1 case.yaml --set run.steps=0 --set drop.refinement.criteria.0.field=air
[ "$(blocks)" = "6,0,0" ] || complain "it looks at another field: $(blocks)"
cat >two.yaml <<'YAML'
run: {steps: 0}
domain: {cells: [96, 64], block: [8, 8]}
drop:
  refinement:
    levels: 2
    criteria:
      - {type: wet_cells, field: air, above: 0.5}
      - {type: wet_cells, field: water, above: 0.5}
YAML
run 0 1 two.yaml
[ "$(blocks)" = "$first" ] || complain "one of two criteria does not count: $(blocks)"

# It spreads until no cell holds a tenth: 4 k t of 960 and the area of 50 at first leave 50 / 1010 of its height.
run 0 1 case.yaml
expected=$(checksum)
[ "$(blocks)" = "6,0,0" ] || complain "blocks do not merge again: $(blocks)"
awk -F, 'NR == 2 { first = $4 } NR > 1 && ($4 / first - 1)^2 > 1e-24 { wrong++ } END { exit !(NR == 62 && first > 100 && !wrong) }' out/drop.csv ||
  complain "water comes or goes: $(tail -n 2 out/drop.csv)"
run 0 3 case.yaml
[ "$(checksum)" = "$expected" ] || complain "3 processes: another checksum"
run 0 2 case.yaml --set run.steps=300
grid=$(blocks)
echo "$grid" | awk -F, '{ exit !($3 > 16) }' || complain "blocks do not split where it gets wet: $grid, at first $first"

helps drop.refinement.criteria wet_cells air
check 2 case.yaml --set drop.refinement.criteria.0.type=wet_cell
said 'wet_cells'
"$gabion" '!' >said.txt 2>&1 && complain "levels and diagonals are taken together"
said 'beyond edges and corners'
"$gabion" '!!' >said.txt 2>&1 && complain "too many criteria are taken"
said 'too many criteria'
finish

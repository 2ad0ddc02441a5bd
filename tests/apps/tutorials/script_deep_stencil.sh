# SPDX-License-Identifier: Apache-2.0
# gabion-test: timeout=200 needs=ulfm,png
# Stencils that read several layers around a block. Operators of fourth and sixth order have these orders, on any
# number of processes. The tutorial of Cahn and Hilliard has the same result on 1 and 2 processes, on 4 of which one
# is killed, and with one that rolls back alone; the amounts of both liquids are conserved.
. "$GABION_SOURCE/tests/apps/tutorials/tutorial_common.sh"
gabion=$GABION_BUILD/tests/apps/helper_deep

cat >deep.yaml <<'YAML'
run: {steps: 1}
domain: {cells: [16, 16, 16], block: [8, 8, 8], length: 1}
deep: {every: 1}
YAML
# error N: root mean square after the operator on N^3 cells.
error() {
  run 0 "$2" deep.yaml --set "domain.cells=[$1, $1, $1]"
  awk -F, -v n="$1" 'END { printf "%.6e", sqrt($3 / n ^ 3) }' out/deep.csv
}
for depth in 2 3; do
  export DEPTH=$depth
  coarse=$(error 16 1) fine=$(error 32 2) finest=$(error 64 1)
  awk -v a="$coarse" -v b="$fine" -v c="$finest" -v order=$((2 * depth)) \
    'BEGIN { p = log(a / b) / log(2); q = log(b / c) / log(2); exit !(p > order - 0.5 && p < order + 0.1 && q > order - 0.2 && q < order + 0.1) }' ||
    complain "depth $depth: errors of $coarse, $fine, $finest are not of order $((2 * depth))"
done
DEPTH=3 check 2 deep.yaml --set 'domain.block=[2, 8, 8]'
said 'a deep stencil reads 3 cells beyond a block; use blocks of at least 3'
for depth in -1 9; do
  DEPTH=$depth "$gabion" check deep.yaml >said.txt 2>&1 && complain "a depth of $depth is taken"
  said 'its depth is not in 0 to 8'
done
DEPTH=2 "$gabion" '!' >said.txt 2>&1 && complain "two layers between levels are taken"
said 'between levels there is one layer of ghosts'
unset DEPTH

program cahn_hilliard
sed -e 's/\[128, 128\]/[48, 32]/; s/\[16, 16\]/[12, 8]/; s/steps: 20000/steps: 3000/; s/every: 10000/every: 3000/; s/every: 1000 /every: 200 /' \
  -e 's/every: 500 /every: 50 /' "$GABION_SOURCE/apps/tutorial/cahn_hilliard.yaml" >case.yaml
run 0 1 case.yaml
keep cahn_hilliard.csv c_0000003000.png
alike_on_processes
alike_killed 233
alike_replaced 1 333 'local, shrink'
awk -F, 'NR == 2 { first = $3 } NR > 1 && ($3 - first) ^ 2 > 1e-20 { wrong++ } END { exit !(NR == 17 && !wrong) }' kept/cahn_hilliard.csv ||
  complain "a liquid comes or goes: $(cat kept/cahn_hilliard.csv)"
finish

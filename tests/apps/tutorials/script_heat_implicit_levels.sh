# SPDX-License-Identifier: Apache-2.0
# gabion-test: timeout=300 needs=ulfm,png
# Implicit fields on blocks of three levels that adapt during the run: the same checksum, grid, table and picture on
# any number of processes, after deaths within a solve under each strategy, and resumed from disk on another number of
# processes. The heat of the burner is conserved. Blocks that the levels cannot halve are refused.
. "$GABION_SOURCE/tests/apps/tutorials/tutorial_common.sh"
program heat_implicit

sed -e 's/steps: 100/steps: 20/' -e 's/every: 50, outlines: true/every: 20/' -e 's/every: 20  .*/every: 10/' -e '/^faults:/,$d' \
  -e 's/\[256, 256\]/[128, 128]/; s/\[32, 32\]/[8, 8]/' \
  -e 's/every: 10  .*/every: 5\n  refinement:\n    levels: 2\n    every: 4\n    criteria:\n      - {type: gradient, field: temperature, above: 0.5}/' \
  "$GABION_SOURCE/apps/tutorial/heat_implicit.yaml" >case.yaml
run 0 1 case.yaml
keep heat_implicit.csv temperature_0000000020.png
echo "$grid" | awk -F, '{ exit !(NF == 3 && $1 > 0 && $2 > 0 && $3 > 0 && $1 + $2 + $3 < 200) }' ||
  complain "not a grid of three levels with less than 200 of 256 blocks: $grid"
OMP_NUM_THREADS=2 run 0 3 case.yaml
alike "3 processes of 2 threads"
for visit in 2 20 90; do # exchanges of level 0 of the solve, of coarser levels, between levels
  run 0 4 case.yaml --inject "rank=2,step=13,phase=exchange,visit=$visit"
  said 'rank 2 died'
  alike "a death in exchange $visit"
done
run 0 3 case.yaml --inject rank=1,step=13,phase=reduction,visit=2
said 'rank 1 died'
alike "a death in a reduction"

spares() { "$GABION_LAUNCH" -n 3 --spares 1 -- "$gabion" run case.yaml "$@" --out out --fresh >said.txt 2>&1 || complain "$*: $(cat said.txt)"; }
spares --set 'resilience.strategies=[spare]' --inject rank=1,step=13,phase=exchange,visit=40
said 'took over'
alike "a spare"
for rank in 0 1; do # 0 is the root of the reductions
  spares --set 'resilience.strategies=[local, spare]' --inject "rank=$rank,step=13,phase=exchange,visit=40"
  said "rank $rank died"
  alike "local recovery of rank $rank"
done

run 0 2 case.yaml --set run.steps=10 --set resilience.disk.every=5
"$GABION_LAUNCH" -n 3 -- "$gabion" run case.yaml --set resilience.disk.every=5 --out out >said.txt 2>&1 || complain "resuming: $(cat said.txt)"
alike "resuming from disk"

# A step adds dt = 20 times a number of cells: conduction across borders of levels and changes of the grid add nothing.
awk -F, 'NR > 1 { cells = $3 / 20; off = cells - int(cells + 0.5); if (off * off > 1e-16 || $3 < last) wrong = 1; last = $3 }
  END { exit !(NR == 6 && last > 10000 && !wrong) }' kept/heat_implicit.csv || complain "the heat is not conserved: $(cat kept/heat_implicit.csv)"

check 0 case.yaml --set 'domain.cells=[96, 96]' --set 'domain.block=[4, 4]'
check 2 case.yaml --set 'domain.cells=[96, 96]' --set 'domain.block=[6, 6]'
said 'needs a multiple of 4, 4 or more'
finish

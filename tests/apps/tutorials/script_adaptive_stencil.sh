# SPDX-License-Identifier: Apache-2.0
# gabion-test: timeout=300 needs=ulfm,png
# Blocks of a user-defined equation adapt to its fields: same checksum, table and picture on 1 and 2 processes, on 4
# with a process killed from outside between two adaptations, killed within one, and with a local recovery. Conserved
# sums stay constant; the result is nearly that of one fine grid, with far fewer cells. Invalid cases are refused.
. "$GABION_SOURCE/tests/apps/tutorials/tutorial_common.sh"
program gray_scott

sed -e 's/\[192, 192, 96\]/[192, 64, 64]/; s/steps: 2000/steps: 300/; s/every: 1000, outlines: true, outlined: level/every: 300/' \
  -e 's/^  kill: .*/&\n  every: 20/; s/every: 200 .*/every: 50/' "$GABION_SOURCE/apps/tutorial/gray_scott_adaptive.yaml" >case.yaml
run 0 1 case.yaml
keep gray_scott.csv v-z32_0000000300.png
echo "$grid" | awk -F, '{ exit !(NF == 3 && $1 > 0 && $2 > 0 && $3 > 0 && $1 + $2 + $3 < 768) }' ||
  complain "not a grid of three levels with less than half of 1536 blocks: $grid"
alike_on_processes
alike_killed 233 # between the adaptations behind steps 220 and 240
run 0 3 case.yaml --inject rank=1,step=240,phase=adapt-mark
said 'rank 1 died'
alike "killed while the grid adapts"
alike_replaced 1 233 'local, shrink'

# One fine grid starts with the same and ends with nearly the same.
run 0 2 case.yaml --set gray_scott.refinement.levels=0
awk -F, 'FNR == NR { u[FNR] = $3; v[FNR] = $4; rows = FNR; next }
         FNR == 2 && ($3 != u[2] || $4 != v[2]) { wrong = 1 }
         FNR > 1 { du = $3 / u[FNR] - 1; dv = $4 / v[FNR] - 1; if (du * du > 1e-8 || dv * dv > 1e-4) wrong = 1; last = $4; n = FNR }
  END { exit !(n == rows && n > 10 && !wrong && last > 2 * v[2]) }' kept/gray_scott.csv out/gray_scott.csv ||
  complain "not what one fine grid gives: $(tail -n 1 kept/gray_scott.csv) and $(tail -n 1 out/gray_scott.csv)"

# Without feed and decay U and V together stay the same, across borders of levels and through splitting and merging.
run 0 2 case.yaml --set gray_scott.feed=0 --set gray_scott.kill=0
awk -F, 'NR > 1 { all = $3 + $4; v = $4; if (NR == 2) { first = all; v_first = v }
                  if ((all / first - 1)^2 > 1e-24) wrong++ }
  END { exit !(NR > 10 && v > v_first && !wrong) }' out/gray_scott.csv ||
  complain "without feed and decay something comes or goes: $(head -n 2 out/gray_scott.csv; tail -n 1 out/gray_scott.csv)"

check 2 case.yaml --set gray_scott.refinement.criteria.0.below=0.011
said 'more than half of above'
check 2 case.yaml --set gray_scott.refinement.criteria.0.field=w
said 'w'
check 2 case.yaml --set gray_scott.refinement.levels=4
said 'not a multiple of blocks 16 times as wide'
sed '/criteria:/,/type:/d' case.yaml >bare.yaml
check 2 bare.yaml
said 'nothing would ever be refined'
"$gabion" plan case.yaml >said.txt 2>&1 || complain "plan: $(cat said.txt)"
said '20 steps'
finish

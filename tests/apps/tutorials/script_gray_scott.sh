# SPDX-License-Identifier: Apache-2.0
# gabion-test: timeout=300 needs=ulfm,png
# The tutorial with two fields in 3D has the same checksum, table and picture on 1 and 2 processes, and on 4 of which
# one is killed from outside, or rolls back alone (strategy local). Without feed and decay both substances are
# conserved, and a diverging run is detected.
. "$GABION_SOURCE/tests/apps/tutorials/tutorial_common.sh"
program gray_scott

sed -e 's/\[64, 64, 64\]/[48, 48, 48]/; s/\[32, 16, 16\]/[24, 16, 16]/; s/steps: 5000/steps: 400/; s/every: 1000/every: 400/' \
  -e 's/^  kill: .*/&\n  every: 20/; s/every: 200 .*/every: 50/' "$GABION_SOURCE/apps/tutorial/gray_scott.yaml" >case.yaml
run 0 1 case.yaml
keep gray_scott.csv v-z32_0000000400.png
alike_on_processes
alike_killed 233
alike_replaced 1 333 local

# V has grown out of its two cubes of 8^3 cells, which held a quarter each.
awk -F, 'NR == 2 { first = $4 } { last = $4 } END { exit !(first == 256 && last > 4 * first) }' kept/gray_scott.csv ||
  complain "not the reaction of this case: $(head -n 2 kept/gray_scott.csv; tail -n 1 kept/gray_scott.csv)"
run 0 2 case.yaml --set gray_scott.feed=0 --set gray_scott.kill=0
awk -F, 'NR > 1 { all = $3 + $4; v = $4; if (NR == 2) { first = all; v_first = v }
                  if ((all / first - 1)^2 > 1e-24) wrong++ }
  END { exit !(NR > 20 && v > v_first && !wrong) }' out/gray_scott.csv ||
  complain "without feed and decay something comes or goes: $(head -n 2 out/gray_scott.csv; tail -n 1 out/gray_scott.csv)"

run 4 2 case.yaml --set gray_scott.feed=1 --set gray_scott.kill=1 --set gray_scott.diffusion_v=0.16
said ' at ('
check 2 case.yaml --set 'domain.cells=[48, 48]' --set 'domain.block=[24, 16]' --set 'output.slices=[]'
said 'is computed in 3D'
"$gabion" plan case.yaml >said.txt 2>&1 || complain "plan: $(cat said.txt)"
said 'sent in a step of level 0'
finish

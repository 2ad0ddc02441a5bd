# SPDX-License-Identifier: Apache-2.0
# gabion-test: timeout=300 needs=ulfm,png
# An implicit equation in a stencil: the same bits on any number of processes and threads, after deaths within a solve
# under each strategy, and resumed from disk on another number of processes. Heat is that of the explicit tutorial, to
# the tolerance of the solver. Grids unsuitable for multigrid are refused.
. "$GABION_SOURCE/tests/apps/common.sh"
gabion=$GABION_BUILD/bin/heat_implicit

sed -e 's/steps: 100/steps: 20/' -e 's/every: 50, outlines: true/every: 10/' -e 's/every: 20  .*/every: 10/' -e '/^faults:/,$d' -e 's/\[256, 256\]/[128, 128]/' \
  "$GABION_SOURCE/apps/tutorial/heat_implicit.yaml" >plate.yaml
run 0 1 plate.yaml
expected=$(checksum)
cp out/heat_implicit.csv of_one.csv && cp out/temperature_0000000020.png one.png || complain "no table or no picture: $(ls out)"
alike() {
  [ "$(checksum)" = "$expected" ] || complain "$1: another checksum"
  cmp out/heat_implicit.csv of_one.csv || complain "$1: another table"
  cmp out/temperature_0000000020.png one.png || complain "$1: another picture"
}
OMP_NUM_THREADS=2 run 0 3 plate.yaml
alike "3 processes of 2 threads"
for visit in 1 5 30; do # in the first exchange of the step, and within the solve
  run 0 4 plate.yaml --inject "rank=2,step=13,phase=exchange,visit=$visit"
  said 'rank 2 died'
  alike "a death in exchange $visit"
done
run 0 4 plate.yaml --inject rank=1,step=13,phase=reduction,visit=3
said 'rank 1 died'
alike "a death in a reduction"

spares() { "$GABION_LAUNCH" -n 3 --spares 1 -- "$gabion" run plate.yaml "$@" --out out --fresh >said.txt 2>&1 || complain "$*: $(cat said.txt)"; }
spares --set 'resilience.strategies=[spare]' --inject rank=1,step=13,phase=exchange,visit=5
said 'took over'
alike "a spare"
for rank in 0 1; do # 0 is the root of the reductions
  spares --set 'resilience.strategies=[local, spare]' --inject "rank=$rank,step=13,phase=exchange,visit=5"
  said "rank $rank died"
  alike "local recovery of rank $rank"
done

run 0 2 plate.yaml --set run.steps=10 --set resilience.disk.every=5
"$GABION_LAUNCH" -n 3 -- "$gabion" run plate.yaml --set resilience.disk.every=5 --out out >said.txt 2>&1 || complain "resuming: $(cat said.txt)"
alike "resuming from disk"

# Steps of 1, as the explicit scheme takes: the burner leaves the same heat.
run 0 1 plate.yaml --set heat_implicit.dt=1 --set run.steps=60 --set heat_implicit.every=60
cp out/heat_implicit.csv implicit.csv
sed -e 's/every: 20  .*/every: 10/' -e '/^faults:/,$d' -e 's/\[256, 256\]/[128, 128]/' -e 's/^  k: .*/&\n  every: 60/' "$GABION_SOURCE/apps/tutorial/heat.yaml" >explicit.yaml
timeout 100 "$GABION_BUILD/bin/heat" run explicit.yaml --set run.steps=60 --out explicit >said.txt 2>&1 || complain "explicit: $(cat said.txt)"
paste -d, implicit.csv explicit/heat.csv | awk -F, 'NR > 1 { a = $3; b = $6 } END { exit !(b > 100 && a / b - 1 < 1e-8 && b / a - 1 < 1e-8) }' ||
  complain "another heat: $(tail -n 1 implicit.csv), $(tail -n 1 explicit/heat.csv)"

check 0 plate.yaml --set 'domain.block=[8, 8]'
"$gabion" plan plate.yaml -n 4 --json >plan.json 2>said.txt || complain "plan: $(cat said.txt)"
said '11 cycles of the solver'
python3 -m json.tool plan.json >/dev/null || complain "no JSON: $(cat plan.json)"
check 2 plate.yaml --set 'domain.cells=[1025, 1025]' --set 'domain.block=[1025, 1025]'
said 'use blocks of 2^n cells'

# SPDX-License-Identifier: Apache-2.0
# gabion-test: timeout=200 needs=ulfm
# Time steps of a stencil from a bound (helper_time.c): the times in table, summary and update are those of one
# process on 2 and 3, after deaths under shrink, spare and local, also of rank 0, and from disk on another number of
# processes. Constant steps: by the program and by the parameter file. Invalid bounds are refused.
. "$GABION_SOURCE/tests/apps/common.sh"
gabion=$GABION_BUILD/tests/apps/helper_time

cat >front.yaml <<'YAML'
run: {steps: 30}
domain: {cells: [32, 32], block: [8, 8], length: 1}
front: {every: 5}
output: {fields: {quantities: [elapsed, u], every: 10}}
resilience: {memory: {every: 7}}
YAML
run 0 1 front.yaml
expected=$(checksum)
cp out/front.csv of_one.csv
# The time grows by steps that differ, each at most dx / (2 * 1.5) times 0.9, and the program counts the same.
awk -F, 'NR > 1 { if (NR > 2 && !($2 > t)) wrong = 1; if ($1 > 0 && !($4 / 1024 - $2 < 1e-15 && $2 - $4 / 1024 < 1e-15)) wrong = 1
    if (NR == 3) first = $2; if (NR > 3 && $2 - t != first) differs = 1; t = $2 }
  END { exit wrong || !differs || !(first > 0.0468 && first < 0.9 * 5 / 32 / 2) }' of_one.csv || complain "times: $(cat of_one.csv)"
time=$(awk -F, 'END { print $2 }' of_one.csv)
sed -n 's/.*"time": \([0-9.e-]*\),*/\1/p' out/summary.json | awk -v t="$time" '{ d = $1 - t } END { exit !(d < 1e-12 && d > -1e-12) }' ||
  complain "the summary has another time than $time: $(grep '"time"' out/summary.json)"
alike() {
  [ "$(checksum)" = "$expected" ] || complain "$1: another checksum"
  cmp out/front.csv of_one.csv || complain "$1: another table: $(cat said.txt)"
}
OMP_NUM_THREADS=2 run 0 2 front.yaml
alike "2 processes of 2 threads"
for phase in exchange,visit=1 reduction,visit=1 reduction,visit=2; do
  run 0 3 front.yaml --inject "rank=1,step=23,phase=$phase"
  said 'rank 1 died'
  alike "a death in $phase"
done
spares() { "$GABION_LAUNCH" -n 3 --spares 1 -- "$gabion" run front.yaml "$@" --out out --fresh >said.txt 2>&1 || complain "$*: $(cat said.txt)"; }
spares --set 'resilience.strategies=[spare]' --inject rank=1,step=23,phase=exchange
said 'took over'
alike "a spare"
for rank in 0 1; do # 0 is the root of the reductions
  spares --set 'resilience.strategies=[local, spare]' --inject "rank=$rank,step=18,phase=reduction"
  said "rank $rank died"
  grep -q '"strategy": "local"' out/events.jsonl || complain "rank $rank: not local: $(cat said.txt)"
  alike "local recovery of rank $rank"
done
run 0 2 front.yaml --set run.steps=15 --set resilience.disk.every=5
"$GABION_LAUNCH" -n 3 -- "$gabion" run front.yaml --set resilience.disk.every=5 --out out >said.txt 2>&1 || complain "resuming: $(cat said.txt)"
alike "resuming from disk"

# Constant steps.
last() { awk -F, 'END { print $1 * 1, $2 * 1 }' out/front.csv; }
run 0 1 front.yaml --set front.dt=0.005
[ "$(last)" = "30 0.15" ] || complain "front.dt: $(last)"
# A plan counts the reduction of each step that finds the bound, and none with constant steps.
messages() { "$gabion" plan front.yaml -n 4 --json "$@" 2>said.txt | sed -n 's/.*"messages_per_step": .*"mean": \([0-9.e+]*\),.*/\1/p' | head -n 1; }
with=$(messages) without=$(messages --set front.dt=0.005)
awk -v a="$with" -v b="$without" 'BEGIN { exit !(b > 0 && a > b) }' || complain "messages of a plan: $with with a bound, $without without"
export VARIANT=constant
run 0 2 front.yaml
[ "$(last)" = "30 0.15" ] || complain "gab_stencil.dt: $(last)"
sed -e 's/steps: 30/time: 0.1/' -e 's/every: 10/interval: 0.05/' front.yaml >time.yaml
run 0 1 time.yaml
[ "$(last)" = "20 0.1" ] || complain "run.time: $(last)"
check 2 front.yaml --set front.cfl=0.5
said 'front.cfl'
unset VARIANT

# A time to end at, where steps follow from a bound: the last step meets it, and the same run continues from there.
sed -e 's/steps: 30/time: 0.2/' -e 's/every: 10/every: 1000/' front.yaml >until.yaml
run 0 3 until.yaml --set front.every=1 --set resilience.disk.every=10 --inject rank=1,step=20,phase=exchange
said 'rank 1 died'
said_once 'ended after step 21 by run.time: 0.2 is reached'
[ "$(last)" = "21 0.2" ] || complain "run.time: $(last)"
grep -q '"reason": "run.time: 0.2 is reached"' out/summary.json || complain "no reason: $(grep reason out/summary.json)"
"$GABION_LAUNCH" -n 2 -- "$gabion" run until.yaml --set front.every=1 --set resilience.disk.every=10 --set run.time=0.25 --out out >said.txt 2>&1 || complain "longer: $(cat said.txt)"
said 'ended after step 26 by run.time: 0.25 is reached'
[ "$(last)" = "26 0.25" ] || complain "a longer time: $(last)"
sed -e 's/every: 10/interval: 0.05/' front.yaml >interval.yaml
check 2 interval.yaml
said 'time steps of this case differ in length'
VARIANT=zero run 4 2 front.yaml
said 'front: bound gives a time step of 0 in block'
VARIANT=unlimited run 4 2 front.yaml
said 'a time step of inf'
VARIANT=beyond run 1 2 front.yaml
said 'with other values where ghosts are not filled'
VARIANT=twice check 1 front.yaml
said 'its keys dt and cfl exist already'
finish

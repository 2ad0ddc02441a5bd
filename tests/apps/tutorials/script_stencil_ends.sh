# SPDX-License-Identifier: Apache-2.0
# gabion-test: timeout=200 needs=ulfm
# A stencil that ends by its own criterion, or at steady state (helper_ends.c): at the same step on any number of
# processes, after deaths in and before the last step under shrink, spare and local, and from disk. The log and
# summary.json have the reason; another limit continues the run.
. "$GABION_SOURCE/tests/apps/common.sh"
gabion=$GABION_BUILD/tests/apps/helper_ends
cat >relax.yaml <<'YAML'
run: {steps: 500}
domain: {cells: [16, 16], block: [8, 8]}
relax: {every: 5, small: 136}
output: {fields: {quantities: [u], every: 5}}
resilience: {memory: {every: 7}, disk: {every: 100}}
YAML
# u is 1, and 2 in one column: the sum of 272 is less than 136 after a time of log(2) / 0.5 = 1.386.
ends() { # ends STEP REASON
  said_once "ended after step $1 by $2"
  awk -F, -v n="$1" 'END { exit $1 != n }' out/relax.csv || complain "the table ends with $(tail -n 1 out/relax.csv)"
  grep -q "\"steps\": $1," out/summary.json && grep -qF "\"reason\": \"$2" out/summary.json || complain "summary: $(cat out/summary.json)"
}
reason='relax: little of u is left'
run 0 1 relax.yaml
ends 15 "$reason"
expected=$(checksum)
cp out/relax.csv of_one.csv
[ -e out/fields/fields_0000000015.xdmf ] || complain "no field of the last step: $(ls out/fields)"
alike() {
  ends "${2:-15}" "${3:-$reason}"
  [ "$(checksum)" = "$expected" ] || complain "$1: another checksum"
  cmp out/relax.csv of_one.csv || complain "$1: another table: $(cat said.txt)"
}
run 0 3 relax.yaml
alike "3 processes"
for fault in step=14,phase=exchange,visit=2 step=14,phase=reduction,visit=1 step=14,phase=reduction,visit=2 step=15,phase=output; do
  run 0 3 relax.yaml --inject "rank=1,$fault"
  said 'rank 1 died'
  alike "a death at $fault"
done
spares() { "$GABION_LAUNCH" -n 3 --spares 1 -- "$gabion" run relax.yaml "$@" --out out --fresh >said.txt 2>&1 || complain "$*: $(cat said.txt)"; }
spares --set 'resilience.strategies=[spare]' --inject rank=1,step=14,phase=reduction
alike "a spare"
for rank in 0 1; do
  spares --set 'resilience.strategies=[local, spare]' --inject "rank=$rank,step=14,phase=exchange"
  said "rank $rank died"
  grep -q '"strategy": "local"' out/events.jsonl || complain "rank $rank: not local: $(cat said.txt)"
  alike "local recovery of rank $rank"
done

# A completed run ends at once; with another limit it continues, to the step of an uninterrupted run.
again() { "$GABION_LAUNCH" -n 2 -- "$gabion" run relax.yaml "$@" --out out >said.txt 2>&1 || complain "again $*: $(cat said.txt)"; }
again
ends 15 "$reason"
run 0 1 relax.yaml --set relax.small=40
ends 40 "$reason"
expected=$(checksum)
cp out/relax.csv of_one.csv
run 0 2 relax.yaml
again --set relax.small=40
alike "another limit" 40

# Steady: du/dt is 2 / 2 exp(-t / 2) at most, less than 0.1 after t = 4.605, as the mean over a step a little later.
run 0 1 relax.yaml --set relax.small=0 --set relax.steady=0.1
grep 'by steady: fields change by at most 0.0' said.txt | grep -q 'after step 50 ' || complain "steady: $(cat said.txt)"
run 0 2 relax.yaml --set relax.small=0 --set relax.steady=0.1 --set relax.every=1 --inject rank=1,step=46,phase=exchange
grep 'by steady: fields change by at most 0.09' said.txt | grep -q 'after step 47 ' || complain "steady: $(cat said.txt)"
run 0 1 relax.yaml --set relax.small=0 --set run.steps=20
not_said 'ended after'
finish

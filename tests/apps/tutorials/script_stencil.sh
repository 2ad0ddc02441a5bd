# SPDX-License-Identifier: Apache-2.0
# gabion-test: timeout=200 labels=quick needs=ulfm
# A stencil with diagonal neighbours (helper_life.c): a glider that has passed once around through the corners of all
# blocks is at its start, on any number of processes, and after a death. Its sums come from its own function.
. "$GABION_SOURCE/tests/apps/common.sh"
gabion=$GABION_BUILD/tests/apps/helper_life

cat >life.yaml <<'YAML'
run: {steps: 128}
domain: {cells: [32, 32], block: [8, 8]}
life: {every: 4}
resilience: {memory: {every: 10}}
YAML
run 0 1 life.yaml --set run.steps=0
expected=$(checksum)
run 0 1 life.yaml --set run.steps=64
[ "$(checksum)" != "$expected" ] || complain "it does not move"
for processes in 1 2 4; do
  run 0 $processes life.yaml
  [ "$(checksum)" = "$expected" ] || complain "$processes processes: it is not where it was"
  awk -F, 'NR > 1 { rows++; if ($3 != 5 || $4 != 32 * 32 - 5) wrong++ } END { exit !(rows == 33 && !wrong) }' out/life.csv ||
    complain "$processes processes: not five that live: $(tail -n 2 out/life.csv)"
done
run 0 4 life.yaml --inject rank=1,step=77,phase=exchange
said 'rank 1 died'
[ "$(checksum)" = "$expected" ] || complain "after a death it is not where it was"

# Without keys it still has a section, which refuses unknown keys and settings without effect.
check 0 life.yaml
check 2 life.yaml --set life.k=1
said 'life.k'
check 2 life.yaml --set balance.work=measured
said 'balance.work'
check 2 life.yaml --set 'resilience.strategies=[shrink, reconstruct]'
said 'cannot be approximated'
"$gabion" plan life.yaml >said.txt 2>&1 || complain "plan: $(cat said.txt)"
said 'sent in a step of level 0'
"$gabion" '!' >said.txt 2>&1 && complain "an unsound stencil is taken"
said 'it has too many sums'
finish

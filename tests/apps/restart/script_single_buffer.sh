# SPDX-License-Identifier: Apache-2.0
# gabion-test: timeout=200 labels=quick needs=ulfm
# One snapshot in memory takes half of the memory; after a death during a snapshot only the disk helps, and without a
# disk the run ends with the reason.
. "$GABION_SOURCE/tests/apps/common.sh"

cat >flow.yaml <<'YAML'
run: {steps: 120}
domain: {cells: [128, 64], block: [16, 16]}
fluid: {omega: 1.6, velocity: 0.05, length: 12}
boundaries:
  x_min: {type: velocity, velocity: [0.05, 0]}
  x_max: {type: outflow}
  y_min: {type: wall}
  y_max: {type: wall}
resilience: {memory: {every: 15}}
YAML
snapshots() { sed -n 's/.*"snapshots_of_all": \([0-9]*\).*/\1/p' out/summary.json; }
one="--set resilience.memory.buffers=1"

run 0 4 flow.yaml
expected=$(checksum) two=$(snapshots)
run 0 4 flow.yaml $one
[ "$(checksum)" = "$expected" ] || complain 'one buffer: another checksum'
half=$(snapshots)
((half * 200 > two * 98 && half * 200 < two * 102)) || complain "one buffer takes $half bytes, two take $two"

for phase in compute exchange; do
  run 0 4 flow.yaml $one --inject rank=2,step=37,phase=$phase
  [ "$(checksum)" = "$expected" ] || complain "$phase: another checksum"
  said 'survived: rank'
done
for injection in rank=1,step=45,phase=snapshot,visit=2 rank=3,step=45,phase=snapshot; do
  run 3 4 flow.yaml $one --inject $injection
  said 'memory holds one only: the one before is overwritten'
done

# A run of fewer steps leaves its last state on the disk; the longer one resumes from it, and rolls back to it.
for injection in rank=1,step=75,phase=snapshot,visit=2 rank=3,step=75,phase=snapshot; do
  run 0 4 flow.yaml $one --set resilience.disk.every=60 --set run.steps=60
  timeout 100 "$GABION_LAUNCH" -n 4 -- "$gabion" run flow.yaml $one --set resilience.disk.every=60 --inject $injection \
    --out out >said.txt 2>&1 || complain "$injection: exit code $?: $(cat said.txt)"
  said 'all go back to the checkpoint of step 60 on disk'
  [ "$(checksum)" = "$expected" ] || complain "$injection: another checksum after the disk"
  grep -q '"event": "restored from disk"' out/events.jsonl || complain "$injection: events.jsonl does not tell of the disk"
done
finish

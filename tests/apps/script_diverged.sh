# SPDX-License-Identifier: Apache-2.0
# gabion-test: timeout=200 labels=quick
# A run that diverges stops on all processes with exit code 4, names the place, and leaves a field for inspection.
. "$GABION_SOURCE/tests/apps/common.sh"

# One relaxation time close to its limit and a shear layer that cannot be resolved.
cat >wild.yaml <<'YAML'
run: {steps: 20000, check_every: 10}
domain: {cells: [32, 32], block: [8, 8]}
fluid: {omega: 1.9999}
lbm: {collision: srt}
boundaries:
  x_min: {type: wall}
  x_max: {type: wall}
  y_min: {type: velocity, velocity: [-0.19, 0]}
  y_max: {type: velocity, velocity: [0.19, 0]}
resilience: {memory: {every: 50}}
output:
  integrals: {every: 10}
YAML
several=${GABION_TEST_ULFM:+4} # without fault tolerance one process cannot ask the others to write the state
for processes in 1 $several; do
  run 4 $processes wild.yaml
  said_once 'error: diverged'
  said 'step '
  said 'block '
  said 'cell '
  ls out/fields/diverged_*.h5 >/dev/null 2>&1 || complain "no field file on $processes processes: $(find out)"
  [ -s out/fields/diverged.xdmf ] || complain "no out/fields/diverged.xdmf"
  # The last good state is there too: finite, of the checkpoint before, and no earlier than that.
  said_once 'the last good state, of step '
  good=$(sed -n 's/.*the last good state, of step \([0-9]*\),.*/\1/p' said.txt)
  bad=$(sed -n 's/.*the state that diverged, of step \([0-9]*\),.*/\1/p' said.txt)
  [ "${good:-0}" -gt 0 ] && [ $((bad - good)) -le 50 ] || complain "good at $good, diverged at $bad: $(cat said.txt)"
  [ -s out/fields/last_good.xdmf ] || complain "no out/fields/last_good.xdmf"
  [ "$(tail -n 1 out/integrals.csv | cut -d, -f1)" -gt "$good" ] || complain 'the series were cut back'
  for lever in 'lbm.collision: trt with lbm.magic, mrt with lbm.magic, lbm.rate_*, rr' 'now srt)' viscosity domain.cells 'omega (now 1.9999)'; do said "$lever"; done
  grep -q '"exit_code": 4' out/summary.json || complain "summary.json does not say so"
  sed -n 's/.*error: diverged/diverged/p' said.txt | sed 's/rank [0-9]*: //' >"where-$processes"
done
# It is the state that a run which ends there has.
mv out blown
good=$(sed -n 's/.*the last good state, of step \([0-9]*\),.*/\1/p' said.txt)
sed '/^output:/a\  fields: {quantities: [velocity, density], precision: float, final: true}' wild.yaml >until.yaml
run 0 $processes until.yaml --set run.steps="$good"
for file in out/fields/fields_*.h5; do
  rank=${file##*.s}
  cmp -s "$file" blown/fields/last_good_*.s"$rank" || complain "the last good state is not that of step $good: $file"
done
# Also when the check comes late: a checkpoint is never taken of a state that is not finite.
run 4 1 wild.yaml --set run.check_every=1000 --set resilience.memory.every=20
good=$(sed -n 's/.*the last good state, of step \([0-9]*\),.*/\1/p' said.txt)
bad=$(sed -n 's/.*the state that diverged, of step \([0-9]*\),.*/\1/p' said.txt)
[ "${good:-0}" -gt 0 ] && [ $((bad - good)) = 20 ] || complain "a late check: good at $good, diverged at $bad"
# The same place for any owner.
if [ -z "$several" ]; then
  run 4 4 wild.yaml
  said 'diverged: '
  finish
fi
sed 's/.*\(step [0-9]*\).*/\1/' where-1 >step-1
sed 's/.*\(step [0-9]*\).*/\1/' where-4 >step-4
cmp -s step-1 step-4 || complain "diverged at different steps: $(cat where-1 where-4)"
# A process dies in the repair that informs all: its replacement writes the state with the others, and ends as they
# do.
if [ -n "${GABION_TEST_ULFM:-}" ]; then
  rm -rf out
  "$GABION_LAUNCH" -n 4 --spares 1 -t 1 --stall 20 --retries 0 -- "$GABION_BUILD/bin/gabion" run wild.yaml --out out \
    --set 'resilience.strategies=[spare]' --inject rank=1,step=0,phase=repair >said.txt 2>&1
  [ $? = 4 ] || complain "a death in the repair that tells of it: not exit 4: $(cat said.txt)"
  said_once 'error: diverged'
  grep -q '"rank": 1,.*"event": "called"' out/events.jsonl || complain "a death in the repair that tells of it: no spare was called"
  said_once 'the last good state, of step '
fi

finish

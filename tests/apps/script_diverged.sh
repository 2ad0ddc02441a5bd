# gabion-test: timeout=200 labels=quick
# A run that diverges stops on all processes with exit code 4, says where, and leaves a field to look at.
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
several=${GABION_TEST_ULFM:+4} # without fault tolerance one process cannot ask the others to write what there is
for processes in 1 $several; do
  run 4 $processes wild.yaml
  said_once 'error: diverged'
  said 'step '
  said 'block '
  said 'cell '
  ls out/fields/diverged_*.h5 >/dev/null 2>&1 || complain "no field file on $processes processes: $(find out)"
  [ -s out/fields/diverged.xdmf ] || complain "no out/fields/diverged.xdmf"
  grep -q '"exit_code": 4' out/summary.json || complain "summary.json does not say so"
  sed -n 's/.*error: diverged/diverged/p' said.txt | sed 's/slot [0-9]*: //' >"where-$processes"
done
# The same place, whoever owned it.
if [ -z "$several" ]; then
  run 4 4 wild.yaml
  said 'diverged: '
  finish
fi
sed 's/.*\(step [0-9]*\).*/\1/' where-1 >step-1
sed 's/.*\(step [0-9]*\).*/\1/' where-4 >step-4
cmp -s step-1 step-4 || complain "diverged at different steps: $(cat where-1 where-4)"
finish

# SPDX-License-Identifier: Apache-2.0
# gabion-test: timeout=1500 labels=long
# Thousands of steps with hundreds of changes of the grid give the same state and series for other numbers of
# processes and threads, another balancing strategy, another kernel, and after deaths in and between adaptations.
. "$GABION_SOURCE/tests/apps/common.sh"

sed -e '/^faults:/,$d' "$GABION_SOURCE/apps/cases/flow/cylinder_adaptive.yaml" >flow.yaml
cat >>flow.yaml <<'YAML'
output:
  forces: {every: 10}
  integrals: {every: 100}
YAML
variant() { # variant PROCESSES THREADS [options]
  local processes=$1 threads=$2 changes
  shift 2
  rm -rf out
  OMP_NUM_THREADS=$threads timeout 600 "$GABION_LAUNCH" -n "$processes" -- "$gabion" run flow.yaml --out out --quiet \
      --set run.steps=6000 --set 'domain.cells=[160, 40]' --set 'domain.block=[10, 10]' --set refinement.every=5 \
      --set resilience.memory.every=250 "$@" >said.txt 2>&1 ||
    complain "$processes x $threads $*: exit code $?, it said: $(cat said.txt)"
  cp out/summary.json now.json
  sed -n -e '/"checksum"/p' -e '/"grid"/p' now.json >now.txt
  if [ ! -e before.txt ]; then
    mv now.txt before.txt
    cp out/forces.csv out/integrals.csv .
    changes=$(sed -n 's/.*"adaptations": \([0-9]*\).*/\1/p' before.txt)
    [ "${changes:-0}" -ge 200 ] || complain "only ${changes:-0} changes of the grid"
    return
  fi
  cmp -s before.txt now.txt || complain "$processes x $threads $*: $(cat now.txt), not $(cat before.txt)"
  for file in forces.csv integrals.csv; do
    cmp -s $file out/$file || complain "$processes x $threads $*: another $file"
  done
}
variant 1 1
variant 4 1 --set balance.strategy=diffusion --set lbm.kernel=vector
variant 3 2 --set balance.strategy=morton
if [ -n "${GABION_TEST_ULFM:-}" ]; then
  variant 6 1 --inject rank=1,step=1200,phase=adapt-migrate --inject rank=3+4,step=4500,phase=exchange \
      --inject rank=0,step=5500,phase=adapt-rebuild
fi
finish

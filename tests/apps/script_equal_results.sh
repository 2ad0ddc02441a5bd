# SPDX-License-Identifier: Apache-2.0
# gabion-test: timeout=200 labels=quick
# State and series are the same to the last bit for any number of processes, threads and either curve.
. "$GABION_SOURCE/tests/apps/common.sh"

sed -e '/^output:/,$d' "$GABION_SOURCE/apps/cases/flow/cylinder.yaml" >flow.yaml
cat >>flow.yaml <<'YAML'
output:
  forces: {every: 10, parts: true}
  sides: {every: 10, forces: true}
  integrals: {every: 50}
YAML
variant() { # variant PROCESSES THREADS [options]
  local processes=$1 threads=$2
  shift 2
  OMP_NUM_THREADS=$threads run 0 "$processes" flow.yaml --set 'faults=[]' --set run.time=0.04 \
      --set 'domain.cells=[440, 82]' --set 'domain.block=[44, 41]' "$@"
  if [ -z "${reference:-}" ]; then
    reference=$(checksum)
    cp out/forces.csv out/sides.csv out/integrals.csv .
  fi
  [ "$(checksum)" = "$reference" ] || complain "$processes processes, $threads threads $*: another checksum"
  cmp -s forces.csv out/forces.csv || complain "$processes processes, $threads threads $*: other forces"
  cmp -s sides.csv out/sides.csv || complain "$processes processes, $threads threads $*: other flow rates"
  cmp -s integrals.csv out/integrals.csv || complain "$processes processes, $threads threads $*: other integrals"
}
variant 1 1
variant 1 2
variant 2 1
variant 3 2 --set balance.strategy=morton
variant 4 1
variant 8 1
variant 4 1 --set lbm.kernel=reference
variant 4 1 --set balance.work=measured --set balance.every=20 --set balance.above=1.0
variant 3 2 --set lbm.kernel=sparse

# The mass that walls on finer levels make is the same for any number of fused blocks.
cat >closed.yaml <<'YAML'
run: {steps: 30}
domain: {cells: [6, 16, 24], block: [6, 8, 6]}
fluid: {viscosity: 0.3}
units: {dt: 1}
initial: {velocity: [0.0364, -0.0247, 0.0171]}
refinement: {levels: 1, every: 5, criteria: [{type: gradient, above: 0.01, below: 0.007}]}
bodies: [{type: cylinder, centre: [3.36, 4.13, 10.55], radius: 1.57, length: 3.14}]
YAML
run 0 1 closed.yaml --set lbm.fused_blocks=1
grep -Eq '"blocks_of_levels": \[[0-9]*, [1-9]' out/summary.json || complain 'closed: no blocks of level 1'
expected=$(checksum)
for fused in 0 8 16; do
  run 0 1 closed.yaml --set lbm.fused_blocks=$fused
  [ "$(checksum)" = "$expected" ] || complain "closed: another checksum with fused_blocks=$fused"
done

# After a death, with the blocks rebalanced or left where they were adopted.
if [ -n "${GABION_TEST_ULFM:-}" ]; then
  death='rank=1,step=60,phase=exchange'
  variant 4 1 --set resilience.memory.every=50 --inject "$death"
  variant 4 2 --set resilience.memory.every=25 --inject "$death" --set resilience.rebalance=false
  variant 4 1 --set resilience.memory.every=25 --inject "$death" --set lbm.kernel=sparse
fi
finish

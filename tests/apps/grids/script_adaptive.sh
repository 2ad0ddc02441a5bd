# SPDX-License-Identifier: Apache-2.0
# gabion-test: timeout=300
# A flow on blocks that split and merge has the same state, series and number of adaptations, to the last bit, for any
# number of processes and threads, any balancing strategy, any kernel, and after a death; in 2D and 3D. So has a run
# that ends earlier and is then resumed.
. "$GABION_SOURCE/tests/apps/common.sh"

grid() { sed -n 's/.*"grid": \({.*}\).*/\1/p' out/summary.json; }
begin() { # begin CASE: the undisturbed run of one process
  case_file=$1
  run 0 1 "$case_file"
  reference=$(checksum) shape=$(grid)
  cp out/forces.csv out/integrals.csv .
  grep -q '"adaptations": [1-9]' <<<"$shape" || complain "$case_file: the grid never adapted: $shape"
  said 'the grid adapted'
}
variant() { # variant PROCESSES THREADS [options]
  local processes=$1 threads=$2 file
  shift 2
  OMP_NUM_THREADS=$threads run 0 "$processes" "$case_file" "$@"
  [ "$(checksum)" = "$reference" ] || complain "$case_file on $processes x $threads $*: another checksum"
  [ "$(grid)" = "$shape" ] || complain "$case_file on $processes x $threads $*: grid $(grid), not $shape"
  for file in forces.csv integrals.csv; do
    cmp -s $file out/$file || complain "$case_file on $processes x $threads $*: another $file"
  done
}

sed '/^output:/,$d' "$GABION_SOURCE/tests/faults/runs/flow_adaptive.yaml" >flat.yaml
cat >>flat.yaml <<'YAML'
output:
  forces: {every: 2}
  integrals: {every: 10}
YAML
cp "$GABION_SOURCE/tests/apps/plan/deep.yaml" .

graph=
if "$gabion" info | grep -q '^ *balancing.*graph'; then graph=graph; fi
begin flat.yaml
variant 2 1 --set balance.strategy=morton --set lbm.kernel=vector
variant 4 2 --set balance.strategy=diffusion --set lbm.kernel=reference
variant 7 1 --set balance.strategy=${graph:-hilbert} --set lbm.kernel=sparse
for stop in 27 33; do # steps in which the grid changes: a run that ended there, and is resumed
  run 0 1 flat.yaml --set run.steps=$stop --set resilience.disk.every=$stop
  timeout 100 "$gabion" run flat.yaml --set resilience.disk.every=$stop --out out >said.txt 2>&1 || complain "going on: $(cat said.txt)"
  said "resuming from step $stop"
  [ "$(checksum)" = "$reference" ] || complain "to step $stop, then to the end: another checksum"
  for file in forces.csv integrals.csv; do cmp -s $file out/$file || complain "to step $stop, then to the end: another $file"; done
done
begin deep.yaml
variant 2 2 --set lbm.kernel=vector
variant 4 1 --set balance.strategy=diffusion
variant 7 1 --set balance.strategy=${graph:-morton} --set lbm.kernel=reference
if [ -n "${GABION_TEST_ULFM:-}" ]; then
  variant 4 1 --inject rank=1,step=10,phase=adapt-migrate
  variant 4 2 --inject rank=2,step=8,phase=exchange --set resilience.rebalance=false
  begin flat.yaml
  variant 4 1 --inject rank=1,step=40,phase=adapt-rebuild --set balance.strategy=diffusion
  variant 3 2 --inject rank=0,step=33,phase=exchange --set resilience.rebalance=false
fi
finish

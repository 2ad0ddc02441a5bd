# SPDX-License-Identifier: Apache-2.0
# gabion-test: timeout=300
# A phase field with a moving window, and a flow on an adaptive grid, resume from disk on 1, 3 and 7 processes with
# the state and the series of an uninterrupted run.
. "$GABION_SOURCE/tests/apps/common.sh"

. "$GABION_SOURCE/tests/apps/phase/phase_common.sh"
sed -i 's/steps: 240/steps: 160/' grow.yaml
cat >>grow.yaml <<'YAML'
output:
  slabs: {quantities: [phase]}
YAML
cp "$GABION_SOURCE/tests/apps/plan/deep.yaml" .

# goes_on CASE STEPS EVERY FILE...: that number of steps on four processes, then the rest on others
goes_on() {
  local case=$1 steps=$2 every=$3 processes file
  shift 3
  run 0 2 $case.yaml
  rm -rf whole half
  mv out whole
  run 0 4 $case.yaml --set run.steps=$steps --set resilience.disk.every=$every
  mv out half
  for processes in 1 3 7; do
    cp -r half out
    timeout 100 "$GABION_LAUNCH" -n $processes -- "$gabion" run $case.yaml --out out >said.txt 2>&1 ||
      complain "$case on $processes: exit code $?, it said: $(cat said.txt)"
    said "resuming from step $steps, a checkpoint on disk of 4 processes"
    [ "$(checksum out)" = "$(checksum whole)" ] || complain "$case: another checksum on $processes processes"
    for file; do cmp -s whole/$file out/$file || complain "$case: another $file on $processes processes"; done
    rm -rf out
  done
}
goes_on grow 90 45 front.csv
[ "$(ls whole/slabs | wc -l)" -gt 0 ] || complain 'the window has not moved'
goes_on deep 8 4 forces.csv integrals.csv
finish

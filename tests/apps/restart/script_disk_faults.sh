# SPDX-License-Identifier: Apache-2.0
# gabion-test: timeout=300 needs=ulfm
# Checkpoints on disk in a run: deaths during writes, the loss of all copies in memory, a failing disk.
. "$GABION_SOURCE/tests/apps/common.sh"

cat >flow.yaml <<'YAML'
run: {steps: 120}
domain: {cells: [64, 32], block: [8, 8]}
fluid: {omega: 1.6, velocity: 0.05, length: 8}
boundaries:
  x_min: {type: velocity, velocity: [0.05, 0]}
  x_max: {type: outflow}
  y_min: {type: wall}
  y_max: {type: wall}
resilience: {memory: {every: 15}, disk: {every: 30, group: 2}}
output:
  integrals: {every: 10}
YAML
equal() {
  [ "$(checksum out)" = "$(checksum whole)" ] || complain "$1: another checksum"
  cmp -s whole/integrals.csv out/integrals.csv || complain "$1: another integrals.csv"
  "$gabion" checkpoint verify out >verified.txt 2>&1 || complain "$1: $(cat verified.txt)"
  ! find out/checkpoints | grep -E '[.](tmp|new)$' || complain "$1: temporary files stay in checkpoints that are kept"
}
run 0 4 flow.yaml
cp -r out whole
[ "$(ls out/checkpoints | wc -l)" = 2 ] || complain "two are kept, there are: $(ls out/checkpoints)"
if find out/checkpoints | grep -E '[.](tmp|new)$'; then complain 'temporary files stay'; fi
grep -q '"disk": {"written": [234], "failed": 0, "last_step": 120' out/summary.json || complain "$(grep '"disk"' out/summary.json)"

# ---- deaths in the middle of a write: of an aggregator, of another, of a pair that keeps nothing for each other
for injection in rank=0,phase=disk-write rank=2,phase=disk-write rank=3,phase=disk-write rank=0,phase=disk-commit \
             rank=2,phase=disk-commit rank=0+1,phase=disk-write; do
  run 0 4 flow.yaml --inject $injection,step=55
  said 'survived: rank'
  equal "$injection"
done
# In a checkpoint that is kept up to the end.
run 0 4 flow.yaml --inject rank=2,phase=disk-write,step=85
said 'survived: rank'
equal 'a death while a kept checkpoint was written'

# ---- all holders of some blocks die: rollback to the disk, in the same job; without the disk the run ends (a first
# part leaves a checkpoint there, however slow the disk is)
run 0 4 flow.yaml --set run.steps=60
timeout 100 "$GABION_LAUNCH" -n 4 -- "$gabion" run flow.yaml --out out --inject rank=0+2,step=100,phase=compute \
  >said.txt 2>&1 || complain "loss of all copies: exit code $?, it said: $(cat said.txt)"
said 'all go back to the checkpoint of step'
equal 'loss of all copies'
grep -q '"event": "restored from disk"' out/events.jsonl || complain 'events.jsonl does not tell of it'
run 3 4 flow.yaml --inject rank=0+2,step=10,phase=compute
said_once 'error: data lost'
said 'no complete checkpoint'
run 3 4 flow.yaml --inject rank=0+2,step=100,phase=compute --set 'resilience.strategies=[shrink]'

# ---- a failing disk does not end the run, and leaves no incomplete files
refuse() { # refuse WHAT REASON: the disk of `out' refuses; the run continues
  timeout 100 "$GABION_LAUNCH" -n 4 -- "$gabion" run flow.yaml --out out >said.txt 2>&1 ||
    complain "$1: exit code $?, it said: $(cat said.txt)"
  said 'could not be written to disk; the run continues without it'
  said "$2"
  [ "$(checksum out)" = "$(checksum whole)" ] || complain "$1: another checksum"
  if find out/checkpoints/ -type f | grep -E '[.](h5|tmp|new|json)$'; then complain "$1: files are left"; fi
  grep -q '"event": "disk checkpoint failed"' out/events.jsonl || complain "$1: events.jsonl does not tell of it"
}
rm -rf out; mkdir -p out/checkpoints
for step in 030 060 090 120; do : >out/checkpoints/step_000000000$step; done
refuse 'files where folders should be' 'Not a directory'
rm -rf out; mkdir -p out; : >out/checkpoints
timeout 100 "$GABION_LAUNCH" -n 4 -- "$gabion" run flow.yaml --out out >said.txt 2>&1
[ $? = 1 ] || complain "a file where the folder of checkpoints should be: $(cat said.txt)"
said_once 'cannot look into out/checkpoints'
if [ "$(id -u)" = 0 ] && mkdir -p small && mount -t tmpfs -o size=100k gabion-test small 2>/dev/null; then
  trap 'umount "$work/small" 2>/dev/null; rm -rf "$work"' EXIT
  rm -rf out; mkdir -p out; ln -s "$work/small" out/checkpoints
  refuse 'a full disk' 'No space left on device'
  umount small
fi
if [ "$(id -u)" != 0 ]; then
  rm -rf out; mkdir -p out/checkpoints; chmod 555 out/checkpoints
  refuse 'no permission' 'Permission denied'
  chmod 755 out/checkpoints
fi
finish

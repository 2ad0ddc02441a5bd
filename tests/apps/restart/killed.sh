# SPDX-License-Identifier: Apache-2.0
# Shared by the tests that kill all processes of a run at random instants; to be sourced after common.sh. killed
# COUNT: kills that number of runs and continues each; each chain of continuations must end with the undisturbed
# checksum, and after the first complete checkpoint there must be a complete one after every kill.
cat >kill.yaml <<'YAML'
run: {steps: 300}
domain: {cells: [256, 128], block: [32, 32]}
fluid: {omega: 1.6, velocity: 0.05, length: 12}
boundaries:
  x_min: {type: velocity, velocity: [0.05, 0]}
  x_max: {type: outflow}
  y_min: {type: wall}
  y_max: {type: wall}
resilience: {memory: {every: 20}, disk: {every: 3, group: 2}, tries: 1000}
output:
  integrals: {every: 10}
YAML

# Process ids of the run into `out' of this test's own folder: nobody else's command line names it.
ranks() { pgrep -f "^$gabion run kill.yaml --out $work/out" || true; }

starts() { cat out/events.jsonl 2>/dev/null | grep -c '"event": "start"'; }

# start: begins or continues in the background, in $job, and waits until steps are computed.
start() {
  local tries=0 before
  before=$(starts)
  timeout 100 "$GABION_LAUNCH" -n 4 -- "$gabion" run kill.yaml --out "$work/out" >said.txt 2>&1 &
  job=$!
  until [ "$(starts)" -gt "$before" ] || ! kill -0 $job 2>/dev/null || ((tries++ > 1000)); do sleep 0.01; done
}

# check_whole: the run that was killed has left a whole checkpoint if there was one before.
check_whole() {
  local some
  some=$(find out/checkpoints -name manifest.json 2>/dev/null | wc -l)
  [ "$(find out/checkpoints -name 'step_*' 2>/dev/null | wc -l)" = "$some" ] || torn=$((torn + 1))
  if [ -n "$had" ] && [ "$some" = 0 ]; then complain 'there was a checkpoint, now there is none'; fi
  if [ "$some" -gt 0 ]; then
    had=1
    "$gabion" checkpoint list out >list.txt
    awk '$NF == "yes" { found = 1 } END { exit !found }' list.txt || complain "no checkpoint is whole: $(cat list.txt)"
  fi
}

killed() {
  local count=$1 done_kills=0 pids chains=0 had= torn=0 missed=0
  rm -rf out
  run 0 2 kill.yaml --set resilience.disk.every=never
  local expected
  expected=$(checksum out)
  rm -rf out
  while ((done_kills < count && failures == 0 && missed < 5 * count)); do
    start
    sleep "0.$(printf '%03d' $((RANDOM % 500)))"
    pids=$(ranks)
    if [ -n "$pids" ] && kill -9 $pids 2>/dev/null; then done_kills=$((done_kills + 1)); else missed=$((missed + 1)); fi
    wait $job
    check_whole
    if [ -s out/summary.json ]; then # it came to its end before the kill
      [ "$(checksum out)" = "$expected" ] || complain "after $done_kills kills: another checksum, it said: $(cat said.txt)"
      chains=$((chains + 1)) had=
      rm -rf out
    fi
  done
  start
  wait $job || complain "the last run failed: $(cat said.txt)"
  [ "$(checksum out)" = "$expected" ] || complain "the last run: another checksum"
  "$gabion" checkpoint verify out >list.txt || complain "the last run left: $(cat list.txt)"
  ((done_kills == count)) || complain "only $done_kills of $count kills hit a run"
  echo "$done_kills kills, $torn of them while a file was being written, $((chains + 1)) runs came to their end" >>kills.txt
}

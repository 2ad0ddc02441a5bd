# SPDX-License-Identifier: Apache-2.0
# gabion-test: timeout=200 waits=1 needs=ulfm
# `gabion status` distinguishes runs that are complete, failed, stopped, running, and dead.
. "$GABION_SOURCE/tests/apps/common.sh"

# tells CODE TEXT...: output of `gabion status out`, and its exit code
tells() {
  local expected=$1 code text; shift
  "$gabion" status out >status.txt 2>&1; code=$?
  [ $code = "$expected" ] || complain "gabion status: exit code $code, expected $expected; it said: $(cat status.txt)"
  for text; do grep -qF -e "$text" status.txt || complain "expected: $text; it said: $(cat status.txt)"; done
}

tells 2 'no run in out'
run 0 4 good.yaml --inject rank=2,step=12
tells 0 'out: done since' '20 steps' 'checksum' 'started at step 0 of 20 on 4 processes' 'rank 2 died at step 12' \
      'back to step 10'
run 3 4 good.yaml --inject rank=0+2,step=12
tells 0 'out: data lost since' 'died and so did all holders'

# A run that lasts long enough to be inspected, then is stopped.
long() {
  "$GABION_LAUNCH" -n 2 -- "$gabion" run good.yaml --out out --set run.steps=900000000 "$@" >said.txt 2>&1 &
  launcher=$!
  for _ in $(seq 300); do [ -e out/progress.json ] && break; sleep 0.1; done
}
rm -rf out
long
tells 0 'out: running' 'of 900000000' 'left' '2 of 2 processes' 'last checkpoint in memory'
grep -q 'last checkpoint on disk' status.txt && complain "there is none on disk: $(cat status.txt)"
kill -TERM $launcher
wait $launcher; code=$?
[ $code = 1 ] || [ $code = 75 ] || complain "told to stop, the run ended with code $code: $(cat said.txt)"
tells 0 'stopped at step' 'the launcher was told to stop' 'of 900000000'

# The wall time ends a run in the same way.
rm -rf out
long --walltime 6
wait $launcher; code=$?
[ $code = 1 ] || [ $code = 75 ] || complain "when its wall time was over, the run ended with code $code: $(cat said.txt)"
tells 0 'stopped at step' 'the wall time is used up'
# With checkpoints on disk it reports the start step of the next job.
run 75 2 good.yaml --set run.steps=900000000 --set resilience.disk.every=100000 --walltime 1
tells 0 'out: to be continued since' 'stopped at step' 'last checkpoint on disk: step'
"$GABION_LAUNCH" -n 2 -- "$gabion" run good.yaml --out out --set run.steps=900000000 --walltime 1 \
  --set resilience.disk.every=100000 >said.txt 2>&1
tells 0 'out: to be continued since' '2 starts; went on from a checkpoint 1 time' 'went on from step' 'a checkpoint on disk'
run 2 1 good.yaml --walltime soon
said_once "'soon' is not a walltime"

# Killed with everything it has, it says nothing more.
rm -rf out
long --set run.title="doomed $$"
pkill -KILL -f "doomed $$" # launcher, mpirun and all processes at once
wait $launcher 2>/dev/null
for _ in $(seq 200); do "$gabion" status out >status.txt 2>&1 || break; sleep 0.2; done
tells 3 'DEAD' 'of 900000000'
finish

# SPDX-License-Identifier: Apache-2.0
# A run that is stopped during its set-up has nothing to save: it ends within seconds, not after --stop-within, and
# asks to be queued again. One that computes gets its time.
# gabion-test: timeout=240 waits=1
. "$GABION_SOURCE/tests/launch/common.sh"
gabion=$GABION_BUILD/bin/gabion
cat >case.yaml <<YAML
run: {steps: 4000000}
domain: {cells: [1024, 1024], block: [8, 8]}
fluid: {omega: 1.5}
boundaries: {y_max: {type: velocity, velocity: [0.05, 0]}, y_min: {type: wall}}
YAML
progress() { cat "$dir/tmp/gabion.$pid".*/progress 2>/dev/null; }
wait_for_progress() { # wait_for_progress PATTERN
  for _ in $(seq 1200); do [[ $(progress) =~ $1 ]] && return; sleep 0.05; done
  complain "progress is '$(progress)', expected $1; it said: $(cat "$dir/out")"
}

# The processes are held in the middle of the set-up, so that it lasts.
"$GABION_LAUNCH" --stop-within 600 -n 2 -t 1 "$gabion" run case.yaml --out "$dir/run" >"$dir/out" 2>&1 &
pid=$!
wait_for_progress '^setting up'
pkill -STOP -f "^$gabion run case.yaml --out $dir/run"
kill -TERM $pid
wait $pid; code=$?
[ $code = 75 ] || complain "told to stop in the set-up: exit code $code, expected 75; it said: $(cat "$dir/out")"
said 'asking the run to stop'
said 'has not computed a step yet: ending it, nothing is lost; to be continued'
check_clean $pid
pgrep -f "^$gabion run case.yaml --out $dir/run" >/dev/null && complain "processes left"

# Its files in the folder do not prevent a start of the same command; now it computes, and stops by itself.
"$GABION_LAUNCH" --stop-within 600 -n 2 -t 1 "$gabion" run case.yaml --out "$dir/run" >"$dir/out" 2>&1 &
pid=$!
wait_for_progress '^[1-9]'
kill -TERM $pid
wait $pid; code=$?
[ $code = 75 ] || complain "a run that computes: exit code $code, expected 75; it said: $(cat "$dir/out")"
grep -q 'has not computed' "$dir/out" && complain "a run that computes was not given its time: $(cat "$dir/out")"
check_clean $pid

# A long phase with its own text is not set-up, nor is a run with computed steps.
patient='until [ -e $GABION_STOP ]; do sleep 0.1; done; sleep 8; echo "exit 75" >$GABION_COMPLETION'
long_phase() { # long_phase NAME SHELL_COMMANDS
  "$GABION_LAUNCH" --stop-within 600 -n 1 sh -c "$2; $patient" >"$dir/out.$1" 2>&1 &
}
long_phase text 'echo "writing output" >$GABION_PROGRESS'; texts=$!
long_phase computed 'echo "7 at" >$GABION_PROGRESS; sleep 2; echo "setting up" >$GABION_PROGRESS'; computed=$!
long_phase lock 'echo "-1 at 2 s" >$GABION_PROGRESS'; lock=$! # as one that waits for the lock of its folder
pid=$lock; wait_for_progress '^-1 '
pid=$texts; wait_for_progress '^writing'
pid=$computed; wait_for_progress '^7'; wait_for_progress '^setting up'
kill -TERM $texts $computed $lock
for name in text computed; do
  if [ $name = text ]; then wait $texts; else wait $computed; fi
  code=$?
  [ $code = 75 ] || complain "long phase ($name): exit code $code, expected 75; it said: $(cat "$dir/out.$name")"
  grep -q 'asking the run to stop' "$dir/out.$name" || complain "not asked to stop ($name): $(cat "$dir/out.$name")"
  grep -q 'has not computed' "$dir/out.$name" && complain "not given its time ($name): $(cat "$dir/out.$name")"
done
wait $lock
grep -q 'has not computed a step yet' "$dir/out.lock" || complain "waiting for a lock is not set-up: $(cat "$dir/out.lock")"
for pid in $texts $computed $lock; do check_clean $pid; done

# State in node memory ends with the launcher: a run resumed from it gets its time.
"$GABION_LAUNCH" --relaunch 1 --stop-within 7 -n 1 sh -c '[ $GABION_ATTEMPT = 1 ] || kill -9 $$
  echo "setting up" >$GABION_PROGRESS; exec sleep 500' >"$dir/out" 2>&1 &
pid=$!
wait_for_progress '^setting up'
kill -TERM $pid
wait $pid; code=$?
[ $code = 143 ] || complain "a relaunched run: exit code $code, expected 143; it said: $(cat "$dir/out")"
said 'has not stopped within 7 s'
finish

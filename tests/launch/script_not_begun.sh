# A run that has not computed a step yet has nothing to save: told to stop, the launcher ends it at once. When a process
# is ended for want of memory the launcher says that it suspects so.
# gabion-test: timeout=120 labels=quick
. "$GABION_SOURCE/tests/launch/common.sh"

# told SIGNAL CODE PROGRESS: a run that says this and then nothing more; --stop-within is longer than the test.
told() {
  "$GABION_LAUNCH" --stop-within 600 -n 1 sh -c "echo '$3' >\$GABION_PROGRESS; exec sleep 500" >"$dir/out" 2>&1 &
  local pid=$! code
  for _ in $(seq 200); do grep -qs . "$dir/tmp/gabion.$pid".*/progress && break; sleep 0.1; done
  sleep 0.5
  kill -"$1" $pid
  wait $pid; code=$?
  [ $code = "$2" ] || complain "after SIG$1: exit code $code, expected $2; it said: $(cat "$dir/out")"
  said 'ending the run, which has not computed a step: nothing is lost'
}
told TERM 143 'setting up'
told INT 130 'setting up'

# Once it computes, it is asked.
"$GABION_LAUNCH" --stop-within 600 -n 1 sh -c 'echo "7 of 9" >$GABION_PROGRESS; while [ ! -e $GABION_STOP ]; do sleep 0.1; done
  echo "exit 75" >$GABION_COMPLETION' >"$dir/out" 2>&1 &
pid=$!
for _ in $(seq 200); do grep -qs of "$dir/tmp/gabion.$pid".*/progress && break; sleep 0.1; done
sleep 0.5
kill -TERM $pid
wait $pid; code=$?
[ $code = 75 ] || complain "a run that computes: exit code $code, expected 75; it said: $(cat "$dir/out")"
said 'asking the run to stop'

# A machine of files, on which the system ends a process.
mkdir -p machine/proc
printf 'MemAvailable: 30000 kB\n' >machine/proc/meminfo
printf 'oom_kill 2\n' >machine/proc/vmstat
export GABION_SYSTEM=$dir/machine
"$GABION_LAUNCH" -n 1 sh -c "printf 'oom_kill 3\n' >$dir/machine/proc/vmstat; kill -9 \$\$" >"$dir/out" 2>&1
said 'lack of memory is suspected: the system of this node has ended 1 process for it since the run began; 30.7 MB are free now'
"$GABION_LAUNCH" -n 1 sh -c 'kill -9 $$' >"$dir/out" 2>&1
said 'without completing'
grep -q 'lack of memory' "$dir/out" && complain "memory is suspected for no reason: $(cat "$dir/out")"
finish

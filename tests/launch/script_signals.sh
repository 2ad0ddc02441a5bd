# Told to stop, the launcher ends its own run within seconds and leaves others alone.
# gabion-test: timeout=240 waits=1 labels=quick
. "$GABION_SOURCE/tests/launch/common.sh"

# ended_by SIGNAL EXPECTED_CODE: starts a run that hangs, waits until it is up, sends the signal
ended_by() {
  "$GABION_LAUNCH" --stop-within 1 -n 2 "$dir/ranks" hang >"$dir/out" 2>&1 &
  local pid=$! code start
  for _ in $(seq 100); do
    grep -qs nearly "$dir/tmp/gabion.$pid".*/progress && break
    sleep 0.1
  done
  start=$SECONDS
  kill -"$1" $pid
  wait $pid; code=$?
  [ $code = "$2" ] || complain "after SIG$1: exit code $code, expected $2; it said: $(cat "$dir/out")"
  [ $((SECONDS - start)) -le 20 ] || complain "ending after SIG$1 took $((SECONDS - start)) s"
  check_clean_but_other $pid
}
check_clean_but_other() {
  ls -d "$dir/tmp/gabion.$1".* >/dev/null 2>&1 && complain "left in TMPDIR: $(ls "$dir/tmp")"
  ls -d "/dev/shm/gabion.$1".* >/dev/null 2>&1 && complain "left in /dev/shm: $(ls /dev/shm)"
  [ "$(pgrep -f "^$dir/ranks hang" | wc -l)" = 0 ] || complain "processes left: $(pgrep -fa "^$dir/ranks")"
  kill -0 $other 2>/dev/null || complain "another run was ended too"
  [ "$(pgrep -f "^$dir/ranks linger" | wc -l)" = 2 ] || complain "another run lost processes"
}

"$GABION_LAUNCH" -n 2 --grace 600 "$dir/ranks" linger >"$dir/other" 2>&1 &
other=$!
for _ in $(seq 100); do ls "$dir/tmp/gabion.$other".*/completion >/dev/null 2>&1 && break; sleep 0.1; done
ended_by INT 130
ended_by TERM 143

# A run that knows how to stop is given the time for it, and its code is the launcher's.
"$GABION_LAUNCH" -n 2 "$dir/ranks" heed >"$dir/out" 2>&1 &
pid=$!
for _ in $(seq 100); do grep -qs nearly "$dir/tmp/gabion.$pid".*/progress && break; sleep 0.1; done
kill -TERM $pid
wait $pid; code=$?
[ $code = 75 ] || complain "a run that heeds SIGTERM: exit code $code, expected 75; it said: $(cat "$dir/out")"
said 'asking the run to stop'
check_clean_but_other $pid

# Told twice, it does not wait.
"$GABION_LAUNCH" -n 2 "$dir/ranks" hang >"$dir/out" 2>&1 &
pid=$!
for _ in $(seq 100); do grep -qs nearly "$dir/tmp/gabion.$pid".*/progress && break; sleep 0.1; done
kill -INT $pid
sleep 0.5
kill -INT $pid
wait $pid; code=$?
[ $code = 130 ] || complain "told twice: exit code $code, expected 130; it said: $(cat "$dir/out")"
said 'again: ending the run'
check_clean_but_other $pid

# Whoever tells it to stop may tell mpirun, too, and less gently: that is no death of a node to go on after.
"$GABION_LAUNCH" --relaunch 2 -n 2 "$dir/ranks" hang >"$dir/out" 2>&1 &
pid=$!
for _ in $(seq 100); do grep -qs nearly "$dir/tmp/gabion.$pid".*/progress && break; sleep 0.1; done
kill -TERM $pid
for _ in $(seq 100); do grep -qs 'asking the run to stop' "$dir/out" && break; sleep 0.1; done
pkill -KILL -P $pid
for _ in $(seq 100); do kill -0 $pid 2>/dev/null || break; sleep 0.1; done
kill -INT $pid 2>/dev/null
wait $pid; code=$?
[ $code = 143 ] || complain "told to stop, and mpirun killed: exit code $code, expected 143; it said: $(cat "$dir/out")"
grep -q relaunching "$dir/out" && complain "told to stop, it started the run again: $(cat "$dir/out")"
check_clean_but_other $pid

# mpirun itself is killed: its orphaned ranks go with the run.
"$GABION_LAUNCH" -n 2 "$dir/ranks" hang >"$dir/out" 2>&1 &
pid=$!
for _ in $(seq 100); do grep -qs nearly "$dir/tmp/gabion.$pid".*/progress && break; sleep 0.1; done
pkill -KILL -P $pid
wait $pid; code=$?
[ $code = 1 ] || complain "after the death of mpirun: exit code $code, expected 1"
said 'mpirun was ended by signal 9'
check_clean_but_other $pid

# The launcher itself is killed: its run ends, and the next launcher removes what it left.
"$GABION_LAUNCH" -n 2 "$dir/ranks" hang >"$dir/out" 2>&1 &
pid=$!
for _ in $(seq 100); do grep -qs nearly "$dir/tmp/gabion.$pid".*/progress && break; sleep 0.1; done
kill -KILL $pid
wait $pid 2>/dev/null
for _ in $(seq 100); do pgrep -f "^$dir/ranks hang" >/dev/null || break; sleep 0.1; done
"$GABION_LAUNCH" -n 1 "$dir/ranks" code 0 || complain "a run after a killed launcher failed"
check_clean_but_other $pid

# The launcher is killed together with its mpirun, as by a machine that is out of memory: nobody is left behind.
"$GABION_LAUNCH" -n 2 "$dir/ranks" hang >"$dir/out" 2>&1 &
pid=$!
for _ in $(seq 100); do grep -qs nearly "$dir/tmp/gabion.$pid".*/progress && break; sleep 0.1; done
kill -KILL $pid $(pgrep -P $pid "mpirun|prterun")
wait $pid 2>/dev/null
for _ in $(seq 200); do
  [ -n "$(pgrep -f "^$dir/ranks hang")$(ls -d "$dir/tmp/gabion.$pid".* "/dev/shm/gabion.$pid".* 2>/dev/null)" ] || break
  sleep 0.1
done
check_clean_but_other $pid

# A run that has completed keeps its code, whatever comes then.
kill -TERM $other
wait $other; code=$?
[ $code = 4 ] || complain "told to stop after completion: exit code $code, expected 4; it said: $(cat "$dir/other")"
check_clean $other
finish

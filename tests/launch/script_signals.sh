# SPDX-License-Identifier: Apache-2.0
# On a signal, the launcher ends its own run and does not touch others.
# gabion-test: timeout=240 waits=1
. "$GABION_SOURCE/tests/launch/common.sh"

# until_so COMMAND...: waits for a state, with a generous limit for busy machines
until_so() {
  for _ in $(seq 1200); do "$@" && return; sleep 0.05; done
  complain "within a minute it was not so: $*; it said: $(cat "$dir/out")"
}
is_up() { grep -qs nearly "$dir/tmp/gabion.$pid".*/progress; }
is_complete() { [ -e "$(echo "$dir/tmp/gabion.$other".*/completion)" ]; }
has_said() { grep -qs "$1" "$dir/out"; }
has_no_ranks() { ! pgrep -f "^$dir/ranks hang" >/dev/null; }
is_gone() { ! kill -0 "$1" 2>/dev/null; }
folders() { ls -d "$dir/tmp/gabion.$pid".* "/dev/shm/gabion.$pid".* 2>/dev/null; }
has_no_folders() { [ -z "$(folders)" ]; }
# hang [options]: starts a run that hangs, and waits until it is up
hang() {
  "$GABION_LAUNCH" "$@" -n 2 "$dir/ranks" hang >"$dir/out" 2>&1 &
  pid=$!
  until_so is_up
}
# ends_with EXPECTED_CODE WHAT: checks the end of the launcher
ends_with() {
  local code
  wait $pid; code=$?
  [ $code = "$1" ] || complain "$2: exit code $code, expected $1; it said: $(cat "$dir/out")"
}
check_clean_but_other() {
  has_no_folders || complain "left: $(folders)"
  has_no_ranks || complain "processes left: $(pgrep -fa "^$dir/ranks")"
  kill -0 $other 2>/dev/null || complain "another run was ended too"
  [ "$(pgrep -f "^$dir/ranks linger" | wc -l)" = 2 ] || complain "another run lost processes"
}

"$GABION_LAUNCH" -n 2 --grace 600 "$dir/ranks" linger >"$dir/other" 2>&1 &
other=$!
until_so is_complete
for told in INT:130 TERM:143; do
  hang --stop-within 1
  kill "-${told%:*}" $pid
  ends_with "${told#*:}" "after SIG${told%:*}"
  said 'the run has not stopped within 1 s: ending it'
  check_clean_but_other
done

# A run that knows how to stop is given the time for it, and its code is the launcher's.
"$GABION_LAUNCH" -n 2 "$dir/ranks" heed >"$dir/out" 2>&1 &
pid=$!
until_so is_up
kill -TERM $pid
ends_with 75 "a run that heeds SIGTERM"
said 'asking the run to stop'
check_clean_but_other

# SIGPIPE, which mpirun counts and gives up at the eleventh, does not come through to it.
hang
for _ in $(seq 15); do
  pkill -PIPE -P $pid
  sleep 0.02
done
sleep 1
pgrep -P $pid 'mpirun|prterun' >/dev/null && ! has_said SIGPIPE || complain "SIGPIPE has ended mpirun: $(cat "$dir/out")"
kill -TERM $pid
until_so has_said 'asking the run to stop'
sleep 1
kill -TERM $pid
ends_with 143 "after SIGPIPE"
check_clean_but_other

# Signals within a second are one request: timeout(1) signals its child and, at once, the process group of the child. Of two
# kinds, so that the second stays pending next to the first.
hang
kill -TERM $pid
kill -INT $pid
kill -HUP $pid
until_so has_said 'asking the run to stop'
sleep 0.5
has_said 'again: ending the run' && complain "three signals at once ended the run: $(cat "$dir/out")"
kill -0 $pid || complain "three signals at once ended the launcher: $(cat "$dir/out")"

# At a second signal it does not wait.
sleep 1
kill -INT $pid
ends_with 130 "told twice"
said 'again: ending the run'
check_clean_but_other

# mpirun may receive a signal, too, and a stronger one: that is not a death of a node with a relaunch.
hang --relaunch 2
kill -TERM $pid
until_so has_said 'asking the run to stop'
pkill -KILL -P $pid
ends_with 143 "told to stop, and mpirun killed"
grep -q relaunching "$dir/out" && complain "told to stop, it started the run again: $(cat "$dir/out")"
check_clean_but_other

# mpirun itself is killed: its orphaned ranks go with the run.
hang
pkill -KILL -P $pid
ends_with 1 "after the death of mpirun"
said 'mpirun was ended by signal 9'
check_clean_but_other

# The launcher itself is killed: its run ends, and nothing is left.
hang
kill -KILL $pid
wait $pid 2>/dev/null
until_so has_no_ranks
until_so has_no_folders
check_clean_but_other

# The cleaning process is killed too: the run ends nevertheless, and the next launcher removes the rest.
hang
mpirun=$(pgrep -P $pid 'mpirun|prterun')
kill -KILL $pid $(pgrep -P $pid gabion-keeper)
wait $pid 2>/dev/null
until_so has_no_ranks
until_so is_gone "$mpirun"
has_no_folders && complain "nothing is left by a launcher that was killed with its keeper: nobody has to remove it"
"$GABION_LAUNCH" -n 1 "$dir/ranks" code 0 || complain "a run after a killed launcher failed"
check_clean_but_other

# The launcher is killed together with its mpirun, as by a machine that is out of memory: nobody is left behind.
hang
kill -KILL $pid $(pgrep -P $pid 'mpirun|prterun')
wait $pid 2>/dev/null
until_so has_no_ranks
until_so has_no_folders
check_clean_but_other

# A run that has completed keeps its code, whatever comes then.
kill -TERM $other
wait $other; code=$?
[ $code = 4 ] || complain "told to stop after completion: exit code $code, expected 4; it said: $(cat "$dir/other")"
check_clean $other
finish

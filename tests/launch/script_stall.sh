# SPDX-License-Identifier: Apache-2.0
# A run without progress is traced, stopped and started again; one with slow progress is left alone.
# gabion-test: timeout=180 waits=1
. "$GABION_SOURCE/tests/launch/common.sh"
export GABION_RESCUE_LOG=$dir/rescues

launch 0 -n 2 --stall 2 "$dir/ranks" slow
[ ! -e "$GABION_RESCUE_LOG" ] || complain "a slow run was rescued: $(cat "$GABION_RESCUE_LOG")"

# Nor is one that stood still with the whole machine, launcher and all, as a virtual one that is paused.
everybody() { kill "-$1" $pid $(pgrep -f "^$dir/ranks slow") $(pgrep -P $pid 'mpirun|prterun'); } # the launcher first
"$GABION_LAUNCH" -n 2 --stall 4 "$dir/ranks" slow >"$dir/out" 2>&1 &
pid=$!
for _ in $(seq 1200); do grep -qs '^[1-9] steps' "$dir/tmp/gabion.$pid".*/progress && break; sleep 0.05; done
everybody STOP
sleep 6
kill -CONT $pid
for _ in $(seq 1200); do [ "$(cut -d')' -f2 /proc/$pid/stat | cut -c2)" != T ] && break; sleep 0.05; done
sleep 0.5 # in which it looks, and nobody else does anything
everybody CONT
wait $pid; code=$?
[ $code = 0 ] || complain "after a standstill: exit code $code; it said: $(cat "$dir/out")"
[ ! -s "$dir/out" ] || complain "a standstill was taken for a hang: $(cat "$dir/out")"
check_clean $pid

if command -v gdb >/dev/null 2>&1; then # else the traces take no time
  launch 0 -n 2 --stall 2 "$dir/ranks" late
  said 'no progress for 2 s (last: 7 busy)'
  said 'meanwhile it went on: it is slow and does not hang'
  [ ! -e "$GABION_RESCUE_LOG" ] || complain "a run that went on was rescued: $(cat "$GABION_RESCUE_LOG")"
  rm -f gabion-stall-*
fi

launch 0 -n 2 --stall 2 "$dir/ranks" hang-once
said 'no progress for 2 s (last: 7 nearly there)'
said 'rescued: starting the run again (restart 1 of at most 2)'
[ "$(grep -c ' rescued attempt=0 processes=2 stall=2 progress="7 nearly there"' "$GABION_RESCUE_LOG")" = 1 ] ||
  complain "wrong rescue log: $(cat "$GABION_RESCUE_LOG")"
traces=$(sed -n 's/.*stack traces of .* are in //p' "$dir/out")
[ "$(grep -c "^======== process .*$dir/ranks hang-once" "$traces")" -ge 2 ] || complain "no traces of two ranks in $traces"
if command -v gdb >/dev/null 2>&1; then
  grep -q 'sleep_for_ever' "$traces" || complain "the traces do not name the function that hangs"
fi

launch 1 -n 2 --stall 2 --retries 1 "$dir/ranks" hang
said 'giving up after 2 attempts that hung'
[ "$(grep -c ' gave-up attempt=1' "$GABION_RESCUE_LOG")" = 1 ] || complain "wrong rescue log: $(cat "$GABION_RESCUE_LOG")"
finish

# SPDX-License-Identifier: Apache-2.0
# gabion-test: timeout=300 waits=1
# Of two runs started in one folder at the same instant exactly one computes; the other ends with 2 and names the
# running one. The folder of a killed run is free, also for two at once; that of a run on another machine is in use as
# long as it gives signs of life.
. "$GABION_SOURCE/tests/apps/restart/one_run.sh"

for round in $(seq "${GABION_ROUNDS:-2}"); do
  rm -rf out go
  begin first $((1 + round % 2))
  begin second 1
  sleep 0.2
  touch go
  one_wins "round $round" || break
  if [ $((round % 2)) = 0 ]; then
    stop_winner "round $round"
    continue
  fi
  # The owner is killed: its lock stays, and again two want the folder.
  kill_winner
  [ -s out/run.lock ] || complain "round $round: a killed run left no lock: $(ls out)"
  rm -f go
  begin first 1
  begin second $((1 + round % 2))
  sleep 0.2
  touch go
  one_wins "round $round, behind a killed owner" || break
  grep -q 'was left by run .* which is dead' $winner.txt || complain "round $round: the $winner said: $(cat $winner.txt)"
  stop_winner "round $round, behind a killed owner"
done

# ---- a lock of another machine
foreign() { # as a run would write it there
  mkdir -p out
  echo '{"what": "gabion run", "run": "00ff", "launch": "", "attempt": 0, "host": "far", "pid": 1, "pid_started": 1,' \
       '"starter": 0, "starter_started": 0, "processes": 2, "since": 1795329213.5, "machine": "another boot"}' >out/run.lock
}
here() { timeout 100 "$GABION_LAUNCH" -n 1 -- "$gabion" run good.yaml --out out >said.txt 2>&1; code=$?; }
rm -rf out
foreign
touch -d '2 minutes ago' out/run.lock
here
[ $code = 0 ] || complain "behind a silent owner: exit code $code: $(cat said.txt)"
said 'was left by run 00ff (process 1 on far,'
[ ! -e out/run.lock ] || complain 'the lock is still there'
foreign
touch -d '50 seconds ago' out/run.lock # ten seconds to start in
here
[ $code = 0 ] || complain "behind an owner that has just died: exit code $code: $(cat said.txt)"
said 'waiting for a sign of life'
foreign
(while sleep 0.5; do touch -c out/run.lock; done) &
signs=$!
here
kill $signs
[ $code = 2 ] || complain "beside an owner that lives elsewhere: exit code $code: $(cat said.txt)"
said 'out is in use: run 00ff (process 1 on far, since '
grep -q '"run": "00ff"' out/run.lock || complain 'the lock of another run was changed'

# ---- a run that has lost the lock ends
rm -rf out go
touch go
begin first 1
winner=first
waits 60 '[ -s out/progress.json ]' || complain "it does not run: $(cat first.txt)"
foreign
waits 30 '[ -s first.code ]' || complain "it goes on without its lock: $(cat first.txt)"
grep -q 'another run has taken over the output folder' first.txt || complain "without its lock it said: $(cat first.txt)"
grep -q '"run": "00ff"' out/run.lock || complain 'it removed a lock that is not its own'

# ---- a run whose root died still holds the lock
if [ -n "${GABION_TEST_ULFM:-}" ]; then
  rm -rf out
  begin first 2 --inject rank=0,step=20
  waits 60 'grep -q "\"event\": \"recovery\"" out/events.jsonl 2>/dev/null' || complain "no recovery: $(cat first.txt)"
  here
  [ $code = 2 ] || complain "beside a run whose root died: exit code $code: $(cat said.txt)"
  said 'out is in use'
  pid=$(sed 's/.*"pid": \([0-9]*\),.*/\1/' out/run.lock)
  [ -d "/proc/$pid" ] || complain "the lock names process $pid, which is dead: $(cat out/run.lock)"
  stop_winner 'a run whose root died'
fi

# ---- a run that is refused for another reason gives the folder free, and leaves none that it made
run 0 1 good.yaml --set resilience.disk.every=10
timeout 100 "$GABION_LAUNCH" -n 1 -- "$gabion" run good.yaml --out out --set fluid.omega=1.4 >said.txt 2>&1
said 'of another case'
[ ! -e out/run.lock ] || complain 'a refused run left its lock'
finish

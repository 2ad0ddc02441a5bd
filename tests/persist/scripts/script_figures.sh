# SPDX-License-Identifier: Apache-2.0
# gabion-test: timeout=900
# The programs of figures 2 and 3 of the paper, killed (SIGKILL) after each of their statements and started again, give what they
# give undisturbed; in the first life, and where a line is reached only after a fault, in the second one.
. "$GABION_SOURCE/tests/persist/scripts/common.sh"
library=$GABION_BUILD/lib/libgabion-persist.a
[ -f "$library" ] || library="-L$GABION_BUILD/lib -lgabion-persist -Wl,-rpath,$GABION_BUILD/lib"
visits=${1:-4} every=$((2 - ($# > 0))) # of figure 3: without arguments every second statement

run() { timeout 60 "$GABION_MPIRUN" "${several[@]}" -n 2 "$@" >>said.txt 2>>errors.txt; }
results() { grep -E '^(Final: )?[0-9]+ ' said.txt | sort -u; }

# life NAME EXPECTED LINE RANK VISIT: killed there, then to the end: in the first life where the undisturbed run came there so often,
# else in the second one, behind a death in the middle. It says whether the line was reached.
killed=0 second=0
life() {
  local name=$1 expected=$2 plan="$4 $3 $5" behind=0
  [ "$(grep -cx "$4 $3" reached)" -ge "$5" ] || behind=1
  shift 5
  rm -rf said.txt errors.txt store
  [ $behind = 0 ] || cp -r middle/. .
  PERSIST_KILL=$plan run "./$name-killed" "$@"
  case $?,$behind in
    0,0) complain "$name, killed at $plan, is not" ;;
    0,1) return ;;
    124,*) complain "$name hangs, killed at $plan" ;;
  esac
  killed=$((killed + 1)) second=$((second + behind))
  run "./$name-killed" "$@" || complain "$name, killed at $plan, does not go on: $(tail -n 3 errors.txt)"
  [ "$(results)" = "$expected" ] || complain "$name, killed at $plan: $(results | diff - <(echo "$expected") | head -n 5)"
}

# ---- figure 3: everything that is ever printed is what an undisturbed run prints
build figure3 "$GABION_SOURCE/apps/papers/persist2015/figure3.c" $library
rm -rf store; PERSIST_REACHED=$PWD/reached run ./figure3-killed store || complain "the undisturbed run fails: $(cat errors.txt)"
expected=$(results)
[ "$(wc -l <<<"$expected")" = 22 ] || complain "the undisturbed run says: $expected"
[ -z "$(ls store)" ] || complain "the run is over, and something is stored: $(ls store)"
middle="0 $(grep -n 'seed = aggregate' "$GABION_SOURCE/apps/papers/persist2015/figure3.c" | cut -d: -f1) 4"
rm -rf said.txt errors.txt store
PERSIST_KILL=$middle run ./figure3-killed store && complain "figure 3 was not killed in the middle ($middle)"
mkdir middle && cp -r said.txt errors.txt store middle
first=$(grep -n 'i = next; i < ITERATIONS' "$GABION_SOURCE/apps/papers/persist2015/figure3.c" | cut -d: -f1)
last=$(grep -n 'gab_persist_commit(persistent);' "$GABION_SOURCE/apps/papers/persist2015/figure3.c" | cut -d: -f1)
number=0
for line in $lines; do
  number=$((number + 1))
  ((number % every == 0)) || continue
  wanted=1 # outside of the loop
  [ "$line" -le "$first" ] || [ "$line" -gt "$last" ] || wanted=$visits
  for visit in $wanted; do
    for rank in ${2:-$((number / every % 2))}; do life figure3 "$expected" "$line" "$rank" "$visit" store; done
  done
done
{ [ $killed -ge $((26 / every)) ] && [ $second -ge $((4 / every)) ]; } || complain "figure 3 was killed $killed times, $second of them in the second life"

# ---- figure 2: the second life is told another value; it has the first one if that was committed
build figure2 "$GABION_SOURCE/apps/papers/persist2015/figure2.c" $library
commit=$(grep -n 'gab_persist_commit(persistent)' "$GABION_SOURCE/apps/papers/persist2015/figure2.c" | cut -d: -f1)
killed=0
for line in $lines; do
  rm -rf said.txt errors.txt store
  PERSIST_KILL="0 $line 1" timeout 60 "$GABION_MPIRUN" -n 1 ./figure2-killed 3 store >said.txt 2>errors.txt && continue
  killed=$((killed + 1))
  timeout 60 "$GABION_MPIRUN" -n 1 ./figure2-killed 9 store >said.txt 2>errors.txt || complain "figure 2, killed at $line: $(cat errors.txt)"
  value=9
  [ "$line" -lt "$commit" ] || value=3
  [ "$(cat said.txt)" = "Final: 0 $value" ] || complain "figure 2, killed at $line: $(cat said.txt) instead of $value"
done
[ $killed -gt 8 ] || complain "figure 2 was killed $killed times"
exit $failures

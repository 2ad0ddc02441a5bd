# SPDX-License-Identifier: Apache-2.0
# gabion-test: timeout=900 needs=ulfm
# Figure 3 of the paper in one job: each of the two processes is killed (SIGKILL) after each statement, a spare takes its place,
# the survivor goes on, and everything that is printed is what an undisturbed run prints. Behind the last agreement no spare is
# called any more, and nothing is left to print.
. "$GABION_SOURCE/tests/persist/scripts/common.sh"
source=$GABION_SOURCE/apps/papers/persist2015/figure3_in_job.c
persist=$GABION_BUILD/lib/libgabion-persist.a
[ -f "$persist" ] || persist="-L$GABION_BUILD/lib -lgabion-persist -Wl,-rpath,$GABION_BUILD/lib"
# shellcheck disable=SC2046 # words on purpose
build figure3 "$source" $persist -L"$GABION_BUILD/lib" $(PKG_CONFIG_PATH=$GABION_BUILD pkg-config --libs gabion)
visits=${1:-4}

run() { GABION_SPARES=1 timeout 60 "$GABION_MPIRUN" "${mpi_flags[@]}" -n 3 ./figure3-killed store >said.txt 2>errors.txt; }
results() { grep -aE '^(Final: )?[0-9]+ ' said.txt | sort -u; }
rm -rf store; mkdir store
run || complain "the undisturbed run fails: $(cat errors.txt)"
expected=$(results)
[ "$(wc -l <<<"$expected")" = 22 ] || complain "the undisturbed run says: $expected"
[ -z "$(ls store)" ] || complain "the run is over, and something is stored: $(ls store)"

rm -rf store; mkdir store
timeout 60 "$GABION_LAUNCH" -n 2 --spares 1 -t 1 --retries 0 -- ./figure3-killed store >said.txt 2>errors.txt || complain "under gabion-launch: code $?: $(cat errors.txt)"
[ "$(results)" = "$expected" ] || complain "under gabion-launch: $(cat said.txt)"

first=$(grep -n '^static bool open_store' "$source" | cut -d: -f1)
begin=$(grep -n '^static bool exchange' "$source" | cut -d: -f1)
end=$(grep -n '^/\* From the first opening' "$source" | cut -d: -f1)
last=$(grep -n '^int main' "$source" | cut -d: -f1)
killed=0
for line in $lines; do
  [ "$line" -gt "$first" ] && [ "$line" -lt "$last" ] || continue
  wanted=1
  [ "$line" -lt "$begin" ] || [ "$line" -gt "$end" ] || wanted=$visits
  for visit in $wanted; do
    for rank in ${2:-$((line % 2))}; do
      rm -rf store marker; mkdir store
      PERSIST_KILL="$rank $line $visit $PWD/marker" run
      [ $? != 124 ] || complain "hangs, killed at $rank $line $visit"
      [ -e marker ] || continue # not reached by this process
      killed=$((killed + 1))
      [ "$(results)" = "$expected" ] ||
        complain "killed at $rank $line $visit: $(results | diff - <(echo "$expected") | head -n 5) $(tail -n 3 errors.txt)"
    done
  done
done
[ $killed -gt 25 ] || complain "it was killed $killed times"
exit $failures

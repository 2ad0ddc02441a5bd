# gabion-test: timeout=240 labels=quick needs=ulfm
# Each scenario of helper_reinit.c in a job of its own.
set -u
helper=$GABION_BUILD/tests/resilience/helper_reinit
played=0 failures=0
while read -r number slots spares name; do
  said=$(timeout 60 "$GABION_LAUNCH" -n "$slots" --spares "$spares" -t 1 --stall 40 --retries 0 -- "$helper" "$number" 2>&1 </dev/null)
  grep -q 'gabion-test: passed' <<<"$said" || { echo "$name: $said"; failures=$((failures + 1)); }
  played=$((played + 1))
done < <("$helper")
[ "$played" -ge 24 ] || { echo "only $played scenarios"; failures=1; }
exit $((failures > 0))

# SPDX-License-Identifier: Apache-2.0
# gabion-test: timeout=240 needs=ulfm
# Each scenario of helper_reinit.c in a job of its own.
set -uo pipefail
helper=$GABION_BUILD/tests/resilience/helper_reinit
played=0 failures=0
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
while read -r number ranks spares ends name; do
  said=$(timeout 60 "$GABION_LAUNCH" -n "$ranks" --spares "$spares" -t 1 --stall 40 --retries 0 --start-retries 0 -- "$helper" "$number" "$work/$number" 2>&1 </dev/null | tr -d "\0")
  code=$?
  [ $code = "$ends" ] && grep -q 'gabion-test: passed' <<<"$said" || { echo "$name, code $code: $said"; failures=$((failures + 1)); }
  played=$((played + 1))
done < <("$helper")
said=$(timeout 60 "$GABION_LAUNCH" -n 3 --spares 1 -t 1 --stall 30 --retries 0 -- \
  "$GABION_BUILD/tests/resilience/helper_cleanup" "$work/gone" 2>&1 </dev/null | tr -d '\0')
grep -q 'gabion-test: passed' <<<"$said" || { echo "cleanup: $said"; failures=$((failures + 1)); }
[ "$played" -ge 31 ] || { echo "only $played scenarios"; failures=1; }
exit $((failures > 0))

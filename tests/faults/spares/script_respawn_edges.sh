# SPDX-License-Identifier: Apache-2.0
# gabion-test: timeout=600 needs=ulfm
# Each place of helper_respawn.c in a separate job, with four processes. Prints stack traces after a hang.
set -u
helper=$GABION_BUILD/tests/faults/helper_respawn
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work" || exit 1
played=0 failures=0
while read -r number name; do
  rm -f gabion-stall-*
  RESPAWN_ONCE=$work/$number GABION_SPAWN_WITHIN=8 timeout 120 "$GABION_LAUNCH" -n 4 -t 1 --stall 60 --retries 0 -- \
    "$helper" "$number" >"$work/said" 2>&1 </dev/null; code=$?
  said=$(tr -d '\0' <"$work/said")
  [ $code = 0 ] && grep -q 'gabion-test: passed' <<<"$said" || { echo "$name, code $code: $said"; failures=$((failures + 1))
    cat gabion-stall-* 2>/dev/null | grep -E '^(====|#)' | cut -c1-150; }
  case $number in 0 | 1[1-3]) ;; *) [ -e "$work/$number" ] || { echo "$name: nobody died there"; failures=$((failures + 1)); } ;; esac
  played=$((played + 1))
done < <("$helper")
[ "$played" -ge 14 ] || { echo "only $played places"; failures=1; }
exit $((failures > 0))

# SPDX-License-Identifier: Apache-2.0
# MPI_COMM_WORLD is not rebuilt after a death. A program that still uses it (the listing of Reinit++ as printed) must not end with 0,
# nor with another sum: it is refused, and the message names the communicator to use instead.
# gabion-test: timeout=240 needs=ulfm
set -uo pipefail
helper=$GABION_BUILD/tests/resilience/helper_comm_world
failures=0
wrong() { echo "$use, $way, code $code: $1: $said"; failures=$((failures + 1)); }
while read -r use way spares right; do
  said=$(timeout 60 "$GABION_LAUNCH" -n 3 --spares "$spares" -t 1 --stall 40 --retries 0 -- "$helper" "$use" "$way" 2>&1 </dev/null | tr -d '\0')
  code=$?
  if [ "$right" = refused ]; then
    [ $code = 1 ] || wrong "not refused"
    grep -q 'MPI_COMM_WORLD was used after a process had died .*use gab_comm_mpi() of a communicator from gab_world_dup()' <<<"$said" ||
      wrong "no word of what to use instead"
    [ "$use" = end ] || ! grep -q '^sum' <<<"$said" || wrong "a sum"
  else
    [ $code = 0 ] && grep -qx "sum $right" <<<"$said" || wrong "not sum $right"
  fi
done <<'LIST'
listing respawn 0 refused
reduction respawn 0 refused
handler respawn 0 refused
rank respawn 0 refused
size respawn 0 refused
setup respawn 0 refused
end respawn 0 refused
messages spare 1 refused
rank spare 1 refused
size spare 1 refused
size shrink 0 refused
nothing respawn 0 5418
LIST
exit $((failures > 0))

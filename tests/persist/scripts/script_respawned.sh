# SPDX-License-Identifier: Apache-2.0
# gabion-test: timeout=300 labels=quick needs=ulfm
# Processes that are started for the dead (MPI_Comm_spawn), twice for the same rank, go on from the memory of the node, from files,
# and from the memory of neighbours; with all going back to the common epoch the result is the undisturbed one.
. "$GABION_SOURCE/tests/persist/scripts/common.sh"
helper=$GABION_BUILD/tests/persist/helper_respawned
launch() { # STORE COMMIT [live]
  rm -rf store; mkdir store
  GABION_SPAWN_WITHIN=20 timeout 100 "$GABION_LAUNCH" -n 3 -t 1 --stall 60 --retries 0 -- "$helper" "$PWD/store" "$@" >said.txt 2>&1 </dev/null
  tr -d '\0' <said.txt | grep -a '^rank' | sort
}
expected=$(launch file together live | sed 's/, life.*//')
[ "$(wc -l <<<"$expected")" = 3 ] || complain "the undisturbed run says: $(cat said.txt)"
for store in node neighbour file,neighbour; do
  result=$(launch $store together)
  [ "$(sed 's/, life.*//' <<<"$result")" = "$expected" ] || complain "store $store: $result, not $expected; $(tail -n 3 said.txt)"
  [ "$(grep -c 'life 2' <<<"$result")" = 3 ] || complain "store $store: rank 1 did not die twice: $result"
  [ -z "$(ls store)" ] || complain "store $store: something is left: $(ls store)"
done
exit $failures

# SPDX-License-Identifier: Apache-2.0
# gabion-test: timeout=300 needs=ulfm
# The small checkpoint (resilience/recovery/state.h): in memory by several schemes, in files, processes killed in every place. What
# comes out is always that of the run in which nobody died.
set -u
helper=$GABION_BUILD/tests/resilience/helper_state folder=$(mktemp -d) wrong=0 played=0
trap 'rm -rf "$folder"' EXIT
export GABION_STATE_SCHEME= GABION_STATE_FOLDER= GABION_STATE_EVERY= GABION_STATE_WAIT=
unset GABION_STATE_EVERY GABION_STATE_WAIT

# play NAME CODE FROM RANKS SPARES STEPS HOW DEATHS: FROM is a pattern of the steps at which the loop begins, one after another
play() {
  local name=$1 code=$2 from=$3
  said=$(timeout 60 "$GABION_LAUNCH" -n "$4" --spares "$5" -t 1 --stall 40 --retries 0 --start-retries 0 -- "$helper" "$6" "$7" "$8" 2>&1 </dev/null)
  local got=$? begins
  begins=$(sed -n 's/^from //p' <<<"$said" | paste -sd' ')
  played=$((played + 1))
  [ "$got" = "$code" ] && [[ $begins == $from ]] && return
  echo "$name: code $got instead of $code, begins at '$begins' instead of '$from': $said"
  wrong=1
}
sums() { # the sums have to be those of the first run
  local now
  now=$(grep '^sums' <<<"$said")
  [ "${expected:=$now}" ] && [ "$now" = "$expected" ] && return
  echo "'$now' instead of '$expected': $said"
  wrong=1
}
says() { grep -q "$1" <<<"$said" || { echo "'$1' is not said: $said"; wrong=1; }; }

play "nobody" 0 0 3 1 8 full "" && sums
for scheme in ring pairwise parity; do
  GABION_STATE_SCHEME=$scheme play "$scheme" 0 "0 4" 3 1 8 full 1@4 && sums
done
play "within a save" 0 "0 [45]" 3 1 8 full 1@5c && sums
play "before the first save" 0 "0 0" 3 1 8 full 1@0 && sums
play "within the first save" 0 "0 0" 3 1 8 full 0@1c && sums
play "before the first save, without a spare" 76 "0" 3 0 8 full 1@0
says 'no state had been saved: nothing is lost'
play "behind the first save, without a spare" 3 "0" 3 0 8 full 1@1
play "within the first load" 0 "0" 3 1 8 full 1@0l && sums
of_three=$expected expected=
play "nobody of four" 0 0 4 0 8 full "" && sums
play "within the way back" 0 "0 3" 4 2 8 full 1@3,3@1l && sums
expected=$of_three
play "who took over, within its load" 0 "0 3" 3 2 8 full 1@3,3@0l && sums
play "before the first save, then within it" 0 "0 0 0" 3 2 8 full 1@0,0@1c && sums
play "two in turn, then who took over" 0 "0 2 5 6" 3 3 8 full 1@2,2@5,3@6 && sums

# Ranks 1 and 2 at once: of rank 1 nothing is left in memory.
play "both copies" 3 "0" 3 2 8 full 1@4,2@4
says 'lost'
GABION_STATE_FOLDER=$folder/a GABION_STATE_WAIT=1 play "both copies, files" 0 "0 4" 3 2 8 full 1@4,2@4 && sums
GABION_STATE_FOLDER=$folder/b GABION_STATE_WAIT=1 GABION_STATE_EVERY=3 play "files of every third step" 0 "0 3" 3 2 8 full 1@5,2@5 && sums
GABION_STATE_FOLDER=$folder/c play "both copies, before any file" 0 "0 0" 3 2 8 full 1@0,2@0 && sums

# The same command goes on.
export GABION_STATE_FOLDER=$folder/d GABION_STATE_WAIT=1 GABION_STATE_SCHEME=none
play "a job" 0 "0" 3 0 5 full ""
play "of another size" 2 "" 2 0 8 full ""
says 'cannot be partitioned again'
play "of other parts" 1 "" 3 0 8 short ""
says "'value' has 4 bytes, its saved state 8"
play "the next job" 0 "5" 3 0 8 full "" && sums
export GABION_STATE_FOLDER=$folder/e GABION_STATE_WAIT=0
play "a job, files behind the steps" 0 "0" 3 0 5 full ""
[ -n "$(ls -A "$folder/e")" ] || { echo "no files"; wrong=1; }
export GABION_STATE_FOLDER= GABION_STATE_SCHEME=

# Without those that are gone: their lists of four entries are taken over, 2 * (0 + ... + 7) + (0 + ... + 3).
play "shrinking" 0 "0 4" 3 0 8 shrinks 1@4
says '^sums 0 62 '
says " $(sed 's/.* //' <<<"$expected")\$" # what all share
play "a part that nobody can take over" 3 "0" 3 0 8 stuck 1@4
says "nobody can take over its 'value'"

GABION_STATE_SCHEME=nonsense play "no such scheme" 2 "" 2 0 4 full ""
says "GABION_STATE_SCHEME"
GABION_STATE_EVERY=often play "no number" 2 "" 2 0 4 full ""
says "GABION_STATE_EVERY"
[ "$played" = 28 ] || { echo "$played runs"; wrong=1; }
exit $wrong

# SPDX-License-Identifier: Apache-2.0
# gab_reinit() with a second death at each step of its recovery (helper_reinit_steps.c): of the spare that takes over; and of a survivor
# where a process is started for the first. Before every second call of MPI from the beginning of the repair to the end of the load.
# All come back at full size, to the sum of the run with one death. `script_reinit_steps.sh WHO...': "SPARES PROCESS" of others, before
# each call.
# gabion-test: timeout=900 needs=ulfm
set -uo pipefail
helper=$GABION_BUILD/tests/resilience/helper_reinit_steps
wrong=0 least=20
export GABION_SPAWN_WITHIN=8
play() { # play SPARES PROCESS CALL: without spares by respawning
  local way=()
  [ "$1" != 0 ] || way=(respawn)
  said=$(timeout 100 "$GABION_LAUNCH" -n 5 --spares "$1" -t 1 --stall 40 --retries 0 -- "$helper" "$2" "$3" ${way[@]+"${way[@]}"} 2>&1 </dev/null | tr -d '\0')
  code=$?
  deaths=$(sed -n 's/^sum .* \([0-9]*\) deaths$/\1/p' <<<"$said")
  [ "$code" = 0 ] && [[ ${deaths:-0} = [1-4] ]] && grep -q '^sum .* 5 of 5 ranks' <<<"$said" && return
  echo "$1 spares, process $2, call $3, code $code: $said"
  wrong=$((wrong + 1))
}
sum() { sed -n 's/^sum \([0-9]*\),.*/\1/p' <<<"$said"; }
play 3 0 0
expected=$(sum)
[ -n "$expected" ] && [ "$deaths" = 1 ] || { echo "undisturbed: $said"; exit 1; }
stride=1
[ $# -gt 0 ] || { set -- '3 5' '0 4'; stride=2; }
first=1
for who; do
  unreached=0
  for ((call = first; call <= 60 && wrong < 5; call += stride)); do
    # shellcheck disable=SC2086 # two words
    play $who $call
    [ "$(sum)" = "$expected" ] || { echo "$who, call $call: another sum than $expected: $said"; wrong=$((wrong + 1)); }
    # How many calls there are differs a little from run to run.
    if [ "${deaths:-0}" = 1 ]; then unreached=$((unreached + 1)); else unreached=0; fi
    ((unreached < 2)) || break
  done
  first=$stride # odd ones, then even ones
  ((call > least && call < 60)) || { echo "spares and process $who: $((call - 1)) calls"; wrong=$((wrong + 1)); }
done
exit $((wrong > 0))

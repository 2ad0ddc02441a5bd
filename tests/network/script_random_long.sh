# SPDX-License-Identifier: Apache-2.0
# Cables are pulled at random: cable, time, phase and rank, and the time until they are put back; sometimes another
# one later. Exactly one part continues, with the result of the undisturbed run, or no part has all data: then data is
# lost and the run reports it once. NETWORK_RUNS=N, NETWORK_SEED=N. NETWORK_CUT_AFTER=SECONDS: without heartbeats, and
# slower accordingly.
# gabion-test: timeout=7200 labels=long,network waits=1 needs=ulfm
. "$GABION_SOURCE/tests/network/nodes.sh"
. "$GABION_SOURCE/tests/network/cut.sh"

runs=${NETWORK_RUNS:-60} seed=${NETWORK_SEED:-$RANDOM} lost=0
RANDOM=$seed
limit=${NETWORK_CUT_AFTER:-6} # limit of silence, in seconds
echo "seed $seed"
# some_part_is_complete CABLES PROCESSES: each copy is on the rank half-way around the ring
some_part_is_complete() {
  case "$1, $2" in
    "1 3, 4" | "1 2, 6" | "1 3, 6" | "hub 1, 6") return 1 ;;
  esac
}
# has_stopped N: that number of ranks have stopped
has_stopped() { local seen; seen=$(grep -cs "\"stopped\"" out/events.jsonl); [ "${seen:-0}" -ge "$1" ]; }
# wait_for COMMAND...: until it succeeds or the launcher has ended; no matter which
wait_for() { while ! "$@" && kill -0 $job 2>/dev/null; do sleep 0.02; done; }
draw() { local all=("$@"); drawn=${all[RANDOM % $#]}; } # sets $drawn: one of its arguments

nodes_up 4
launcher_cable
second_hub 3 4
dead_after=$limit
[ -n "${NETWORK_CUT_AFTER:-}" ] && silence="--cut-after $limit"
one_each=nod1:1,nod2:1,nod3:1,nod4:1
make_reference $one_each 4
# A grid that changes every three steps.
sed 's/^  steps: .*/  steps: 180/' "$GABION_SOURCE/tests/faults/runs/flow_adaptive.yaml" >adaptive.yaml
case=adaptive.yaml reference=ref_adaptive
make_reference $one_each 4

for run in $(seq "$runs"); do
  draw exchange compute snapshot commit swap disk-write disk-commit reduction output recovery migration over \
    adapt-mark adapt-balance adapt-migrate adapt-rebuild
  phase=$drawn
  draw "1" "2" "3" "4" "1 2" "2 3" "hub" "hub 1" "hub 4" "1 3" "launcher" "launcher 2"; cables=$drawn
  # After that number of seconds, or when the cut is announced (core/world/quarantine.h), or when a process counts as
  # dead.
  draw never never 2 3.5 4 4.5 5 5.5 6 10 20 announced noticed; back=$drawn
  draw 0 1 2 3; rank=$drawn
  draw "1 1 1 1" "2 2 1 1"; read -r a b c d <<<"$drawn"
  draw "" 100; disk=$drawn
  draw "" "" 1 2 3 4; second=$drawn
  processes=$((a + b + c + d)) case=case.yaml reference=ref steps=600 codes=0 more=
  some_part_is_complete "$cables" $processes || codes="0 3"
  case $phase in
    disk-*) disk=100 ;;
    adapt-*) case=adaptive.yaml reference=ref_adaptive steps=180 disk=${disk:+40} second= ;;
    over) second= ;; # the last sums of the run
  esac
  # The second cable: of the processes that have continued without the first.
  case $cables in ? | launcher) [ "$second" = "$cables" ] && second= ;; *) second= ;; esac
  [ -n "$second" ] && steps=450
  step=$((RANDOM % steps)) from=$step
  [ $phase = over ] && phase=reduction step=600 from=600
  case $phase in
    recovery | migration) # those of another death
      draw 0 1 2 3; more="--inject rank=$drawn,step=$step" step=0
      [ $drawn = $rank ] && rank=$(((rank + 1) % 4))
      codes="0 3" ;;
  esac
  [ -n "$disk" ] && [ $((5 * from)) -gt $((12 * disk)) ] && codes=0 # one is on disk by then
  case_args="${disk:+--set resilience.disk.every=$disk} $more"
  case_args="--inject rank=$rank,step=$step,phase=$phase,stopped=1.5 $case_args"
  [ -n "$second" ] && for one in 0 1 2 3; do case_args+=" --inject rank=$one,step=550,phase=exchange,stopped=2"; done
  what="run $run: $phase of rank $rank at step $step, cables $cables, back after $back, then ${second:-none}, $processes processes, disk ${disk:-no} $more"
  run_args=$case_args launch out nod1:$a,nod2:$b,nod3:$c,nod4:$d $processes --stall $((20 * limit))
  before=$failures
  # A phase that does not come any more is no fault of the run.
  wait_for has_stopped 1
  pull $cables
  case $back in
    never) ;;
    announced) wait_for test -e out/fencing/cut-1; plug $cables ;;
    noticed) wait_for has_event out '"event": "fault noticed"'; plug $cables ;;
    *) sleep "$(awk "BEGIN { print $back * $limit / 6 }")"; plug $cables ;;
  esac
  if [ -n "$second" ]; then
    wait_for has_stopped 2
    pull $second
  fi
  judge out $codes
  seen="$(ls out/fencing 2>/dev/null | grep -c '^cut-') cuts, $(grep -cs '"event": "recovery"' out/events.jsonl) recoveries"
  plug $cables $second
  [ $code = 3 ] && lost=$((lost + 1))
  echo "$what: $seen: $code$([ $failures -gt $before ] && echo ' WRONG')"
  if [ $failures -gt $before ] && [ -n "${NETWORK_KEEP:-}" ]; then mkdir -p "$NETWORK_KEEP/$seed.$run" && cp -r out out.txt "$NETWORK_KEEP/$seed.$run"; fi
  rm -rf out out.txt
done
echo "$runs runs, $lost of them lost data, $failures complaints"
finish

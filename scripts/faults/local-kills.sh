#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Runs with strategy `local` and processes killed by SIGKILL from outside, at random times: each must end with the
# bits of the undisturbed run.
#
#   scripts/faults/local-kills.sh [--runs R] [--seed S] [-n RANKS] [--spares K] [--kills M] [--clusters C] [--second WHAT] [--case FILE] [--out DIR] [-- ARGUMENTS]
#
#   --runs R     number of runs (default 20)
#   --seed S     of times and victims (default: the time); the phases hit also depend on the machine
#   -n RANKS     active processes (default 8)
#   --spares K   spare processes (default 2)
#   --kills M    maximum number of deaths in a run (default K); one after the other, sometimes two at once
#   --clusters C resilience.local.clusters=C, and a third of the kills are of several processes of one cluster at once, a third of
#                one process in each of two clusters; as far as --kills allows, and while initial processes are left there
#   --second WHAT two kills in a run, the second one at an event of the run: `adjacent`, a neighbour of the first rank as soon
#                as that is restored; `checkpoint`, the same after the next checkpoint of the others (as rank 0 writes that event, it is
#                not the first one to die then); `holder`, the holder of the first rank's image; `spare`, the replacement process, as soon
#                as it has caught up; `all`, these in turn
#   --case FILE  default: tests/faults/local_runs/local.yaml, a flow; tests/faults/local_runs/local_sphere.yaml has a body in 3D, local_phase.yaml is a phase
#                field
#   --out DIR    default: BUILD/local-kills; a failed run is kept there with its log
#   ARGUMENTS    of `gabion run`
#
# The first kill follows the first checkpoint; spares are killed like the others. Faults that cannot be handled locally are left
# to the next strategy, which is not a failure: DIR/summary.txt has the number of runs without it, and the reasons of the others.
# Exit 0 if every run ended with exit code 0 and the undisturbed checksum, or with 3 and both a rank and all holders of its image
# dead (without checkpoints on disk, which --case may have), and those without another strategy with no step
# of a survivor computed again and no agreement or repair while local recovery was on.
set -euo pipefail
. "$(dirname "${BASH_SOURCE[0]}")/../common.sh"

RUNS=20 SEED=$((EPOCHSECONDS % 32768)) N=8 SPARES=2 KILLS= CLUSTERS= SECOND= CASE=$GABION_ROOT/tests/faults/local_runs/local.yaml OUT= MORE=()
while (($#)); do
  case $1 in
    -h|--help) print_head "${BASH_SOURCE[0]}"; exit 0 ;;
    --runs) RUNS=${2:?--runs needs a number}; shift ;;
    --seed) SEED=${2:?--seed needs a number}; shift ;;
    -n) N=${2:?-n needs a number}; shift ;;
    --spares) SPARES=${2:?--spares needs a number}; shift ;;
    --kills) KILLS=${2:?--kills needs a number}; shift ;;
    --clusters) CLUSTERS=${2:?--clusters needs a number}; shift ;;
    --second) SECOND=${2:?--second needs a word}; shift ;;
    --case) CASE=${2:?--case needs a file}; shift ;;
    --out) OUT=${2:?--out needs a folder}; shift ;;
    --) shift; MORE=("$@"); break ;;
    *) fail "unknown option $1 (try --help)" ;;
  esac
  shift
done
KILLS=${KILLS:-$SPARES}
for number in "$RUNS" "$SEED" "$N" "$SPARES" "$KILLS" "${CLUSTERS:-1}"; do [[ $number =~ ^[0-9]+$ ]] || fail "$number is no whole number"; done
[ -z "$SECOND" ] || ((N > 1)) || fail "--second needs two ranks at least"
case $SECOND in ''|adjacent|checkpoint|holder|spare|all) ;; *) fail "--second $SECOND: adjacent, checkpoint, holder, spare or all" ;; esac
if [ -n "$CLUSTERS" ]; then MORE+=(--set "resilience.local.clusters=$CLUSTERS"); fi
OUT=$(realpath -m "${OUT:-$GABION_BUILD/local-kills}")
LAUNCH=$GABION_BUILD/bin/gabion-launch GABION=$GABION_BUILD/bin/gabion
[ -x "$GABION" ] && [ -x "$LAUNCH" ] || fail "build first: scripts/test.sh or cmake --build $GABION_BUILD"
rm -rf "$OUT"; mkdir -p "$OUT"
export OMP_NUM_THREADS=1 GABION_RESCUE_LOG=$OUT/rescues.log
: >"$GABION_RESCUE_LOG"
RANDOM=$SEED
failures=0 kills=0 several=0 pairs=0 back=0 local_runs=0 local_faults=0 other_runs=0 too_late=0 lost_runs=0 both=0 before_caught_up=0

value() { sed -n "s/.*\"$2\": \"\{0,1\}\([0-9a-f]*\).*/\1/p" "$1/summary.json" 2>/dev/null | head -n 1; }
count() { local n; n=$(grep -c "$2" "$1" 2>/dev/null || true); echo "${n:-0}"; } # count FILE TEXT
active_processes() {
  local pid
  for pid in $(pgrep -u "$(id -u)" -f "^$GABION run .*--out $1 " || true); do
    if [ "$(readlink "/proc/$pid/exe" 2>/dev/null)" = "$GABION" ]; then echo "$pid"; fi
  done
}
# victims PID...: sets `chosen`, the processes that die together; counts the kind of the kill.
victims() {
  local pid process first second kind many of=() list words
  many=1; if [ -z "$CLUSTERS" ] && ((RANDOM % 4 == 0 && left > 1)); then many=2; fi
  chosen=()
  while ((many-- > 0)); do chosen+=("${@:RANDOM % $# + 1:1}"); done
  if [ -z "$CLUSTERS" ] || ((left < 2)); then return 0; fi
  for pid in "$@"; do # initial processes, by cluster: a replacement process may be in any
    process=$(tr '\0' '\n' 2>/dev/null <"/proc/$pid/environ" | sed -n 's/^PMIX_RANK=//p')
    if [ -n "$process" ] && ((process < N)); then of[process * CLUSTERS / N]+=" $pid"; fi
  done
  if ((${#of[@]} == 0)); then return 0; fi
  list=("${!of[@]}") kind=$((RANDOM % 3))
  first=${list[RANDOM % ${#list[@]}]} second=${list[RANDOM % ${#list[@]}]}
  read -ra words <<<"${of[first]}"
  if ((kind == 1 && ${#words[@]} > 1)); then
    many=$((2 + RANDOM % (left - 1)))
    words+=("${words[@]}") # a range, from a random place
    if ((2 * many > ${#words[@]})); then many=$((${#words[@]} / 2)); fi
    chosen=("${words[@]:RANDOM % (${#words[@]} / 2):many}")
    several=$((several + 1))
  elif ((kind == 2 && first != second)); then
    chosen=("${words[RANDOM % ${#words[@]}]}")
    read -ra words <<<"${of[second]}"
    chosen+=("${words[RANDOM % ${#words[@]}]}")
    pairs=$((pairs + 1))
  fi
}
start() { # start DIR RANKS SPARES
  timeout -k 10 300 "$LAUNCH" -n "$2" --spares "$3" --stall 60 --retries 0 -- "$GABION" run "$CASE" --out "$1" --quiet \
    ${MORE[@]+"${MORE[@]}"} >"$1.log" 2>&1 </dev/null
}
complain() { failures=$((failures + 1)); printf '%s\n' "$*" | tee -a "$OUT/failures.txt"; }

start "$OUT/undisturbed" "$N" 0 || { cat "$OUT/undisturbed.log" >&2; fail "the undisturbed run failed"; }
expected=$(value "$OUT/undisturbed" checksum)
[ -n "$expected" ] || fail "the undisturbed run has no checksum"

# disturb DIR: kills until it ends or all victims are dead
disturb() {
  local dir=$1 job=$2 left=$((RANDOM % KILLS + 1)) pids pid chosen=()
  dead=0
  while kill -0 "$job" 2>/dev/null && (($(count "$dir/events.jsonl" '"event": "checkpoint"') < 2)); do sleep 0.05; done
  while ((left > 0)); do
    sleep "0.$(printf %03d $((RANDOM % 700)))"
    kill -0 "$job" 2>/dev/null || return 0
    mapfile -t pids < <(active_processes "$dir")
    ((${#pids[@]} > 2)) || return 0
    victims "${pids[@]}"
    for pid in "${chosen[@]}"; do
      if kill -9 "$pid" 2>/dev/null; then dead=$((dead + 1)); fi
    done
    left=$((left - ${#chosen[@]}))
  done
}
# await DIR TEXT COUNT: until COUNT events contain the text, or the run ends.
await() {
  local looks
  for ((looks = 0; looks < 6000; looks++)); do
    (($(count "$1/events.jsonl" "$2") < $3)) || return 0
    kill -0 "$job" 2>/dev/null || return 1
    sleep 0.01
  done
  return 1
}
# kill_process PROCESS: counts it
kill_process() { if [ -n "${pid_of[$1]:-}" ] && kill -9 "${pid_of[$1]}" 2>/dev/null; then dead=$((dead + 1)); fi; }
# disturb_twice DIR WHAT: a rank dies, and then, at the chosen event, another process
disturb_twice() {
  local dir=$1 what=$2 job=$3 rank pid process pid_of=() second event='"event": "checkpoint"'
  dead=0 in_time=0
  await "$dir" "$event" 2 || return 0
  for pid in $(active_processes "$dir"); do
    process=$(tr '\0' '\n' 2>/dev/null <"/proc/$pid/environ" | sed -n 's/^PMIX_RANK=//p')
    if [ -n "$process" ]; then pid_of[process]=$pid; fi
  done
  sleep "0.$(printf %03d $((RANDOM % 1000)))"
  rank=$((RANDOM % N))
  if [ "$what" = checkpoint ]; then rank=$((1 + RANDOM % (N - 1))); fi
  second=$((rank + 1 - 2 * (RANDOM % 2))) # the domain is not periodic: the first and the last rank are not neighbours
  if ((second < 0)); then second=1; elif ((second == N)); then second=$((N - 2)); fi
  kill_process "$rank"
  await "$dir" "\"rank\": $rank,.*\"event\": \"took over\"" 1 || return 0
  case $what in
    checkpoint) await "$dir" "$event" $(($(count "$dir/events.jsonl" "$event") + 1)) || return 0 ;;
    holder) second=$(((rank + N / 2) % N)); sleep "0.$(printf %03d $((RANDOM % 200)))" ;;
    spare)
      await "$dir" "\"rank\": $rank,.*\"event\": \"caught up\"" 1 || return 0
      second=$(sed -n "s/.*\"rank\": $rank,.*\"took over\", \"process\": \([0-9]*\).*/\1/p" "$dir/events.jsonl" | head -n 1) ;;
  esac
  kill_process "$second"
  # the order of events decides the situation; the events of a failed run are kept
  if ((dead == 2)) && [ "$what" = adjacent ] && (($(count "$dir/events.jsonl" "\"rank\": $rank,.*\"event\": \"caught up\"") == 0)); then in_time=1; fi
}
whats=(adjacent checkpoint holder spare)
for ((run = 1; run <= RUNS; run++)); do
  dir=$OUT/run$run
  start "$dir" "$N" "$SPARES" & job=$!
  what=
  if [ -n "$SECOND" ]; then
    what=$SECOND
    if [ "$SECOND" = all ]; then what=${whats[run % 4]}; fi
    disturb_twice "$dir" "$what" "$job"
    before_caught_up=$((before_caught_up + in_time))
    both=$((both + (dead == 2)))
  else disturb "$dir" "$job"; fi
  code=0; wait "$job" || code=$?
  kills=$((kills + dead))
  if [ "$code" = 3 ] && ((dead > 1)) && grep -q 'died and so did all holders of their images' "$dir.log"; then
    lost_runs=$((lost_runs + 1)); rm -rf "$dir" "$dir.log"; continue
  fi
  if [ "$code" != 0 ]; then complain "run $run: exit $code after $dead kills"; continue; fi
  if [ "$(value "$dir" checksum)" != "$expected" ]; then complain "run $run: checksum $(value "$dir" checksum) instead of $expected"; continue; fi
  if (($(count "$dir/summary.json" '"strategy": "\(spare\|shrink\|disk\)"'))); then
    other_runs=$((other_runs + 1))
    if (($(count "$dir/events.jsonl" '"event": "local handed over"') == 0)); then # as inside sections
      echo "run $run: ${what:+$what: }none was handed over: as in a section, where local recovery is off (noticed in step $(sed -n 's/.*"strategy": "\(spare\|shrink\|disk\)".*"noticed_step": \([0-9]*\).*/\2 by \1/p' "$dir/summary.json" | head -n 1))" >>"$OUT/handed_over.txt"
    fi
    grep -h -o '"event": "local handed over".*' "$dir/events.jsonl" | sed 's/.*"reason": //' | sort -u | tr -d '}' | sed "s/^/run $run: ${what:+$what: }handed over: /" >>"$OUT/handed_over.txt" || true
  elif (($(count "$dir/summary.json" '"strategy": "local"'))); then
    local_runs=$((local_runs + 1))
    local_faults=$((local_faults + $(value "$dir" fault_count))) back=$((back + $(value "$dir" members_rolled_back)))
    [ "$(value "$dir" survivor_steps_computed_again)" = 0 ] || complain "run $run: survivors computed $(value "$dir" survivor_steps_computed_again) steps again"
    [ "$(value "$dir" meetings)" = 0 ] || complain "run $run: $(value "$dir" meetings) agreements or repairs"
  else too_late=$((too_late + 1)); fi
  rm -rf "$dir" "$dir.log"
done
{
  echo "$RUNS runs on $N + $SPARES processes, $kills killed (seed $SEED): $failures failures"
  if [ -n "$CLUSTERS" ]; then echo "$CLUSTERS clusters; several of one at once: $several times; one in each of two: $pairs times; processes that went back with theirs: $back"; fi
  if [ -n "$SECOND" ]; then echo "two killed ($SECOND): $both runs; the second adjacent one before the first had caught up: $before_caught_up"; fi
  echo "local recovery alone: $local_runs runs, $local_faults deaths of ranks; another strategy: $other_runs runs; no rank lost: $too_late runs;"
  echo "a rank and all holders of its image killed together, which ends a run without a disk: $lost_runs runs"
  echo "stalls rescued by the launcher: $(wc -l <"$GABION_RESCUE_LOG")"
  if [ -e "$OUT/handed_over.txt" ]; then cut -d: -f2- "$OUT/handed_over.txt" | sed 's/ (noticed in step .*//' | sort | uniq -c; fi
} | tee "$OUT/summary.txt"
((failures == 0))

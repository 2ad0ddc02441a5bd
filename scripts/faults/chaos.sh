#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Chaos: runs of small flows whose processes are killed by SIGKILL from outside, at random times and in random numbers:
# one, several at once, half of them, all. Every run must end with the bits of the undisturbed run.
#
#   scripts/faults/chaos.sh [--minutes M] [--runs R] [--seed S] [-n PROCESSES] [--spares K] [--steps STEPS] [--out DIR]
#
#   --minutes M   duration of the kills; the present run then continues undisturbed (default 60)
#   --runs R      maximum number of runs
#   --seed S      of times, victims and numbers of processes (default: the time); the phases hit also depend on the
#                 machine, so a repetition with the same seed is similar, not equal
#   -n N          maximum number of processes, default 16: each run has N, half, or a quarter of it
#   --spares K    additional spare processes, which are killed like the others
#   --steps STEPS of the flow on static blocks, default 6000; a quarter of it for the one that adapts
#   --start-up K  instead: K runs in each of which one process is killed around the start, at a random moment from the
#                 first process to the first steps. After a death there the launcher restarts the run: each run must
#                 end with 0 and the undisturbed result, at most WAIT seconds after the kill the run must have
#                 recovered or restarted
#   --wait WAIT   with --start-up, default 40
#   --out DIR     default: BUILD/chaos; an unexplained run is kept there with its log
#
# Checkpoints are in memory and on disk. When fewer than a quarter are left, the rest is killed too. A run that ended
# before its last step is resumed by the same command in the same folder, on the initial number of processes: it
# must resume from the newest checkpoint on disk. An end is explained if it is
#   exit 0   with the checksum and the CSV series of the undisturbed run on one process
#   exit 3   after kills, with the lost ranks and blocks in the message, or when only spares were left
#   exit 76  after kills before the first checkpoint, twice, since the launcher restarts such a run once
#   exit 1   when no process was left, or when kills occurred twice during the start of MPI
# The counts go to DIR/chaos.json, every kill and end to DIR/chaos.log. Exit 0 only if every end was explained.
# Hangs inside the MPI library are rescued by the launcher and counted.
set -euo pipefail
. "$(dirname "${BASH_SOURCE[0]}")/../common.sh"

MINUTES=60 SEED=$((EPOCHSECONDS % 32768)) N=16 SPARES=0 RUNS=1000000 STEPS=6000 OUT= START_UP= WAIT=40
while (($#)); do
  case $1 in
    -h|--help) print_head "${BASH_SOURCE[0]}"; exit 0 ;;
    --minutes) MINUTES=${2:?--minutes needs a number}; shift ;;
    --runs) RUNS=${2:?--runs needs a number}; shift ;;
    --spares) SPARES=${2:?--spares needs a number}; shift ;;
    --seed) SEED=${2:?--seed needs a number}; shift ;;
    -n) N=${2:?-n needs a number}; shift ;;
    --steps) STEPS=${2:?--steps needs a number}; shift ;;
    --start-up) START_UP=${2:?--start-up needs a number}; shift ;;
    --wait) WAIT=${2:?--wait needs a number}; shift ;;
    --out) OUT=${2:?--out needs a folder}; shift ;;
    *) fail "unknown option $1 (try --help)" ;;
  esac
  shift
done
for number in "$MINUTES" "$RUNS" "$SEED" "$N" "$SPARES" "$STEPS" "${START_UP:-1}" "$WAIT"; do [[ $number =~ ^[0-9]+$ ]] || fail "$number is no whole number"; done
((N >= 4)) || fail "-n $N: four processes at least"
OUT=$(realpath -m "${OUT:-$GABION_BUILD/chaos}")
LAUNCH=$GABION_BUILD/bin/gabion-launch GABION=$GABION_BUILD/bin/gabion
[ -x "$GABION" ] && [ -x "$LAUNCH" ] || fail "build first: scripts/test.sh or cmake --build $GABION_BUILD"
rm -rf "$OUT"; mkdir -p "$OUT"
cores=$(nproc --all)
export GABION_RESCUE_LOG=$OUT/rescues.log OMP_NUM_THREADS=1
: >"$GABION_RESCUE_LOG"
RANDOM=$SEED
STALL=30      # seconds without progress that count as a hang
DEADLINE=900  # seconds of one attempt
runs=0 attempts=0 salvos=0 kills=0 together=0 everybody=0 recoveries=0 by_spares=0 fallbacks=0 wrong=0
relaunch_all=0 relaunch_few=0 relaunch_lost=0 relaunch_start=0 survived=0

note() { printf '%(%H:%M:%S)T %s\n' -1 "$*" >>"$OUT/chaos.log"; }
value() { sed -n "s/.*\"$2\": \"\{0,1\}\([0-9a-f]*\).*/\1/p" "$1/summary.json" 2>/dev/null | head -n 1; }
count() { local n; n=$(grep -c "\"event\": \"$2\"" "$1/events.jsonl" 2>/dev/null || true); echo "${n:-0}"; } # count DIR EVENT
# Processes of the run in a folder: processes of this user with the folder in their command line, except launcher and
# mpirun.
active_processes() {
  local pid
  for pid in $(pgrep -u "$(id -u)" -f "^$GABION run .*--out $1 " || true); do
    if [ "$(readlink "/proc/$pid/exe" 2>/dev/null)" = "$GABION" ]; then echo "$pid"; fi
  done
}

# ---------------------------------------------------------------- the runs
use() { # use flow|flow_adaptive
  NAME=$1 CASE=$GABION_ROOT/tests/faults/runs/$1.yaml steps=$STEPS
  if [ "$1" = flow_adaptive ]; then steps=$((STEPS / 4)); fi
}
arguments() { # arguments DIR
  echo run "$CASE" --out "$1" --quiet --set run.steps=$steps --set resilience.memory.every=20 \
    --set resilience.disk.every=$((steps / 25 + 1)) --set resilience.disk.group=4 --set resilience.tries=1000
}
undisturbed() {
  local dir=$OUT/undisturbed-$NAME
  # shellcheck disable=SC2046 # words on purpose
  "$LAUNCH" -n 1 -- "$GABION" $(arguments "$dir") >"$dir.log" 2>&1 </dev/null || { cat "$dir.log" >&2; fail "the undisturbed run failed"; }
  [ -n "$(value "$dir" checksum)" ] || fail "the undisturbed run has no checksum"
}

# ---------------------------------------------------------------- kills
# Number of the next victims among `alive` processes: mostly one, sometimes several, rarely all.
how_many() {
  local dice=$((RANDOM % 100)) alive=$1
  if ((dice < 70)); then echo 1
  elif ((dice < 85)); then echo $((RANDOM % 3 + 2))
  elif ((dice < 95)); then echo $(((alive + 1) / 2))
  else echo "$alive"; fi
}
# strike DIR: kills some processes, drawn one after the other, by one command
strike() {
  local pids number victims=() i
  mapfile -t pids < <(active_processes "$1")
  ((${#pids[@]})) || return 0
  if ((${#pids[@]} < np / 4 || ${#pids[@]} < 2)); then number=${#pids[@]} few=1; else number=$(how_many ${#pids[@]}); fi
  for ((i = 0; i < number && ${#pids[@]}; i++)); do
    local k=$((RANDOM % ${#pids[@]}))
    victims+=("${pids[k]}"); unset 'pids[k]'; pids=(${pids[@]+"${pids[@]}"})
  done
  kill -9 "${victims[@]}" 2>/dev/null || return 0 # it has ended meanwhile
  salvos=$((salvos + 1)) kills=$((kills + ${#victims[@]})) hit=$((hit + ${#victims[@]}))
  if ((${#victims[@]} > 1)); then together=$((together + 1)); fi
  if ((${#pids[@]} == 0)); then everybody=$((everybody + 1)) extinct=1; fi
  note "  killed ${#victims[@]}, ${#pids[@]} left${few:+ (too few: all)}"
}
# attempt DIR: one start; kills until the run ends or the time is over. Sets its exit code, $code.
attempt() {
  local dir=$1 job before deadline=$((SECONDS + DEADLINE))
  before=$(count "$dir" start) hit=0 extinct='' few='' started=''
  # shellcheck disable=SC2046 # words on purpose
  timeout -k 10 "$DEADLINE" "$LAUNCH" -n "$np" --spares "$SPARES" --stall "$STALL" --retries 1000 --traces "$OUT" -- \
    "$GABION" $(arguments "$dir") >>"$dir.log" 2>&1 </dev/null & job=$!
  attempts=$((attempts + 1))
  while kill -0 $job 2>/dev/null; do
    # between 0.3 and 5 s, not in multiples of a regular interval
    sleep "$((RANDOM % 5)).$(printf %03d $((RANDOM % 700 + 300)))"
    if (($(count "$dir" start) > before)); then started=1; fi
    if ((SECONDS >= END || SECONDS >= deadline)); then break; fi
    # occasionally before the first step too
    if [ -n "$started" ] || ((RANDOM % 10 == 0)); then strike "$dir"; fi
  done
  code=0
  wait $job || code=$?
  if (($(count "$dir" start) > before)); then started=1; fi
}

# ---------------------------------------------------------------- ends of runs
unexplained() {
  wrong=$((wrong + 1))
  note "  NOT AS IT HAS TO BE: $1"
  say "not as it has to be: $1 (log: $dir.log)"
}
same_series() { # same_series DIR: every CSV file of the undisturbed run
  local file
  for file in "$OUT/undisturbed-$NAME"/*.csv; do cmp -s "$file" "$1/${file##*/}" || { unexplained "another ${file##*/}"; return; }; done
}
judge_done() {
  recoveries=$((recoveries + $(count "$dir" recovery))) fallbacks=$((fallbacks + $(count "$dir" 'restored from disk')))
  by_spares=$((by_spares + $(grep -c '"strategy": "spare"' "$dir/events.jsonl" || true)))
  survived=$((survived + 1))
  if [ "$(value "$dir" checksum)" != "$(value "$OUT/undisturbed-$NAME" checksum)" ]; then
    unexplained "checksum $(value "$dir" checksum) instead of $(value "$OUT/undisturbed-$NAME" checksum)"
  else same_series "$dir"; fi
}
# An end before the last step. @return whether to start again
judge_end() {
  local said; said=$(tail -n 40 "$dir.log")
  if ((code == 3 && hit)) && grep -qE 'died and so did all holders.*0x[0-9a-f]+' <<<"$said"; then
    relaunch_lost=$((relaunch_lost + 1))
  elif ((code == 3 && hit && SPARES)) && grep -q 'all processes that ran a rank are dead' <<<"$said"; then
    relaunch_all=$((relaunch_all + 1))
  elif ((code == 76 && hit)) && grep -qE 'to be started again: a process died|giving up after [0-9]+ starts that failed' <<<"$said"; then
    relaunch_start=$((relaunch_start + 1))
  elif [ $code = 1 ] && [ -n "$few" ]; then relaunch_few=$((relaunch_few + 1))
  elif [ $code = 1 ] && [ -n "$extinct" ]; then relaunch_all=$((relaunch_all + 1))
  elif [ $code = 1 ] && ((hit)) && [ -z "$started" ]; then relaunch_start=$((relaunch_start + 1))
  else unexplained "exit $code after $hit kills of $np"; return 1; fi
}
run() {
  dir=$OUT/run-$runs code=1
  np=$((N >> (RANDOM % 3))); if ((np < 4)); then np=4; fi
  local wrong_before=$wrong tries
  note "run $runs: $NAME on $np"
  for ((tries = 0; code != 0 && tries < 500; tries++)); do
    attempt "$dir"
    note "  attempt $tries: exit $code"
    if ((code == 0)); then judge_done
    else judge_end || break; fi
  done
  runs=$((runs + 1))
  if ((wrong == wrong_before)); then rm -rf "$dir" "$dir.log"; fi
}

# ---------------------------------------------------------------- kills around the start
now_ms() { echo $((${EPOCHREALTIME/./} / 1000)); }
# ranks_of PID: sets `pids`: children of the mpirun below a process. Fast, since a start takes a tenth of a second.
ranks_of() {
  local each name kids=() more=()
  pids=()
  { for each in "/proc/$1/task"/*/children; do read -r -a more <"$each" || true; kids+=(${more[@]+"${more[@]}"}); done; } 2>/dev/null
  for each in ${kids[@]+"${kids[@]}"}; do
    { read -r name <"/proc/$each/comm" || continue; } 2>/dev/null
    case $name in
      mpirun | prterun) { for each in "/proc/$each/task"/*/children; do read -r -a more <"$each" || true; pids+=(${more[@]+"${more[@]}"}); done; } 2>/dev/null; return ;;
      gabion-launch) ranks_of "$each"; return ;;
    esac
  done
}
# start_up_time DIR: sets `span`, milliseconds from the first process to the first checkpoint
start_up_time() {
  local job began pids
  # shellcheck disable=SC2046 # words on purpose
  "$LAUNCH" -n "$np" -- "$GABION" $(arguments "$1") >"$1.log" 2>&1 </dev/null & job=$!
  until ranks_of $job; ((${#pids[@]})); do kill -0 $job 2>/dev/null || fail "the run ended before it was seen: $(cat "$1.log")"; done
  began=$(now_ms)
  until (($(count "$1" checkpoint))); do kill -0 $job 2>/dev/null || break; sleep 0.01; done
  span=$(($(now_ms) - began))
  wait $job || fail "the undisturbed run failed: $(cat "$1.log")"
}
# back_after DIR BEGAN: milliseconds until the run had recovered, restarted or ended
back_after() {
  local at
  at=$(sed -n 's/^{"time": \([0-9]*\)\.\([0-9]\{3\}\).*"event": "\(start\|recovery\)".*/\1\2/p' "$1/events.jsonl" 2>/dev/null |
    while read -r at; do if ((at > $2)); then echo "$at"; break; fi; done)
  echo $((${at:-$(now_ms)} - $2))
}
# Stage of the run at the kill, from its log.
stage_of() { # stage_of DIR
  if grep -q 'no sign of life within\|had ended before the first sign of life' "$1.log"; then echo init
  elif grep -q 'while MPI was being started' "$1.log"; then echo world
  elif grep -q 'while the run was being set up' "$1.log"; then echo set_up
  elif grep -q 'before the first checkpoint' "$1.log"; then echo first_checkpoint
  elif grep -q 'starting the run again (start' "$1.log"; then echo ended
  elif (($(count "$1" recovery))); then echo survived
  else echo unnoticed; fi
}
declare -A stages=([init]=0 [world]=0 [set_up]=0 [first_checkpoint]=0 [ended]=0 [survived]=0 [unnoticed]=0)
# One run and one kill. @return 1 if the run was over before the kill
start_and_kill() { # start_and_kill DIR
  local job pids=() before wait_ms stage
  # shellcheck disable=SC2046 # words on purpose
  timeout -k 10 300 "$LAUNCH" -n "$np" --spares "$SPARES" --traces "$OUT" -- "$GABION" $(arguments "$1") >"$1.log" 2>&1 </dev/null & job=$!
  until ranks_of $job; ((${#pids[@]})); do kill -0 $job 2>/dev/null || break; done
  # half of the kills early: MPI_Init takes only a part of that time
  before=$((RANDOM * (RANDOM % 2 ? span / 3 : span * 3 / 2) / 32768))
  sleep "$((before / 1000)).$(printf %03d $((before % 1000)))"
  ranks_of $job
  if ! { ((${#pids[@]})) && kill -9 "${pids[RANDOM % ${#pids[@]}]}"; } 2>/dev/null; then
    wait $job || true
    return 1
  fi
  before=$(now_ms) code=0
  wait $job || code=$?
  wait_ms=$(back_after "$1" "$before") stage=$(stage_of "$1")
  kills=$((kills + 1)) stages[$stage]=$((stages[$stage] + 1))
  longest=$((wait_ms > longest ? wait_ms : longest))
  note "start $kills on $np: killed at $stage, exit $code, back after $wait_ms ms"
  dir=$1
  if [ $code != 0 ]; then unexplained "exit $code after one kill at the start"
  elif [ "$(value "$1" checksum)" != "$(value "$OUT/undisturbed-$NAME" checksum)" ]; then unexplained "another checksum"
  elif ((wait_ms > 1000 * WAIT)); then unexplained "nobody was back before $wait_ms ms"
  else rm -rf "$1" "$1.log"; fi
}
start_ups() {
  local tries=0 early
  longest=0 STEPS=200
  use flow; undisturbed
  for np in 4 "$N"; do
    start_up_time "$OUT/start-$np"
    say "a start on $np processes takes $span ms from the first process to the first checkpoint"
    while ((kills < (np == N ? START_UP : START_UP / 2) && wrong < 5)); do
      start_and_kill "$OUT/start-$np-$((tries++))" || true
    done
  done
  early=$((kills - stages[survived] - stages[unnoticed]))
  cat >"$OUT/start_up.json" <<JSON
{"kills": $kills, "before_the_first_checkpoint": $early, "in_mpi_init": ${stages[init]}, "world": ${stages[world]}, "set_up": ${stages[set_up]},
 "first_checkpoint": ${stages[first_checkpoint]}, "job_ended": ${stages[ended]}, "survived_in_job": ${stages[survived]}, "unnoticed": ${stages[unnoticed]},
 "longest_ms": $longest, "seed": $SEED, "processes": $N, "wrong": $wrong}
JSON
  say "$kills kills, $early before the first checkpoint: ${stages[init]} inside MPI_Init, ${stages[world]} while the world was made, ${stages[set_up]} in the set-up, ${stages[first_checkpoint]} in the first checkpoint, ${stages[ended]} that ended the job; ${stages[survived]} survived in the job, ${stages[unnoticed]} too late"
  say "longest from a kill until the run was back: $longest ms"
  if ((wrong)); then fail "$wrong runs did not end as they have to; logs are in $OUT"; fi
}
if [ -n "$START_UP" ]; then start_ups; exit 0; fi

for name in flow flow_adaptive; do use "$name"; undisturbed; done
say "chaos for $MINUTES minutes on up to $N processes and $SPARES spares, seed $SEED"
END=$((SECONDS + 60 * MINUTES))
while ((SECONDS < END && runs < RUNS && wrong < 5)); do
  if ((runs % 2)); then use flow_adaptive; else use flow; fi
  run
done
rescued=$(wc -l <"$GABION_RESCUE_LOG")
cat >"$OUT/chaos.json" <<JSON
{"minutes": $MINUTES, "seed": $SEED, "processes": $N, "spares": $SPARES, "cores": $cores, "runs": $runs, "undisturbed_checksum": $survived,
 "attempts": $attempts, "kills": $kills, "salvos": $salvos, "several_at_once": $together, "all_at_once": $everybody,
 "recoveries_in_job": $recoveries, "of_these_by_spares": $by_spares, "of_these_from_disk": $fallbacks, "relaunched_all_dead": $relaunch_all, "relaunched_too_few_left": $relaunch_few,
 "relaunched_data_lost": $relaunch_lost, "relaunched_killed_at_start": $relaunch_start, "stalls_rescued": $rescued, "wrong": $wrong}
JSON
say "$runs runs, $attempts starts, $kills kills ($salvos times, $together of several at once, $everybody of all), $recoveries recoveries in the job, $by_spares of them by spares, $fallbacks from disk"
say "started again: $relaunch_all all dead, $relaunch_few too few left, $relaunch_lost data lost, $relaunch_start killed while starting; stalls rescued: $rescued"
if ((wrong)); then fail "$wrong ends are wrong or not explained; logs are in $OUT"; fi
say "every run that came to its end had the undisturbed checksum ($survived)"
((survived > 0)) || fail "no run came to its end"

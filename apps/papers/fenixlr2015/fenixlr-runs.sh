#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Figures 6, 7 and 10 of Gamell et al. 2015 (FenixLR), measured: a 1-D solver (`chain`) whose processes are killed by
# SIGKILL, under strategy `local` and under `spare`, beside the model of `gabion plan --delays`. Steps sleep, so that a few
# cores carry many processes.
#
#   apps/papers/fenixlr2015/fenixlr-runs.sh [--quick] [--figures LIST] [--repeat N] [--step-time S] [--out DIR] [--built] [--report]
#
#   --quick        once, with short steps, figure 7 alone: whether it works, not how long it takes
#   --figures LIST default "7 10 6"
#   --repeat N     of figures 7 and 10, in turn, so that a slow change of the machine meets all alike (default 3)
#   --step-time S  seconds for which each process sleeps in a step (default 0.2)
#   --out DIR      default: out/paper-fenixlr-runs
#   --built        takes what is in build/bin as it is
#   --report       runs nothing: the report of what is in DIR
#
# Figure 7: 32 + 4 processes, 80 steps, a checkpoint every 40; 1 to 4 processes die that are so far apart that the delay of none
# reaches another one before it dies (separated), or of which the delay of the first has reached the second (nested); and two that are
# far apart, with a checkpoint in between (intervals).
# Figure 10: so many separated deaths on 8, 16 and 32 processes. Figure 6: a death every so many steps on 16 + 16 processes,
# local against global, beside a run without protection.
# All have to end with the checksum of the undisturbed run; what does not is a failure (exit 1).
# DIR gets the times of all steps, runs.jsonl, figure7_measured.png, figure6_measured.png and report.md.
set -euo pipefail
. "$(dirname "${BASH_SOURCE[0]}")/../../../scripts/common.sh"

OUT=out/paper-fenixlr-runs FIGURES="7 10 6" REPEAT=3 STEP_TIME=0.2 BUILT= REPORT=
while (($#)); do
  case $1 in
    -h|--help) print_head "${BASH_SOURCE[0]}"; exit 0 ;;
    --quick) FIGURES=7 REPEAT=1 STEP_TIME=0.05 ;;
    --figures) FIGURES=${2:?--figures needs a list}; shift ;;
    --repeat) REPEAT=${2:?--repeat needs a number}; shift ;;
    --step-time) STEP_TIME=${2:?--step-time needs seconds}; shift ;;
    --out) OUT=${2:?--out needs a folder}; shift ;;
    --built) BUILT=1 ;;
    --report) REPORT=1 BUILT=1 ;;
    *) fail "unknown option $1 (try --help)" ;;
  esac
  shift
done
[[ $REPEAT =~ ^[1-9][0-9]*$ ]] || fail "--repeat $REPEAT: not a number of at least 1"
if [ -z "$BUILT" ]; then
  gabion_setup
  gabion_build "$GABION_BUILD"
fi
GABION=$GABION_BUILD/bin/gabion LAUNCH=$GABION_BUILD/bin/gabion-launch CHAIN=$GABION_BUILD/bin/chain
for program in "$GABION" "$LAUNCH" "$CHAIN"; do [ -x "$program" ] || fail "build first: $program is missing"; done
OUT=$(realpath -m "$OUT"); mkdir -p "$OUT/runs"
export OMP_NUM_THREADS=1
failures=0
# A run of its name that has ended well is not made again.
RUNS=$OUT/runs.jsonl; touch "$RUNS"

# play FIGURE NAME REPEAT STRATEGY RANKS SPARES STEPS EVERY [STEP:RANK]...
# STRATEGY none: no protection but the image at the start. The rank dies as it begins the step, counted from 0.
play() {
  local figure=$1 name=$2 repeat=$3 strategy=$4 ranks=$5 spares=$6 steps=$7 every=$8 dir injections=() list= death strategies
  shift 8
  dir=$OUT/runs/$figure-$name-$strategy-$repeat
  ! grep -qsF "\"run\": \"${dir##*/}\"," "$RUNS" || return 0
  for death in "$@"; do
    injections+=("rank=${death#*:},step=${death%:*},phase=compute")
    list+=${list:+, }"[${death%:*}, ${death#*:}]"
  done
  case $strategy in local) strategies="[local, spare, shrink]" ;; spare) strategies="[spare, shrink]" ;; none) strategies="[shrink]" ;; esac
  rm -rf "$dir"
  if timeout -k 10 300 "$LAUNCH" -n "$ranks" --spares "$spares" --stall 90 --retries 0 -- "$CHAIN" --out "$dir" --set "chain.blocks=$ranks" \
      --set "chain.steps=$steps" --set "chain.step_time=$STEP_TIME" --set "resilience.strategies=$strategies" \
      --set "resilience.memory.every=$every" ${injections[@]+"${injections[@]}"} >"$dir.log" 2>&1 </dev/null; then
    printf '{"run": "%s", "figure": %s, "name": "%s", "repeat": %s, "strategy": "%s", "ranks": %s, "spares": %s, "steps": %s, "every": %s, "step_time": %s, "load": %s, "deaths": [%s]}\n' \
      "${dir##*/}" "$figure" "$name" "$repeat" "$strategy" "$ranks" "$spares" "$steps" "${every/never/0}" "$STEP_TIME" \
      "$(cut -d' ' -f1 /proc/loadavg)" "$list" >>"$RUNS"
  else
    failures=$((failures + 1)); say "failed: ${dir##*/}, see $dir.log"
  fi
}

# Places of which none keeps the image of another one (pairwise: half the number further on), and that are at least four apart.
far=(56:11 54:29 57:3 55:21)
eight=(56:13 55:26 54:1 57:18 55:9 56:30 57:5 54:22)
four=(56:5 55:14 57:1 54:10)
figure_7() {
  local count
  play 7 undisturbed "$1" local 32 4 80 40
  for count in 1 2 3 4; do play 7 "$count" "$1" local 32 4 80 40 "${far[@]:0:count}"; done
  play 7 nested_first "$1" local 32 4 80 40 48:11
  play 7 nested_second "$1" local 32 4 80 40 60:14
  play 7 nested "$1" local 32 4 80 40 48:11 60:14
  play 7 intervals "$1" local 32 4 80 40 30:3 50:29
}
figure_10() {
  local count
  for count in 0 1 2 4 8; do play 10 "32_$count" "$1" local 32 8 80 40 ${eight[@]:0:count}; done
  for count in 0 1 2 4; do play 10 "16_$count" "$1" local 16 4 80 40 ${four[@]:0:count}; done
  for count in 0 1 2; do play 10 "8_$count" "$1" local 8 2 80 40 $(printf '%s\n' 56:6 55:1 | head -n "$count"); done
}
figure_6() { # fifteen deaths at most, of sixteen spares, or as many as fit into 48 steps
  local mtbf steps deaths step k strategy
  for mtbf in 1 2 3 4 6 9 12 16 24; do
    steps=$((mtbf < 3 ? 16 * mtbf : 48)) deaths=()
    for ((k = 0; k < 15; k++)); do # somewhere in the k-th span
      step=$((mtbf * k + (5 * k + 3) % mtbf))
      if ((step > 0 && step < steps)); then deaths+=("$step:$(((5 * k + 3) % 16))"); fi
    done
    play 6 "base_$steps" 1 none 16 16 "$steps" never
    for strategy in local spare; do play 6 "$mtbf" 1 $strategy 16 16 "$steps" 8 "${deaths[@]}"; done
  done
}
if [ -z "$REPORT" ]; then
  for figure in $FIGURES; do
    for ((repeat = 1; repeat <= (figure == 6 ? 1 : REPEAT); repeat++)); do
      say "figure $figure, $repeat"
      "figure_$figure" "$repeat"
    done
  done
fi

python=$(gabion_python)
[ -n "$python" ] || fail "no python3: the times are in $OUT, without report"
"$python" "$GABION_ROOT/apps/papers/fenixlr2015/fenixlr_runs.py" --out "$OUT" --gabion "$GABION" || failures=$((failures + 1))
cat "$OUT/report.md"
((failures == 0))

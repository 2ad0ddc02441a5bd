#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Figure 5 and table 2 of Ropars et al. 2013 (SPBC), measured with real deaths: what a cluster that goes back needs for the steps that
# it computes again, against their first execution; what is logged; and what logging costs where nobody dies.
#
#   apps/papers/spbc2013/spbc.sh [--quick] [--parts LIST] [--clusters LIST] [--repeat N] [--pairs N] [--step-time S] [--out DIR] [--built] [--report]
#
#   --quick          once, short steps, 2 and 16 clusters, one pair: whether it works, not how long it takes
#   --parts LIST     default "rework overhead"
#   --clusters LIST  default "1 2 4 8 16"; of 16 processes
#   --repeat N       of each, in turn, so that a slow change of the machine meets all alike (default 3)
#   --pairs N        of runs without a death, with strategy `local` (16 clusters) and without, in turn (default 8)
#   --step-time S    seconds for which each process sleeps in a step (default 0.05)
#   --out DIR        default: out/paper-spbc
#   --built          takes what is in build/bin as it is
#   --report         runs nothing: the report of what is in DIR
#
# The program is `chain` (apps/papers/fenixlr2015): a 1-D solver whose steps sleep, so that a few cores carry 16 processes.
# A checkpoint every 20 of 60 steps; rank 5 is killed by SIGKILL as it begins step 56, and its cluster goes back to step 40. Where the paper read logs from disk and
# executed one cluster alone, the others live here, and replay from memory. All runs have to end with the checksum of the
# undisturbed one (exit 1 if not). DIR gets the times of all steps, runs.jsonl, figure5_measured.png and report.md.
# To be run where nothing else runs.
set -euo pipefail
. "$(dirname "${BASH_SOURCE[0]}")/../../../scripts/common.sh"

OUT=out/paper-spbc PARTS="rework overhead" CLUSTERS="1 2 4 8 16" REPEAT=3 PAIRS=8 STEP_TIME=0.05 BUILT='' REPORT=''
while (($#)); do
  case $1 in
    -h|--help) print_head "${BASH_SOURCE[0]}"; exit 0 ;;
    --quick) CLUSTERS="2 16" REPEAT=1 PAIRS=1 STEP_TIME=0.02 ;;
    --parts) PARTS=${2:?--parts needs a list}; shift ;;
    --clusters) CLUSTERS=${2:?--clusters needs a list}; shift ;;
    --repeat) REPEAT=${2:?--repeat needs a number}; shift ;;
    --pairs) PAIRS=${2:?--pairs needs a number}; shift ;;
    --step-time) STEP_TIME=${2:?--step-time needs seconds}; shift ;;
    --out) OUT=${2:?--out needs a folder}; shift ;;
    --built) BUILT=1 ;;
    --report) REPORT=1 BUILT=1 ;;
    *) fail "unknown option $1 (try --help)" ;;
  esac
  shift
done
for number in "$REPEAT" "$PAIRS" $CLUSTERS; do [[ $number =~ ^[1-9][0-9]*$ ]] || fail "$number is no number of at least 1"; done
if [ -z "$BUILT" ]; then
  gabion_setup
  gabion_build "$GABION_BUILD"
fi
LAUNCH=$GABION_BUILD/bin/gabion-launch CHAIN=$GABION_BUILD/bin/chain
for program in "$LAUNCH" "$CHAIN"; do [ -x "$program" ] || fail "build first: $program is missing"; done
OUT=$(realpath -m "$OUT"); mkdir -p "$OUT/runs"
export OMP_NUM_THREADS=1
failures=0
# A run of its name that has ended well is not made again.
RUNS=$OUT/runs.jsonl; touch "$RUNS"

# play PART REPEAT STRATEGY CLUSTERS [STEP:RANK]: STRATEGY none has all but local recovery, with the same checkpoints
play() {
  local part=$1 repeat=$2 strategy=$3 clusters=$4 death=${5:-} dir words=() list=
  dir=$OUT/runs/$part-$strategy-$clusters-$repeat
  ! grep -qsF "\"run\": \"${dir##*/}\"," "$RUNS" || return 0
  if [ -n "$death" ]; then words=("rank=${death#*:},step=${death%:*},phase=compute") list="[${death%:*}, ${death#*:}]"; fi
  if [ "$strategy" = local ]; then
    words+=(--set "resilience.strategies=[local, spare, shrink]" --set "resilience.local.clusters=$clusters")
  else words+=(--set "resilience.strategies=[spare, shrink]"); fi
  rm -rf "$dir"
  if timeout -k 10 300 "$LAUNCH" -n 16 --spares 1 --stall 90 --retries 0 -- "$CHAIN" --out "$dir" --set chain.blocks=16 --set chain.steps=60 \
      --set "chain.step_time=$STEP_TIME" --set resilience.memory.every=20 "${words[@]}" >"$dir.log" 2>&1 </dev/null; then
    printf '{"run": "%s", "part": "%s", "repeat": %s, "strategy": "%s", "clusters": %s, "ranks": 16, "steps": 60, "step_time": %s, "load": %s, "deaths": [%s]}\n' \
      "${dir##*/}" "$part" "$repeat" "$strategy" "$clusters" "$STEP_TIME" "$(cut -d' ' -f1 /proc/loadavg)" "$list" >>"$RUNS"
  else
    failures=$((failures + 1)); say "failed: ${dir##*/}, see $dir.log"
  fi
}
part_rework() {
  local repeat clusters
  for ((repeat = 1; repeat <= REPEAT; repeat++)); do
    say "rework, $repeat"
    for clusters in $CLUSTERS; do play rework "$repeat" local "$clusters" 56:5; done
  done
}
part_overhead() {
  local pair
  for ((pair = 1; pair <= PAIRS; pair++)); do
    say "overhead, $pair"
    if ((pair % 2)); then play overhead "$pair" none 16; fi
    play overhead "$pair" local 16
    if ((pair % 2 == 0)); then play overhead "$pair" none 16; fi
  done
}
if [ -z "$REPORT" ]; then
  for part in $PARTS; do "part_$part"; done
fi

python=$(gabion_python)
[ -n "$python" ] || fail "no python3: the times are in $OUT, without report"
"$python" "$GABION_ROOT/apps/papers/spbc2013/spbc.py" --out "$OUT" || failures=$((failures + 1))
cat "$OUT/report.md"
((failures == 0))

#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Cost of a death by strategy: the others continue (shrink), a spare process runs the rank (spare), or the job
# is restarted from disk (restart). And the cost of idle spare processes.
#
#   scripts/measure/recovery-times.sh [--np LIST] [--runs N] [--out DIR]
#
#   --np LIST   numbers of processes, default "2 4 8 16"
#   --runs N    of each, in turn, so that a slow change of the machine affects all equally (default 5)
#   --out DIR   default: BUILD/recovery-times; for the raw lines and table.md
#
# shrink, spare: gabion-bench --only recovery, 64^3 cells, from the detection of a death to the next step, of the slowest
#   process; without the time of the detection, which is the same for both.
# restart: from the start of the resuming command until the state of the checkpoint on disk is loaded, for a flow of some
#   kB per process: mainly launcher, MPI and set-up.
# idle: processor time of an idle spare as a share of the time of the run (from /proc).
# Medians, minima and maxima, with the load of the machine.
set -euo pipefail
. "$(dirname "${BASH_SOURCE[0]}")/../common.sh"

NPS="2 4 8 16" RUNS=5 OUT=
while (($#)); do
  case $1 in
    -h|--help) print_head "${BASH_SOURCE[0]}"; exit 0 ;;
    --np) NPS=${2:?--np needs numbers}; shift ;;
    --runs) RUNS=${2:?--runs needs a number}; shift ;;
    --out) OUT=${2:?--out needs a folder}; shift ;;
    *) fail "unknown option $1 (try --help)" ;;
  esac
  shift
done
[[ $RUNS =~ ^[1-9][0-9]*$ ]] || fail "--runs $RUNS: not a number of at least 1"
for np in $NPS; do [[ $np =~ ^[0-9]+$ ]] && ((np >= 2)) || fail "--np $NPS: numbers of at least 2"; done
OUT=$(realpath -m "${OUT:-$GABION_BUILD/recovery-times}")
LAUNCH=$GABION_BUILD/bin/gabion-launch GABION=$GABION_BUILD/bin/gabion BENCH=$GABION_BUILD/bin/gabion-bench
for program in "$LAUNCH" "$GABION" "$BENCH"; do [ -x "$program" ] || fail "build first: $program is missing"; done
rm -rf "$OUT"; mkdir -p "$OUT"
export OMP_NUM_THREADS=1

# note WAY NP MILLISECONDS
note() { printf '%s\t%s\t%s\t%s\n' "$1" "$2" "$3" "$(cut -d' ' -f1 /proc/loadavg)" >>"$OUT/times.tsv"; }

death() { # death WAY NP SPARES
  local json=$OUT/$1-$2.jsonl ms prefix=recovery.
  if [ "$1" = spare ]; then prefix=recovery.spare.; fi
  timeout -k 10 300 "$LAUNCH" -n "$2" --spares "$3" -- "$BENCH" --only recovery --json "$OUT/last.jsonl" >"$OUT/last.txt" 2>&1 ||
    { say "a run with a death did not end well and does not count (see $OUT/failed.txt)"; cat "$OUT/last.txt" >>"$OUT/failed.txt"; return; }
  cat "$OUT/last.jsonl" >>"$json"
  ms=$(sed -n "s/.*\"${prefix}all-parts\".*\"value\": \([0-9.e+-]*\).*/\1/p" "$OUT/last.jsonl" | tail -n 1)
  [ -n "$ms" ] || fail "no time of $1 in $OUT/last.jsonl"
  note "$1" "$2" "$ms"
}
flow() { # flow NP STEPS SPARES [arguments]
  local np=$1 steps=$2 spares=$3
  shift 3
  timeout -k 10 300 "$LAUNCH" -n "$np" --spares "$spares" -- "$GABION" run "$GABION_ROOT/tests/faults/runs/flow.yaml" --out "$OUT/run" \
    --quiet --set run.steps="$steps" --set resilience.disk.every=10 "$@" >"$OUT/last.txt" 2>&1 </dev/null
}
restart() { # restart NP
  local began loaded
  rm -rf "$OUT/run"
  flow "$1" 20 0 || fail "the run before the restart failed: $(cat "$OUT/last.txt")"
  began=$EPOCHREALTIME
  flow "$1" 40 0 || fail "the restart failed: $(cat "$OUT/last.txt")"
  loaded=$(sed -n 's/^{"time": \([0-9.]*\),.*"event": "continued".*/\1/p' "$OUT/run/events.jsonl" | tail -n 1)
  [ -n "$loaded" ] || fail "the run did not go on from disk"
  note restart "$1" "$(awk -v a="$began" -v b="$loaded" 'BEGIN { printf "%.1f", 1e3 * (b - a) }')"
}
# The spares are the processes of the run in OUT/run with the highest ranks.
ticks_of() { awk '{ print $14 + $15 }' "/proc/$1/stat" 2>/dev/null; }
idle() { # idle NP SPARES
  local job pid rank share hz spares=() before=()
  hz=$(getconf CLK_TCK)
  rm -rf "$OUT/run"
  flow "$1" 100000000 "$2" --set output.forces.every=1000000 --set output.probes.every=1000000 --set output.fields.every=1000000 \
    --set resilience.disk.every=never --walltime 30s & job=$!
  sleep 10
  for pid in $(pgrep -u "$(id -u)" -f "^$GABION run .*--out $OUT/run " || true); do
    rank=$(tr '\0' '\n' 2>/dev/null <"/proc/$pid/environ" | sed -n 's/^PMIX_RANK=//p')
    if [ -n "$rank" ] && ((rank >= $1)); then spares+=("$pid") before+=("$(ticks_of "$pid")"); fi
  done
  sleep 10
  for ((i = 0; i < ${#spares[@]}; i++)); do
    share=$(awk -v before="${before[i]}" -v after="$(ticks_of "${spares[i]}")" -v hz="$hz" 'BEGIN { printf "%.2f", 100 * (after - before) / hz / 10 }')
    note idle "$1" "$share"
  done
  wait $job || true
}

for ((run = 1; run <= RUNS; run++)); do
  for np in $NPS; do
    say "run $run of $RUNS on $np processes (load $(cut -d' ' -f1 /proc/loadavg))"
    death shrink "$np" 0
    death spare "$np" 1
    restart "$np"
  done
done
idle 2 2
{
  echo "| way | processes | runs | median | least | most | load |"; echo "|---|--:|--:|--:|--:|--:|--:|"
  for way in shrink spare restart idle; do
    counts=$NPS
    if [ $way = idle ]; then counts=2; fi
    for np in $counts; do
      awk -F'\t' -v way="$way" -v np="$np" '$1 == way && $2 == np { print $3 "\t" $4 }' "$OUT/times.tsv" | sort -g |
        awk -F'\t' -v way="$way" -v np="$np" '{ value[NR] = $1; load += $2 }
          END { if (NR) printf "| %s | %d | %d | %.2f %s | %.2f | %.2f | %.0f |\n", way, np, NR,
                (value[int((NR + 1) / 2)] + value[int(NR / 2) + 1]) / 2, way == "idle" ? "% of a core" : "ms", value[1], value[NR], load / NR }'
    done
  done
} >"$OUT/table.md"
cat "$OUT/table.md"

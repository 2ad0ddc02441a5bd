#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Cost of the message log of strategy `local` without deaths: steps of a flow with it and without, in alternating pairs of
# runs, so that a slow change of the machine affects both equally.
#
#   scripts/measure/message-log-cost.sh [--pairs N] [--steps N] [--cells N] [-n PROCESSES] [--before PROGRAM] [--out DIR]
#
#   --pairs N        pairs of runs, after one warm-up pair (default 20)
#   --steps N        steps of a run (default 300), with a checkpoint after each third
#   --cells N        cells along an edge of the block of each process (default 64)
#   -n PROCESSES     active processes (default 2); one spare in all runs
#   --before PROGRAM instead, another build of `gabion`: compares steps without the message log
#   --out DIR        default: BUILD/message-log-cost; for the raw lines
#
# A Taylor-Green vortex on D3Q19, one thread per process, no output. Times: of the tasks of the steps, on rank 0
# (which waits for its neighbours in each step), without checkpoints; and of the whole loop with checkpoints. Ratios
# of pairs: median, quartiles, and a 95 % confidence interval of the median (order statistics). Use an otherwise idle
# machine.
set -euo pipefail
. "$(dirname "${BASH_SOURCE[0]}")/../common.sh"

PAIRS=20 STEPS=300 CELLS=64 N=2 BEFORE= OUT=
while (($#)); do
  case $1 in
    -h|--help) print_head "${BASH_SOURCE[0]}"; exit 0 ;;
    --pairs) PAIRS=${2:?--pairs needs a number}; shift ;;
    --steps) STEPS=${2:?--steps needs a number}; shift ;;
    --cells) CELLS=${2:?--cells needs a number}; shift ;;
    -n) N=${2:?-n needs a number}; shift ;;
    --before) BEFORE=${2:?--before needs a program}; shift ;;
    --out) OUT=${2:?--out needs a folder}; shift ;;
    *) fail "unknown option $1 (try --help)" ;;
  esac
  shift
done
for number in "$PAIRS" "$STEPS" "$CELLS" "$N"; do [[ $number =~ ^[1-9][0-9]*$ ]] || fail "$number is no number of at least 1"; done
((N > 1)) || fail "-n 1: there is nobody to log for"
OUT=$(realpath -m "${OUT:-$GABION_BUILD/message-log-cost}")
LAUNCH=$GABION_BUILD/bin/gabion-launch GABION=$GABION_BUILD/bin/gabion
for program in "$LAUNCH" "$GABION" ${BEFORE:+"$BEFORE"}; do [ -x "$program" ] || fail "build first: $program is missing"; done
rm -rf "$OUT"; mkdir -p "$OUT"
export OMP_NUM_THREADS=1

cat >"$OUT/case.yaml" <<CASE
run: {title: What the message log costs, steps: $STEPS, check_every: 0}
domain: {cells: [$((CELLS * N)), $CELLS, $CELLS], block: [$CELLS, $CELLS, $CELLS], length: 6.283185307179586}
fluid: {reynolds: 400, velocity: 1, length: 1}
units: {lattice_velocity: 0.09}
initial: {type: taylor_green, velocity: 1}
resilience: {memory: {every: $((STEPS / 3 > 0 ? STEPS / 3 : 1))}}
CASE

# run NAME PROGRAM STRATEGIES
run() {
  rm -rf "$OUT/run"
  timeout -k 10 600 "$LAUNCH" -n "$N" --spares 1 --retries 0 -- "$2" run "$OUT/case.yaml" --out "$OUT/run" --quiet \
    --set "resilience.strategies=$3" >"$OUT/last.txt" 2>&1 </dev/null || { cat "$OUT/last.txt" >&2; fail "a run of $1 failed"; }
  cp "$OUT/run/summary.json" "$OUT/$1.json"
}
value() { # value NAME KEY: the first number behind that key
  local found
  found=$(sed -n "s/.*\"$2\": \([0-9.e+-]*\).*/\1/p" "$OUT/$1.json" | head -n 1)
  [ -n "$found" ] || fail "no $2 in the summary of $1"
  printf '%s\n' "$found"
}
without="[spare, shrink]" with="[local, spare, shrink]" first="without a message log" second="with a message log"
first_program=$GABION
if [ -n "$BEFORE" ]; then with=$without first_program=$BEFORE first="$BEFORE" second="this one, both without a message log"; fi
run second "$GABION" "$with"
for ((pair = 1; pair <= PAIRS; pair++)); do
  order="first second"
  if ((pair % 2 == 0)); then order="second first"; fi
  for way in $order; do
    if [ $way = first ]; then run first "$first_program" "$without"; else run second "$GABION" "$with"; fi
  done
  printf '%s\t%s\t%s\t%s\t%s\n' "$(value first 'seconds_in": {"steps')" "$(value second 'seconds_in": {"steps')" "$(value first seconds)" \
    "$(value second seconds)" "$(cut -d' ' -f1 /proc/loadavg)" >>"$OUT/pairs.tsv"
done

# Bounds of the interval: fewer than that number of heads have a probability of at most 2.5 % for a fair coin.
ratios() { # ratios COLUMN COLUMN NAME
  awk -v a="$1" -v b="$2" '{ printf "%.6f\n", $b / $a }' "$OUT/pairs.tsv" | sort -n | awk -v name="$3" '
    { r[NR] = $1 }
    END {
      p = 0.5 ^ NR; sum = p; k = 0
      while (sum <= 0.025) { k++; p *= (NR - k + 1) / k; sum += p }
      median = NR % 2 ? r[(NR + 1) / 2] : (r[NR / 2] + r[NR / 2 + 1]) / 2
      printf "  %-22s %.4f   quartiles %.4f to %.4f", name, median, r[int((NR + 3) / 4)], r[NR + 1 - int((NR + 3) / 4)]
      if (k > 0) printf "   95 %% of medians: %.4f to %.4f", r[k], r[NR + 1 - k]
      print ""
    }'
}
{
  echo "$PAIRS pairs, $N + 1 processes, $CELLS^3 cells each, $STEPS steps; load $(awk '{ print $5 }' "$OUT/pairs.tsv" | sort -n | sed -n '1p;$p' | paste -sd' ' | sed 's/ / to /')"
  echo "$second, as a part of $first:"
  ratios 1 2 "time in steps"
  ratios 3 4 "time of the loop"
  if [ -z "$BEFORE" ]; then
    echo "logged in a run by changing hands: $(value second logged) messages; by copying: $(value second copied), the largest of $(value second largest_copied_bytes) bytes"
    echo "message log of a rank at most: $(value second message_log_peak_per_rank) bytes; its image: $(value second image_bytes) bytes"
  fi
} | tee "$OUT/summary.txt"

#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Figures 4 to 8 of Kohl et al. 2017 at this machine's size: how long a snapshot in memory takes against processes and
# data, and how long it takes to go back to it when all processes drop their data and restore their partner's. Blocks of
# the sizes named there (100x100x20, 100x100x40, 20^3, 40x40x20), one or several per process: D3Q19 in double, and the phase
# field with 12 values a cell, as theirs, up to 6 blocks of 100x100x20 (115 MB) per process where memory allows.
#
#   apps/papers/kohl2017/kohl.sh [--quick] [--np LIST] [--runs N] [--network FILE] [--out DIR] [--built] [--plot]
#
#   --quick         about a minute on a quiet machine: fewer repetitions, one run of each, up to 4 processes
#   --np LIST       numbers of processes, default "2 4 8 16" (at 16 of them 18 GB of memory;
#                   loads of the phase field that do not fit are left out)
#   --runs N        of each, in turn; of equal ones the median counts (default 3)
#   --network FILE  what the model assumes (default: apps/papers/kohl2017/networks/supermuc.json)
#   --out DIR       default: out/paper-kohl
#   --built         takes what is in build/bin as it is
#   --plot          measures nothing: plots and report from the lines of an earlier run in DIR
#
# Beside that: a death in a time loop on each number of processes, split by part; the same runs with and without the
# fault tolerance of the MPI library (--with-ft ulfm), nobody dying; and, from the local costs measured and the network
# described, a model of the curves up to 2^18 processes and of the overhead (figure 7). What is model
# says so. DIR gets *.png (by python3-matplotlib, else gnuplot), numbers.csv, numbers.json, report.md and the raw lines.
set -euo pipefail
. "$(dirname "${BASH_SOURCE[0]}")/../../../scripts/common.sh"

OUT=out/paper-kohl QUICK= NPS= RUNS= NETWORK=$GABION_ROOT/apps/papers/kohl2017/networks/supermuc.json BUILT= PLOT=
while (($#)); do
  case $1 in
    -h|--help) print_head "${BASH_SOURCE[0]}"; exit 0 ;;
    --quick) QUICK=--quick ;;
    --np) NPS=${2:?--np needs numbers}; shift ;;
    --runs) RUNS=${2:?--runs needs a number}; shift ;;
    --network) NETWORK=${2:?--network needs a file}; shift ;;
    --out) OUT=${2:?--out needs a folder}; shift ;;
    --built) BUILT=1 ;;
    --plot) PLOT=1 ;;
    *) fail "unknown option $1 (try --help)" ;;
  esac
  shift
done
if [ -n "$QUICK" ]; then NPS=${NPS:-2 4} RUNS=${RUNS:-1}; else NPS=${NPS:-2 4 8 16} RUNS=${RUNS:-3}; fi
[[ $RUNS =~ ^[1-9][0-9]*$ ]] || fail "--runs $RUNS: not a number of at least 1"
for np in $NPS; do [[ $np =~ ^[0-9]+$ ]] && ((np >= 2)) || fail "--np $NPS: numbers of at least 2"; done
[ -r "$NETWORK" ] || fail "$NETWORK: no such file"
raw=$OUT/raw.jsonl deaths=$OUT/recovery.jsonl with=$OUT/with-ft.jsonl without=$OUT/without-ft.jsonl
LAUNCH=$GABION_BUILD/bin/gabion-launch BENCH=$GABION_BUILD/bin/gabion-bench

launch() { # launch NP BENCHMARKS FILE
  "$LAUNCH" -n "$1" -- "$BENCH" $QUICK --only "$2" --json "$3" >>"$OUT/tables.txt" 2>&1 ||
    { tail -n 5 "$OUT/tables.txt" >&2; return 1; }
}
# The same run under mpirun itself: with or without fault tolerance, all else equal. flags NP FILE [OPTIONS]
flags() {
  local np=$1 file=$2; shift 2
  timeout -k 10 900 "$(gabion_mpi_prefix)/bin/mpirun" "$@" --mca coll ^han --oversubscribe --mca mpi_yield_when_idle 1 \
    --bind-to none -n "$np" "$BENCH" $QUICK --only transport,paper --json "$file" >>"$OUT/tables.txt" 2>&1 </dev/null
}
measure() {
  local run np wrong=0
  rm -f "$raw" "$deaths" "$with" "$without" "$OUT/tables.txt"
  for ((run = 1; run <= RUNS; run++)); do
    for np in $NPS; do
      say "run $run of $RUNS on $np processes (load $(cut -d' ' -f1 /proc/loadavg))"
      launch "$np" paper "$raw" || fail "the benchmark failed on $np processes; see $OUT/tables.txt"
      launch "$np" recovery "$deaths" || wrong=$((wrong + 1))
    done
    # in turn, and which is first in turn too, so that a slow change of the machine meets both
    if ((run % 2)); then flags 2 "$with" --with-ft ulfm; flags 2 "$without"
    else flags 2 "$without"; flags 2 "$with" --with-ft ulfm; fi || fail "the runs by mpirun failed; see $OUT/tables.txt"
  done
  if ((wrong)); then say "$wrong of the runs with a death did not end well and do not count"; fi
}

mkdir -p "$OUT"
if [ -z "$PLOT" ]; then
  if [ -z "$BUILT" ]; then
    gabion_setup
    gabion_build "$GABION_BUILD"
  fi
  [ -x "$BENCH" ] && [ -x "$LAUNCH" ] || fail "nothing built in $GABION_BUILD"
  export OMP_NUM_THREADS=1
  measure
fi
[ -s "$raw" ] || fail "no results in $OUT"
python=$(gabion_python)
[ -n "$python" ] || fail "no python3: the results are in $raw, without plots and report"
options=()
if [ -s "$deaths" ]; then options+=(--recovery "$deaths"); fi
if [ -s "$with" ] && [ -s "$without" ]; then options+=(--with "$with" --without "$without"); fi
"$python" "$GABION_ROOT/apps/papers/kohl2017/kohl.py" --measured "$raw" --network "$NETWORK" --out "$OUT" ${options[@]+"${options[@]}"}
sed -n '/^Twice the data:/p;/^Fault tolerance of the MPI/p;/^One failure/p' "$OUT/report.md"
say "report, numbers and plots:"
printf '  %s\n' "$OUT/report.md" "$OUT/numbers.csv" "$OUT"/*.png

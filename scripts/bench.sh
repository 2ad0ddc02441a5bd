#!/usr/bin/env bash
# Sets up, builds and runs the benchmarks; one line of JSON per result on standard output.
#
#   scripts/bench.sh [-n PROCESSES] [-t THREADS] [arguments of gabion-bench]
#
#   -n PROCESSES   under gabion-launch with so many processes; default: one process, no launcher
#   -t THREADS     OpenMP threads of each process, default: OMP_NUM_THREADS, else all cores
set -euo pipefail
. "$(dirname "${BASH_SOURCE[0]}")/common.sh"
processes= threads=${OMP_NUM_THREADS:-}
while (($#)); do
  case $1 in
    -h|--help) print_head "${BASH_SOURCE[0]}"; exit 0 ;;
    -n|-t) [[ ${2:-} =~ ^[1-9][0-9]*$ ]] || fail "$1 needs a number of at least 1"
           if [ "$1" = -n ]; then processes=$2; else threads=$2; fi
           shift 2 ;;
    *) break ;;
  esac
done

gabion_setup >&2
gabion_build "$GABION_BUILD" >&2
bin=$GABION_BUILD/bin
export GABION_LAUNCH=$bin/gabion-launch
if [ -n "$threads" ]; then export OMP_NUM_THREADS=$threads; fi
if [ -z "$processes" ]; then exec "$bin/gabion-bench" "$@"; fi
exec "$GABION_LAUNCH" -n "$processes" -- "$bin/gabion-bench" "$@"

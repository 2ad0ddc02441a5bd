#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Sets up, builds and runs a case; set-up and build take seconds if nothing has changed.
#
#   scripts/run.sh [-n PROCESSES] [-t THREADS] CASE.yaml [options of `gabion run`]
#
#   -n PROCESSES   default: run.processes of the case, or 4
#   -t THREADS     OpenMP threads of each process, default 1
#   options        e.g. --out DIR, --set KEY=VALUE, --inject ...; all: build/bin/gabion run --help
#
# The exit code is the run's: 0 done, 2 bad input, 3 lost data, 4 diverged, 75 requeue.
# GABION_LAUNCH_OPTIONS="..." is passed to gabion-launch, e.g. "--stall 60 -v".
set -euo pipefail
. "$(dirname "${BASH_SOURCE[0]}")/common.sh"

usage() { printf 'gabion: error: %s (try scripts/run.sh --help)\n' "$*" >&2; exit 2; }
is_count() { [[ $1 =~ ^[1-9][0-9]*$ ]]; }
processes= threads=1
while (($#)); do
  case $1 in
    -h|--help) print_head "${BASH_SOURCE[0]}"; exit 0 ;;
    -n|-t) (($# > 1)) || usage "$1 needs a number"
           is_count "$2" || usage "$1 $2: not a number of at least 1"
           if [ "$1" = -n ]; then processes=$2; else threads=$2; fi
           shift 2 ;;
    -*) usage "$1 before the case file" ;;
    *) break ;;
  esac
done
(($#)) || usage "no case file given"
case_file=$1; shift
[ -f "$case_file" ] || usage "$case_file: no such case file"
[ -r "$case_file" ] || usage "$case_file: not readable"

# -n and -t are also understood behind the case file.
options=()
while (($#)); do
  case $1 in
    -n|-t) (($# > 1)) && is_count "$2" || usage "$1 needs a number of at least 1"
           if [ "$1" = -n ]; then processes=$2; else threads=$2; fi
           shift 2 ;;
    *) options+=("$1"); shift ;;
  esac
done

gabion_setup
gabion_build "$GABION_BUILD"
bin=$GABION_BUILD/bin
if [ -z "$processes" ]; then
  processes=$("$bin/gabion" info --processes "$case_file" 2>/dev/null || true)
  is_count "$processes" || processes=4 # a faulty case file is reported by the run itself
fi
# shellcheck disable=SC2086 # words on purpose
exec "$bin/gabion-launch" ${GABION_LAUNCH_OPTIONS:-} -n "$processes" -t "$threads" -- \
     "$bin/gabion" run "$case_file" ${options[@]+"${options[@]}"}

#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Random cases: checks that results do not depend on the way of computing or on deaths of processes.
#
#   scripts/random-cases.sh [--runs N] [--seed S] [--out DIR] [--built]
#
#   --runs N     number of cases (default 100), of seeds S, S + 1, ... (default 1)
#   --out DIR    default: BUILD/random-cases; a failed case is kept there, with both of its runs
#   --built      uses the build folder without building
#
# A case is drawn from the parameters of flows, phase fields and tutorials. It is computed by one process, then by
# several, some of which are killed by SIGKILL (details: scripts/faults/random_cases.py). Both must have the same
# checksum, tables and pictures. Exit 0 only if no case failed. The fault matrix has few cases and many kinds of
# deaths; this script has many cases.
set -euo pipefail
. "$(dirname "${BASH_SOURCE[0]}")/common.sh"

RUNS=100 SEED=1 OUT= BUILT=
while (($#)); do
  case $1 in
    -h|--help) print_head "${BASH_SOURCE[0]}"; exit 0 ;;
    --runs) RUNS=${2:?--runs needs a number}; shift ;;
    --seed) SEED=${2:?--seed needs a number}; shift ;;
    --out) OUT=${2:?--out needs a folder}; shift ;;
    --built) BUILT=1 ;;
    *) fail "unknown option $1 (try --help)" ;;
  esac
  shift
done
for number in "$RUNS" "$SEED"; do [[ $number =~ ^[0-9]+$ ]] || fail "$number is no number"; done
if [ -z "$BUILT" ]; then
  gabion_setup
  gabion_build "$GABION_BUILD"
fi
[ -x "$GABION_BUILD/bin/gabion" ] || fail "build first: $GABION_BUILD/bin/gabion is missing"
exec python3 "$GABION_ROOT/scripts/faults/random_cases.py" --build "$GABION_BUILD" --out "${OUT:-$GABION_BUILD/random-cases}" --runs "$RUNS" --seed "$SEED"

#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Counts how the MPI library and the world of core/ survive real kills; to be run after an upgrade of Open MPI.
#
#   tests/faults/world/stress_world.sh BUILD [RUNS] [PROCESSES ...]
#
# BUILD is a build folder with tests. Each scenario of mpi_world_kills.c runs RUNS (20) times per number of processes
# (4 8), each time with another seed. A run that takes longer than 30 s counts as a hang: with gdb installed the
# stacks of its processes go to BUILD/stress-*.txt. GABION_MPIRUN chooses the mpirun. Exit code 1 after a wrong
# result; hangs are only printed.
set -u
build=${1:?usage: stress_world.sh BUILD [RUNS] [PROCESSES ...]}
runs=${2:-20}
shift $(($# < 2 ? $# : 2))
[ $# -gt 0 ] || set -- 4 8
program=$build/tests/faults/mpi_faults_world_kills judge=$build/tests/judge
[ -x "$program" ] || { echo "no program $program: build the tests first" >&2; exit 2; }
mpirun=${GABION_MPIRUN:-$(sed -n 's/^MPIEXEC_EXECUTABLE:[A-Z]*=//p' "$build/CMakeCache.txt")}
if [ "$(id -u)" = 0 ]; then export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1; fi
scenarios=$(sed -n 's/^ *{"\([a-z-]*\)", [A-Z_]*, .*/\1/p' "$(dirname "$0")/mpi_world_kills.c")
log=$(mktemp)
trap 'rm -f "$log"' EXIT
bad=0

stacks() { # of the processes that mpirun has started for the judge
  command -v gdb >/dev/null || return 0
  for child in $(pgrep -P "$(pgrep -d, -P "$(pgrep -d, -P "$1")")"); do
    echo "process $child"
    gdb -p "$child" -batch -ex "thread apply 1 bt" 2>/dev/null | grep '^#'
  done >"$2"
}

one_run() { # PROCESSES SCENARIO SEED: 0 passed, 1 wrong, 2 hang
  "$judge" "$1" "$mpirun" --with-ft ulfm --oversubscribe --bind-to none --mca coll ^han --mca async_mpi_finalize 1 \
    --mca mpi_add_procs_cutoff 1024 -n "$1" "$judge" --watch "$program" "$2" "$3" >"$log" 2>&1 &
  local pid=$!
  for ((i = 0; i < 300; i++)); do
    kill -0 "$pid" 2>/dev/null || break
    sleep 0.1
  done
  if kill -0 "$pid" 2>/dev/null; then
    stacks "$pid" "$build/stress-$1-$2-$3.txt"
    kill "$pid"
    sleep 1
    kill -9 "$pid" 2>/dev/null
    wait "$pid" 2>/dev/null
    return 2
  fi
  wait "$pid" 2>/dev/null # 1 or 0
}

printf '%-10s %-16s %8s %8s %8s\n' processes scenario passed hangs wrong
for np in "$@"; do
  for scenario in $scenarios; do
    passed=0 hangs=0 wrong=0
    for ((seed = 1; seed <= runs; seed++)); do
      one_run "$np" "$scenario" "$seed"
      case $? in
        0) passed=$((passed + 1)) ;;
        2) hangs=$((hangs + 1)) ;;
        *) wrong=$((wrong + 1)); cp "$log" "$build/stress-$np-$scenario-$seed.txt" ;;
      esac
    done
    printf '%-10s %-16s %8d %8d %8d\n' "$np" "$scenario" "$passed" "$hangs" "$wrong"
    bad=$((bad + wrong))
  done
done
[ "$bad" = 0 ]

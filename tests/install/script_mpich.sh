#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# gabion-test: timeout=1800 labels=long
# With an MPI without fault tolerance and of another kind, MPICH: the build is configured, its libraries, programs and some tests are made, no
# source that is compiled needs mpi-ext.h, these tests pass, and runs have the checksums of this build. Skipped without MPICH:
# $GABION_TEST_MPICH is its prefix (bin/mpicc, bin/mpirun), else mpicc.mpich and mpirun.mpich are looked for on PATH.
set -u
if [ -n "${GABION_TEST_MPICH:-}" ]; then
  mpicc=$GABION_TEST_MPICH/bin/mpicc mpirun=$GABION_TEST_MPICH/bin/mpirun
else
  mpicc=$(command -v mpicc.mpich) mpirun=$(command -v mpirun.mpich)
fi
if [ ! -x "$mpicc" ] || [ ! -x "$mpirun" ]; then
  [ -z "${GABION_TEST_MPICH:-}" ] || { echo "GABION_TEST_MPICH=$GABION_TEST_MPICH: no bin/mpicc and bin/mpirun"; exit 1; }
  echo "no MPICH: skipped"
  exit 77
fi
unset GABION_MPI GABION_TEST_ULFM OMPI_CC
build=$GABION_BUILD/tests/install/mpich dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
failures=0
complain() { echo "$1"; failures=1; }
quietly() { "$@" >"$dir/log" 2>&1 || { echo "failed: $*"; tail -n 60 "$dir/log"; exit 1; }; }

unset GABION_TEST_OPEN_MPI GABION_TEST_ULFM LD_PRELOAD # of this build
quietly cmake -S "$GABION_SOURCE" -B "$build" -DCMAKE_C_COMPILER="$GABION_CC" -DCMAKE_BUILD_TYPE=Debug -DGABION_NATIVE=OFF -DMPI_C_COMPILER="$mpicc" \
  -DCMAKE_EXPORT_COMPILE_COMMANDS=ON
grep -q 'NO ULFM' "$dir/log" || complain "an MPI without fault tolerance is not reported: $(cat "$dir/log")"

# ---- Sources that name mpi-ext.h are made without it, or not at all.
found=0
cd "$GABION_SOURCE" || exit 1
for source in $(grep -rl 'mpi-ext\.h' --include='*.c' apps core resilience tests); do
  found=$((found + 1))
  if grep -q 'gabion-test:.*needs=[a-z,]*ulfm' "$source"; then
    ! grep -qF "$source" "$build/compile_commands.json" || complain "$source needs ulfm, but is built"
  else
    "$mpicc" -std=gnu11 -fsyntax-only -I. "$source" >"$dir/log" 2>&1 || complain "$source: $(head -n 5 "$dir/log")"
  fi
done
[ "$found" -ge 8 ] || complain "only $found sources name mpi-ext.h"

# ---- Programs and some tests.
# The second line of tests failed with MPICH before: options and leftovers of Open MPI, worlds broken on purpose, processes that share cores.
tests='core/exact_sum core/port-np3 core/collective-np3 field/field blockforest/exchange-np3 blockforest/level_ghosts-np2 lbm/flow-np2 resilience/disk-np2'
tests+=' blockforest/particles-np3 resilience/misuse-np3 loadbalance/balance-np4 apps/commands.sh apps/continue.sh launch/nothing_left.sh persist/jobs.sh'
targets='test_core_exact_sum mpi_core_port mpi_core_collective test_field_field mpi_blockforest_exchange mpi_blockforest_level_ghosts mpi_lbm_flow mpi_resilience_disk'
targets+=' mpi_blockforest_particles mpi_resilience_misuse mpi_loadbalance_balance persist_helper_jobs'
# shellcheck disable=SC2086 # words
quietly cmake --build "$build" -j 2 --target gabion-run gabion-launch waves gabion_test_judge gabion_test_yield $targets
(cd "$build" && quietly ctest --no-tests=error --output-on-failure -R "^($(echo "$tests" | tr ' ' '|'))\$")
grep -q "100% tests passed, 0 tests failed out of $(echo "$tests" | wc -w)" "$dir/log" || complain "not all tests: $(tail -n 30 "$dir/log")"

# ---- Runs have the checksums of this build; from disk, by another number of processes, too.
checksum() { sed -n 's/.*"checksum": "\([0-9a-f]*\)".*/\1/p' "$1/summary.json"; }
for case in flow waves; do
  program=gabion
  [ $case = flow ] || program=$case
  yaml=$GABION_SOURCE/tests/faults/runs/$case.yaml
  quietly "$GABION_BUILD/bin/$program" run "$yaml" --out "$dir/$case"
  expected=$(checksum "$dir/$case")
  [ -n "$expected" ] || complain "$case: no checksum: $(cat "$dir/log")"
  quietly "$build/bin/gabion-launch" -n 3 -- "$build/bin/$program" run "$yaml" --out "$dir/$case-3" --set run.steps=40 --set resilience.disk.every=20
  quietly "$build/bin/gabion-launch" -n 2 -- "$build/bin/$program" run "$yaml" --out "$dir/$case-3" --set resilience.disk.every=20
  grep -q 'resuming from step 40' "$dir/log" || complain "$case: not resumed from disk: $(cat "$dir/log")"
  [ "$(checksum "$dir/$case-3")" = "$expected" ] || complain "$case: checksum $(checksum "$dir/$case-3"), expected $expected"
done
exit $failures

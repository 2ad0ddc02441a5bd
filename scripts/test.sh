#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Sets up, builds and runs the quick tests; the exit code is 0 only if all of them passed.
#
#   scripts/test.sh [--full] [arguments of ctest]      e.g. -R core/ -V
#
#   --full   all tests but the long ones, as .ci/run does. So do arguments that choose tests (-R, -E, -L, -LE, -I, ...): among all
#            of these.
#
# Times: $GABION_BUILD/test-times.tsv has the last times of each test, the most expensive first. Tests above their
# budget of CPU seconds are listed at the end (tests/CMakeLists.txt); they do not fail.
# Long tests (physics, fault matrix) have the label `long': ctest --test-dir build -C long -L long
set -euo pipefail
. "$(dirname "${BASH_SOURCE[0]}")/common.sh"
chosen=(-L '^quick$')
arguments=()
for argument in "$@"; do
  case $argument in
    -h | --help) print_head "${BASH_SOURCE[0]}"; exit 0 ;;
    --full) chosen=(); continue ;;
    -R | -E | -L | -LE | -I | -F* | --tests-regex* | --exclude-regex* | --label-regex* | --label-exclude* | --tests-information* | --rerun-failed)
      chosen=() ;;
  esac
  arguments+=("$argument")
done

gabion_setup
gabion_build "$GABION_BUILD"
cd "$GABION_BUILD"
export GABION_TEST_TIMES=$GABION_BUILD/test-times.new
rm -f "$GABION_TEST_TIMES"
code=0
# Four halves of a process per core: tests/CMakeLists.txt defines the share of each test.
ctest -j "$((4 * $(nproc)))" --no-tests=error --output-on-failure ${chosen[@]+"${chosen[@]}"} ${arguments[@]+"${arguments[@]}"} || code=$?
"$GABION_ROOT/scripts/harness/test-times.sh" "$GABION_TEST_TIMES" "$GABION_BUILD/test-times.tsv"
exit "$code"

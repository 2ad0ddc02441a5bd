#!/usr/bin/env bash
# Sets up, builds and runs all quick tests; the exit code is 0 only if all of them passed.
#
#   scripts/test.sh [arguments of ctest]      e.g. -R core/ -V
#
# Long tests (physics, fault matrix) have the label `long': ctest --test-dir build -C long -L long
set -euo pipefail
. "$(dirname "${BASH_SOURCE[0]}")/common.sh"
case "${1:-}" in -h|--help) print_head "${BASH_SOURCE[0]}"; exit 0 ;; esac

gabion_setup
gabion_build "$GABION_BUILD"
cd "$GABION_BUILD"
# Three halves of a process for each core: tests/CMakeLists.txt says what each test takes of them.
exec ctest -j "$((3 * $(nproc)))" --no-tests=error --output-on-failure "$@"

#!/usr/bin/env bash
# Prints a table of what the phase field gives and what it should: interfaces, solidification, lamellae.
#
#   scripts/validate.sh [--quick]      --quick leaves out the lamellae, which take a minute
#
# The exit code is 0 only if everything is within its tolerance.
set -euo pipefail
. "$(dirname "${BASH_SOURCE[0]}")/common.sh"

quick=
case "${1:-}" in
  -h|--help) print_head "${BASH_SOURCE[0]}"; exit 0 ;;
  --quick) quick=1 ;;
  '') ;;
  *) fail "$1: no such option (try scripts/validate.sh --help)" ;;
esac
gabion_setup
gabion_build "$GABION_BUILD"
failed=0
export OMP_NUM_THREADS=${OMP_NUM_THREADS:-1} # domains are small
for part in interfaces solidification ${quick:-lamellae}; do
  program=$GABION_BUILD/tests/phasefield/test_phasefield_$part
  [ "$part" = 1 ] || "$program" table || failed=1
done
exit $failed

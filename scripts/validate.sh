#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Compares the phase field with theory and prints a table: interfaces, anisotropy, solidification, reconstructed blocks,
# lamellae.
#
#   scripts/validate.sh [--quick]      --quick leaves out the lamellae, which take some minutes
#
# The exit code is 0 only if everything is within its tolerance.
set -euo pipefail
. "$(dirname "${BASH_SOURCE[0]}")/common.sh"

parts=(interfaces anisotropy solidification reconstruct lamellae)
case "${1:-}" in
  -h|--help) print_head "${BASH_SOURCE[0]}"; exit 0 ;;
  --quick) unset 'parts[-1]' ;;
  '') ;;
  *) fail "$1: no such option (try scripts/validate.sh --help)" ;;
esac
gabion_setup
gabion_build "$GABION_BUILD"
export OMP_NUM_THREADS=${OMP_NUM_THREADS:-1} # domains are small
table=$(mktemp)
trap 'rm -f "$table"' EXIT
failed=0
for part in "${parts[@]}"; do
  program=$GABION_BUILD/tests/phasefield/test_phasefield_$part
  [ -x "$program" ] || fail "$program has not been built (GABION_BUILD=DIR chooses another folder; cmocka is needed)"
  printf '\n-- %s\n' "$part"
  "$program" table | tee -a "$table" || { failed=1; say "$part: exit code ${PIPESTATUS[0]}"; }
done
outside=$(grep -c 'OUTSIDE$' "$table" || true)
printf '\n'
say "$(grep -cE '( +[-+0-9.einfa]+){3}( +OUTSIDE)?$' "$table" || true) lines, $outside of them outside their tolerance"
[ "$failed" = 0 ] && [ "$outside" = 0 ]

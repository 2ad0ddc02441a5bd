#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Merges the times of a run of tests (tests/stopwatch.sh) into a table, and lists tests that took more CPU seconds
# than their budget. scripts/test.sh calls it.
#
#   scripts/harness/test-times.sh NEW TABLE      NEW is removed
set -euo pipefail
. "$(dirname "${BASH_SOURCE[0]}")/../common.sh"
case ${1:-} in -h | --help) print_head "${BASH_SOURCE[0]}"; exit 0 ;; esac
[ $# = 2 ] || fail "two files are needed (--help)"
new=$1 table=$2
[ -s "$new" ] || exit 0 # nothing was run
[ -e "$table" ] || : >"$table"
head=$'test\ttier\tcode\twall s\tCPU s\tbudget'
{
  printf '%s\n' "$head"
  # The last row of each test, the most expensive first.
  awk -F '\t' 'FNR == 1 && $1 == "test" {next} NF == 6 {row[$1] = $0} END {for (name in row) print row[name]}' "$table" "$new" |
    LC_ALL=C sort -t $'\t' -k 5,5gr -k 1,1
} >"$table.tmp"
mv "$table.tmp" "$table"
awk -F '\t' '
  NF == 6 {count++; wall += $4; cpu += $5; if ($5 + 0 > $6 + 0) {above++; line[above] = sprintf("  %s (%s): %.1f s, budget %d s", $1, $2, $5, $6)}}
  END {
    printf "gabion: %d tests took %.0f s of CPU time; table: %s\n", count, cpu, table
    if (above) printf "gabion: warning: %d of them took more CPU time than their budget:\n", above
    for (i = 1; i <= above; i++) print line[i]
  }' table="$table" "$new"
rm -f "$new"

# SPDX-License-Identifier: Apache-2.0
# Shared by the validation scripts; to be sourced. Each prints a table of what came out and what is expected,
# and fails if a value is outside.
set -euo pipefail
: "${GABION_BUILD:?}" "${GABION_SOURCE:?}" "${GABION_LAUNCH:?}"
flow=$GABION_SOURCE/apps/cases/flow
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
failed=0

# run_case NAME PROCESSES CASE [options]: runs a case into $work/NAME.
run_case() {
  local name=$1 processes=$2 case_file=$3
  shift 3
  "$GABION_LAUNCH" -n "$processes" -- "$GABION_BUILD/bin/gabion" run "$case_file" --out "$work/$name" "$@" \
      >"$work/$name.log" 2>&1 || { cat "$work/$name.log"; echo "the run $name failed"; exit 1; }
}

# last_of NAME/FILE.csv COLUMN: the value of the last row.
last_of() {
  awk -F, -v column="$2" 'NR == 1 { for (i = 1; i <= NF; i++) if ($i == column) found = i
                                    if (!found) { print "no column " column > "/dev/stderr"; exit 1 } }
                          { value = $found } END { print value }' "$work/$1"
}

# within WHAT VALUE LOW HIGH: a row of the table; counts what is outside.
within() {
  if awk -v v="$2" -v lo="$3" -v hi="$4" 'BEGIN { exit !(v + 0 == v && v >= lo && v <= hi) }'; then
    printf '%-44s %14.7g   in %.6g ... %.6g\n' "$1" "$2" "$3" "$4"
  else
    printf '%-44s %14s   OUTSIDE %.6g ... %.6g\n' "$1" "$2" "$3" "$4"
    failed=1
  fi
}

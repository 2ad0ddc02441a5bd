#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Runs the cases of Gabion for some steps and compares the checksum of each with tests/apps/checksums.txt: detects
# changes of results. For an intended change: --write, with the reason in the commit.
#
#   scripts/checksums.sh [--bin FOLDER] [--list FILE] [--write] [TEXT ...]
#
#   --bin FOLDER  folder of the programs (default: build/bin), e.g. of another version
#   --list FILE   instead of tests/apps/checksums.txt
#   --write       writes the checksums to the list
#   TEXT          only rows that contain one of these
#
# The exit code is 0 only if nothing differs. The list was made on x86-64 with GCC. Cases marked ~ have initial values
# from functions of the C library, whose last bits may differ in another library: such differences are ignored.
set -euo pipefail
. "$(dirname "${BASH_SOURCE[0]}")/common.sh"

bin=$GABION_BUILD/bin list=$GABION_ROOT/tests/apps/checksums.txt write= texts=()
while (($#)); do
  case $1 in
    -h|--help) print_head "${BASH_SOURCE[0]}"; exit 0 ;;
    --bin) bin=$(cd "${2:?}" && pwd); shift ;;
    --list) list=${2:?}; shift ;;
    --write) write=1 ;;
    -*) fail "unknown option $1 (try --help)" ;;
    *) texts+=("$1") ;;
  esac
  shift
done
[ -z "$write" ] || ((${#texts[@]} == 0)) || fail "--write takes all rows"
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
wanted() {
  local text
  ((${#texts[@]})) || return 0
  for text in "${texts[@]}"; do [[ $1 != *"$text"* ]] || return 0; done
  return 1
}

# Hash of functions of the C library, computed by awk.
library_sum() {
  LC_ALL=C awk 'BEGIN { for (i = 1; i <= 3000; i++) { x = i / 97; printf "%.17g %.17g %.17g %.17g %.17g\n", sin(x), cos(x), exp(x / 7), log(x), x ^ 0.37 } }' |
    cksum | cut -d ' ' -f 1
}
same_library=
if grep -qx "# library $(library_sum)" "$list"; then same_library=1; fi
different=0 rows=0 left_out=0
while IFS= read -r row; do
  case $row in '# library '*) echo "# library $(library_sum)" >>"$work/list"; continue ;; ''|'#'*) echo "$row" >>"$work/list"; continue ;; esac
  wanted "$row" || continue
  read -r expected library steps program file settings <<<"$row"
  options=()
  for setting in $settings; do options+=(--set "$setting"); done
  code=0
  timeout 300 "$bin/$program" run "$GABION_ROOT/$file" --out "$work/out" --set "run.steps=$steps" --set 'faults=[]' \
    ${options[@]+"${options[@]}"} >"$work/said" 2>&1 </dev/null || code=$?
  found=$(sed -n 's/.*checksum \([0-9a-f]\{16\}\).*/\1/p' "$work/said" | tail -n 1)
  rm -rf "$work/out"
  rows=$((rows + 1))
  if [ "$code" != 0 ] || [ -z "$found" ]; then
    found=$(printf '%-16s' "code $code")
    grep -m 1 error "$work/said" | sed 's/^/                 /' >&2 || true
  fi
  if [ -z "$write" ] && grep -q 'this build has no formulas' "$work/said"; then
    left_out=$((left_out + 1))
    echo "left out, as this build has no formulas: $steps $program $file $settings"
  elif [ "$found" != "$expected" ] && [[ $found != code* ]] && [ "$library" = '~' ] && [ -z "$same_library$write" ]; then
    left_out=$((left_out + 1))
    echo "$found, another C library than for $expected ~ $steps $program $file $settings"
  elif [ "$found" != "$expected" ]; then
    different=$((different + 1))
    echo "$found, not $expected $library $steps $program $file $settings"
  elif [ -z "$write" ]; then
    echo "$found $library $steps $program $file $settings"
  fi
  echo "$found $library $steps $program $file $settings" | sed 's/ *$//' >>"$work/list"
done <"$list"
((rows)) || fail "no row contains ${texts[*]}"
if [ -n "$write" ]; then
  if grep -q '^code' "$work/list"; then fail "not written: some did not run"; fi
  cp "$work/list" "$list"
  say "$different of $rows rows are new"
  exit 0
fi
echo "$((rows - different - left_out)) of $rows as written down"
((different == 0))

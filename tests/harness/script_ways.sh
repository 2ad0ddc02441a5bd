# SPDX-License-Identifier: Apache-2.0
# scripts/harness/ways.py measures the four ways of scripts/harness/ways.txt, and it names a function of a list that the sources
# do not define any more, that several files define, or that nothing earlier on the way names.
# gabion-test: timeout=60
set -u
: "${GABION_SOURCE:?}"
command -v python3 >/dev/null || { echo "no python3 here: not run"; exit 77; }
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
failed=0
complain() { echo "$*"; failed=1; }
ways() { python3 "$GABION_SOURCE/scripts/harness/ways.py" --root "$GABION_SOURCE" "$@"; }

ways >"$work/table" 2>&1 || { cat "$work/table"; complain "the list of ways does not match the sources"; }
for way in step ghosts shrink disk; do
  read -r _ files lines _ < <(grep "^$way " "$work/table") || { complain "no way $way"; continue; }
  # a chain of that length is less than four files, or files of less than fifty lines each, only if the list lost its functions
  [ "$files" -ge 4 ] && [ "$lines" -ge $((files * 50)) ] || complain "$way: $files files, $lines lines"
done

# Two files of known length, one of which is opened for two functions.
mkdir -p "$work/tree"/{core,field,blockforest,loadbalance,lbm,phasefield,resilience,apps}
printf 'void gab_second(void);\nint main(void)\n{\n  gab_second();\n  return 0;\n}\n' >"$work/tree/core/main.c"
printf 'void gab_third(void) {}\n\nvoid gab_second(void)\n{\n  gab_third();\n}\n/* end */\n' >"$work/tree/core/second.c"
printf '[tiny] a way\nmain\ngab_second\ngab_third\n' >"$work/list"
python3 "$GABION_SOURCE/scripts/harness/ways.py" --root "$work/tree" "$work/list" >"$work/out" 2>&1 || complain "a tree of two files: $(cat "$work/out")"
grep -qE '^tiny +2 +13 ' "$work/out" || complain "expected 2 files of 13 lines: $(cat "$work/out")"

# refused LINE WORDS: a way with that line fails, and says WORDS.
refused() {
  printf '[short] a way\nmain apps/driver/main.c\n%s\n' "$1" >"$work/list"
  if ways "$work/list" >"$work/out" 2>&1; then complain "accepted: $1"; fi
  grep -qF "list:3: $2" "$work/out" || { cat "$work/out"; complain "expected: $2"; }
}
refused gab_no_such_function "gab_no_such_function: not defined in any source file"
refused main "main: several files define it"
refused gab_lbm_collide "gab_lbm_collide: no earlier file of the way names it"
refused "gab_app_main apps/driver/main.c" "gab_app_main: not defined in apps/driver/main.c"
exit "$failed"

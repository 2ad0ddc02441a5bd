# SPDX-License-Identifier: Apache-2.0
# gabion-test: timeout=60 labels=quick
# The defects of scripts/harness/mutations.txt can be put into the sources as they are now; one that cannot, and a table that is none,
# are refused with the line. (What the tests make of the defects, scripts/harness/mutation.sh says; that takes minutes.)
set -u
: "${GABION_SOURCE:?}"
command -v python3 >/dev/null || exit 77
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
failures=0
complain() { printf '%s\n' "$*"; failures=$((failures + 1)); }
table=$GABION_SOURCE/scripts/harness/mutations.txt
check() { python3 "$GABION_SOURCE/scripts/harness/mutation.py" --check --root "${2:-$GABION_SOURCE}" "$1" >"$work/said.txt" 2>&1; }

check "$table" || complain "$(cat "$work/said.txt")"
[ "$("$GABION_SOURCE/scripts/harness/mutation.sh" --list | wc -l)" -ge 15 ] || complain 'mutation.sh --list has less than 15 defects'

# Of a shell test everything is built that it uses: else it fails without any defect.
python3 - "$GABION_SOURCE" >"$work/said.txt" 2>&1 <<'PY' || complain "$(cat "$work/said.txt")"
import os, re, sys
root = sys.argv[1]
sys.dont_write_bytecode = True
sys.path.insert(0, os.path.join(root, "scripts/harness"))
import mutation
words = {w for d in mutation.read_table(os.path.join(root, "scripts/harness/mutations.txt")) for w in d["tests"] if w.endswith(".sh")}
assert any(w.startswith("resilience/") for w in words), "no shell test of resilience in the table"
for word in sorted(words):
    folder, name = word.split("/")
    [path] = [p for p in mutation.files_of(os.path.join(root, "tests"), folder) if os.path.basename(p) == "script_" + name]
    with open(path) as file:
        text = file.read()
    elsewhere = {"%s_%s" % found for found in re.findall(r"/tests/(\w+)/(helper_\w+)(?![\w.])", text)}
    used = elsewhere or {"%s_%s" % (folder, h) for h in re.findall(r"/(helper_\w+)(?![\w.])", text)}
    lacks = used - set(mutation.programs_of_scripts(folder, root))
    assert not lacks, "%s: not built: %s" % (word, ", ".join(lacks))
PY

# refused WHAT TEXT...: the table in $work/table.txt
refused() {
  local text code=0
  check "$work/table.txt" "$work" || code=$?
  [ $code = 2 ] || complain "$1 is not refused: $(cat "$work/said.txt")"
  for text in "${@:2}"; do
    grep -qF -e "$text" "$work/said.txt" || complain "$1: expected $text, it said: $(cat "$work/said.txt")"
  done
}
printf 'one\ntwo\ntwo\n' >"$work/file.c"
mkdir -p "$work/tests/f"
: >"$work/tests/f/test_x.c"
: >"$work/tests/f/script_z.sh"
printf '/* gabion-test: np=2,3 timeout=5 */\n/* gabion-test: np=3 env=GABION_AN=1 */\n' >"$work/tests/f/mpi_y.c"
head='defect a: nothing\ntests f/x f/y\nfile file.c\n'
printf "$head"'- one\n+ three\n' >"$work/table.txt"
check "$work/table.txt" "$work" || complain "a sound table: $(cat "$work/said.txt")"
printf "$head"'- two\n+ three\n' >"$work/table.txt"
refused 'a line that stands there twice' 'table.txt:4: the source has moved on: these lines stand 2 times'
printf "$head"'- tw\n+ three\n' >"$work/table.txt"
refused 'part of a line' 'table.txt:4: the source has moved on: these lines stand 0 times'
printf 'defect a: nothing\ntests f/x f/y\nfile gone.c\n- one\n' >"$work/table.txt"
refused 'a file that is not there' 'there is no file gone.c'
printf 'defect a: nothing\ntests f/x\nfile file.c\n- one\n' >"$work/table.txt"
refused 'a defect that one test is to catch' 'table.txt:1: defect a needs 2 programs'
printf 'defect a: nothing\ntests f/y-np2 f/y-np3 f/y-np3-an=1\nfile file.c\n- one\n' >"$work/table.txt"
refused 'a defect that one program is to catch' 'table.txt:1: defect a needs 2 programs'
printf 'defect a: nothing\ntests f/y-np2 f/y-np3\nalone nobody else can\nfile file.c\n- one\n' >"$work/table.txt"
check "$work/table.txt" "$work" || complain "one program alone: $(cat "$work/said.txt")"
printf 'defect a: nothing\ntests f/x f/y-np3\nalone nobody else can\nfile file.c\n- one\n' >"$work/table.txt"
refused 'one program alone, of two' 'table.txt:1: defect a says that there is one program alone, and names 2'
printf 'defect a: nothing\ntests f/x\nalone\nfile file.c\n- one\n' >"$work/table.txt"
refused 'one program alone without a reason' 'table.txt:3: `alone WHY'
printf 'defect a nothing\n' >"$work/table.txt"
refused 'a defect without a word' 'table.txt:1: `defect NAME: what it does'
for test in f/z.sh f/y f/y-np2 f/y-np3-an=1; do printf "defect a${test//[^a-z0-9]/-}: no\ntests f/x $test\nfile file.c\n- one\n"; done >"$work/table.txt"
check "$work/table.txt" "$work" || complain "tests that are there: $(cat "$work/said.txt")"
for test in f/w f/y-np4 f/z f/y-np2-an=1 x; do printf "defect a${test//[^a-z0-9]/-}: no\ntests f/x $test\nfile file.c\n- one\n"; done >"$work/table.txt"
refused 'tests that are not there' 'no test f/w' 'no test f/y-np4' 'no test f/z' 'no test f/y-np2-an=1' 'no test x'
# All that is wrong, not the first of it.
printf 'defect a: no\ntests f/x f/w\nfile file.c\n- two\n\ndefect b: no\ntests f/x f/v\nfile file.c\n- ten\n' >"$work/table.txt"
refused 'all that is wrong' 'no test f/w' 'table.txt:4: the source has moved on' 'no test f/v' 'table.txt:9: the source has moved on'
(cd / && python3 "$GABION_SOURCE/scripts/harness/mutation.py" --check "$table" >"$work/said.txt" 2>&1) || complain "--check without --root: $(cat "$work/said.txt")"
exit $((failures > 0))

# gabion-test: timeout=60 labels=quick
# The defects of scripts/mutations.txt can be put into the sources as they are now; one that cannot, and a table that is none,
# are refused with the line. (What the tests make of the defects, scripts/mutation.sh says; that takes minutes.)
set -u
: "${GABION_SOURCE:?}"
command -v python3 >/dev/null || exit 77
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
failures=0
complain() { printf '%s\n' "$*"; failures=$((failures + 1)); }
table=$GABION_SOURCE/scripts/mutations.txt
check() { python3 "$GABION_SOURCE/scripts/mutation.py" --check --root "${2:-$GABION_SOURCE}" "$1" >"$work/said.txt" 2>&1; }

check "$table" || complain "$(cat "$work/said.txt")"
[ "$("$GABION_SOURCE/scripts/mutation.sh" --list | wc -l)" -ge 15 ] || complain 'mutation.sh --list has less than 15 defects'

# refused WHAT TEXT: the table in $work/table.txt
refused() {
  check "$work/table.txt" "$work"
  [ $? = 2 ] || complain "$1 is not refused: $(cat "$work/said.txt")"
  grep -qF -e "$2" "$work/said.txt" || complain "$1: expected $2, it said: $(cat "$work/said.txt")"
}
printf 'one\ntwo\ntwo\n' >"$work/file.c"
head='defect a: nothing\ntests x y\nfile file.c\n'
printf "$head"'- one\n+ three\n' >"$work/table.txt"
check "$work/table.txt" "$work" || complain "a sound table: $(cat "$work/said.txt")"
printf "$head"'- two\n+ three\n' >"$work/table.txt"
refused 'a line that stands there twice' 'table.txt:4: the source has moved on: these lines stand 2 times'
printf "$head"'- tw\n+ three\n' >"$work/table.txt"
refused 'part of a line' 'table.txt:4: the source has moved on: these lines stand 0 times'
printf 'defect a: nothing\ntests x y\nfile gone.c\n- one\n' >"$work/table.txt"
refused 'a file that is not there' 'there is no file gone.c'
printf 'defect a: nothing\ntests x\nfile file.c\n- one\n' >"$work/table.txt"
refused 'a defect that one test is to catch' 'table.txt:1: defect a needs 2 tests'
printf 'defect a nothing\n' >"$work/table.txt"
refused 'a defect without a word' 'table.txt:1: `defect NAME: what it does'
exit $((failures > 0))

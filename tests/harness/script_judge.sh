# SPDX-License-Identifier: Apache-2.0
# gabion-test: timeout=200 labels=quick
# A test of several processes fails when any of them fails, however it does so, before, while and after there is a world;
# and when others die than those that the test kills, or fewer, or more.
set -u
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
export TMPDIR=$work GABION_TEST_GRACE=1
program=$GABION_BUILD/tests/harness/helper_ends
failures=0
complain() { printf '%s\n' "$*"; failures=$((failures + 1)); }

# judged CODE TEXT BREAK [arguments]: three processes, of which one is broken ("RANK WHEN [HOW]" or nothing)
judged() {
  local expected=$1 text=$2 broken=$3 code
  shift 3
  # shellcheck disable=SC2086 # words on purpose
  GABION_TEST_BREAK=$broken timeout 60 "$GABION_JUDGE" 3 "$GABION_MPIRUN" $GABION_MPI_FLAGS -n 3 \
    "$GABION_JUDGE" --watch "$program" "$@" >"$work/said" 2>&1
  code=$?
  [ $code = "$expected" ] || complain "broken: '$broken', $*: the judge ends with $code, not $expected: $(cat "$work/said")"
  grep -qF -e "$text" "$work/said" || complain "broken: '$broken', $*: expected: $text; it said: $(cat "$work/said")"
  [ -z "$broken" ] || grep -q 'broken on purpose' "$work/said" || complain "'$broken' broke nothing: $(cat "$work/said")"
  [ -z "$(find "$work" -mindepth 1 ! -name said -name 'gabion-test-*')" ] || complain "left behind: $(ls "$work")"
}

judged 0 'gabion-test: passed' ''
judged 1 'gabion-test: rank 2: ended by signal 6' '2 start'
for place in 1 end after; do judged 1 'gabion-test: rank 2: ended by signal 6' "2 $place"; done
judged 1 'gabion-test: rank 0: ended by signal 6' '0 after'
judged 1 'gabion-test: rank 2: a claim did not hold' '' check=2
judged 1 'gabion-test: rank 1: ended by signal 11' '1 end crash'
judged 1 'gabion-test: rank 1: ended with code 1' '1 1 exit'
judged 1 'gabion-test: rank 2: ended with code 1' '2 after exit'
judged 1 'never said that it passed' '2 after quit'
judged 1 'gabion-test: rank 2: killed, and not by the test' '2 after kill'
judged 1 'gabion-test: rank 1: was to die, but lives' '' doom=1

if [ -n "${GABION_TEST_ULFM:-}" ]; then # who dies is survived, and the judge has to tell one death from another
  judged 0 'gabion-test: passed' '' doom=1 kill=1
  judged 0 'gabion-test: passed' '' doom=2 doom=0 kill=0 kill=2
  judged 1 'gabion-test: rank 1: killed, and not by the test' '' kill=1
  judged 1 'gabion-test: rank 2: killed, and not by the test' '' doom=1 kill=1 kill=2
  judged 1 'gabion-test: rank 2: was to die, but lives' '' doom=1 doom=2 kill=1
  judged 1 'gabion-test: rank 1: ended by signal 6' '1 2' doom=1 kill=1
  judged 1 'gabion-test: rank 1: a claim did not hold' '' doom=1 check=1 kill=1
  judged 1 'gabion-test: rank 2: ended by signal 6' '2 end' doom=1 kill=1
  judged 1 'killed, and not by the test' '2 1 kill' doom=1 kill=1
fi
exit $((failures > 0))

# SPDX-License-Identifier: Apache-2.0
# gabion-test: timeout=300
# Some of the MPI tests, of each folder, notice what is broken on one rank; script_broken_long.sh asks all of them. The
# script that asks finds tests that do not notice, that claim nothing, that fail by themselves.
set -eu
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
fake() { # fake NAME: a test that does what is on stdin
  cat >"$work/${1##*/}.sh"
  printf 'add_test(%s bash "%s")\nset_tests_properties(%s PROPERTIES LABELS mpi)\n' "$1" "$work/${1##*/}.sh" "$1" \
    >>"$work/CTestTestfile.cmake"
}
broken='[ -z "$GABION_TEST_BREAK" ] || echo broken on purpose'
fake fake/deaf-np2 <<<"echo 'gabion-test: passed (claims: 5 5)'; $broken"
fake fake/idle-np2 <<<"echo 'gabion-test: passed (claims: 5 1)'"
fake fake/root-np2 <<<"echo 'gabion-test: passed'"
fake fake/lame-np2 <<<"echo 'gabion-test: FAILED'; exit 1"
fake fake/short-np2 <<<"echo 'gabion-test: passed (claims: 5 5)'"
fake fake/good-np3 <<<"echo 'gabion-test: passed (claims: 5 5 died)'; $broken; [ -z \"\$GABION_TEST_BREAK\" ]"
GABION_BUILD=$work "$GABION_SOURCE/scripts/harness/test-of-tests.sh" >"$work/said" && { echo "nothing found: $(cat "$work/said")"; exit 1; }
for line in "fake/deaf-np2: does not notice that it is broken at '1 5 claim'" 'fake/idle-np2: rank 1 claims nothing' \
            "fake/deaf-np2: does not notice that it is broken at '1 5 kill'" 'fake/root-np2: is not judged' \
            'fake/lame-np2: fails without being broken' 'fake/short-np2: rank 1 never came to claim 3 of 5' \
            'gabion: 6 tests, each broken in 2 ways, 7 findings'; do
  grep -qF -e "$line" "$work/said" || { echo "expected: $line; it said: $(cat "$work/said")"; exit 1; }
done
! grep -q 'fake/good' "$work/said" || { echo "not expected: $(cat "$work/said")"; exit 1; }
"$GABION_SOURCE/scripts/harness/test-of-tests.sh" --jobs 1 \
  --only '^(core/route-np3|blockforest/exchange-np2|loadbalance/after_death-np4|lbm/flow-np2|phasefield/statistics-np3|resilience/flipped_bits-np4|faults/parity-np8)$'

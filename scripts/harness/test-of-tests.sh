#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Breaks each MPI test on purpose, at each number of processes above one, and lists tests that do not detect it: the
# last claim of the last living rank is made false; or that rank is killed, unexpectedly for the test.
#
#   scripts/harness/test-of-tests.sh [--only REGEX] [--long] [--jobs N]
#
#   --only REGEX   of the names of tests, as `ctest -N' lists them
#   --long         also tests with the label `long': broken at their second claim, to save time
#   --jobs N       tests at the same time (2)
#
# GABION_BUILD: the build folder (build/), which must be up to date. Exit code 1 if a test does not detect a defect,
# has no claim on its last rank, or fails without a defect.
set -euo pipefail
. "$(dirname "${BASH_SOURCE[0]}")/../common.sh"
only=. long= jobs=2
while [ $# -gt 0 ]; do
  case $1 in
    -h | --help) print_head "${BASH_SOURCE[0]}"; exit 0 ;;
    --long) long=yes; shift; continue ;;
    --only | --jobs) [ $# -gt 1 ] || fail "$1 needs a value" ;;
    *) fail "unknown option $1 (--help)" ;;
  esac
  if [ "$1" = --only ]; then only=$2; else jobs=$2; fi
  shift 2
done
[ -f "$GABION_BUILD/CTestTestfile.cmake" ] || fail "no tests in $GABION_BUILD (GABION_BUILD=DIR chooses another folder)"
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
export GABION_TEST_GRACE=1

# Folder of the logs of ctest: not that of a ctest that may have started this script.
place() { # place FOLDER
  mkdir "$1"
  printf 'subdirs("%s")\n' "$GABION_BUILD" >"$1/CTestTestfile.cmake"
}
names() { # names LABEL...: MPI tests of more than one process
  ctest --test-dir "$work/names" -C long -N -L mpi "$@" | sed -n 's/^ *Test *#[0-9]*: \(.*-np[0-9]*\)$/\1/p' |
    grep -v -e '-np1$' | grep -E -e "$only" || true
}
# play NAME BREAK: one test, broken as given. Writes its output to $said; returns its exit code.
play() { GABION_TEST_BREAK=$2 ctest --test-dir "$said.ctest" -C long -V -R "^$1\$" >"$said" 2>&1; }
# broken NAME BREAK: the test must detect the defect. 0: it did, 1: it did not, 2: it never reached that claim
broken() {
  local passed=0
  play "$1" "$2" && passed=1
  if ! grep -q 'broken on purpose' "$said"; then return 2; fi
  [ $passed = 0 ] || { echo "$1: does not notice that it is broken at '$2'"; return 1; }
}
# one NAME: prints the fault of this test, if any
one() {
  local name=$1 said=$work/${1//\//_} claims rank=-1 last=0 i code
  place "$said.ctest"
  if grep -qxF "$name" "$work/long"; then
    rank=$((${name##*-np} - 1)) last=2
  else
    play "$name" '' || { echo "$name: fails without being broken"; return; }
    claims=$(sed -n 's/.*gabion-test: passed (claims: \(.*\))$/\1/p' "$said")
    i=0
    for claims in $claims; do # of the last rank that survives
      if [ "$claims" != died ]; then rank=$i last=$claims; fi
      i=$((i + 1))
    done
    [ $i = "${name##*-np}" ] || { echo "$name: is not judged by its processes (tests/mpi_test.h)"; return; }
  fi
  # The first claim is the existence of a world.
  [ "$last" -gt 1 ] || { echo "$name: rank $rank claims nothing"; return; }
  for how in claim kill; do
    code=0
    broken "$name" "$rank $last $how" || code=$?
    if [ $code = 2 ]; then # the number of claims differs from run to run
      code=0
      broken "$name" "$rank $(((last + 1) / 2)) $how" || code=$?
    fi
    if [ $code = 2 ]; then echo "$name: rank $rank never came to claim $(((last + 1) / 2)) of $last"; fi
  done
  echo "$name" >>"$work/done"
}

: >"$work/done"
: >"$work/wrong"
place "$work/names"
names -LE long >"$work/quick"
: >"$work/long"
if [ -n "$long" ]; then names -L long >"$work/long"; fi
cat "$work/quick" "$work/long" >"$work/all"
[ -s "$work/all" ] || fail "no MPI test of more than one process matches $only"
while read -r name; do
  while (($(jobs -rp | wc -l) >= jobs)); do wait -n || true; done
  one "$name" >>"$work/wrong" </dev/null &
done <"$work/all"
wait
cat "$work/wrong"
say "$(wc -l <"$work/all") tests, each broken in 2 ways, $(wc -l <"$work/wrong") findings"
[ ! -s "$work/wrong" ] && [ "$(wc -l <"$work/done")" = "$(wc -l <"$work/all")" ]

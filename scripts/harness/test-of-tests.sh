#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Breaks each MPI test on purpose, at each number of processes above one, and lists those that do not notice:
# the last claim that its last living rank makes is made false; and that rank is killed, which the test does not mean.
#
#   scripts/harness/test-of-tests.sh [--only REGEX] [--long] [--jobs N]
#
#   --only REGEX   of the names of tests, as `ctest -N' lists them
#   --long         also those with the label `long': they are broken at their second claim, since they take long
#   --jobs N       tests at the same time (2)
#
# GABION_BUILD: the build folder (build/), which has to be up to date. Ends with 1 if a test does not notice, has no claim
# on its last rank, or fails without being broken.
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

# Where ctest keeps its logs: not where the ctest does that may have started this.
place() { # place FOLDER
  mkdir "$1"
  printf 'subdirs("%s")\n' "$GABION_BUILD" >"$1/CTestTestfile.cmake"
}
names() { # names LABEL...: MPI tests of more than one process
  ctest --test-dir "$work/names" -C long -N -L mpi "$@" | sed -n 's/^ *Test *#[0-9]*: \(.*-np[0-9]*\)$/\1/p' |
    grep -v -e '-np1$' | grep -E -e "$only" || true
}
# play NAME BREAK: one test, broken as said. Its words go to $said; ends as the test does.
play() { GABION_TEST_BREAK=$2 ctest --test-dir "$said.ctest" -C long -V -R "^$1\$" >"$said" 2>&1; }
# broken NAME BREAK: the test has to notice. 0: it did, 1: it did not, 2: it never came to that place
broken() {
  local passed=0
  play "$1" "$2" && passed=1
  if ! grep -q 'broken on purpose' "$said"; then return 2; fi
  [ $passed = 0 ] || { echo "$1: does not notice that it is broken at '$2'"; return 1; }
}
# one NAME: what is wrong with this test, if anything, on stdout
one() {
  local name=$1 said=$work/${1//\//_} claims rank=-1 last=0 i code
  place "$said.ctest"
  if grep -qxF "$name" "$work/long"; then
    rank=$((${name##*-np} - 1)) last=2
  else
    play "$name" '' || { echo "$name: fails without being broken"; return; }
    claims=$(sed -n 's/.*gabion-test: passed (claims: \(.*\))$/\1/p' "$said")
    i=0
    for claims in $claims; do # of the last rank that lives to the end
      if [ "$claims" != died ]; then rank=$i last=$claims; fi
      i=$((i + 1))
    done
    [ $i = "${name##*-np}" ] || { echo "$name: is not judged by its processes (tests/mpi_test.h)"; return; }
  fi
  # The first claim is that there is a world.
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

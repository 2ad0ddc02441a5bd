# SPDX-License-Identifier: Apache-2.0
# Shared by the tests of gabion-launch; to be sourced. Compiles the program, gives it a separate folder, and checks
# after every run that nothing of it is left.
set -u
dir=$(mktemp -d)
# Complaints count, also if a script does not call finish.
trap 'code=$?; rm -rf "$dir"; [ $code != 0 ] || exit $((failures > 0))' EXIT
mkdir "$dir/tmp"
export TMPDIR=$dir/tmp
cd "$dir" || exit 1
failures=0
complain() { printf '%s\n' "$*"; failures=$((failures + 1)); }

ulfm=
if [ "${GABION_TEST_ULFM:-0}" = 1 ]; then ulfm=-DWITH_ULFM; fi
"$GABION_MPICC" $ulfm -o "$dir/ranks" "$GABION_SOURCE/tests/launch/ranks.c" || exit 1

check_clean() { # check_clean PID_OF_LAUNCHER
  [ -z "$(ls -A "$dir/tmp")" ] || complain "left in TMPDIR: $(ls -A "$dir/tmp")"
  [ -z "$(ls -d /dev/shm/gabion."$1".* 2>/dev/null)" ] || complain "left in /dev/shm: $(ls /dev/shm)"
  pgrep -f "^$dir/ranks" >/dev/null && complain "processes left: $(pgrep -fa "^$dir/ranks")"
}
# launch EXPECTED_CODE ARGUMENTS...: output goes to $dir/out
launch() {
  local expected=$1 pid code; shift
  "$GABION_LAUNCH" "$@" >"$dir/out" 2>&1 &
  pid=$!
  wait $pid; code=$?
  [ $code = "$expected" ] || complain "gabion-launch $*: exit code $code, expected $expected; it said: $(cat "$dir/out")"
  check_clean $pid
}
said() { [ -n "$1" ] && grep -q -e "$1" "$dir/out" || complain "expected it to say \`$1', but it said: $(cat "$dir/out")"; }
finish() { exit $((failures > 0)); }

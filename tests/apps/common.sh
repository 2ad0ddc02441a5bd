# SPDX-License-Identifier: Apache-2.0
# Shared by the tests of the programs; to be sourced. A run that is refused has to say why, once, with the right
# exit code on all processes, and must leave nothing behind.
set -u
: "${GABION_BUILD:?}" "${GABION_SOURCE:?}" "${GABION_LAUNCH:?}"
gabion=$GABION_BUILD/bin/gabion
work=$(mktemp -d)
# Complaints count, also if a script does not call finish.
trap 'code=$?; rm -rf "$work"; [ $code != 0 ] || exit $((failures > 0))' EXIT
cd "$work" || exit 1
failures=0
complain() { printf '%s\n' "$*"; failures=$((failures + 1)); }
finish() { exit $((failures > 0)); }

# A small flow that runs in no time; tests change single lines of it.
cat >good.yaml <<'YAML'
run: {title: a box, steps: 20, check_every: 5}
domain: {cells: [32, 16], block: [8, 8]}
fluid: {omega: 1.5}
boundaries:
  y_min: {type: wall}
  y_max: {type: velocity, velocity: [0.05, 0]}
resilience: {memory: {every: 10}}
output:
  fields: {quantities: [velocity, density]}
  integrals: {every: 5}
YAML

# checksum [FOLDER]: of the run in it (out). One that is missing equals no other.
checksum() {
  sed -n 's/.*"checksum": "\([0-9a-f]*\)".*/\1/p' "${1:-out}/summary.json" 2>/dev/null | grep . || echo "none, $BASHPID"
}

# picture FILE CONDITION: a PNG of 32 x 16 pixels, dark where the condition (Python, of x and y) holds.
picture() {
  python3 - "$1" "$2" <<'PY'
import struct, sys, zlib
rows = b"".join(b"\0" + bytes(0 if eval(sys.argv[2], {"x": x, "y": y}) else 255 for x in range(32)) for y in range(16))
part = lambda kind, data: struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))
open(sys.argv[1], "wb").write(b"\x89PNG\r\n\x1a\n" + part(b"IHDR", struct.pack(">IIBBBBB", 32, 16, 8, 0, 0, 0, 0)) +
                              part(b"IDAT", zlib.compress(rows)) + part(b"IEND", b""))
PY
}

# said TEXT: the last run said so (a fixed string).
said() { [ -n "$1" ] && grep -qF -e "$1" said.txt || complain "expected: $1
it said: $(cat said.txt)"; }
not_said() { ! grep -qF -e "$1" said.txt || complain "not expected: $1
it said: $(cat said.txt)"; }
# said_once TEXT: on several processes a message comes from one of them.
said_once() {
  local count
  count=$(grep -cF -e "$1" said.txt)
  [ "$count" = 1 ] || complain "expected once, found $count times: $1
it said: $(cat said.txt)"
}

# run CODE PROCESSES CASE [options]: runs into the new folder out. One process runs without the launcher, at a third
# of the cost.
run() {
  local expected=$1 processes=$2 code start=()
  shift 2
  [ "$processes" = 1 ] || start=("$GABION_LAUNCH" -n "$processes" --)
  rm -rf out
  timeout "${run_limit:-100}" "${start[@]}" "$gabion" run "$@" --out out >said.txt 2>&1
  code=$?
  [ $code = "$expected" ] || complain "gabion run $* on $processes processes: exit code $code, expected $expected
it said: $(cat said.txt)"
}
# refused PROCESSES CASE [options]: exit code 2 and no folder.
refused() {
  run 2 "$@"
  [ ! -e out ] || complain "gabion run $* was refused but left $(find out)"
}
# helps KEY [TEXT ...]: the help on it says so.
helps() {
  local key=$1 text
  shift
  "$gabion" help "$key" >said.txt 2>&1 || complain "help $key: $(cat said.txt)"
  for text in "$@"; do said "$text"; done
}
# plan CODE WORDS...: without mpirun.
plan() {
  local expected=$1 code
  shift
  "$gabion" plan "$@" >said.txt 2>&1
  code=$?
  [ $code = "$expected" ] || complain "gabion plan $*: exit code $code, expected $expected; it said: $(cat said.txt)"
}
# kept_going WORDS...: the last run never stood still; one that does is started again, and may end well. WORDS say which it is.
kept_going() {
  ! grep -q 'no progress for' said.txt || complain "stood still: $*
it said: $(cat said.txt)"
}
# check CODE CASE [options]: without mpirun.
check() {
  local expected=$1 code
  shift
  "$gabion" check "$@" >said.txt 2>&1
  code=$?
  [ $code = "$expected" ] || complain "gabion check $*: exit code $code, expected $expected
it said: $(cat said.txt)"
}

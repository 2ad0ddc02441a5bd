# SPDX-License-Identifier: Apache-2.0
# gabion-bench refuses what it does not know, and writes one complete line of JSON per result, also in a run
# that loses a process.
# gabion-test: timeout=120 labels=quick
set -u
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
export TMPDIR=$dir OMP_NUM_THREADS=1
cd "$dir" || exit 1
bench=$GABION_BUILD/bin/gabion-bench
failures=0
complain() { printf '%s\n' "$*"; failures=$((failures + 1)); }
# run EXPECTED_CODE COMMAND...: output goes to lines and table
run() {
  local expected=$1 code=0; shift
  "$@" >lines 2>table || code=$?
  [ $code = "$expected" ] || complain "$*: exit code $code, expected $expected; it said: $(cat table)"
}
said() { [ -n "$1" ] && grep -q -e "$1" table || complain "expected it to say \`$1', but it said: $(cat table)"; }
number='-?[0-9.]+(e[-+][0-9]+)?'
line="^\{\"name\": \"[A-Za-z0-9._-]+\", \"cores\": [0-9]+, \"value\": $number, \"unit\": \"[A-Za-z/]+\", \
\"ceiling\": (null|$number), \"percent\": (null|$number), \"processes\": [0-9]+, \"threads\": [0-9]+, \
\"min\": $number, \"max\": $number, \"samples\": [0-9]+\}\$"
lines_are_whole() {
  grep -vE "$line" lines >wrong && complain "no complete line: $(cat wrong)"
  [ "$(wc -l <lines)" -ge "$1" ] || complain "$(wc -l <lines) lines, at least $1 expected; it said: $(cat table)"
}

run 2 "$bench" --only no-such
said 'no benchmark .no-such'
run 2 "$bench" --quick --only bandwidth --json "$dir/not-there/file"
said 'cannot write'
run 0 "$bench" --quick --only transport
said 'needs 2 processes'
run 0 "$bench" --quick --only exchange
lines_are_whole 4
run 0 "$bench" --quick --only porous
lines_are_whole 12
for name in porous.auto.D3Q19.double.TRT.one-block porous.vector.D3Q19.double.TRT.one-block.dense-list \
            memory.auto.D3Q19.double.TRT.blocks-of-32.all; do
  grep -q "\"name\": \"$name\"" lines || complain "no line for $name"
done
said '% fluid'

if [ "${GABION_TEST_ULFM:-0}" = 1 ]; then
  run 2 "$GABION_LAUNCH" -n 2 -- "$bench" --only restore --json "$dir/not-there/file"
  run 0 "$GABION_LAUNCH" -n 3 -- "$bench" --quick --only recovery
  lines_are_whole 9
  for part in detect.first revoke shrink agree restore protect-again rebalance; do
    grep -q "\"recovery.$part\".*\"processes\": 3," lines || complain "no line for recovery.$part"
  done
  [ -z "$(ls -d "$dir"/gabion-bench-* 2>/dev/null)" ] || complain "left behind: $(ls "$dir")"
fi
exit $((failures > 0))

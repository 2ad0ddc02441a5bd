# SPDX-License-Identifier: Apache-2.0
# gabion-test: timeout=120
# Field files are compressed by default: a fluid at rest in small blocks takes one percent of the size of its numbers;
# output.fields.compression: 0 turns it off.
. "$GABION_SOURCE/tests/apps/common.sh"

cat >rest.yaml <<'YAML'
run: {steps: 2}
domain: {cells: [80, 80, 80], block: [8, 8, 8]}
fluid: {omega: 1.5}
boundaries:
  y_min: {type: wall}
  y_max: {type: wall}
output:
  fields: {quantities: [velocity, density]}
YAML
bytes() { cat "$1"/fields/*_0000000002.s*.h5 | wc -c; }
whole=$((80 * 80 * 80 * 4 * 4))

run 0 2 rest.yaml
[ "$(bytes out)" -lt $((whole / 100)) ] || complain "at rest: $(bytes out) bytes of $whole"
run 0 2 rest.yaml --set output.fields.compression=0
[ "$(bytes out)" -gt "$whole" ] || complain "not compressed: only $(bytes out) bytes of $whole"
[ "$(bytes out)" -lt $((whole * 11 / 10)) ] || complain "not compressed: $(bytes out) bytes of $whole"
finish

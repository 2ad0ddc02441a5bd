# SPDX-License-Identifier: Apache-2.0
# gabion-test: timeout=200 labels=quick
# Rows by physical time are at the steps nearest to its multiples, the last state is a row, and a run resumed with
# more steps ends with the tables of an uninterrupted one.
. "$GABION_SOURCE/tests/apps/common.sh"

cat >flow.yaml <<'YAML'
run: {steps: 103, processes: 1}
domain: {cells: [32, 16], block: [16, 16], length: 32}
fluid: {viscosity: 0.1, velocity: 0.05, length: 6}
units: {dt: 0.7}
boundaries:
  x_min: {type: velocity, velocity: [0.05, 0]}
  x_max: {type: outflow}
bodies: [{name: disc, type: sphere, centre: [10, 8], radius: 3}]
resilience: {memory: {every: 10}, disk: {every: 50}}
output:
  forces: {interval: 6.5, parts: true}
  sides: {interval: 6.5, forces: true}
  integrals: {every: 10}
  points: [{name: a, at: [5, 5]}]
  probes: {interval: 6.5, start: 5, quantities: [velocity]}
  fields: {interval: 20.5, quantities: [density]}
YAML
steps() { cut -d, -f1 "$1" | tail -n +2 | tr '\n' ' '; }
# nearest START LAST: the steps nearest to multiples of 6.5 in steps of 0.7, and the last one
nearest() {
  awk -v start="$1" -v last="$2" 'BEGIN {
    for (k = 0; (s = start + int(k * 6.5 / 0.7 + 0.5)) <= last; k++) { printf "%d ", s; seen = s }
    if (seen != last) printf "%d ", last }'
}
run 0 1 flow.yaml
mv out whole
for file in forces:0 probes:5; do
  [ "$(steps "whole/${file%:*}.csv")" = "$(nearest "${file#*:}" 103)" ] ||
    complain "${file%:*}.csv: steps $(steps "whole/${file%:*}.csv"), not $(nearest "${file#*:}" 103)"
done
[ "$(steps whole/integrals.csv)" = '0 10 20 30 40 50 60 70 80 90 100 103 ' ] || complain "integrals.csv: $(steps whole/integrals.csv)"
[ "$(tail -n 1 whole/forces.csv | cut -d, -f3)" != "$(tail -n 2 whole/forces.csv | head -n 1 | cut -d, -f3)" ] ||
  complain "the last row has the forces of the one before: $(tail -n 2 whole/forces.csv)"
# The forces of the last step are those of a run with a row due there.
run 0 1 flow.yaml --set output.forces.every=1 --set output.sides.every=1
[ "$(tail -n 1 out/sides.csv)" = "$(tail -n 1 whole/sides.csv)" ] || complain "flow rates of the last step: $(tail -n 1 out/sides.csv), $(tail -n 1 whole/sides.csv)"
[ "$(tail -n 1 out/forces.csv)" = "$(tail -n 1 whole/forces.csv)" ] || complain "forces of the last step: $(tail -n 1 out/forces.csv), $(tail -n 1 whole/forces.csv)"

# In two parts, the first of which ends between two rows.
run 0 1 flow.yaml --set run.steps=57
[ "$(tail -n 1 out/forces.csv | cut -d, -f1)" = 57 ] || complain "the first part: $(steps out/forces.csv)"
timeout 100 "$gabion" run flow.yaml --out out >said.txt 2>&1 || complain "continued: $(cat said.txt)"
said 'resuming from step 57'
for file in forces.csv sides.csv integrals.csv probes.csv; do
  cmp -s whole/$file out/$file || complain "continued: another $file: $(steps out/$file)"
done
[ "$(checksum out)" = "$(checksum whole)" ] || complain 'continued: another checksum'
[ "$(grep -c '<xi:include' whole/fields/fields.xdmf)" -gt 3 ] || complain "fields: $(cat whole/fields/fields.xdmf)"
# Fields of the end of the first part stay.
grep -v 0000000057 out/fields/fields.xdmf | cmp -s - whole/fields/fields.xdmf || complain "continued: other fields: $(ls out/fields)"
finish

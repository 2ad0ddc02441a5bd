# SPDX-License-Identifier: Apache-2.0
# gabion-test: timeout=200 labels=quick
# A resumed run may have other output than before: other columns do not get under the old head of a table, and new or
# omitted tables are not a reason to stop.
. "$GABION_SOURCE/tests/apps/common.sh"

cat >>good.yaml <<'YAML'
  points: [{name: a, at: [5, 5]}, {name: b, at: [9, 5]}]
  probes: {every: 2, quantities: [density]}
YAML
again() {
  timeout 100 "$GABION_LAUNCH" -n 2 -- "$gabion" run good.yaml --out out --set resilience.disk.every=10 "$@" >said.txt 2>&1 ||
    complain "again $*: exit code $?: $(cat said.txt)"
}
whole() { # whole FILE ROWS: all rows have as many columns as the head
  awk -F, -v rows="$2" 'NR == 1 { n = NF } NF != n { bad = 1 } END { exit bad || NR != rows + 1 }' "$1" ||
    complain "$1: $(cat "$1")"
}

run 0 2 good.yaml --set resilience.disk.every=10
whole out/probes.csv 11
again --set run.steps=30 --set output.probes.quantities='[density, velocity]'
said 'resuming from step 20'
said 'probes.csv was begun by a run with other columns: it is out/probes_1.csv now'
whole out/probes_1.csv 11
whole out/probes.csv 5
[ "$(tail -n 1 out/probes.csv | cut -d, -f1)" = 30 ] || complain "probes: $(cat out/probes.csv)"
whole out/integrals.csv 7 # 0, 5, ... 30: it continues unchanged
# Without integrals, and with them again.
sed '/integrals/d' good.yaml >less.yaml
cp good.yaml more.yaml && cp less.yaml good.yaml
again --set run.steps=40 --set output.probes.quantities='[density, velocity]'
whole out/probes.csv 10
whole out/integrals.csv 7
cp more.yaml good.yaml
again --set run.steps=50 --set output.probes.quantities='[density, velocity]'
whole out/probes.csv 15
whole out/integrals_1.csv 7
whole out/integrals.csv 2
finish

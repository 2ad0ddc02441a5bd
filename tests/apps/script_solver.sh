# SPDX-License-Identifier: Apache-2.0
# gabion-test: timeout=200 labels=quick needs=ulfm,png
# A solver unknown to the driver (helper_heat.c) has its commands, strict parameters, output, protection and
# checkpoints on disk: the same result on any number of processes, after a death, and when resumed.
. "$GABION_SOURCE/tests/apps/common.sh"
gabion=$GABION_BUILD/tests/apps/helper_heat

cat >plate.yaml <<'YAML'
run: {title: a plate, steps: 40}
domain: {cells: [32, 24], block: [8, 8]}
heat: {k: 0.2}
resilience: {memory: {every: 5}}
output:
  fields: {every: 20}
  slices: [{every: 40}]
YAML
check 0 plate.yaml
said 'plate.yaml: fine'
said 'heat, conductivity 0.2'
check 2 plate.yaml --set heat.kk=0.1
said 'heat.kk'
check 2 plate.yaml --set fluid.omega=1.5
said 'fluid'
check 2 plate.yaml --set 'output.fields.quantities=[velocity]'
said 'temperature'
# It has no check for finite numbers: a request for one is reported.
check 0 plate.yaml --set run.check_every=0
sed 's/steps: 40}/steps: 40, check_every: 10}/' plate.yaml >checked.yaml
check 2 checked.yaml
said 'checked.yaml:1:'
said 'run.check_every: conduction of heat has no such check'
helps heat 'Conductivity; stable up to 0.25.'
"$gabion" info plate.yaml >said.txt 2>&1 || complain "info: $(cat said.txt)"
said ' recommended'
# Choices of flows are not listed by a program without them.
said 'schemes'
grep -E '^ *(kernels|lattices|collisions|boundaries|bodies|criteria) ' said.txt && complain "info of a program without flows lists what flows choose from"
"$gabion" plan plate.yaml >said.txt 2>&1 && complain "plan: $(cat said.txt)"
said 'heat: gabion plan does not know conduction of heat'

run 0 1 plate.yaml
expected=$(checksum)
for file in heat.csv fields/fields.xdmf summary.json case.yaml; do [ -s out/$file ] || complain "no $file"; done
ls out/temperature_*40.png >/dev/null || complain "no picture: $(ls out)"
# No heat comes or goes, and it spreads.
awk -F, 'NR == 2 { first = $3 } NR > 1 { last = $3; n++ } END { exit !(n == 9 && first > 50 && (last - first)^2 < 1e-16) }' \
  out/heat.csv || complain "heat.csv: $(cat out/heat.csv)"
run 0 1 plate.yaml --set run.steps=0
[ "$(checksum)" != "$expected" ] || complain "40 steps change nothing"
run 0 3 plate.yaml
[ "$(checksum)" = "$expected" ] || complain "three processes: another checksum"
cp out/heat.csv undisturbed.csv
run 0 3 plate.yaml --inject rank=1,step=33,phase=exchange
[ "$(checksum)" = "$expected" ] || complain "after a death: another checksum"
said 'rank 1 died'
diff undisturbed.csv out/heat.csv || complain "after a death: another heat.csv"
run 0 2 plate.yaml --set run.steps=20 --set resilience.disk.every=10
"$GABION_LAUNCH" -n 3 -- "$gabion" run plate.yaml --set resilience.disk.every=10 --out out >said.txt 2>&1 ||
  complain "going on: $(cat said.txt)"
[ "$(checksum)" = "$expected" ] || complain "going on: another checksum"
diff undisturbed.csv out/heat.csv || complain "going on: another heat.csv"
finish

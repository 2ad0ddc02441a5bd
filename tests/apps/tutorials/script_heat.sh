# SPDX-License-Identifier: Apache-2.0
# gabion-test: timeout=300 needs=ulfm,png
# The first tutorial, a stencil in 50 lines, has the result of the same equation with its own time loop, to the last
# bit, on any number of processes and threads, after a death and when resumed from disk. It has all commands, which
# refuse unsupported requests.
. "$GABION_SOURCE/tests/apps/common.sh"
gabion=$GABION_BUILD/bin/heat

sed -e '/^faults:/,$d' -e 's/steps: 2000/steps: 600/' -e 's/\[256, 256\]/[128, 128]/' -e 's/every: 1000, outlines: true/every: 300/' \
  -e 's/^  k: .*/&\n  every: 60/' "$GABION_SOURCE/apps/tutorial/heat.yaml" >plate.yaml
run 0 1 plate.yaml
expected=$(checksum)
cp out/heat.csv heat_of_one.csv && cp out/temperature_0000000600.png one.png || complain "no table or no picture: $(ls out)"
[ "$(wc -l <heat_of_one.csv)" = 12 ] || complain "not 11 rows: $(cat heat_of_one.csv)"
alike() {
  [ "$(checksum)" = "$expected" ] || complain "$1: another checksum"
  cmp out/heat.csv heat_of_one.csv || complain "$1: another table"
  cmp out/temperature_0000000600.png one.png || complain "$1: another picture"
}
printf 'heat: {steps: 600, blocks: 4}\n' >loop.yaml
timeout 100 "$GABION_LAUNCH" -n 2 -- "$GABION_BUILD/bin/heat_loop" loop.yaml >loop.txt 2>&1
grep -q "checksum $expected\$" loop.txt || complain "heat_loop has another result: $(tail -n 1 loop.txt), here $expected"
awk -F, -v loop="$(sed -n 's/.*heat in the plate \([0-9.e+]*\),.*/\1/p' loop.txt)" \
  '{ last = $3 } END { exit !(loop > 1000 && last - loop < 1e-6 && loop - last < 1e-6) }' heat_of_one.csv ||
  complain "another heat than in $(tail -n 1 loop.txt): $(tail -n 1 heat_of_one.csv)"

run 0 2 plate.yaml
alike "2 processes"
OMP_NUM_THREADS=2 run 0 4 plate.yaml
said 'on 4 processes of 2 threads'
alike "4 processes of 2 threads"
run 0 4 plate.yaml --inject rank=2,step=433,phase=exchange
said 'rank 2 died'
alike "after a death"
run 0 2 plate.yaml --set run.steps=300 --set resilience.disk.every=100
"$GABION_LAUNCH" -n 3 -- "$gabion" run plate.yaml --set resilience.disk.every=100 --out out >said.txt 2>&1 ||
  complain "going on: $(cat said.txt)"
alike "going on from disk"

# The case as it is shipped, with its fault injection, up to a little behind it.
run 0 3 "$GABION_SOURCE/apps/tutorial/heat.yaml" --set run.steps=1300
said 'rank 2 died'
injected=$(checksum)
sed '/^faults:/,$d' "$GABION_SOURCE/apps/tutorial/heat.yaml" >calm.yaml
run 0 1 calm.yaml --set run.steps=1300
[ "$(checksum)" = "$injected" ] || complain "heat.yaml: another checksum after its injection"

check 0 plate.yaml
said 'heat.k = 0.2'
"$gabion" plan plate.yaml >said.txt 2>&1 || complain "plan: $(cat said.txt)"
said 'sent in a step of level 0'
helps output.fields.quantities 'default:  as marked' 'any of:   temperature (default)'
not_said 'velocity'
helps heat 'Conductivity; up to 0.25 it is stable.' 'every'
check 2 plate.yaml --set heat.k=0.3
said 'heat.k'
check 2 plate.yaml --set heat.q=1
said 'heat.q'
check 2 plate.yaml --set 'domain.cells=[64, 64, 64]' --set 'domain.block=[32, 32, 32]'
said 'domain.cells: a heated plate is computed in 2D'
finish

# SPDX-License-Identifier: Apache-2.0
# gabion-test: timeout=200 needs=ulfm
# A run ends when its flow is steady: after the same step on other numbers of processes, after deaths (of rank 0 under
# local, too) and restarts; a check right after a split of blocks has no result; the log, the summary and
# `gabion status` have the reason; refusals.
. "$GABION_SOURCE/tests/apps/common.sh"

cat >steady.yaml <<'END'
run: {steps: 5000, until: {steady: 0.02, every: 50}}
domain: {cells: [16, 16], block: [8, 8], dx: 0.125}
fluid: {viscosity: 0.05, acceleration: [0.01, 0]}
units: {dt: 0.02}
boundaries: {y_min: {type: wall}, y_max: {type: wall}}
bodies: [{name: c, type: cylinder, centre: [1, 0.9], radius: 0.3}]
refinement: {levels: 1, criteria: [{type: box, lo: [0, 0], hi: [0.3, 0.4]}]}
output: {forces: {every: 30}, integrals: {every: 1}, slices: [{quantity: speed, every: 1000}]}
resilience: {memory: {every: 7}}
END
reason() { sed -n 's/.*"reason": "\(.*\)",$/\1/p' out/summary.json; }
run 0 1 steady.yaml
said 'step 300: the velocity changes by '
said 'ended after step 350 by run.until: the flow is steady'
expected="$(checksum) $(reason)"
[[ $expected = *'run.until: the flow is steady: its velocity changes by 0.01'* ]] || complain "$expected"
for file in out/forces.csv out/integrals.csv; do
  [[ $(tail -n 1 $file) = 350,7,* ]] || complain "the last state is no row of $file: $(tail -n 1 $file)"
done
[ -s out/speed_0000000350.png ] || complain 'no picture of the last state'
"$gabion" status out | grep -qF 'ended by run.until: the flow is steady' || complain "status: $("$gabion" status out)"
cp out/forces.csv forces.csv

same() {
  [ "$(checksum) $(reason)" = "$expected" ] || complain "$1: $(checksum) $(reason), expected $expected"
  cmp -s forces.csv out/forces.csv || complain "$1: forces.csv differs"
}
run 0 3 steady.yaml --inject rank=1,step=123,phase=exchange --inject rank=2,step=200,phase=reduction
said 'rank 1 died'
same 'after deaths'
run 0 3 steady.yaml --inject rank=1,step=350,phase=reduction
said 'rank 1 died'
same 'after a death at the end'
rm -rf out
timeout 100 "$GABION_LAUNCH" -n 3 --spares 1 -- "$gabion" run steady.yaml --set 'resilience.strategies=[local, shrink]' \
  --set resilience.local.verify=true --inject rank=0,step=323,phase=exchange --out out >said.txt 2>&1 || complain "local: $(cat said.txt)"
said 'rank 0 died'
same 'under local'
for steps in 300 320; do # with and without a check at the step of the checkpoint
  run 0 2 steady.yaml --set run.steps=$steps --set resilience.disk.every=25
  "$gabion" run steady.yaml --set resilience.disk.every=25 --out out >said.txt 2>&1 || complain "not resumed: $(cat said.txt)"
  same "after a restart at step $steps"
done
# A run that has ended by itself ends again, and continues with a stricter limit.
"$gabion" run steady.yaml --set resilience.disk.every=25 --out out >said.txt 2>&1 || complain "not ended again: $(cat said.txt)"
said 'ended after step 350 by run.until: the flow is steady'
[ "$(checksum) $(reason)" = "$expected" ] || complain "ended again: $(checksum) $(reason)"
"$gabion" run steady.yaml --set resilience.disk.every=25 --set run.until.steady=0.01 --out out >said.txt 2>&1 || complain "not resumed: $(cat said.txt)"
said 'ended after step 400 by run.until'

# run.steps is the most, whatever the flow does; a fluid at rest is not steady.
run 0 1 steady.yaml --set run.steps=200
not_said 'by run.until'
run 0 1 steady.yaml --set fluid.acceleration='[0, 0]' --set run.steps=100
said 'is not known, since the grid has changed or the fluid is at rest'
not_said 'by run.until'

# Blocks split or merge between two looks.
cat >adapts.yaml <<'END'
run: {steps: 400, until: {steady: 100, every: 20}}
domain: {cells: [32, 16], block: [8, 8]}
fluid: {omega: 1.5}
boundaries: {x_min: {type: velocity, velocity: [0.05, 0]}, x_max: {type: outflow}, y_min: {type: wall}, y_max: {type: wall}}
bodies: [{name: c, type: cylinder, centre: [10, 8], radius: 3}]
refinement: {levels: 1, every: 1, criteria: [{type: vorticity, above: 0.01, below: 0.001}]}
END
run 0 1 adapts.yaml
said 'step 20: the change of the velocity is not known, since the grid has changed'
said 'by run.until: the flow is steady'
expected="$(checksum) $(reason)"
run 0 3 adapts.yaml
[ "$(checksum) $(reason)" = "$expected" ] || complain "levels: $(checksum) $(reason), expected $expected"

check 2 steady.yaml --set run.until.steady=-1
said 'run.until.steady'
sed 's/steady: 0.02, //' steady.yaml >bad.yaml
check 2 bad.yaml
said 'run.until: steady is needed'
check 2 good.yaml --set run.until.steady=0.1
said 'run.until: every is needed'
run 0 1 good.yaml --set run.steps=10 --set resilience.disk.every=5
"$gabion" run good.yaml --set run.until.steady=0.1 --set run.until.every=10 --out out >said.txt 2>&1 && complain 'looks begin in the middle of a run'
said 'run.until.every: nothing in the checkpoint, 10 now'

# The mean of a coefficient, by batch means of the rows: the same interval and end after deaths and restarts.
cat >mean.yaml <<'END'
run: {steps: 4000, until: {converged: {of: c.fx, within: 0.15, start: 40}}}
domain: {cells: [16, 16], block: [8, 8], dx: 0.125}
fluid: {viscosity: 0.05}
units: {dt: 0.02}
boundaries: {x_min: {type: velocity, velocity: [0.2, 0], factor: "1 + 0.5 * sin(6 * t)"}, x_max: {type: outflow}, y_min: {type: free_slip}, y_max: {type: free_slip}}
bodies: [{name: c, type: cylinder, centre: [1, 0.9], radius: 0.3}]
output: {forces: {every: 2}}
resilience: {memory: {every: 7}}
END
run 0 1 mean.yaml
said 'run.until.converged.within is 0.15 of it'
said 'by run.until.converged: c.fx is '
expected="$(checksum) $(reason)"
cp out/forces.csv forces.csv
python3 - "$expected" <<'PY' || complain "not the interval of the rows: $expected"
import csv, math, re, sys
mean, half, batches, length = map(float, re.search(r"is (\S+) \+- (\S+) with 95 %, by (\d+) batches of (\d+) rows", sys.argv[1]).groups())
rows = [float(r["c.fx"]) for r in csv.DictReader(open("forces.csv")) if int(r["step"]) >= 40 and int(r["step"]) % 2 == 0]
assert len(rows) == batches * length
means = [math.fsum(rows[i:i + int(length)]) / length for i in range(0, len(rows), int(length))]
centre = math.fsum(means) / batches
wide = math.sqrt(math.fsum((m - centre) ** 2 for m in means) / (batches * (batches - 1)))
assert abs(mean - centre) < 1e-5 * abs(centre) and 1.9 < half / wide < 2.3 and half <= 0.15 * abs(mean)
PY
last=$(tail -n 1 forces.csv | cut -d, -f1)
run 0 3 mean.yaml --inject rank=1,step=61,phase=exchange --inject rank=2,step=$last,phase=output
said 'rank 1 died'
same 'converged, after deaths'
rm -rf out
timeout 100 "$GABION_LAUNCH" -n 3 --spares 1 -- "$gabion" run mean.yaml --set 'resilience.strategies=[local, shrink]' \
  --inject rank=0,step=$((last - 3)),phase=exchange --out out >said.txt 2>&1 || complain "local: $(cat said.txt)"
said 'rank 0 died'
same 'converged, under local'
run 0 2 mean.yaml --set run.steps=100 --set resilience.disk.every=25
"$gabion" run mean.yaml --set resilience.disk.every=25 --out out >said.txt 2>&1 || complain "not resumed: $(cat said.txt)"
same 'converged, after a restart'
run 2 1 mean.yaml --set run.until.converged.of=d.fx
said "run.until.converged.of: forces.csv has no column 'd.fx'; it has c.fx to c.centre_y"
# A force that repeats: the same end after deaths and restarts; the inflow has the period 2 pi / 6.
sed 's/converged: {of: c.fx, within: 0.15, start: 40}/periodic: {of: c.fx, within: 0.02, start: 40}/' mean.yaml >repeats.yaml
run 0 1 repeats.yaml
said 'period 2 of c.fx took '
said 'by run.until.periodic: c.fx repeats: period 1.04'
expected="$(checksum) $(reason)"
cp out/forces.csv forces.csv
python3 - "$expected" <<'PY' || complain "not the last period of the rows: $expected"
import csv, re, sys
length, mean, least, most = map(float, re.search(r"period (\S+), mean (\S+), from (\S+) to (\S+);", sys.argv[1]).groups())
rows = [(float(r["time"]), float(r["c.fx"])) for r in csv.DictReader(open("forces.csv"))]
last = [v for t, v in rows if t > rows[-1][0] - length - 1e-9][:-1]
assert abs(length / 1.0471976 - 1) < 0.01
assert abs(min(last) - least) < 0.02 * (most - least) and abs(max(last) - most) < 0.02 * (most - least)
assert abs(sum(last) / len(last) - mean) < 0.03 * (most - least)
PY
last=$(tail -n 1 forces.csv | cut -d, -f1)
run 0 3 repeats.yaml --inject rank=1,step=61,phase=exchange --inject rank=2,step=$last,phase=output
said 'rank 1 died'
same 'periodic, after deaths'
rm -rf out
timeout 100 "$GABION_LAUNCH" -n 3 --spares 1 -- "$gabion" run repeats.yaml --set 'resilience.strategies=[local, shrink]' \
  --inject rank=0,step=$((last - 3)),phase=exchange --out out >said.txt 2>&1 || complain "local: $(cat said.txt)"
said 'rank 0 died'
same 'periodic, under local'
run 0 2 repeats.yaml --set run.steps=100 --set resilience.disk.every=25
"$gabion" run repeats.yaml --set resilience.disk.every=25 --out out >said.txt 2>&1 || complain "not resumed: $(cat said.txt)"
same 'periodic, after a restart'
"$gabion" run repeats.yaml --set resilience.disk.every=25 --set run.until.periodic.periods=8 --out out >said.txt 2>&1 || complain "not resumed: $(cat said.txt)"
said 'the last 8 periods differ by at most'
run 0 1 repeats.yaml --set run.until.periodic.length=1.0471975511965976
said 'c.fx repeats: period 1.0472'
check 2 repeats.yaml --set run.until.periodic.of=c.fz
said "run.until.periodic.of: forces.csv has no column 'c.fz'; it has c.fx to "
check 2 repeats.yaml --set run.until.periodic.start=4000
said 'run.until.periodic.start: is step 4000, but the run has 4000: no row would count'
check 2 mean.yaml --set run.until.converged.start=4000
said 'run.until.converged.start: is step 4000, but the run has 4000: no row would count'
check 2 repeats.yaml --set run.until.periodic.length=0.1
said 'run.until.periodic.length: is 0.1, but rows of forces are 0.04 apart: a period needs at least 4 of them'
finish

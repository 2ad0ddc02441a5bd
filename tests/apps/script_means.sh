# SPDX-License-Identifier: Apache-2.0
# gabion-test: timeout=200 needs=ulfm
# Time means of a flow with a scalar equal those of the values of a probe; the same bits, tables and pictures on other
# numbers of processes, after deaths (of rank 0 under local, too) and a restart, on adaptive levels; temporal blocks
# between samples; refusals.
. "$GABION_SOURCE/tests/apps/common.sh"
. "$GABION_SOURCE/tests/apps/street.sh"

{
  street
  cat <<'END'
scalars: [{name: dye, schmidt: 2, initial: "exp(-4 * ((x - 1)^2 + (y - 1)^2))"}]
scalar_boundaries: [{type: value, scalar: dye, at: [x_min], value: 0.5}]
output:
  means: {quantities: [velocity, pressure, dye], rms: true, stresses: true, products: [velocity*dye, pressure * dye], start: 4, every: 3, homogeneous: [x]}
  slices: [{quantity: mean_velocity.x, every: 30}]
  probes: {every: 1, quantities: [velocity, pressure, dye, mean_velocity, mean_pressure, mean_dye, rms_velocity, rms_dye, covariance_velocity_dye, covariance_pressure_dye, reynolds_stress_xy, turbulent_kinetic_energy]}
  lines: [{name: p, from: [0.1, 0.5], to: [3.9, 1.5], count: 9}]
resilience: {memory: {every: 7}}
END
} >street.yaml
run 0 1 street.yaml
said 'means of velocity, pressure, dye: a sample every 3 steps from step 4, 26 numbers per cell'
said 'means: 19 samples'
said 'output.means.homogeneous: axis x is not periodic'
[ -s out/means_0000000060.png ] && [ -s out/fields/means.xdmf ] || complain "not written: $(find out -name '*means*')"
for name in mean_dye rms_pressure reynolds_stress_yy; do
  grep -q "$name" out/fields/means_0000000060.xdmf || complain "no $name in the file of means"
done
# The same in two passes over the rows of the samples.
python3 - <<'PY' || complain 'means are not those of the written values'
import csv, math
rows = list(csv.DictReader(open("out/probes.csv")))
samples, last, seen, worst = [r for r in rows if int(r["step"]) >= 4 and (int(r["step"]) - 4) % 3 == 0], rows[-1], 0, 0.0
assert len(samples) == 19
def product(a, b):
    x, y = [float(r[a]) for r in samples], [float(r[b]) for r in samples]
    return math.fsum((p - math.fsum(x) / 19) * (q - math.fsum(y) / 19) for p, q in zip(x, y)) / 19
for point in ("p%d." % i for i in range(9)):
    u = [point + "velocity." + c for c in "xy"]
    expected = {point + "mean_" + n: math.fsum(float(r[point + n]) for r in samples) / 19 for n in ("pressure", "dye", "velocity.x", "velocity.y")}
    expected.update({point + "rms_" + n: math.sqrt(product(point + n, point + n)) for n in ("dye", "velocity.x", "velocity.y")})
    expected.update({point + "covariance_velocity_dye." + c: product(point + "velocity." + c, point + "dye") for c in "xy"})
    expected[point + "covariance_pressure_dye"] = product(point + "pressure", point + "dye")
    expected[point + "reynolds_stress_xy"] = product(*u)
    expected[point + "turbulent_kinetic_energy"] = (product(u[0], u[0]) + product(u[1], u[1])) / 2
    for name, value in expected.items():
        found = float(last[name])
        if math.isnan(value) and math.isnan(found): continue
        worst = max(worst, abs(found - value))
        seen += abs(value) > 1e-4
print("%d numbers, largest difference %.3g" % (seen, worst))
assert seen > 50 and worst < 1e-14
PY

sed -i 's/every: 1, quantities/every: 10, quantities/' street.yaml
echo "$adapts" >>street.yaml
run 0 1 street.yaml
said 'the grid adapted 2 times'
[ "$(wc -l <out/means_profile.csv)" = 33 ] || complain "not a row for each layer of fine cells: $(cat out/means_profile.csv)"
keep out/probes.csv out/means_profile.csv out/means_*.png out/mean_velocity.x_*.png
same_anyhow street.yaml # stopped at a step with a sample
plan 0 street.yaml
check 2 street.yaml --set output.means.quantities='[vorticity]' --set output.means.stresses=false
said "output.means.quantities: quantity 'vorticity' depends on neighbouring cells"
check 2 street.yaml --set output.means.quantities='[owner]' --set output.means.stresses=false
said "quantity 'owner' differs with the number of processes"
check 2 street.yaml --set output.means.quantities='[pressure]'
said 'output.means.stresses: needs velocity in output.means.quantities'
check 2 street.yaml --set output.means.quantities='[velocity, die]'
said 'output.means.quantities: '
check 2 street.yaml --set output.means.products='[velocity*velocity]'
said "'velocity' and 'velocity' are vectors"
check 2 street.yaml --set output.means.products='[dye*dye]'
said "the product of 'dye' with itself"
check 2 street.yaml --set output.means.products='[velocity*die]'
said "output.means.products: "
check 2 street.yaml --set output.means.products='[velocity]'
said "output.means.products: 'velocity': expected two quantities"
check 2 street.yaml --set output.means.homogeneous='[x, y]'
said 'output.means.homogeneous: names 2 of 2 axes: give all but one'
check 2 street.yaml --set output.means.homogeneous='[z]'
said 'output.means.homogeneous: in 2D there is no axis z'
check 2 street.yaml --set output.means.homogeneous='[w]'
said "homogeneous = 'w' is none of x|y|z"
check 2 street.yaml --set output.probes.quantities='[mean_speed]'
said "mean_velocity"
run 0 1 street.yaml --set output.means.start=100
said 'the run has ended before output.means.start, step 100: no sample'

# Windows: each has the means of a run that starts there; the samples behind the last one are not written.
sed 's/start: 4, every: 3,/start: 4, every: 3, window: 7,/' street.yaml >windows.yaml
run 0 1 windows.yaml
said 'in windows of 7 samples; the first ends with step 22'
ls out | grep -c '^means_[0-9]*.png' | grep -q '^2$' || complain "not a picture of each window: $(ls out)"
[ "$(cut -d , -f 1 out/means_profile.csv | sort -u | tr '\n' ' ')" = '22 43 step ' ] || complain "not a profile of each window: $(cut -d , -f 1 out/means_profile.csv)"
grep '^43,' out/means_profile.csv >second.csv
keep out/means_profile.csv out/means_*.png out/probes.csv
same_anyhow windows.yaml
said 'means: 2 windows of 7 samples'
run 0 1 windows.yaml --set output.means.window=30
said 'before the first window of output.means, step 91: no means are written'
run 0 1 street.yaml --set output.means.start=25 --set run.steps=43
tail -n +2 out/means_profile.csv | cmp - second.csv || complain 'the second window is not the mean over its samples'

# The profile of a laminar channel is its parabola, which TRT has exactly.
cat >channel.yaml <<'END'
run: {steps: 4100}
domain: {cells: [8, 4, 16], block: [4, 4, 8]}
fluid: {omega: 1.2, acceleration: [1e-5, 0, 0]}
boundaries: {z_min: {type: wall}, z_max: {type: wall}}
output: {means: {start: 4000, every: 10, rms: true, final: false, homogeneous: [x, y]}}
END
run 0 1 channel.yaml
not_said 'is not periodic'
python3 - <<'PY' || complain "not a parabola: $(cat out/means_profile.csv)"
import csv
rows = list(csv.DictReader(open("out/means_profile.csv")))
force, viscosity = 1e-5, (1 / 1.2 - 0.5) / 3
assert [float(r["z"]) for r in rows] == [i + 0.5 for i in range(16)]
for r in rows:
    z, expected = float(r["z"]), force / (2 * viscosity) * float(r["z"]) * (16 - float(r["z"]))
    assert r["step"] == "4100" and float(r["cells"]) == 32
    assert abs(float(r["mean_velocity.x"]) - expected) < 1e-6 * expected and float(r["rms_velocity.x"]) < 1e-7 * expected, (z, expected, r)
PY
check 2 channel.yaml --set output.means.homogeneous='[x]'
said 'output.means.homogeneous: names 1 of 3 axes: give all but one'

# Between samples several steps are taken in a temporal block.
cat >box.yaml <<'END'
run: {steps: 40}
domain: {cells: [32, 32], block: [16, 16]}
fluid: {omega: 1.5}
boundaries: {y_min: {type: wall}, y_max: {type: velocity, velocity: [0.05, 0]}}
output: {means: {every: 10}}
END
run 0 1 box.yaml --set lbm.temporal_blocking=1
expected=$(checksum)
run 0 1 box.yaml --set lbm.temporal_blocking=4
[ "$(checksum)" = "$expected" ] || complain 'another checksum with temporal blocks'
grep -q '"temporally_blocked_steps": [1-9]' out/summary.json || complain 'no temporal blocks between samples'
finish

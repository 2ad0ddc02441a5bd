# SPDX-License-Identifier: Apache-2.0
# gabion-test: timeout=200 needs=ulfm
# Inflow from a plane in 3D whose flow varies in time: the first cells behind a side follow it, linear between its rows, and so does the flow
# rate of a patch; a patch that is a whole side has the bits of the side. The same bits after deaths, one of them by a signal from outside. The
# example: vortices of a rod arrive at a plate behind the plane.
. "$GABION_SOURCE/tests/apps/common.sh"
. "$GABION_SOURCE/tests/apps/street.sh"

# A wind through a tunnel that swells and varies across it. The file has four rows in a period, whose chords are far from the curve.
tunnel() { # STEPS DT SIDE PROBES
  cat <<END
run: {steps: $1, check_every: 100}
domain: {cells: [8, 8, 8], block: [4, 4, 4], dx: 0.125}
fluid: {viscosity: 0.002}
units: {dt: $2}
boundaries:
  x_min: {$3}
  x_max: {type: pressure}
  y_min: {type: free_slip}
  y_max: {type: free_slip}
  z_min: {type: free_slip}
  z_max: {type: free_slip}
initial: {type: uniform, velocity: [0.4, 0, 0]}
resilience: {memory: {every: 7}}
output:
  probes: {quantities: [velocity], $4}
END
}
{
  tunnel 512 0.0125 'type: velocity, velocity: [0.4, 0, 0], factor: 1 + 0.3 * sin(2 * pi * t / 3.2), shape: 1 + 0.2 * cos(pi * y) * cos(pi * z)' 'every: 64'
  echo '  points: [{name: p, at: [0.5625, 0.4375, 0.8125]}, {name: mirrored, at: [0.5625, 0.5625, 0.8125]}]'
  echo '  planes: [{name: plane, axis: x, position: 0.5625, every: 64}]'
} >precursor.yaml
run 0 1 precursor.yaml
mv out precursor

# follows WHAT FACTOR MOST: a column of a table of the last run is FACTOR times the mean of columns of the precursor, linear between its rows.
cat >follows.py <<'END'
import csv, math, sys
def column(path, name):
    with open(path) as file:
        rows = list(csv.reader(file))
    at = rows[0].index(name)
    return [(float(row[1]), float(row[at])) for row in rows[1:]]
table, name, factor, most = sys.argv[1], sys.argv[2], float(sys.argv[3]), float(sys.argv[4])
rows = [column("precursor/probes.csv", each + ".velocity.x") for each in sys.argv[5:]]
rows = [(row[0][0], sum(u for _, u in row) / len(row)) for row in zip(*rows)]
def between(t):
    k = min(int(t / 0.8), len(rows) - 2)
    return rows[k][1] + (rows[k + 1][1] - rows[k][1]) * (t / 0.8 - k)
def curve(t):
    return 0.4 * (1 + 0.3 * math.sin(2 * math.pi * t / 3.2))
found = [(t, u / factor) for t, u in column(table, name) if t > 0.3]
worst = max(abs(u - between(t + 1.59)) for t, u in found)  # a step lets in what it begins with
other = max(abs(u - curve(t + 1.59)) for t, u in found)
spread = max(u for _, u in found) - min(u for _, u in found)
print(name, worst, "curve", other, "spread", spread)
sys.exit(not (len(found) > 15 and spread > 0.2 and worst < most * 0.4 < 0.5 * other))
END
follows() { python3 follows.py "$@" >said.txt || complain "does not follow the plane: $(cat said.txt)"; }
plays='type: velocity, from: precursor/plane.h5, from_time: 1.6'
tunnel 460 0.01 "$plays" 'every: 4' >side.yaml
echo '  points: [{name: p, at: [0.0625, 0.4375, 0.8125]}]' >>side.yaml
run 0 1 side.yaml
follows out/probes.csv p.velocity.x 1 0.03 p
keep out/probes.csv
sed "s#x_min: {.*#x_min: {type: wall, patches: [{name: all, region: box, lo: [0, 0, 0], hi: [0, 1, 1], $plays}]}#" side.yaml >whole.yaml
run 0 2 whole.yaml
same 'a patch that is the whole side'

sed "s#x_min: {.*#x_min: {type: wall, patches: [{name: jet, region: box, lo: [0, 0.25, 0.25], hi: [0, 0.75, 0.75], $plays}]}#" side.yaml >patch.yaml
echo '  sides: {every: 20}' >>patch.yaml
run 0 1 patch.yaml
follows out/sides.csv jet.flow 0.25 0.005 p mirrored
keep out/probes.csv out/sides.csv
same_anyhow patch.yaml
# Killed from outside, while a fault injection has it stopped.
stopped() { ps -o pid=,stat= -p "$(pgrep -d, -f "^$gabion run patch.yaml")" 2>/dev/null | awk '$2 ~ /^T/ { print $1 }'; }
rm -rf out
timeout 100 "$GABION_LAUNCH" -n 3 -- "$gabion" run patch.yaml --inject rank=2,step=133,phase=exchange,stopped=600 --out out >said.txt 2>&1 &
job=$!
until [ -n "$(stopped)" ] || ! kill -0 $job 2>/dev/null; do sleep 0.02; done
kill -KILL "$(stopped)" || complain "nobody was stopped: $(cat said.txt)"
wait $job || complain "the run did not survive: $(cat said.txt)"
said 'rank 2 died'
same 'killed from outside'

# The example as its heads say: the vortices of the rod push the plate up and down.
cp "$GABION_SOURCE"/apps/cases/flow/wake*.yaml .
rm -rf out
for name in wake_precursor wake; do "$gabion" run $name.yaml >said.txt 2>&1 || complain "$name: $(cat said.txt)"; done
awk -F, 'NR == 1 { for (i = 1; i <= NF; i++) if ($i == "plate.cy") at = i } at && NR > 100 { if ($at > most) most = $at; if ($at < least) least = $at }
  END { exit !(most > 2 && least < -2) }' out/wake/forces.csv || complain "the plate: $(head -1 out/wake/forces.csv; tail -3 said.txt)"
sed -i 's/from_time: 6.5 /from_time: 8 /' wake.yaml
check 2 wake.yaml
said 'wake.yaml:27:11: boundaries.x_min.from: has the times from 6 to 12 s, the run needs those from 8 to 13 s'
finish

# SPDX-License-Identifier: Apache-2.0
# gabion-test: timeout=60 needs=ulfm
# gabion compare: runs on 1 and 2 processes are equal; parameters, results and series that differ are named with their size
# and place; a run without its end, folders without a run and broken files.
. "$GABION_SOURCE/tests/apps/common.sh"

sed 's/integrals: {every: 5}/&\n  forces: {every: 5}\nbodies: [{name: rod, type: cylinder, centre: [8, 8], radius: 4.2}]/' good.yaml >rod.yaml
run 0 1 rod.yaml
mv out a
run 0 2 rod.yaml --set run.title='a box'
mv out b
run 0 1 rod.yaml --set 'boundaries.y_max.velocity=[0.0501, 0]'
mv out c

compares() { # compares CODE ARGUMENTS...
  local expected=$1 code=0
  shift
  "$gabion" compare "$@" >said.txt 2>&1 || code=$?
  [ $code = "$expected" ] || complain "gabion compare $*: exit code $code, expected $expected; it said: $(cat said.txt)"
}

compares 0 a b
said 'A  a: ok after 20 steps, time 20, 1 rank (all steps are done)'
said ', 2 ranks ('
said 'parameters: equal'
said "checksum:   equal, $(checksum a)"
said 'integrals.csv: 5 rows in common by time; columns: all '
[ "$(wc -l <said.txt)" -le 8 ] || complain "too long for equal runs: $(cat said.txt)"

compares 1 a c
said 'parameters: 1 differs'
said 'boundaries.y_max.velocity: [0.05, 0] in A, [0.0501, 0] in B'
said 'checksum:   differs, '
said 'they differ'
compares 1 a c --tolerance 1e-3
compares 0 a c --tolerance 0.01
said 'equal within 0.01'
# The velocity of the moving side enters linearly in these steps: 0.2 %.
"$gabion" compare a c --json >found.json
grep -q '"equal": false' found.json || complain "$(cat found.json)"
if command -v python3 >/dev/null; then
  python3 - <<'PY' || complain "wrong differences: $(cat found.json)"
import json, csv, sys
found = json.load(open("found.json"))
speed = found["results"]["max_speed_m_per_s"]
rows = [list(csv.DictReader(open(f"{name}/integrals.csv"))) for name in "ac"]
values = [[float(row["max_speed"]) for row in table] for table in rows]
apart = [abs(a - b) for a, b in zip(*values)]
column = found["series"]["integrals.csv"]["columns"]["max_speed"]
both = values[0] + values[1]
sys.exit(not (abs(speed["relative"] - 0.002) < 1e-4 and column["difference"] == max(apart) and
              column["at"] == float(rows[0][apart.index(max(apart))]["time"]) and
              abs(column["relative"] - max(apart) / (max(both) - min(both))) < 1e-12))
PY
fi

# One value of a series, one row less, one column less, no end of the last line.
cp -r a d
awk -F, -v OFS=, 'NR == 1 {for (i = 1; i <= NF; i++) if ($i == "mass") c = i} $1 == 10 {$c = 1.25} $1 == 20 {$c = 1.1} $1 == 15 {next} {print}' \
  a/integrals.csv >d/integrals.csv
cut -d, -f1-4 a/forces.csv >d/forces.csv
printf '25,25,1' >>d/forces.csv
compares 1 a d
said 'integrals.csv: 4 rows in common by time (of 5 and 4); columns: 1 of '
grep -qE '^  mass +0\.25 +1  10$' said.txt || complain "mass differs by 0.25, its range, at time 10: $(cat said.txt)"
grep -qE '^forces.csv: 5 rows in common by time, [1-9][0-9]* columns in one run only; columns: all 2 equal$' said.txt ||
  complain "columns of one run: $(cat said.txt)"
sed -i '2s/,[^,]*$/,nan/' d/integrals.csv
compares 1 a d --tolerance 1e9
said 'no number in one run, first at 0'
# A result that became no number.
cp -r a e
sed -i 's/"max_speed_m_per_s": [^,]*/"max_speed_m_per_s": null/' e/summary.json
compares 1 a e --tolerance 1e9
said 'in one run only, or no number'
compares 0 a e --value mean_velocity

# Rounding in a component of a vector that is nearly 0 is small to its largest one.
cp -r a i
sed -i -E 's/("mean_velocity_m_per_s": \[[^,]*, )[^],]*/\11e-10/' i/summary.json
awk -F, -v OFS=, 'NR == 1 {for (i = 1; i <= NF; i++) if ($i == "momentum.y") c = i} $1 == 10 {$c = 1e-10} {print}' \
  a/integrals.csv >i/integrals.csv
compares 1 a i
said 'mean_velocity_m_per_s.1'
said 'momentum.y'
compares 0 a i --tolerance 1e-5

# A checksum alone: the state differs, but nothing that was written.
cp -r a h
sed -i 's/"checksum": "[^"]*"/"checksum": "0123456789abcdef"/' h/summary.json
compares 1 a h
compares 0 a h --tolerance 1e-9
# A run that was resumed has the summary of the job before until it ends.
sed -i 's/"state": "done"/"state": "running"/' h/progress.json
compares 0 a h
said 'B  h: not ended'

# Profiles of the final state: layers at the same height, though the runs end at other times.
sed 's/integrals: {every: 5}/means: {every: 1, start: 5, homogeneous: [x]}/' good.yaml >mean.yaml
run 0 1 mean.yaml
mv out j
run 0 1 mean.yaml --set 'domain.cells=[32, 24]' --set run.steps=21
mv out k
compares 1 j k
said 'means_profile.csv: 16 rows in common by y (of 16 and 24); columns: '
# So are the components of a tensor.
printf 'time,stress_xx,stress_xy,stress_yy\n1,1,0,0\n2,3,0,1e-20\n' >i/stress.csv
printf 'time,stress_xx,stress_xy,stress_yy\n1,1,0,0\n2,3,0,2e-20\n' >a/stress.csv
compares 0 a i --tolerance 1e-5
said 'stress.csv: 2 rows in common by time; columns: 0 of 3 differ by more than 1e-05, 1 by less'
rm a/stress.csv i/stress.csv
# Other time steps: rows at the same time, whatever their steps.
sed -i '2,$s/^\([0-9]*\),/\10,/' i/integrals.csv
compares 0 a i --tolerance 1e-5
said 'integrals.csv: 5 rows in common by time'

# A series of a solver, without time: by its first column.
printf 'period,force\n1,2\n2,4\n4,8\n' >i/cycles.csv
printf 'period,force\n2,5\n3,6\n4,8\n' >a/cycles.csv
compares 1 a i --tolerance 1e-5
said 'cycles.csv: 2 rows in common by period (of 3 and 3); columns: 1 of 1 differ'
grep -qE '^  force +1 +0.25  2$' said.txt || complain "force differs by 1, a quarter of its range, at period 2: $(cat said.txt)"
rm a/cycles.csv

# A run without its end, as one that is running: its series are compared.
cp -r a f
rm f/summary.json
head -n 3 a/integrals.csv >f/integrals.csv
compares 0 a f
said 'not ended, last known step 20'
said '2 rows in common by time (of 5 and 2)'
said 'equal in the rows of series in common; a run has not ended'
# Nothing to compare is not equal.
rm f/*.csv
compares 1 a f
said 'nothing to compare'
# A case that this program cannot read.
cp -r a g
echo 'unknown: 1' >>g/case.yaml
compares 0 a g
said 'parameters: cannot be compared: '

refuses() { # refuses TEXT ARGUMENTS...
  local text=$1
  shift
  compares 2 "$@"
  said "$text"
}
refuses 'no run in missing: no events.jsonl' a missing
mkdir empty
refuses 'no run in empty: no events.jsonl' empty a
refuses 'two folders are needed' a
refuses "unexpected argument 'c' after 'b'" a b c
refuses '--tolerance -1' a b --tolerance -1
echo '{"status": "ok", "results": {' >g/summary.json
refuses 'g/summary.json: cannot be read, or is not JSON' a g
cp a/summary.json g/summary.json
sed -i '3s/,[^,]*,/,many,/' g/integrals.csv
refuses "g/integrals.csv:3: column time: expected a number, got 'many'" a g
cp a/integrals.csv g/integrals.csv
sed -i '3s/,[^,]*$//' g/integrals.csv
refuses 'g/integrals.csv:3: expected 8 numbers' a g
"$gabion" compare --help | grep -q 'usage: gabion compare' || complain 'no help'
finish

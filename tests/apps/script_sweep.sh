# SPDX-License-Identifier: Apache-2.0
# gabion-test: timeout=100 labels=quick
# gabion sweep: six points, of which one run and then the sweep itself are killed, have the table of the undisturbed sweep to
# the byte, and the checksums of single runs. Points are added and left; designs, names, refusals, arrays.
. "$GABION_SOURCE/tests/apps/common.sh"

cat >small.yaml <<'YAML'
run: {title: small, steps: 200, check_every: 50}
domain: {cells: [16, 8], block: [8, 8]}
fluid: {omega: 1.5}
boundaries: {y_min: {type: wall}, y_max: {type: velocity, velocity: [0.05, 0]}}
resilience: {disk: {every: 200}}
output: {integrals: {every: 50}}
YAML
cat >box.yaml <<'YAML'
case: small.yaml
set: [run.title=swept]
design: list
at_once: 2
vary:
  - {key: fluid.omega, values: [1.5, 1.4, 1.3, 1.2, 1.1, 1]}
  - {key: run.steps, values: [200, 200, 7000, 200, 7000, 200]}
results:
  - {summary: max_speed_m_per_s, name: speed}
  - {summary: steps_wanted}
  - {series: integrals, column: momentum.x, take: mean, from: 100}
  - {series: integrals, column: kinetic_energy}
YAML
sweeps() { # sweeps CODE ARGUMENTS...
  local expected=$1 code=0
  shift
  timeout 60 "$gabion" sweep "$@" >said.txt 2>&1 || code=$?
  [ $code = "$expected" ] || complain "gabion sweep $*: exit code $code, expected $expected; it said: $(cat said.txt)"
}
checkpoint_in() { # waits until the run in a folder has a checkpoint on disk
  for _ in $(seq 2000); do
    compgen -G "$1/checkpoints/step_*/manifest.json" >/dev/null && return
    sleep 0.005
  done
  complain "no checkpoint in $1"
}

sweeps 0 box.yaml --out whole
said '6 of 6 points are done: whole/sweep.csv'
cp whole/sweep.csv whole.csv

# A kill may come too late on a busy machine: then once more.
kill_and_resume() {
  rm -rf swept
  "$gabion" sweep box.yaml --out swept/box >said.txt 2>&1 &
  pid=$!
  checkpoint_in swept/box/omega_1.3-steps_7000
  kill -KILL "$(sed -n 's/.*"pid": \([0-9]*\),.*/\1/p' swept/box/omega_1.3-steps_7000/run.lock)"
  checkpoint_in swept/box/omega_1.1-steps_7000
  kill -KILL $pid
  wait $pid 2>/dev/null
  mv said.txt first.txt
  sweeps 0 box.yaml --out swept/box # while the last run may still save its state
  grep -q 'omega_1.3-steps_7000 was ended by signal 9 and starts again' first.txt &&
    grep -q 'resuming from step' swept/box/omega_1.3-steps_7000/log.txt &&
    grep -q 'resuming from step' swept/box/omega_1.1-steps_7000/log.txt
}
for try in 1 2 3 4 5 none; do
  [ $try != none ] || complain "the killed runs did not resume: $(cat first.txt said.txt)"
  kill_and_resume 2>/dev/null && break
done
! grep -q 'points are done' first.txt || complain "the sweep was not killed: $(cat first.txt)"
said 'points are done and kept'
cmp whole.csv swept/box/sweep.csv || complain "other tables: $(cat whole/sweep.csv swept/box/sweep.csv)"
[ "$(head -n 1 whole/sweep.csv)" = point,omega,steps,speed,steps_wanted,integrals.momentum.x.mean,integrals.kinetic_energy,folder ] ||
  complain "head: $(head -n 1 whole/sweep.csv)"
[ "$(wc -l <whole/sweep.csv)" = 7 ] || complain "rows: $(cat whole/sweep.csv)"
for omega in 1.4 1; do
  run 0 1 small.yaml --set run.title=swept --set fluid.omega=$omega
  [ "$(checksum "swept/box/omega_$omega-steps_200")" = "$(checksum out)" ] || complain "omega $omega: not the result of a single run"
done
python3 - <<'PY' || complain "wrong numbers: $(cat whole/sweep.csv)"
import csv, json
for row in csv.DictReader(open("whole/sweep.csv")):
    series = list(csv.DictReader(open(f"whole/{row['folder']}/integrals.csv")))
    summary = json.load(open(f"whole/{row['folder']}/summary.json"))
    late = [float(at["momentum.x"]) for at in series if float(at["time"]) >= 100]
    assert len(late) >= 3 and float(row["integrals.momentum.x.mean"]) == sum(late) / len(late), row
    assert float(row["integrals.kinetic_energy"]) == float(series[-1]["kinetic_energy"]), row
    assert float(row["speed"]) == summary["results"]["max_speed_m_per_s"], row
    assert int(row["steps_wanted"]) == int(row["steps"]), row
PY

# Nothing is computed again; a point more computes that only; one that is left out is named and stays.
cksum whole/*/summary.json >before.txt
sed 's/1.1, 1\]/1.1, 0.9]/' box.yaml >other.yaml
sweeps 0 other.yaml --out whole
said '5 of 6 points are done and kept'
said 'left: whole/omega_1-steps_200 has a run that is not a point of other.yaml'
said '[6/6] omega_0.9-steps_200: done'
tail -n 1 whole/sweep.csv | grep -q '^6,0.9,200,' || complain "the table: $(cat whole/sweep.csv)"
cksum whole/*/summary.json | grep -v omega_0.9 | cmp -s - before.txt || complain 'points were computed again'

# Points that diverge are named, and computed again with --redo only; the others have their results.
cat >wild.yaml <<'YAML'
case: small.yaml
design: list
names: [tame, wild]
vary:
  - {key: fluid.omega, values: [1.5, 1.9]}
  - {key: fluid.acceleration, values: [[0, 0], [0.02, 0]]}
results: [{summary: steps_wanted, name: wanted}]
YAML
sweeps 4 wild.yaml
said 'point 2, wild, failed with exit code 4: diverged: the flow diverged at step'
[ "$(sed 1d out/wild/sweep.csv)" = 1,1.5,0x0,200,tame ] || complain "the table: $(cat out/wild/sweep.csv)"
sweeps 4 wild.yaml
said 'diverged before; --redo computes it again'
sweeps 4 wild.yaml --redo
said 'wild ended with exit code 4'
sweeps 0 wild.yaml --point 1

# A signal stops all, also runs without end.
sed 's/7000/900000000/g' box.yaml >long.yaml
"$gabion" sweep long.yaml --out stopped >said.txt 2>&1 &
pid=$!
checkpoint_in stopped/omega_1.3-steps_900000000
kill -TERM $pid
code=0
wait $pid || code=$?
[ $code = 75 ] || complain "exit code $code after a signal: $(cat said.txt)"
said 'omega_1.3-steps_900000000: stopped with a checkpoint'
said 'the same command resumes'

# A folder in which another run writes is waited for.
"$gabion" run small.yaml --set run.steps=900000000 --set resilience.disk.every=never --out held/omega_1.4-steps_200 -q &
run=$!
for _ in $(seq 2000); do
  [ ! -s held/omega_1.4-steps_200/run.lock ] || break
  sleep 0.005
done
sed 's/7000/200/g' box.yaml >quick.yaml
timeout 60 "$gabion" sweep quick.yaml --out held >said.txt 2>&1 &
pid=$!
for _ in $(seq 2000); do
  ! grep -q '^omega_1.4-steps_200: waits for run' said.txt || break
  sleep 0.01
done
kill -KILL $run
wait $run 2>/dev/null
wait $pid || complain "exit code $?: $(cat said.txt)"
said 'omega_1.4-steps_200: waits for run'
said '6 of 6 points are done'

# The designs. Warnings of the cases are among the lines. A Latin hypercube has one sample in each part of each range, the same for the same seed.
cat >grid.yaml <<'YAML'
case: small.yaml
vary:
  - {key: domain.cells, values: [[16, 8], [32, 8]]}
  - {key: fluid.omega, name: w, values: [1.5, 1.2], labels: [thin, thick]}
YAML
sweeps 0 grid.yaml --dry-run
for name in '1  cells_16x8-w_thin ' '2  cells_16x8-w_thick' '3  cells_32x8-w_thin ' '4  cells_32x8-w_thick'; do said "$name"; done
[ ! -e out/grid ] || complain '--dry-run made a folder'
cat >cube.yaml <<'YAML'
case: small.yaml
design: latin_hypercube
samples: 16
vary:
  - {key: fluid.omega, range: [0.4, 1.6]}
  - {key: run.steps, range: [10, 1000], scale: log, whole: true}
YAML
sweeps 0 cube.yaml --dry-run
grep to.run said.txt >cube.txt
python3 - <<'PY' || complain "not a Latin hypercube: $(cat cube.txt)"
import math, re
rows = [tuple(map(float, re.search(r"omega_([\d.]+)-steps_(\d+)", line).groups())) for line in open("cube.txt")]
assert len(rows) == 16
assert sorted(int((w - 0.4) / 1.2 * 16) for w, _ in rows) == list(range(16))
parts = sorted(math.log(n / 10) / math.log(100) * 16 for _, n in rows)
assert all(k - 0.3 < part < k + 1.3 for k, part in enumerate(parts)), parts
PY
sweeps 0 cube.yaml --dry-run
grep to.run said.txt | cmp -s - cube.txt || complain 'another sample of the same seed'
sed 's/0.4, 1.6/1.0000001, 1.0000004/; s/10, 1000/0.4, 1.6/; s/scale: log, //' cube.yaml >narrow.yaml
sweeps 0 narrow.yaml --dry-run
python3 - <<'PY' || complain "not in the parts of the ranges: $(cat said.txt)"
import re
rows = re.findall(r"omega_([\d.]+)-steps_(\d+) ", open("said.txt").read())
assert sorted(int((float(w) - 1.0000001) / 3e-7 * 16 + 1e-6) for w, _ in rows) == list(range(16)), rows
assert {n for _, n in rows} == {"1"}, rows
PY
echo 'seed: 2' >>cube.yaml
sweeps 0 cube.yaml --dry-run
! grep to.run said.txt | cmp -s - cube.txt || complain 'the same sample of another seed'

# The script of an array runs a point.
mkdir bin
printf '#!/bin/sh\necho 5:00\n' >bin/squeue
chmod +x bin/squeue
sweeps 0 grid.yaml --slurm
cp said.txt array.sh
grep -q '^#SBATCH --array=1-4 ' array.sh || complain "the script: $(cat array.sh)"
rm -rf out
PATH=$work/bin:$PATH SLURM_ARRAY_TASK_ID=3 SLURM_JOB_ID=1 bash array.sh >said.txt 2>&1 || complain "task 3: $(cat said.txt)"
[ "$(ls out/grid)" = $'cells_32x8-w_thin\nmessages' ] || complain "task 3 made $(ls out/grid)"
sweeps 0 grid.yaml --pbs
cp said.txt array.sh
PBS_ARRAY_INDEX=1 bash array.sh >said.txt 2>&1 || complain "task 1: $(cat said.txt)"
sweeps 75 grid.yaml --table
said '2 of 4 points are done: out/grid/sweep.csv'
[ "$(wc -l <out/grid/sweep.csv)" = 3 ] || complain "the table: $(cat out/grid/sweep.csv)"
sweeps 0 grid.yaml --pbs --redo --launch "--pin never --tag 'a'"
grep -qF -e " --redo " said.txt || complain "no --redo: $(cat said.txt)"
grep -qF -e "--launch '--pin never --tag '\''a'\''' &" said.txt || complain "no --launch: $(cat said.txt)"

# Rows that are not finite; rows and times that are not there.
for take in mean min max last; do echo "  - {series: made, column: a, take: $take}"; done | sed '1i results:' | cat grid.yaml - >table.yaml
printf 'time,a\n0,nan\n1,2\n' >out/grid/cells_16x8-w_thin/made.csv
printf 'time,a\n0,1\n1,2\n' >out/grid/cells_32x8-w_thin/made.csv
sweeps 75 table.yaml --out out/grid --table
[ "$(sed 1d out/grid/sweep.csv | cut -d , -f 4-7)" = $'nan,nan,nan,2\n1.5,1,2,2' ] || complain "the table: $(cat out/grid/sweep.csv)"
sed '/results/,$d' table.yaml >late.yaml
echo 'results: [{series: made, column: a, take: mean, from: 2}]' >>late.yaml
sweeps 75 late.yaml --out out/grid --table
said 'late.yaml:5:55: results.0.from: no run has a row of made.csv at this time or later; lower it'
sed -i s/made/none/ late.yaml
sweeps 75 late.yaml --out out/grid --table
said 'late.yaml:5:20: results.0.series: out/grid/cells_16x8-w_thin/none.csv is not there; name another table'
sed -i s/none/made/ late.yaml
sed -i 's/time/step/' out/grid/*/made.csv
sweeps 75 late.yaml --out out/grid --table
said "late.yaml:5:55: results.0.from: made.csv has no column 'time'; leave from out"

# Folders of another case are refused before anything is written, with checkpoints and without.
sweeps 75 grid.yaml --table
cp out/grid/sweep.csv grid.csv
another_case() { # another_case TEXT
  sweeps 2 grid.yaml --set run.title=another --set fluid.acceleration='[1e-5, 0]'
  said "point 1, cells_16x8-w_thin: the output folder$1 of another case:"
  said 'fluid.acceleration'
  said '2 of 4 points are refused; nothing was started'
  cmp grid.csv out/grid/sweep.csv || complain "the table has changed: $(cat out/grid/sweep.csv)"
}
another_case ' has a checkpoint (step 200)'
"$gabion" clean out/grid >said.txt 2>&1 || complain "gabion clean: $(cat said.txt)"
another_case ' out/grid/cells_16x8-w_thin has the results'
sweeps 2 grid.yaml --dry-run --set fluid.acceleration='[1e-5, 0]'
said '1  cells_16x8-w_thin   refused'
said '2  cells_16x8-w_thick  to run'

refuses() { # refuses TEXT SED-PROGRAM FILE [OPTIONS]
  local text=$1 program=$2 file=$3
  shift 3
  sed "$program" "$file" >bad.yaml
  sweeps 2 bad.yaml "$@"
  said "$text"
  [ ! -e out/bad ] || complain "refused, but left $(find out/bad)"
}
refuses "bad.yaml:4:33: unknown key 'value' in vary.1; did you mean 'values'?" s/w,.values/w,\ value/ grid.yaml
refuses "point 1, omgea_1.5-steps_200: --set fluid.omgea=1.5: unknown key 'omgea' in fluid; did you mean 'omega'?" s/fluid.omega/fluid.omgea/ box.yaml
refuses 'cannot be opened' s/small.yaml/none.yaml/ box.yaml
refuses 'bad.yaml:7:30: vary.1.values: has 6 values, and fluid.omega has 7' 's/1.4,/1.4, 1.35,/' box.yaml
refuses 'points 1 and 2 would both have the folder omega_1.5-steps_200' 's/1.5, 1.4/1.5, 1.5/' box.yaml
refuses 'vary.1.labels: has 1 labels for 2 values' 's/thin, thick/thin/' grid.yaml
refuses 'a range needs design: latin_hypercube' '/design\|samples\|seed/d' cube.yaml
refuses 'vary.1.range: must be positive with scale: log' 's/10, 1000/-10, 1000/' cube.yaml
refuses "vary.1.name: 'cells' is the name of domain.cells, too" 's/name: w/name: cells/' grid.yaml
refuses 'series and column belong together' 's/, column: momentum.x//' box.yaml
refuses 'results.0: needs either summary, or series and column' 's/{summary/{take: last, series: integrals, column: mass, summary/' box.yaml
refuses '--set fluid.omega=1: bad.yaml:6:11 varies fluid.omega (vary.0); leave one of them out' '' box.yaml --set fluid.omega=1
refuses '--set fluid={omega: 1}: bad.yaml:6:11 varies fluid.omega (vary.0)' '' box.yaml --set 'fluid={omega: 1}'
refuses 'bad.yaml:2:6: set: run.steps=20: vary.1 varies run.steps' s/run.title=swept/run.steps=20/ box.yaml
refuses 'bad.yaml:4:11: vary.1.key: fluid.omega and fluid (vary.0) overlap' 's/domain.cells.*/fluid, values: [{omega: 1}]}/' grid.yaml
refuses 'bad.yaml:6:3: vary: points 1 and 2, omega_1.5-steps_200 and omega_15e-1-steps_200, are the same case' 's/1.4,/15e-1,/' box.yaml --dry-run
refuses 'seed: needs design: latin_hypercube' '$a seed: 7' grid.yaml
refuses 'vary.1.scale: has no effect on values' 's/name: w/scale: log/' grid.yaml
refuses 'vary.1.whole: has no effect on values' 's/name: w/whole: true/' grid.yaml
refuses 'results.1.take: has no effect on a number of summary.json' 's/steps_wanted/&, take: max/' box.yaml
refuses 'results.1.from: has no effect on a number of summary.json' 's/steps_wanted/&, from: 3/' box.yaml
refuses 'vary.1.range: has no whole number' 's/10, 1000/10.2, 10.8/' cube.yaml
for name in messages sweep.csv; do
  refuses "bad.yaml:3:8: names: '$name': the sweep has a file or a folder of this name" "s/tame, wild/tame, $name/" wild.yaml
done
for pair in '--slurm --pbs' '--pbs --fresh' '--table --fresh' '--table --point=1'; do
  refuses "$(echo "$pair" | sed 's/=1//; s/ / and /') exclude each other" '' grid.yaml $pair
done
refuses '--point 7: not a whole number from 1 to 6' '' box.yaml --point 7
refuses 'unknown option' '' box.yaml --dry
sed -i 's/max_speed_m/max_sped_m/' other.yaml
sweeps 2 other.yaml --out whole
said "results.0.summary: no run has 'max_sped_m_per_s'; did you mean 'max_speed_m_per_s'? Runs that are done are kept"
"$gabion" sweep --help | grep -q 'usage: gabion sweep' || complain 'no help'
finish

# SPDX-License-Identifier: Apache-2.0
# gabion-test: timeout=200 labels=quick needs=ulfm,png
# Tracers of a flow by parameter file: the same checksum, table, files and pictures on any number of processes and
# threads, after deaths under each strategy, and resumed from disk on another number of processes. They leave at open
# sides and expire, do not change the flow, and errors in their sections are refused with the place in the file.
. "$GABION_SOURCE/tests/apps/common.sh"

cat >tracers.yaml <<'YAML'
run: {steps: 60, check_every: 20}
domain: {cells: [48, 32], block: [8, 8], dx: 0.1}
fluid: {velocity: 1, viscosity: 0.02}
units: {lattice_velocity: 0.1}
initial: {velocity: [1, 0]}
boundaries:
  x_min: {type: velocity, velocity: [1, 0]}
  x_max: {type: outflow}
  y_min: {type: wall}
  y_max: {type: free_slip}
bodies:
  - {type: cylinder, name: rod, centre: [1.4, 1.6], radius: 0.45, wall: interpolated}
tracers:
  lifetime: 0.45
  seeds:
    - {type: line, from: [0.05, 0.1], to: [0.05, 3.1], count: 16, every: 6}
    - {type: random, lo: [0, 0], hi: [4.8, 3.2], count: 150, seed: 3, every: 30}
    - {type: box, lo: [3.6, 0], hi: [4.8, 3.2], grid: [6, 16], start: 12}
    - {type: point, at: [0.85, 1.6]}
output:
  tracers: {every: 10}
  slices: [{quantity: speed, every: 60, tracers: true}, {quantity: speed, every: 60, name: bare}]
  integrals: {every: 10}
resilience: {memory: {every: 10}}
YAML
files() { (cd "${1:-out}/fields" && cksum tracers*) || complain "no files: $(ls -R "${1:-out}")"; }
run 0 1 tracers.yaml
expected=$(checksum)
cp out/tracers.csv one.csv && cp out/integrals.csv integrals.csv || complain "no tables: $(ls out)"
cp out/speed_0000000060.png one.png || complain "no picture: $(ls out)"
! cmp -s out/bare_0000000060.png one.png || complain "no tracers in the picture"
files >one.txt
said '263 tracers in 4 seedings, more later, which live for 0.45'
[ "$(grep -c '\.h5$' one.txt)" = 7 ] || complain "not its files: $(cat one.txt)"
alike() {
  [ "$(checksum)" = "$expected" ] || complain "$1: another checksum"
  cmp out/tracers.csv one.csv || complain "$1: another table"
  cmp out/speed_0000000060.png one.png || complain "$1: another picture"
  files | diff one.txt - || complain "$1: other files"
}
# Some leave, some expire, and the present ones are the rest.
awk -F, 'NR > 1 { if ($3 != $4 - $5 - $6) exit 1; left = $5; expired = $6 } END { exit !(left > 20 && expired > 100) }' one.csv ||
  complain "not these numbers: $(cat one.csv)"

OMP_NUM_THREADS=2 run 0 3 tracers.yaml --set balance.strategy=morton
alike "3 processes of 2 threads"
for visit in 2 4 5; do # the ghosts of the velocity, the two moves
  run 0 4 tracers.yaml --inject "rank=2,step=27,phase=exchange,visit=$visit"
  said 'rank 2 died'
  alike "a death in exchange $visit"
done
spares() { "$GABION_LAUNCH" -n 3 --spares 1 -- "$gabion" run tracers.yaml "$@" --out out --fresh >said.txt 2>&1 || complain "$*: $(cat said.txt)"; }
spares --set 'resilience.strategies=[spare]' --inject rank=1,step=27,phase=exchange,visit=4
said 'took over'
alike "a spare"
for rank in 0 2; do
  spares --set 'resilience.strategies=[local, spare]' --inject "rank=$rank,step=27,phase=exchange,visit=4"
  said "rank $rank died"
  alike "local recovery of rank $rank"
done
run 0 2 tracers.yaml --set run.steps=35 --set resilience.disk.every=5
"$GABION_LAUNCH" -n 3 -- "$gabion" run tracers.yaml --set resilience.disk.every=5 --out out >said.txt 2>&1 || complain "resuming: $(cat said.txt)"
[ "$(checksum)" = "$expected" ] || complain "resuming from disk: another checksum"
diff <(awk -F, '$1 != 35' out/tracers.csv) one.csv || complain "resuming from disk: another table"

# Blocks of two levels, which split and merge while tracers pass, and migrate by their measured times.
levels=(--set refinement.levels=1 --set refinement.every=6 --set 'refinement.criteria=[{type: vorticity, level: 1, above: 2, below: 1}]')
run 0 1 tracers.yaml "${levels[@]}"
expected=$(checksum)
cp out/tracers.csv one.csv && cp out/speed_0000000060.png one.png && files >one.txt
grep -q '"blocks_of_levels": \[[0-9]*, *[1-9]' out/summary.json || complain "no second level: $(grep -A3 blocks_of out/summary.json)"
run 0 3 tracers.yaml "${levels[@]}" --set balance.work=measured --set balance.every=10 --inject rank=1,step=33,phase=exchange,visit=9
said 'rank 1 died'
alike "two levels"

# The flow is that of a run without tracers; its checksum has no tracers.
sed -e '/^tracers:/,/type: point/d' -e '/^  tracers:/d' -e 's/, tracers: true//' tracers.yaml >flow.yaml
run 0 1 flow.yaml
cmp out/integrals.csv integrals.csv || complain "tracers change the flow"

# In a uniform flow of 1 a tracer leaves at the step in which it has passed the side: after (4.8 - x) / 0.01.
cat >uniform.yaml <<'YAML'
run: {steps: 130}
domain: {cells: [48, 8], block: [8, 8], dx: 0.1}
fluid: {omega: 1.5, velocity: 1}
units: {lattice_velocity: 0.1}
initial: {velocity: [1, 0]}
boundaries:
  x_min: {type: velocity, velocity: [1, 0]}
  x_max: {type: outflow}
  y_min: {type: free_slip}
  y_max: {type: free_slip}
tracers:
  every: 5
  seeds:
    - {type: line, from: [3.775, 0.3], to: [4.775, 0.5], count: 11}
output: {tracers: {every: 5}}
YAML
run 0 2 uniform.yaml
awk -F, 'NR > 1 { expected = int(($1 + 7) / 10 + 0.001); if (expected > 11) expected = 11; if ($5 != expected) { print; exit 1 } }' out/tracers.csv ||
  complain "tracers do not leave when they should: $(cat out/tracers.csv)"

# ---- mistakes
bad() { # bad CHANGE TEXT: the case with a setting is refused, with these words
  check 2 tracers.yaml --set "$1"
  said "$2"
}
bad 'tracers.every=7' 'is not a multiple of tracers.every = 7'
bad 'tracers.seeds.3.at=[9, 1]' 'x = 9 is outside the domain, which ranges from 0 to 4.8'
bad 'tracers.seeds.0.to=[0.05, 3.2]' 'y = 3.2 is outside the domain, which ranges from 0 to 3.2, its end not included'
bad 'tracers.seeds.3.at=[1.4, 1.6]' 'tracers.seeds.3: the place is in a body, where nothing flows; move it'
bad 'tracers.seeds.1.hi=[0, 3.2]' 'x: the box from 0 to 0 is empty'
bad 'tracers.seeds=[]' 'tracers.seeds is needed'
bad 'tracers.seeds.2.count=5' 'count'
sed 's/type: box, lo/type: bx, lo/' tracers.yaml >bad.yaml
check 2 bad.yaml
said "bad.yaml:18:14: type = 'bx' is none of point, line, box, random"
sed '/^tracers:/,/type: point/d' tracers.yaml >bad.yaml
check 2 bad.yaml
said 'output.tracers: there are no tracers.seeds'
check 2 flow.yaml --set output.slices.0.tracers=true
said 'output.slices.0.tracers: the case has no tracers'
helps tracers.seeds 'random' 'Places in bodies are left out'
plan 0 tracers.yaml -n 4
said 'records of tracers'
finish

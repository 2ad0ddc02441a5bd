# SPDX-License-Identifier: Apache-2.0
# gabion-test: timeout=200 needs=ulfm
# gabion converge: the permeability of a channel with interpolated walls a third of a cell above the same corner on
# each grid has order 2 and the analytic limit. The physical case is the same for any keys of its time step. Finished
# grids are not run again, also on other numbers of processes. Refusals.
. "$GABION_SOURCE/tests/apps/common.sh"
command -v python3 >/dev/null || exit 77

cat >channel.yaml <<'YAML'
run: {time: 1.166666666666666666}
domain: {cells: [3, 10], block: [3, 5], length: 0.3}
fluid: {omega: 0.6, viscosity: 0.5, acceleration: [0.8, 0]}
bodies:
  - {name: low, type: half_space, point: [0, 0.13333333333333333, 0], normal: [0, 1, 0]}
  - {name: high, type: half_space, point: [0, 0.86666666666666667, 0], normal: [0, -1, 0]}
output: {forces: {every: 10, start: 10}}
YAML
converge() { # converge CODE ARGUMENTS...
  local expected=$1 code=0
  shift
  timeout 100 "$gabion" converge "$@" >said.txt 2>&1 || code=$?
  [ $code = "$expected" ] || complain "gabion converge $*: exit code $code, expected $expected; it said: $(cat said.txt)"
}

converge 0 channel.yaml --cells 1,4,16 --value permeability --json
sed -n '/^{/,$p' said.txt >table.json
python3 - <<'PY' || complain "wrong table: $(cat table.json)"
import json, sys
found = json.load(open("table.json"))["results"]["permeability_x_m2"]
gap, height = 11 / 15, 1
exact = gap ** 3 / (12 * height)  # mean velocity * viscosity / acceleration
print(found, exact)
sys.exit(not (abs(found["order"] - 2) < 0.1 and found["kind"] == "monotonic" and
              abs(found["limit"] - exact) < found["uncertainty"] < 2e-3 * exact))
PY
said 'x16: cells of width 0.00625, '
folder=out/channel-convergence
steps() { sed -n 's/^ *"steps": \([0-9]*\),$/\1/p' "$1/summary.json"; }
[ "$(steps $folder/x4)" = $((16 * $(steps $folder/x1))) ] || complain "steps: $(steps $folder/x1), $(steps $folder/x4)"
# Rows of the series begin and come at the same times.
[ "$(sed -n 2p $folder/x1/forces.csv | cut -d, -f2)" = "$(sed -n 2p $folder/x4/forces.csv | cut -d, -f2)" ] ||
  complain "the series begin at other times: $(head -n 2 $folder/x1/forces.csv $folder/x4/forces.csv)"
[ "$(wc -l <$folder/x1/forces.csv)" = "$(wc -l <$folder/x4/forces.csv)" ] || complain 'the series have other numbers of rows'

# The same command again: nothing is computed; a grid more computes that only.
cksum $folder/x*/summary.json >before.txt
converge 0 channel.yaml --cells 1,2,4 -n 2
cksum $folder/x1/summary.json $folder/x4/summary.json $folder/x16/summary.json | sort >after.txt
sort before.txt | cmp -s - after.txt || complain "grids were run again: $(cat before.txt after.txt)"
[ -e $folder/x2/summary.json ] || complain 'x2 was not run'
said 'more are equal on all grids'
grep -q '^permeability_x_m2,' $folder/convergence.csv || complain "$(cat $folder/convergence.csv)"

# Time step by lattice velocity, by itself, and in lattice units: each the same physical flow on both grids.
cat >lattice.yaml <<'YAML'
run: {steps: 40}
domain: {cells: [8, 8], block: [4, 4]}
fluid: {omega: 1.2, acceleration: [1e-5, 0]}
bodies: [{name: c, type: cylinder, centre: [4, 4], radius: 2.2}]
output: {forces: {every: 10}}
YAML
converge 0 lattice.yaml --cells 1,2 --value permeability
said 'x2: cells of width 0.5, 160 steps of 0.25'
said ', order assumed'
converge 0 lattice.yaml --cells 1,2 --out b --set fluid.omega=1 --set fluid.viscosity=0.2 --set fluid.acceleration=[1e-3,0] --set run.time=10
sed -i 's/omega: 1.2/viscosity: 0.2, velocity: 0.1/' lattice.yaml
converge 0 lattice.yaml --cells 1,2 --out c --set units.dt=0.5 --value force
said 'x2: cells of width 0.5, 160 steps of 0.125'
converge 0 lattice.yaml --cells 2,4 --out d --set units.lattice_velocity=0.05 --scaling acoustic
said 'x4: cells of width 0.25, 160 steps of 0.125'

# A time that is not a whole number of steps is rounded on the grid of the file, for all grids: here 3 steps.
converge 0 channel.yaml --cells 1,2 --out e --set run.time=0.02 --set output.forces.start=1 --value permeability
said 'x2: cells of width 0.05, 12 steps of'

# Turbulence starts alike on all grids, with the shortest waves of the grid of the file.
cat >waves.yaml <<'YAML'
run: {steps: 2}
domain: {cells: [16, 16], block: [8, 8]}
fluid: {viscosity: 0.02}
units: {dt: 1}
initial: {type: turbulence, rms: 0.01, length: 8}
bodies: [{name: c, type: cylinder, centre: [8, 8], radius: 2.2}]
output: {forces: {every: 1}}
YAML
converge 0 waves.yaml --cells 1,2
grep -q 'initial.shortest=4"' out/waves-convergence/x2/summary.json || complain "other waves: $(cat out/waves-convergence/x2/summary.json)"

refuses() { # refuses TEXT ARGUMENTS...
  local text=$1
  shift
  converge 2 "$@"
  said "$text"
}
refuses '--cells is missing' channel.yaml
refuses '--cells 1,1: must ascend' channel.yaml --cells 1,1
refuses '--cells 2: needs at least two grids' channel.yaml --cells 2
refuses '--cells' channel.yaml --cells 1,x
refuses '--scaling fast: diffusive or acoustic' channel.yaml --cells 1,2 --scaling fast
refuses 'acoustic scaling changes it' channel.yaml --cells 1,2 --scaling acoustic
refuses 'no result of that name' channel.yaml --cells 1,2 --value nothing
refuses 'no case file given' --cells 1,2
refuses "only flows can be converted" "$GABION_SOURCE/apps/cases/phasefield/dendrite.yaml" --cells 1,2
refuses 'bodies.0.radius' lattice.yaml --cells 1,2 --set bodies.0.radius=-1
refuses 'needs sponge_damping to be the same on all grids' lattice.yaml --cells 1,2 --set 'boundaries.x_min={type: pressure}' \
  --set 'boundaries.x_max={type: pressure, sponge_thickness: 4}' --set units.lattice_velocity=0.1
# A run that fails ends it with that code, and a table of before is gone.
mkdir broken && echo old >broken/convergence.csv
converge 4 channel.yaml --cells 1,2 --out broken --set 'fluid.acceleration=[8e3, 0]' --set run.check_every=5
said 'x1 ended with exit code 4'
[ ! -e broken/convergence.csv ] || complain 'the table of another run stays'
# A signal reaches the run, which stops with a checkpoint; the same command resumes it.
disk=(--set run.time=120 --set resilience.disk.every=2000)
"$gabion" converge channel.yaml --cells 1,2 --out stopped "${disk[@]}" >said.txt 2>&1 &
pid=$!
for _ in $(seq 1000); do
  sleep 0.01
  [ -d stopped/x2/checkpoints ] && break
done
kill -TERM $pid
code=0
wait $pid || code=$?
if [ $code = 75 ]; then
  said 'stopped in time; the same command resumes'
  [ ! -e stopped/convergence.csv ] || complain 'a table of half a result'
else
  complain "exit code $code after a signal: $(cat said.txt)"
fi
converge 0 channel.yaml --cells 1,2 --out stopped "${disk[@]}"
grep -q 'resuming from step' stopped/x2/log.txt || complain 'x2 did not resume'
"$gabion" converge --help | grep -q 'usage: gabion converge' || complain 'no help'
finish

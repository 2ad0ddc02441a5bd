# SPDX-License-Identifier: Apache-2.0
# Lattices of a program's own, against the installed libraries. D3Q15: listed, chosen by name, checked, planned; vortices decay with the
# right viscosity, the error of second order; a channel has the known stress and vorticity; a closed box keeps its mass, on two
# levels too; the same on 1, 2 and 4 processes, after a death, and from a state on disk, but not from one of other numbers under the
# same name. The lattices of the library under other names: every flow is to the last bit what it is on those.
# gabion-test: timeout=400 needs=ulfm
. "$GABION_SOURCE/tests/apps/common.sh"
unset GABION_MPI
cmake --install "$GABION_BUILD" --prefix "$work/prefix" >log.txt 2>&1 || { cat log.txt; exit 1; }
export PKG_CONFIG_PATH=$(dirname "$(find "$work/prefix" -name gabion-app.pc)")
export LD_LIBRARY_PATH=$(dirname "$(find "$work/prefix" -name 'libgabion-app.*' | head -n 1)")
GABION_LAUNCH=$work/prefix/bin/gabion-launch
cp "$GABION_SOURCE/tests/install/own/"{own_lattice.c,d3q15.h,power_law.h,own_kernels.h} "$work"
build() { # build PROGRAM FLAGS...
  # shellcheck disable=SC2046 # words on purpose
  "$GABION_CC" -std=c11 -O2 -ffp-contract=off -Wall -Wextra -Wpedantic -Werror "${@:2}" own_lattice.c -o "$1" \
    $(pkg-config --cflags --libs gabion-app) -lm || exit 1
}
build own &
build reordered -O0 -DREORDERED
wait $! || exit 1
gabion=$work/own

# ---- Listed and chosen.
cat >box.yaml <<'YAML'
run: {steps: 40, check_every: 5}
domain: {cells: [16, 16, 16], block: [8, 8, 8]}
fluid: {omega: 1.5}
boundaries:
  x_min: {type: wall}
  x_max: {type: wall}
  y_min: {type: wall}
  y_max: {type: velocity, velocity: [0.1, 0, 0.02]}
  z_min: {type: free_slip}
  z_max: {type: wall}
lbm: {lattice: d3q15}
output: {integrals: {every: 20}}
resilience: {memory: {every: 10}}
YAML
helps lbm.lattice 'd3q15: axes and corners' 'copy-d2q9: ' 'd3q19: the usual one in 3D' 'auto: '
info() { "$gabion" info "$@" >said.txt 2>&1 || complain "info $*: $(cat said.txt)"; }
info
said 'D3Q15'
said 'Copy-D3Q27'
check 0 box.yaml
run 0 1 box.yaml
said 'in_place/D3Q15/double/free'
run 0 1 box.yaml --set lbm.collision=power_law
info box.yaml
said "on the program's own lattice"
said '120 bytes per cell'
info box.yaml --set lbm.collision=power_law
said "by the function of the collision model"
check 2 box.yaml --set lbm.lattice=d3q13
said 'd3q15'
check 2 box.yaml --set lbm.lattice=copy-d2q9
said 'it must be D3Q19 or D3Q27 or D3Q15 or Copy-D3Q19 or Copy-D3Q27'
for collision in mrt rr smagorinsky; do
  check 2 box.yaml --set lbm.collision=$collision
  said "is not defined on the lattice D3Q15, which is user-defined: available are trt, srt, power_law"
done
check 2 box.yaml --set lbm.kernel=vector
said 'on the lattice D3Q15: it is computed cell by cell there'
check 2 box.yaml --set lbm.kernel=plain --set lbm.collision=trt
said 'it is SRT in double'

# What is said of a flow that diverges are models that there are on this lattice.
run 4 1 box.yaml --set fluid.omega=1.9999 --set 'boundaries.y_max.velocity=[0.19, 0, 0]' --set lbm.collision=srt --set run.steps=20000
said 'what may help: another collision model (lbm.collision: trt with lbm.magic, power_law with lbm.consistency; now srt); a smaller omega'

# ---- The plan: what a run of the copy takes is what one of D3Q19 takes; fields of D3Q15 take 15/19 of it.
planned() { # planned LATTICE
  plan 0 box.yaml -n 4 --json --set lbm.lattice="$1"
  sed -n '/^{/,$p' said.txt >"plan_$1.json"
}
for lattice in d3q19 copy-d3q19 d3q15; do planned $lattice; done
python3 - <<'END' || complain "plans: $(cat plan_*.json)"
import json
def numbers(at, path=""):
    if isinstance(at, dict):
        for key in at: yield from numbers(at[key], f"{path}.{key}")
    elif isinstance(at, list):
        for i, value in enumerate(at): yield from numbers(value, f"{path}.{i}")
    elif isinstance(at, (int, float)) and "seconds" not in path and "bandwidth" not in path: yield path, at
usual, copy, own = [dict(numbers(json.load(open(f"plan_{name}.json")))) for name in ("d3q19", "copy-d3q19", "d3q15")]
assert len(usual) > 20 and usual == copy, (usual, copy)
assert usual.keys() == own.keys()
ratios = {path: own[path] / usual[path] for path in usual if own[path] != usual[path]}
assert any(abs(r - 15 / 19) < 0.01 for r in ratios.values()), ratios
assert all("message" not in path for path in ratios), ratios
END

# ---- Vortices so slow that they do nothing but decay, with the rate 3 k^2 nu: the error is of second order.
cat >decay.yaml <<'YAML'
run: {steps: 25}
domain: {cells: [12, 12, 12], block: [12, 12, 12]}
fluid: {omega: 1.2}
initial: {type: taylor_green, velocity: 1.0e-7}
lbm: {lattice: d3q15}
output: {integrals: {every: 25}}
YAML
decay() { # decay COLLISION OPTIONS...: at 12 and 24 cells, at the same times
  local collision=$1
  shift
  run 0 1 decay.yaml --set lbm.collision="$collision" "$@"
  cp out/integrals.csv coarse.csv
  run 0 1 decay.yaml --set lbm.collision="$collision" --set 'domain.cells=[24, 24, 24]' --set run.steps=100 \
    --set output.integrals.every=100 --set initial.velocity=5.0e-8 "$@"
  python3 - coarse.csv out/integrals.csv <<'END' || complain "$collision $*: vortices do not decay as they should"
import csv, math, sys
nu = (1 / 1.2 - 0.5) / 3
errors = []
for name, cells in zip(sys.argv[1:], (12, 24)):
    rows = list(csv.DictReader(open(name)))
    energy = [float(row["kinetic_energy"]) for row in rows]
    steps = float(rows[-1]["step"]) - float(rows[0]["step"])
    rate = -math.log(energy[-1] / energy[0]) / (2 * steps)
    errors.append(rate / (3 * (2 * math.pi / cells) ** 2 * nu) - 1)
order = math.log2(errors[0] / errors[1])
print(f"errors {errors}, order {order}", file=sys.stderr)
assert abs(errors[1]) < 0.01 and 1.8 < order < 2.2, errors
END
}
decay trt
decay srt

# ---- A channel, with half-way walls exact for TRT: friction rho a H / 2, vorticity -a (H - 2 y) / (2 nu).
cat >channel.yaml <<'YAML'
run: {steps: 2500}
domain: {cells: [4, 16, 4], block: [4, 8, 4]}
fluid: {omega: 1.0, acceleration: [1.0e-6, 0, 0]}
boundaries:
  y_min: {type: wall}
  y_max: {type: wall}
lbm: {lattice: d3q15}
output:
  probes: {every: 2500, quantities: [wall_shear_stress, vorticity, velocity]}
  points: [{name: wall, at: [2.5, 0.5, 2.5]}, {name: inside, at: [2.5, 4.5, 2.5]}]
YAML
run 0 2 channel.yaml
python3 - out/probes.csv <<'END' || complain "channel: $(cat out/probes.csv)"
import csv, sys
row = list(csv.DictReader(open(sys.argv[1])))[-1]
def near(name, expected): assert abs(float(row[name]) / expected - 1) < 1e-6, (name, row[name], expected)
near("wall.wall_shear_stress.x", 1e-6 * 8)
near("inside.vorticity.z", -1e-6 * (16 - 9) * 3)
near("inside.velocity.x", 1e-6 * 3 * 4.5 * (16 - 4.5))
END
# A function of one cell, of another viscosity: the friction is that of the force all the same.
run 0 2 channel.yaml --set lbm.collision=power_law
python3 - out/probes.csv <<'END' || complain "channel of a power law: $(cat out/probes.csv)"
import csv, sys
row = list(csv.DictReader(open(sys.argv[1])))[-1]
assert abs(float(row["wall.wall_shear_stress.x"]) / 8e-6 - 1) < 1e-6 and abs(float(row["inside.vorticity.z"]) / -2.1e-5 - 1) > 0.1, row
END

# ---- Mass; the same however it is computed; a real death.
keeps_mass() {
  python3 - out/integrals.csv <<'END' || complain "$1: mass is not kept: $(cat out/integrals.csv)"
import csv, sys
rows = list(csv.DictReader(open(sys.argv[1])))
mass, energy = [[float(row[name]) for row in rows] for name in ("mass", "kinetic_energy")]
assert len(rows) > 2 and energy[-1] > 5e-5
assert max(abs(m / mass[0] - 1) for m in mass) < 1e-13, mass
END
}
sed 's/free_slip/wall/' box.yaml >closed.yaml
printf 'refinement: {levels: 1, criteria: [{type: box, lo: [0, 0, 0], hi: [7.9, 7.9, 7.9]}]}\n' | cat closed.yaml - >levels.yaml
same_everywhere() { # same_everywhere CASE COLLISION PROCESSES...: on so many, and on four of which one dies
  local one processes
  run 0 1 "$1.yaml" --set lbm.collision="$2"
  [ "$1" != levels ] || said 'blocks of levels 0 to 1'
  keeps_mass "$1 $2"
  one=$(checksum)
  for processes in "${@:3}"; do
    run 0 "$processes" "$1.yaml" --set lbm.collision="$2"
    [ "$(checksum)" = "$one" ] || complain "$1 $2: another checksum on $processes processes"
  done
  run 0 4 "$1.yaml" --set lbm.collision="$2" --inject rank=1,step=23,phase=exchange
  said 'rank 1 died'
  [ "$(checksum)" = "$one" ] || complain "$1 $2: another checksum after a death"
}
same_everywhere box trt 2 4
same_everywhere closed srt
for collision in trt srt power_law; do same_everywhere levels $collision; done
# Beside the moving lid, too, where no border of levels meets an edge of it (lbm/lbm.h says what happens there).
sed 's/cells: .*, block/cells: [32, 16, 32], block/' closed.yaml >lid.yaml
printf 'refinement: {levels: 1, criteria: [{type: box, lo: [8.1, 8.1, 8.1], hi: [23.9, 16, 23.9]}]}\n' >>lid.yaml
run 0 2 lid.yaml
said 'blocks of levels 0 to 1: 28 + 32'
keeps_mass lid
run 0 1 box.yaml
plain=$(checksum)
for kernel in sparse reference gathered; do
  run 0 2 box.yaml --set lbm.kernel=$kernel
  said "$kernel/D3Q15/double"
  [ "$(checksum)" = "$plain" ] || complain "another checksum with the kernel $kernel"
done

# ---- From disk: on with the same numbers, not with others under the same name.
half() { # half PROGRAM: 20 steps
  gabion=$work/$1
  run 0 2 box.yaml --set resilience.disk.every=20 --set run.steps=20
  rm -rf half
  mv out half
}
goes_on() { # goes_on CODE PROGRAM: the run in the folder half, to the end
  local code
  rm -rf out
  cp -r half out
  timeout 100 "$GABION_LAUNCH" -n 1 -- "$work/$2" run box.yaml --out out --set resilience.disk.every=20 >said.txt 2>&1
  code=$?
  [ $code = "$1" ] || complain "going on with $2: exit code $code, expected $1: $(cat said.txt)"
}
half own
goes_on 0 own
said 'resuming from step 20'
[ "$(checksum)" = "$plain" ] || complain "another checksum from a state on disk"
goes_on 2 reordered
said 'D3Q15/double/TRT, revision 2, lattice with the numbers'
gabion=$work/own

# ---- Copies: sides of all kinds, a body with interpolated walls, one with fluid around it in sparse blocks, a second level.
cat >all.yaml <<'YAML'
run: {steps: 15}
domain: {cells: [32, 16, 16], block: [8, 8, 8]}
fluid: {omega: 1.4}
boundaries:
  x_min: {type: velocity, velocity: [0.05, 0, 0]}
  x_max: {type: pressure}
  y_min: {type: wall}
  y_max: {type: velocity, velocity: [0.05, 0, 0.01]}
  z_min: {type: free_slip}
  z_max: {type: free_slip}
bodies:
  - {name: ball, type: sphere, centre: [10.2, 8.1, 7.7], radius: 3.3, wall: interpolated}
  - {name: block, type: box, lo: [20, 0, 0], hi: [24, 6, 7], wall: staircase}
initial: {type: uniform, velocity: [0.05, 0, 0]}
refinement: {levels: 1, criteria: [{type: box, lo: [6, 4, 0], hi: [14, 12, 16]}]}
output:
  forces: {every: 5}
  probes: {every: 5, quantities: [wall_shear_stress, vorticity, q_criterion, pressure]}
  points: [{name: a, at: [10.2, 11.9, 8.1]}, {name: b, at: [17, 1.1, 5.3]}]
resilience: {memory: {every: 10}}
YAML
sed 's/\(\[[^],]*, [^],]*\), [^],]*\]/\1]/g; /z_min\|z_max/d' all.yaml >plane.yaml
same_as() { # same_as LATTICE CASE PROCESSES OPTIONS...: on the copy, on so many processes, as on the lattice itself
  local lattice=$1 case=$2 processes=$3 expected
  shift 3
  run 0 1 "$case" --set lbm.lattice="$lattice" "$@"
  [ "$case" != all.yaml ] || said 'blocks of levels 0 to 1'
  expected=$(checksum)
  cp out/forces.csv out/probes.csv .
  run 0 "$processes" "$case" --set lbm.lattice="copy-$lattice" "$@"
  said "/Copy-$(echo "$lattice" | tr '[:lower:]' '[:upper:]')/"
  [ "$(checksum)" = "$expected" ] || complain "$lattice $case $*: another checksum on the copy"
  cmp forces.csv out/forces.csv || complain "$lattice $case $*: other forces on the copy"
  cmp probes.csv out/probes.csv || complain "$lattice $case $*: other quantities on the copy"
}
same_as d3q19 all.yaml 2
usual=$(checksum)
same_as d2q9 plane.yaml 2
for collision in srt power_law; do
  same_as d3q19 all.yaml 1 --set lbm.collision=$collision
  same_as d2q9 plane.yaml 2 --set lbm.collision=$collision
done
same_as d3q27 all.yaml 1
same_as d3q19 all.yaml 1 --set lbm.precision=mixed
same_as d3q19 all.yaml 1 --set boundaries.x_max.type=outflow --set lbm.kernel=sparse
same_as d3q19 all.yaml 1 --set lbm.kernel=gathered
same_as d3q19 all.yaml 1 --set lbm.kernel=reference --set 'fluid.acceleration=[1.0e-5, 0, 2.0e-6]'
# Whether a flow is the same is seen by the last digits: on D3Q15 it is another.
run 0 2 all.yaml --set lbm.lattice=d3q15
[ "$(checksum)" != "$usual" ] || complain "D3Q15 is D3Q19"
one=$(checksum)
run 0 3 all.yaml --set lbm.lattice=d3q15 --inject rank=1,step=13,phase=exchange
[ "$(checksum)" = "$one" ] || complain "D3Q15: another checksum on 3 processes after a death"
finish

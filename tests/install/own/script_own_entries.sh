# SPDX-License-Identifier: Apache-2.0
# A program of one's own adds to what `gabion' has to choose from, against the installed libraries: a boundary condition, a
# collision model with kernels that are there and one that is the function of a cell, quantities, a criterion of refinement, a
# redundancy scheme, a recovery strategy, a balancer, a monitor, a lattice and two families of kernels (own_entries.c); and it has a solver made of the flow and a
# force. Each is listed, chosen by name in a parameter file, accepted by check, and does what it says in a run; a name that does
# not exist is refused with those that there are.
# gabion-test: timeout=300 needs=ulfm,png
. "$GABION_SOURCE/tests/apps/common.sh"
unset GABION_MPI
cmake --install "$GABION_BUILD" --prefix "$work/prefix" >log.txt 2>&1 || { cat log.txt; exit 1; }
export PKG_CONFIG_PATH=$(dirname "$(find "$work/prefix" -name gabion-app.pc)")
export LD_LIBRARY_PATH=$(dirname "$(find "$work/prefix" -name 'libgabion-app.*' | head -n 1)")
GABION_LAUNCH=$work/prefix/bin/gabion-launch
cp "$GABION_SOURCE/tests/install/own/"{own_entries.c,d3q15.h,navier_slip.h,power_law.h,own_kernels.h} "$work"
# shellcheck disable=SC2046 # words on purpose
"$GABION_CC" -std=c11 -Wall -Wextra -Wpedantic -Werror own_entries.c -o own $(pkg-config --cflags --libs gabion-app) -lm || exit 1
gabion=$work/own

cat >box.yaml <<'YAML'
run: {steps: 40, check_every: 5}
domain: {cells: [32, 32], block: [8, 8]}
fluid: {omega: 1.5}
boundaries:
  y_min: {type: wall}
  y_max: {type: velocity, velocity: [0.1, 0]}
resilience: {memory: {every: 10}}
YAML
run 0 1 box.yaml
plain=$(checksum)

# Listed, in help where the parameter says which, and all in info.
helps boundaries.y_min navier_slip
helps bodies ring
helps lbm.collision 'two_groups: '
helps lbm.kernel 'gathered: cells are collected into rows' 'plain: '
helps lbm.lattice 'd3q15: axes and corners'
helps balance.strategy 'lopsided: a quarter of the blocks'
helps refinement.criteria own_curl
for key in output.fields.quantities output.slices.quantity output.probes.quantities; do helps $key 'own_q: Q criterion' 'momentum: rho u'; done
helps output.fields momentum
helps resilience.scheme 'before: a copy at the member before'
helps resilience.strategies 'own_shrink: goes on without the dead'
helps resilience.monitors 'ceiling: ' 'mass: ' 'bounds: '
"$gabion" info >said.txt 2>&1 || complain "info: $(cat said.txt)"
for name in navier_slip ring two_groups power_law own_q momentum own_shear own_curl before own_shrink lopsided ceiling gathered plain D3Q15; do said "$name"; done

# accepted OPTIONS: by check. wrong NAME WORDS...: refused, with this one of the names that there are.
accepted() { check 0 box.yaml "$@"; }
wrong() {
  local name=$1
  shift
  check 2 box.yaml "$@"
  said "$name"
}

# The boundary condition: without slip it is a wall, to the last bit.
sed 's/{type: wall}/{type: navier_slip, length: 4}/' box.yaml >slip.yaml
check 0 slip.yaml
run 0 1 slip.yaml --set boundaries.y_min.length=0
[ "$(checksum)" = "$plain" ] || complain "without slip it is no wall"
run 0 1 slip.yaml
slips=$(checksum)
[ "$slips" != "$plain" ] || complain "it does not slip"
run 0 2 slip.yaml
[ "$(checksum)" = "$slips" ] || complain "it slips in another way on 2 processes"
wrong navier_slip --set boundaries.y_min.type=navier_slid

# The body: with staircase walls what the library's disc is to the last bit, on two levels, inside and out, across a periodic side;
# with interpolated walls the same drag but for rounding. A function that is no distance is refused.
cat >disc.yaml <<'YAML'
run: {steps: 60}
domain: {cells: [64, 32], block: [16, 16], dx: 0.5}
units: {dt: 0.1}
fluid: {omega: 1.4, acceleration: [0.001, 0]}
boundaries:
  y_min: {type: wall}
  y_max: {type: wall}
bodies:
  - {name: round, type: sphere, centre: [0.63, 7.87], radius: 2.71, wall: staircase}
  - {name: second, type: sphere, centre: [16.3, 8.1], radius: 1.93, wall: interpolated}
output: {forces: {every: 10}}
resilience: {memory: {every: 10}}
YAML
sed '/round/s/sphere/ring/' disc.yaml >ring.yaml
check 0 ring.yaml
same_as_disc() { # same_as_disc WHAT OPTIONS
  local what=$1 expected
  shift
  run 0 1 disc.yaml "$@"
  expected=$(checksum)
  run 0 2 ring.yaml "$@"
  [ "$(checksum)" = "$expected" ] || complain "ring: another checksum than the disc of the library: $what"
}
same_as_disc "staircase"
stairs=$(checksum)
[ "$(sed 's/, *$//' out/forces.csv | tail -n 1 | cut -d, -f3)" != 0 ] || complain "no force on it"
printf 'refinement: {levels: 1, criteria: [{type: bodies, distance: 1}]}\n' | tee -a disc.yaml >>ring.yaml
same_as_disc "two levels"
said 'blocks of levels 0 to 1'
[ "$(checksum)" != "$stairs" ] || complain "no second level"
sed -i '/^refinement/d' disc.yaml ring.yaml
sed -i '/second/d; s/radius: 2.71/radius: 7.3/; s/centre: \[0.63/centre: [16.63/; s/staircase/staircase, inside: fluid/' disc.yaml ring.yaml
same_as_disc "fluid inside"
sed -i 's/staircase, inside: fluid/interpolated/; s/7\.3/2.71/' disc.yaml ring.yaml
run 0 1 disc.yaml
cp out/forces.csv forces_of_disc.csv
run 0 1 ring.yaml
paste -d, forces_of_disc.csv out/forces.csv | awk -F, 'NR > 1 { rows++; e = ($3 - $10) / ($3 + 1e-30); if (e > 1e-8 || e < -1e-8 || $3 == 0) wrong++ }
  END { exit !(rows > 4 && wrong <= 1) }' || complain "another drag: $(tail -n 1 forces_of_disc.csv out/forces.csv)"
run 0 3 ring.yaml --inject rank=1,step=33,phase=exchange
one=$(checksum)
run 0 1 ring.yaml
[ "$(checksum)" = "$one" ] || complain "ring: another checksum on 3 processes after a death"
check 2 ring.yaml --set bodies.0.factor=1.5
said 'does not return a distance'
check 0 ring.yaml --set bodies.0.factor=0.5
check 2 ring.yaml --set bodies.0.type=rang
said 'ring'

# A force of its own, cell by cell: on all cells it drives the channel that fluid.acceleration drives; on the lower half another.
cat >driven.yaml <<'YAML'
run: {steps: 400}
domain: {cells: [16, 16], block: [8, 8]}
fluid: {omega: 1.0}
boundaries:
  y_min: {type: wall}
  y_max: {type: wall}
lbm: {kernel: in_place}
drive: {force: 1.0e-5}
output: {integrals: {every: 400}}
resilience: {memory: {every: 50}}
YAML
sed 's/^drive.*//; s/omega: 1.0/omega: 1.0, acceleration: [1.0e-5, 0]/' driven.yaml >usual.yaml
momentum() { awk -F, 'END { print $4 }' out/integrals.csv; }
run 0 1 usual.yaml
usual=$(momentum)
run 0 1 driven.yaml
# (what cells hold is half a step ahead: lbm/step/local_force.h)
awk -v a="$usual" -v b="$(momentum)" 'BEGIN { r = (b - 0.5e-5) / a; exit !(a > 1e-4 && r > 0.999 && r < 1.001) }' ||
  complain "driven: $(momentum), by fluid.acceleration $usual"
run 0 2 driven.yaml --set drive.share=0.5
half=$(checksum)
awk -v a="$usual" -v b="$(momentum)" 'BEGIN { exit !(b / a > 0.45 && b / a < 0.55) }' ||
  complain "driven by half: $(momentum), by all $usual"
run 0 3 driven.yaml --set drive.share=0.5 --inject rank=1,step=333,phase=exchange
said 'rank 1 died'
[ "$(checksum)" = "$half" ] || complain "driven: another checksum after a death"
check 2 driven.yaml --set drive.farce=1
said 'force'

# The collision model: that of MRT with these rates.
run 0 1 box.yaml --set lbm.collision=mrt
mrt=$(checksum)
accepted --set lbm.collision=two_groups
run 0 1 box.yaml --set lbm.collision=two_groups
groups=$(checksum)
[ "$groups" != "$plain" ] && [ "$groups" != "$mrt" ] || complain "two_groups is another model"
wrong two_groups --set lbm.collision=three_groups

# A collision by a function of its own for a cell: a fluid thinned by shear, with k = 0.00274, in a channel of half the height h = 8
# that the force F drives: mean velocity (F/k)^2 h^3 / 4, friction F h on the walls; on one level and on two; the same bits in
# all kernels that there are for it, on all processes and after a death.
cat >thin.yaml <<'YAML'
run: {steps: 12000}
domain: {cells: [16, 16], block: [8, 4]}
fluid: {omega: 1.6, acceleration: [4.6854e-5, 0]}
boundaries:
  y_min: {type: wall}
  y_max: {type: wall}
lbm: {collision: power_law, consistency: 0.00274}
output:
  integrals: {every: 12000}
  probes: {every: 12000, quantities: [wall_shear_stress]}
  points: [{name: low, at: [3.5, 0.1]}, {name: high, at: [3.5, 15.9]}]
resilience: {memory: {every: 50}}
YAML
helps lbm.collision 'power_law: '
thinned() { # thinned WHAT: mean density and velocity, which is 2 % off with so few cells, and friction
  awk -F, -v what="$1" 'END { v = $4 / ((4.6854e-5 / 0.00274) ^ 2 * 8 ^ 3 / 4); if (v < 0.98 || v > 1.02 || $3 < 1 - 1e-12 || $3 > 1 + 1e-12) print what ": mean velocity " v ", density " $3 }' \
    out/integrals.csv >found.txt
  awk -F, -v what="$1" 'END { for (i = 3; i <= 6; i += 3) { r = $i / (4.6854e-5 * 8); if (!(r > 0.999 && r < 1.001)) print what ": friction " r } }' \
    out/probes.csv >>found.txt
  [ ! -s found.txt ] || complain "$(cat found.txt)"
}
check 0 thin.yaml
run 0 1 thin.yaml
thinned "one level"
begun=(--set run.steps=400) # it flows from the first step on: all bits of the cells are other ones by then
run 0 1 thin.yaml "${begun[@]}"
thin=$(checksum)
for kernel in in_place sparse reference; do
  run 0 2 thin.yaml "${begun[@]}" --set lbm.kernel=$kernel
  [ "$(checksum)" = "$thin" ] || complain "power_law: another checksum with the kernel $kernel"
done
run 0 3 thin.yaml "${begun[@]}" --inject rank=1,step=333,phase=exchange
[ "$(checksum)" = "$thin" ] || complain "power_law: another checksum after a death"
run 2 1 thin.yaml --set lbm.kernel=vector
said 'cell by cell'
printf 'refinement: {levels: 1, criteria: [{type: box, lo: [0, 0], hi: [16, 3.9]}, {type: box, lo: [0, 12.1], hi: [16, 16]}]}\n' >>thin.yaml
run 0 1 thin.yaml
said 'blocks of levels 0 to 1'
thinned "two levels"

# Kernels: gathered gives the library's bits in all collisions, with walls, bodies and levels, after a death, and from a state
# of theirs; plain is SRT in other bits, and neither it nor the library goes on from the other's state.
cat >swept.yaml <<'YAML'
run: {steps: 40}
domain: {cells: [64, 32], block: [16, 16]}
fluid: {omega: 1.4, acceleration: [1.0e-5, 0]}
boundaries:
  y_min: {type: wall}
  y_max: {type: wall}
bodies: [{name: disc, type: sphere, centre: [20.2, 15.1], radius: 5.3, wall: interpolated}]
refinement: {levels: 1, criteria: [{type: bodies, distance: 1}]}
YAML
for collision in trt mrt smagorinsky two_groups power_law; do
  run 0 1 swept.yaml --set lbm.collision=$collision
  usual=$(checksum)
  run 0 2 swept.yaml --set lbm.collision=$collision --set lbm.kernel=gathered
  said 'gathered/D2Q9/double'
  [ "$(checksum)" = "$usual" ] || complain "gathered: another checksum than the library's kernels: $collision"
done
run 0 3 box.yaml --set lbm.kernel=gathered --inject rank=1,step=23,phase=exchange
said 'rank 1 died'
[ "$(checksum)" = "$plain" ] || complain "gathered: another checksum after a death"
run 0 1 box.yaml --set lbm.collision=srt
srt=$(checksum)
run 0 2 box.yaml --set lbm.collision=srt --set lbm.kernel=plain
said 'plain/D2Q9/double'
simple=$(checksum)
[ "$simple" != "$srt" ] || complain "plain gives the bits of the library"
run 0 3 box.yaml --set lbm.collision=srt --set lbm.kernel=plain --inject rank=1,step=23,phase=exchange
[ "$(checksum)" = "$simple" ] || complain "plain: another checksum after a death"
run 2 1 box.yaml --set lbm.kernel=plain
said 'it is SRT in double'
"$GABION_CC" -std=c11 -DPLAIN_REVISION=0 own_entries.c -o false_bits $(pkg-config --cflags --libs gabion-app) -lm || exit 1
gabion=$work/false_bits
run 1 1 box.yaml --set lbm.collision=srt --set lbm.kernel=plain # a mistake of the program
said 'the kernel "plain" does not give the bits of the library'
gabion=$work/own
wrong gathered --set lbm.kernel=gathering
# goes_on CODE KERNEL: the run in the folder half, to the end with this kernel.
goes_on() {
  local expected=$1 code
  rm -rf out
  cp -r half out
  timeout 100 "$GABION_LAUNCH" -n 1 -- "$gabion" run box.yaml --out out --set lbm.collision=srt --set resilience.disk.every=20 \
    --set lbm.kernel="$2" >said.txt 2>&1
  code=$?
  [ $code = "$expected" ] || complain "going on with $2: exit code $code, expected $expected: $(cat said.txt)"
}
half() { # half KERNEL
  run 0 2 box.yaml --set lbm.collision=srt --set resilience.disk.every=20 --set run.steps=20 --set lbm.kernel="$1"
  rm -rf half
  mv out half
}
half gathered
goes_on 0 auto
said 'resuming from step 20'
[ "$(checksum)" = "$srt" ] || complain "another checksum from a state of gathered"
goes_on 2 plain
said 'kernel plain revision 1'
half plain
goes_on 0 plain
[ "$(checksum)" = "$simple" ] || complain "plain: another checksum from a state on disk"
goes_on 2 gathered
said 'kernel plain revision 1'

# Quantities: in fields, pictures and probes; own_q is what q_criterion is.
cat >seen.yaml <<'YAML'
run: {steps: 40}
domain: {cells: [32, 32], block: [8, 8], dx: 0.5}
units: {dt: 0.1}
fluid: {omega: 1.5, density: 3}
boundaries:
  y_min: {type: wall}
  y_max: {type: velocity, velocity: [0.4, 0]}
output:
  fields: {quantities: [own_q, momentum]}
  slices: [{quantity: own_q}, {quantity: momentum.x}]
  probes: {every: 10, quantities: [q_criterion, own_q, momentum, density, velocity]}
  points: [{name: a, at: [4.1, 15.9]}, {name: b, at: [9, 15.2]}]
YAML
check 0 seen.yaml
run 0 2 seen.yaml
python3 - out/probes.csv <<'END' || complain "probes: $(head -n 3 out/probes.csv)"
import csv, sys
rows = list(csv.DictReader(open(sys.argv[1])))
assert len(rows) == 5, len(rows)
moved = 0
for row in rows:
    for point in "ab":
        def of(name): return float(row[f"{point}.{name}"])
        assert of("own_q") == of("q_criterion"), row
        assert abs(of("momentum.x") - of("density") * of("velocity.x")) <= 1e-14, row
        moved += of("velocity.x") != 0 and of("momentum.x") != 0
assert moved >= 4, moved
END
ls out/own_q*.png out/momentum*.png >/dev/null || complain "no pictures: $(ls out)"
grep -q 'own_q' out/fields/*.xdmf && grep -q 'momentum' out/fields/*.xdmf || complain "not in the fields"
cp out/probes.csv probes_of_two.csv
run 0 1 seen.yaml
cmp out/probes.csv probes_of_two.csv || complain "other probes on 1 process"
# own_shear is wall_shear_stress to the last bit, where the units are powers of two, on a disc and on a wall; elsewhere neither has one.
sed 's/quantities: \[q_criterion.*/quantities: [wall_shear_stress, own_shear]}/; s/dt: 0.1/dt: 0.125/; s/density: 3/density: 2/
  s/name: b, at: .*}\]/name: b, at: [9, 12.2]}, {name: c, at: [8.1, 10.6]}]/' seen.yaml >sheared.yaml
printf 'bodies: [{name: disc, type: sphere, centre: [8.03, 8.11], radius: 2.21, wall: interpolated}]\n' >>sheared.yaml
run 0 2 sheared.yaml
python3 - out/probes.csv <<'END' || complain "shear: $(head -n 3 out/probes.csv)"
import csv, sys
rows = list(csv.DictReader(open(sys.argv[1])))
assert len(rows) == 5, len(rows)
for axis in "xyz"[:2]:
    for point in "abc":
        pairs = [(row[f"{point}.wall_shear_stress.{axis}"], row[f"{point}.own_shear.{axis}"]) for row in rows]
        assert all(mine == theirs for theirs, mine in pairs), (point, pairs)
        if axis == "x": assert (point == "b") == any(theirs in ("", "nan", "NaN") or float(theirs) == 0 for theirs, _ in pairs[1:]), (point, pairs)
END
sed 's/q_criterion, own_q, /own_r, /' seen.yaml >unseen.yaml
check 2 unseen.yaml
said 'own_q'

# The criterion: with the thresholds of `vorticity' it makes the same grids.
cat >fine.yaml <<'YAML'
run: {steps: 40}
domain: {cells: [32, 32], block: [8, 8], dx: 0.5}
units: {dt: 0.1}
fluid: {omega: 1.5}
boundaries:
  y_min: {type: wall}
  y_max: {type: velocity, velocity: [0.5, 0]}
refinement:
  levels: 1
  every: 10
  criteria: [{type: own_curl, above: 0.1, below: 0.05}]
resilience: {memory: {every: 10}}
YAML
check 0 fine.yaml
run 0 1 fine.yaml
said 'blocks of levels 0 to 1'
fine=$(checksum)
sed 's/own_curl/vorticity/' fine.yaml >usual.yaml
run 0 1 usual.yaml
[ "$(checksum)" = "$fine" ] || complain "own_curl makes other grids than vorticity"
[ "$fine" != "$plain" ] || complain "own_curl makes no grids"
run 0 3 fine.yaml --inject rank=1,step=23,phase=exchange
said 'rank 1 died'
[ "$(checksum)" = "$fine" ] || complain "own_curl: another checksum on 3 processes after a death"
sed 's/own_curl/own_curd/' fine.yaml >coarse.yaml
check 2 coarse.yaml
said 'own_curl'
sed 's/below: 0.05/below: 0.2/' fine.yaml >contrary.yaml
check 2 contrary.yaml
said 'smaller than above'

# The scheme: a copy at the member before is there when 0 and 2 of 4 die together; with pairwise, where they hold each
# other's, the run is lost.
accepted --set resilience.scheme=before
two=(--inject rank=0+2,step=23,phase=exchange)
run 3 4 box.yaml "${two[@]}"
run 0 4 box.yaml --set resilience.scheme=before "${two[@]}"
[ "$(checksum)" = "$plain" ] || complain "scheme before: another checksum"
wrong before --set resilience.scheme=befour

# The strategy.
accepted --set 'resilience.strategies=[own_shrink]'
run 0 3 box.yaml --set 'resilience.strategies=[own_shrink]' --inject rank=1,step=23,phase=exchange
said 'own_shrink: 1 lost'
grep -q 'own_shrink' out/summary.json || complain "summary.json does not name the strategy"
[ "$(checksum)" = "$plain" ] || complain "own_shrink: another checksum"
wrong own_shrink --set 'resilience.strategies=[own_shrunk]'

# The balancer: 12 of 16 blocks on one of two processes.
accepted --set balance.strategy=lopsided
run 0 2 box.yaml
said 'imbalance 1.000'
run 0 2 box.yaml --set balance.strategy=lopsided
said 'imbalance 1.500'
[ "$(checksum)" = "$plain" ] || complain "lopsided: another checksum"
wrong lopsided --set balance.strategy=lopside

# The monitor: silent at 0.1 m/s; at 0.18 m/s all go back once, and it is no chance.
accepted --set 'resilience.monitors=[ceiling, mass]'
run 0 2 box.yaml --set 'resilience.monitors=[ceiling]'
[ "$(checksum)" = "$plain" ] || complain "the monitor changes the result"
run 4 2 box.yaml --set 'resilience.monitors=[ceiling]' --set 'boundaries.y_max.velocity=[0.18, 0]'
said "monitor 'ceiling'"
said 'faster than anything should be'
run 0 2 box.yaml --set 'boundaries.y_max.velocity=[0.18, 0]'
wrong ceiling --set 'resilience.monitors=[ceilings]'
finish

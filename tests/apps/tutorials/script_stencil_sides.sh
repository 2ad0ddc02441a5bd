# SPDX-License-Identifier: Apache-2.0
# gabion-test: timeout=200 needs=ulfm
# Stencils between sides with values, gradients and mirrors: errors against exact solutions are of second order, in 2D
# and 3D, with ghosts beyond edges and corners, and of fourth order with two layers of cells. The checksum is the same
# on 1, 2 and 3 processes, after deaths under shrink and local, and on levels. Invalid sides are refused with their
# place.
. "$GABION_SOURCE/tests/apps/common.sh"
gabion=$GABION_BUILD/tests/apps/helper_sides

preamble() { printf 'run: {steps: 40}\ndomain: {cells: [16, 16], block: [8, 4], length: 1}\nresilience: {memory: {every: 7}}\nrod: {every: 40}\nboundaries:\n'; }
{ preamble; printf '  x_min: {type: value, a: 1, b: 1}\n  x_max: {type: value, a: 3, b: 3}\n'; } >value.yaml
{ preamble; printf '  x_min: {type: gradient, a: -2, b: -2}\n  x_max: {type: gradient, a: 2, b: 2}\n'; } >gradient.yaml
{ preamble; for side in x_min x_max y_min y_max; do printf '  %s: {type: mirrored, odd: [b]}\n' $side; done; } >mirrored.yaml
{ cat mirrored.yaml; for side in z_min z_max; do printf '  %s: {type: mirrored, odd: [b]}\n' $side; done; } >cube.yaml

# errors CASE N STEPS AXES: root mean squares of both fields after that number of steps on N cells along each axis.
errors() {
  local cells="[$2, $2]" block='[8, 4]'
  [ "$4" = 2 ] || { cells="[$2, $2, $2]" block='[8, 4, 8]'; }
  run 0 1 "$1" --set "domain.cells=$cells" --set "domain.block=$block" --set run.steps="$3" --set rod.every="$3"
  awk -F, -v n="$2" -v axes="$4" 'END { printf "%.4e %.4e ", sqrt($3 / n ^ axes), sqrt($4 / n ^ axes) }' out/rod.csv
}
# order CASE AXES ORDER: with half as wide cells.
order() {
  local all
  all="$(errors "$1" 16 "${steps:-40}" "$2")$(errors "$1" 32 $((${steps:-160})) "$2")"
  echo "$1 ${VARIANT:-} in ${2}D: $all" >>orders.txt
  echo "$all" | awk -v order="$3" '{ for (i = 1; i < 3; i++) { p = log($i / $(i + 2)) / log(2); if (!(p > order - 0.2 && p < order + 0.4)) wrong = 1 } }
    END { exit wrong || NR != 1 }' || complain "$1 ${VARIANT:-} in ${2}D: errors $all are not of order $3"
}
SIDES=value order value.yaml 2 2
SIDES=gradient order gradient.yaml 2 2
SIDES=mirrored order mirrored.yaml 2 2
SIDES=mirrored VARIANT=diagonals order mirrored.yaml 2 2
SIDES=mirrored order cube.yaml 3 2
steps=1
SIDES=mirrored VARIANT=deep order mirrored.yaml 2 4
cat orders.txt

# On other numbers of processes, and after deaths.
for case in value gradient mirrored; do
  export SIDES=$case
  run 0 1 $case.yaml
  expected=$(checksum)
  run 0 2 $case.yaml
  [ "$(checksum)" = "$expected" ] || complain "$case: another checksum on 2 processes"
  run 0 3 $case.yaml --inject rank=1,step=23,phase=exchange
  said 'rank 1 died'
  [ "$(checksum)" = "$expected" ] || complain "$case: another checksum after a death"
done
rm -rf out
timeout 100 "$GABION_LAUNCH" -n 3 --spares 1 -- "$gabion" run mirrored.yaml --set 'resilience.strategies=[local, shrink]' \
  --inject rank=1,step=23,phase=exchange --out out >said.txt 2>&1 || complain "local: $(cat said.txt)"
said 'rank 1 died'
[ "$(checksum)" = "$expected" ] || complain "local: another checksum"

# On levels.
sed 's/^rod: .*/rod: {every: 40, refinement: {levels: 1, every: 10, criteria: [{type: value, field: b, above: 0.6}]}}/; s/\[8, 4\]/[4, 4]/; s/\[16, 16\]/[32, 32]/' \
  mirrored.yaml >levels.yaml
export VARIANT=levels
run 0 1 levels.yaml
expected=$(checksum)
grep -Eq '"blocks_of_levels": \[[1-9][0-9]*, [1-9]' out/summary.json || complain "no two levels: $(grep blocks_of out/summary.json)"
awk -F, 'END { exit !(sqrt($3) / 32 < 2e-3 && sqrt($4) / 32 < 2e-3) }' out/rod.csv || complain "levels: errors of $(tail -n 1 out/rod.csv)"
run 0 3 levels.yaml --inject rank=1,step=23,phase=exchange
[ "$(checksum)" = "$expected" ] || complain "levels: another checksum after a death"

unset VARIANT

# Implicit fields have the same sides: heat does not leave between mirrors, which are gradients of 0, but at cold sides.
gabion=$GABION_BUILD/bin/heat_implicit
insulated() { # insulated TYPE
  local side all=()
  for side in x_min x_max y_min y_max; do all+=(--set "boundaries.$side.type=$1"); done
  run 0 2 implicit.yaml "${all[@]}"
  heat=$(awk -F, 'END { print $3 }' out/heat_implicit.csv)
}
printf 'run: {steps: 20}\ndomain: {cells: [64, 64], block: [16, 16]}\nheat_implicit: {k: 0.2, dt: 20, every: 20}\n' >implicit.yaml
insulated periodic
released=$heat
insulated gradient
expected=$(checksum)
insulated mirrored
[ "$(checksum)" = "$expected" ] || complain "implicit: a mirror is not a gradient of 0"
awk -v a="$heat" -v b="$released" 'BEGIN { exit !(b > 1000 && (a / b - 1) ^ 2 < 1e-18) }' || complain "implicit: heat of $heat, released were $released"
insulated value
awk -v a="$heat" -v b="$released" 'BEGIN { exit !(a < 0.99 * b) }' || complain "implicit: no heat leaves at cold sides: $heat of $released"
gabion=$GABION_BUILD/tests/apps/helper_sides
check 2 value.yaml --set boundaries.y_min.type=value
said 'boundaries.y_min: one side along y is periodic, the other one is not'
check 2 value.yaml --set boundaries.z_min.type=value
said 'boundaries.z_min: the grid has 2 dimensions'
check 2 mirrored.yaml --set 'boundaries.x_min.odd=[c]'
said "unknown field 'c'"
check 2 value.yaml --set boundaries.x_min.c=1
said 'boundaries.x_min'
finish

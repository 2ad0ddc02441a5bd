# SPDX-License-Identifier: Apache-2.0
# Quantities of a program's own, against the installed libraries: of an equation (own_stencil.c) and of a phase field
# (own_phase.c). Each is in help and info, is chosen by name for fields, slices and slabs, and has the known values, across
# borders of blocks too, on any number of processes and after a death; a name that does not exist is refused with those that
# there are, and one that is taken does not get into the table.
# gabion-test: timeout=300 needs=ulfm,png
. "$GABION_SOURCE/tests/apps/common.sh"
. "$GABION_SOURCE/tests/apps/phase/phase_common.sh"
unset GABION_MPI
cmake --install "$GABION_BUILD" --prefix "$work/prefix" >log.txt 2>&1 || { cat log.txt; exit 1; }
export PKG_CONFIG_PATH=$(dirname "$(find "$work/prefix" -name gabion-app.pc)")
export LD_LIBRARY_PATH=$(dirname "$(find "$work/prefix" -name 'libgabion-app.*' | head -n 1)")
GABION_LAUNCH=$work/prefix/bin/gabion-launch
# build SOURCE PROGRAM [option]
build() {
  # shellcheck disable=SC2046,SC2086 # words on purpose
  "$GABION_CC" -std=c11 -Wall -Wextra -Wpedantic -Werror ${3:-} "$GABION_SOURCE/tests/install/own/$1" -o "$2" \
    $(pkg-config --cflags --libs gabion-app) -lm || exit 1
}
build own_stencil.c stencil
build own_stencil.c taken -DNAME='"u"'
build own_stencil.c wordy -DNAME='"two_words!"'
build own_phase.c phase

# listed TEXT...: in help of what fields and slices may be, and by name in info.
listed() {
  local text
  helps output.fields.quantities "$@"
  helps output.slices.quantity "$@"
  "$gabion" info >said.txt 2>&1 || complain "info: $(cat said.txt)"
  for text in "$@"; do said "${text%%:*}"; done
}

# ---- An equation.
gabion=$work/stencil
cat >pattern.yaml <<'YAML'
run: {steps: 5}
domain: {cells: [32, 24], block: [8, 8]}
resilience: {memory: {every: 2}}
pattern: {factor: 1}
output:
  fields: {every: 5, quantities: [steepness, slope, u], precision: double, compression: 0}
  slices: [{quantity: steepness, every: 5}, {quantity: slope.y, every: 5}]
YAML
listed 'steepness: length of the gradient' 'slope: the gradient' u
check 0 pattern.yaml
# known STEP: all values of all blocks are in the file of this step, as they have to be.
known() {
  python3 - "$1" out/fields/fields_000000000"$1".s*.h5 <<'END' || complain "fields of step $1: $(ls out/fields)"
import math, struct, sys
step, found = int(sys.argv[1]), b"".join(open(f, "rb").read() for f in sys.argv[2:])
nx, ny = 32, 24
def u(x, y):
    x, y = (x - step) % nx, y % ny
    return float((3 * x * x + 5 * x * y + 7 * y) % 97)
def slope(x, y): return ((u(x + 1, y) - u(x - 1, y)) / 2, (u(x, y + 1) - u(x, y - 1)) / 2)
def has(values): return struct.pack("<%dd" % len(values), *values) in found
for by in range(0, ny, 8):
    for bx in range(0, nx, 8):
        cells = [(x, y) for y in range(by, by + 8) for x in range(bx, bx + 8)]
        slopes = [slope(x, y) for x, y in cells]
        assert has([u(x, y) for x, y in cells]), "u"
        assert has([math.sqrt(a * a + b * b) for a, b in slopes]), "steepness"
        assert has([v for a, b in slopes for v in (a, b, 0.0)]), "slope"
        assert not has([math.sqrt(a * a + b * b) + 1 for a, b in slopes]), "anything"
END
}
run 0 1 pattern.yaml
known 0
known 5
plain=$(checksum)
mkdir one
cp out/*.png one
[ "$(find one -name '*.png' | wc -l)" = 4 ] || complain "pictures: $(ls out)"
run 0 3 pattern.yaml --inject rank=1,step=3,phase=compute
said 'rank 1 died'
known 5
[ "$(checksum)" = "$plain" ] || complain "another checksum after a death"
for picture in one/*.png; do cmp -s "$picture" "out/${picture#one/}" || complain "another picture: $picture"; done
sed '/^output/,$d' pattern.yaml >unseen.yaml
run 0 1 unseen.yaml
[ "$(checksum)" = "$plain" ] || complain "looking changes the result"
check 2 pattern.yaml --set 'output.fields.quantities=[steepnes]'
said 'known are: u, steepness, slope'
check 2 pattern.yaml --set output.slices.0.quantity=steep
said 'known are: u, steepness, slope'
check 2 pattern.yaml --set output.slices.0.quantity=steepness.x
said 'steepness has no component'
for bad in taken wordy; do
  "$work/$bad" info >said.txt 2>&1 && complain "$bad: is not refused"
done
said 'two_words!'
"$work/taken" info >said.txt 2>&1
said "there is already a quantity 'u'"
# With levels: the grid has some, and pictures are the same on two processes.
cat >wide.yaml <<'YAML'
run: {steps: 3}
domain: {cells: [64, 64], block: [8, 8]}
pattern: {edge: 24, refinement: {levels: 1, every: 10, criteria: [{type: value, field: u, above: 81, below: 1}]}}
output: {slices: [{quantity: steepness, every: 3}]}
YAML
run 0 1 wide.yaml
grep -Eq '"blocks_of_levels": \[[1-9][0-9]*, [1-9]' out/summary.json || complain "no two levels: $(grep blocks_of out/summary.json)"
cp out/steepness*3.png wide.png
run 0 2 wide.yaml
cmp -s out/steepness*3.png wide.png || complain "levels: another picture on 2 processes"

# ---- A phase field.
gabion=$work/phase
cat grow.yaml >seen.yaml
cat >>seen.yaml <<'YAML'
output:
  fields: {every: 100, quantities: [fixed], precision: double, compression: 0}
  slices: [{quantity: steepness, every: 120}]
  slabs: {quantities: [steepness, fixed]}
YAML
listed 'fixed: what is no melt' 'steepness: length of the gradient of the melt' 'phi_NAME: '
helps output.slabs.quantities 'steepness: '
check 0 seen.yaml
run 0 1 seen.yaml
plain=$(checksum)
cp out/fields/fields_0000000100.s0000.h5 fixed.h5
cp out/steepness*240.png steepness.png
ls out/slabs/slab_*.h5 >/dev/null || complain "no slabs: $(ls out)"
grep -q steepness out/slabs/slab_*.h5 || complain "slabs without steepness"
run 0 3 seen.yaml --inject rank=1,step=130,phase=exchange
said 'rank 1 died'
[ "$(checksum)" = "$plain" ] || complain "phase field: another checksum after a death"
cmp -s out/steepness*240.png steepness.png || complain "phase field: another picture after a death"
run 0 1 seen.yaml --set 'output.fields.quantities=[solid]' --set 'output.slices.0.quantity=phase' --set 'output.slabs.quantities=[phase]'
[ "$(checksum)" = "$plain" ] || complain "phase field: looking changes the result"
# The name, and the checksum of the part of the file where it stands, and nothing else.
cmp -l out/fields/fields_0000000100.s0000.h5 fixed.h5 |
  awk 'NR == 1 { first = $1 } { last = $1 } END { exit !(NR >= 4 && NR <= 9 && last - first < 128) }' ||
  complain "fixed is not what solid is: $(cmp -l out/fields/fields_0000000100.s0000.h5 fixed.h5 | head -n 20)"
check 2 seen.yaml --set 'output.fields.quantities=[fixd]'
said 'steepness'
check 2 seen.yaml --set output.slices.0.quantity=steep
said 'fixed, steepness'
check 2 seen.yaml --set 'output.slabs.quantities=[steep]'
said 'fixed, steepness'
finish

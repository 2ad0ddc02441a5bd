# SPDX-License-Identifier: Apache-2.0
# gabion-test: timeout=300
# `gabion check` refuses all cases that `gabion run` refuses, with the same message, and a refused run leaves no
# folder.
. "$GABION_SOURCE/tests/apps/common.sh"
. "$GABION_SOURCE/tests/apps/phase/phase_common.sh"

errors() { sed -n '/error: /,$p' said.txt | sed -e 's/.*error: //' -e '/^gabion-launch/d' -e '/^\[warn\] Epoll/d'; } # of mpirun, as it ends

# both CASE WORDS [options]: refused by both, in the same words, which are said.
both() {
  local case=$1 words=$2 checked
  shift 2
  check 2 "$case" "$@"
  said "$words"
  checked=$(errors)
  refused 2 "$case" "$@"
  [ "$(errors)" = "$checked" ] || complain "$case $*
check: $checked
run: $(errors)"
}

# ---- names
both good.yaml "output.slices=[{name: ../escape}]: output.slices.0.name: '../escape' is not a valid file name" --set 'output.slices=[{name: ../escape}]'
[ ! -e escape_0000000020.png ] || complain 'a picture outside of the folder'
for name in a/b .hidden -rf '"a b"' '"tab\there"' "\"caf\\u00e9\"" '""' "$(printf 'x%.0s' $(seq 61))"; do
  both good.yaml 'output.slices.0.name' --set "output.slices=[{name: $name}]"
done
cat >slices.yaml <<'YAML'
run: {steps: 4}
domain: {cells: [32, 16], block: [8, 8]}
fluid: {omega: 1.5}
output:
  slices:
    - {name: one, quantity: speed}
    - {quantity: density}
YAML
with() { # with WHERE WORDS SED_EXPRESSION: the changed file
  sed -e "$3" slices.yaml >bad.yaml
  cmp -s slices.yaml bad.yaml && complain "$3 changes nothing"
  both bad.yaml "bad.yaml:$1: $2"
}
with 7:14 "two of output.slices have the name 'one', the first in line 6" 's/{quantity: density/{name: one, quantity: density/'
with 7:7 "output.slices.1: the files would be those of another slice, which is called 'density' as well" '6s/one/density/'
with 6:14 "output.slices.0.name: 'diverged' is the name of pictures of a run that diverged" 's/name: one/name: diverged/'
with 6:14 'output.slices.0.name: NAME_lost is the name of pictures after a death' 's/name: one/name: speed_lost/'
with 6:7 'output.slices.0: slice of speed: the range [2, 1] is empty' 's/quantity: speed/quantity: speed, range: [2, 1]/'
probes='output.probes={every: 2, quantities: [density]}'
both good.yaml "two of output.points have the name 'p'" --set "$probes" --set 'output.points=[{name: p, at: [1, 1]}, {name: p, at: [2, 2]}]'
both good.yaml "probes.csv would have the column 'p0.density' twice" --set "$probes" \
  --set 'output.points=[{name: p0, at: [1, 1]}]' --set 'output.lines=[{name: p, from: [1, 1], to: [2, 2], count: 2}]'
both good.yaml 'is not a valid column name' --set "$probes" --set 'output.points=[{name: "a,b", at: [1, 1]}]'
both good.yaml 'is not a valid column name' --set "$probes" --set 'output.lines=[{name: "a\nb", from: [1, 1], to: [2, 2], count: 2}]'
both good.yaml 'more than 1000000 points' --set "$probes" \
  --set "output.lines=[$(for i in $(seq 11); do printf '{name: p%d_, from: [1, 1], to: [2, 2], count: 100000}, ' "$i"; done)]"
both good.yaml "two of bodies have the name 'b'" --set \
  'bodies=[{type: sphere, name: b, centre: [4, 4], radius: 2}, {type: sphere, name: b, centre: [20, 8], radius: 2}]'
both good.yaml 'bodies.0.name' --set 'bodies=[{type: sphere, name: "b;c", centre: [4, 4], radius: 2}]'
both good.yaml "quantities has 'density' twice" --set 'output.fields.quantities=[density, density]'
cp good.yaml ...yaml # would have gone to out/..
check 0 ...yaml
mkdir inside && (cd inside && "$GABION_LAUNCH" -n 1 -- "$gabion" run ../...yaml --set run.steps=1 >../said.txt 2>&1) || complain "it said: $(cat said.txt)"
[ -s inside/out/...yaml/summary.json ] || complain "results of ...yaml are not in out/...yaml: $(find inside -name summary.json)"

# ---- the grid
both good.yaml 'all cells are solid' --set 'bodies=[{type: box, lo: [-1, -1], hi: [40, 20]}]'
both good.yaml 'is too large: make blocks smaller' --set 'domain.cells=[100000, 100000]' --set 'domain.block=[100000, 100000]'

# ---- failure domains
printf '\001\377\376 \002\n' >noise
printf 'nodeA: 0\n\0nodeB: 1\n' >zero
printf 'nodeA: 0-1\nnodeB: 1\n' >doubled
printf 'nodeA: 0\nnodeB: 2\n' >gap
printf 'nodeA: 0-99\n' >many
printf 'nodeA: 0-2000000000\n' >huge
: >empty
mkdir folder
domains() { # domains FILE WORDS
  check 2 good.yaml --set "resilience.domains=$1"
  said "--set resilience.domains=$1: resilience.domains: $1"
  said "$2"
  refused 2 good.yaml --set "resilience.domains=$1"
  said_once "--set resilience.domains=$1: resilience.domains: $1"
}
domains missing 'No such file'
domains folder 'it is a folder, not a file'
domains noise 'are not ranks; expected e.g.'
domains zero 'not a text file'
domains doubled 'was placed in nodeA before'
domains gap 'has no place in it'
domains many 'many'
domains huge 'rank'
domains empty 'empty'
printf 'nodeA: 0\nnodeB: 1' >two # without a newline at the end
check 0 good.yaml --set resilience.domains=two
run 0 2 good.yaml --set resilience.domains=two

# ---- fault injections: with another -n it may be right; if there is none, that is a warning
check 0 good.yaml --inject rank=3,step=5
not_said 'warning: --inject'
check 0 good.yaml --inject rank=70,step=5
said 'warning: --inject rank=70,step=5: a fault injection names rank 70'
refused 2 good.yaml --inject rank=70,step=5
said_once '--inject rank=70,step=5: a fault injection names rank 70: ranks are 0 to 1'
check 0 good.yaml --set 'faults=[{ranks: [9], step: 5}]'
said 'faults.0: a fault injection names rank 9'
both good.yaml 'has rank 1 twice' --set 'faults=[{ranks: [1, 1], step: 5}]'

# ---- a phase field
check 0 grow.yaml
both grow.yaml 'is not a valid file name' --set 'output.slices=[{name: ../escape}]'
both grow.yaml 'the range [2, 1] is empty' --set 'output.slices=[{range: [2, 1]}]'
both grow.yaml 'velosity' --set 'output.fields.quantities=[velosity]'
both grow.yaml 'resilience.domains: missing' --set 'resilience.domains=missing'
both grow.yaml "front.csv would have the column 'front' twice" --set phasefield.phases.0.name=front
finish

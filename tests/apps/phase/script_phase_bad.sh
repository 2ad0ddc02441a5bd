# SPDX-License-Identifier: Apache-2.0
# gabion-test: timeout=200 labels=quick
# Invalid phase fields are refused with file, line and column of the error, and with the numbers.
. "$GABION_SOURCE/tests/apps/common.sh"
. "$GABION_SOURCE/tests/apps/phase/phase_common.sh"

check 0 grow.yaml

# placed SED_EXPRESSION LINE:COLUMN TEXT: the file changed by the expression is refused at that place with that text.
placed() {
  sed "$1" grow.yaml >bad.yaml
  cmp -s grow.yaml bad.yaml && complain "$1 changes nothing"
  check 2 bad.yaml
  said "bad.yaml:$2"
  said "$3"
}
line() { grep -n -- "$1" grow.yaml | head -1 | cut -d: -f1; }
initial=$(line 'initial:') phases=$(line 'phases:') melt=$(line 'name: melt') alpha=$(line 'name: alpha')
temperature=$(line 'temperature: {') window=$(line 'window:') dt=$(line 'dt:') epsilon=$(line 'epsilon:') gamma=$(line '  gamma: 1')

placed 's/shares: \[0.3, 0.3, 0.4\]/shares: [0.3, 0.3, 0.3]/' "$initial:" 'the shares of the solids have the sum 0.9, not 1'
placed 's/shares: \[0.3, 0.3, 0.4\]/shares: [0.5, 0.5]/' "$initial:" '2 shares for 3 solids'
placed 's/curvature: \[1, 0.5, 0.5, 1\]/curvature: [1, 2, 2, 1]/' "$melt:" \
  'phase melt: Xi is not positive definite: its leading minor of order 2 is -3'
placed 's/curvature: \[1, 0.5, 0.5, 1\]/curvature: [1, 0.5, 0.4, 1]/' "$melt:" 'Xi is not symmetric'
placed 's/curvature: \[1, 0.5, 0.5, 1\]/curvature: [1, 0.5, 1]/' "$melt:" 'has 3 numbers, it needs 4'
placed 's/, curvature: \[1, 0.5, 0.5, 1\]//' "$melt:" 'melt has neither a curvature nor slopes'
placed 's/slopes: \[0.45, 0\]/slopes: [-0.45, 0]/' "$alpha:" 'must be negative for a solid below its liquidus'
placed 's/name: beta/name: alpha/' "$((phases + 1)):" "two phases are called \`alpha'"
placed 's/diffusivity: 1}/diffusivity: -1}/' "$melt:" 'diffusivity'
placed 's/  dt: 0.5/  dt: 0.6/' "$dt:" 'is not stable: it must be at most 0.55'
placed 's/  epsilon: 8/  epsilon: 5/; s/dt: 0.5/dt: 0.2/' "$epsilon:" 'which is too few: epsilon must be at least 2 dx = 6'
placed 's/  gamma: 1/  gamma: 0/' "$gamma:" 'gamma'
placed 's/  gamma: 1/  gamma: 1\n  anisotropy: 0.07/' "$((gamma + 1)):" 'anisotropy'
placed 's/  gamma: 1/  gamma: 1\n  pairs: [{phases: [alpha, delta], gamma: 2}]/' "$((gamma + 1)):" \
  "unknown phase \`delta'; known are alpha, beta, gamma, melt"
placed 's/  gamma: 1/  gamma: 1\n  pairs: [{phases: [alpha, alpha], gamma: 2}]/' "$((gamma + 1)):" \
  'alpha has no interface with itself'
placed 's/  gamma: 1/  gamma: 1\n  noise: {amplitude: -1}/' "$((gamma + 1)):" 'amplitude'
placed 's/type: voronoi, height: 14/type: voronoi, solids: [alpha, beta, delta], height: 14/' "$initial:" \
  "unknown phase \`delta'; known are alpha, beta, gamma, melt"
placed 's/height: 14/height: 40/' "$initial:" 'the solid cannot reach up to 40 of 36 cells'
placed 's/seeds: 5/seeds: 2/' "$initial:" '2 seeds for 3 solids'
placed 's/type: voronoi/type: columns/' "$initial:" 'voronoi'
placed 's/window: {row: 16/window: {row: 36/' "$window:" 'is outside the domain, which has 36 rows'
placed 's/{value: 0.8, gradient/{valeu: 0.8, gradient/' "$temperature:" "did you mean"

# ---- a state from files
cat >>grow.yaml <<'YAML'
output:
  fields: {every: 240, quantities: [phi_alpha, phi_beta, phi_gamma, phi_melt, c_1, c_2], precision: double}
YAML
run 0 2 grow.yaml
sed -e 's/initial: {.*/initial: {type: file, path: out\/fields\/fields_0000000240}/' -e 's/steps: 240/steps: 4/' -e '/^output/,$d' \
  grow.yaml >again.yaml
check 0 again.yaml
mv out first
sed -i 's/out.fields/first\/fields/' again.yaml
run 0 3 again.yaml
grep -q '"exit_code": 0' out/summary.json || complain "no run from files"
# The content of all of these files is part of the case.
run 0 2 again.yaml --set resilience.disk.every=2
cp first/fields/fields_0000000240.s0001.h5 kept.h5
python3 - first/fields/fields_0000000240.s0001.h5 <<'PY'
import sys
data = bytearray(open(sys.argv[1], "rb").read())
at = len(data) // 2
data[at] ^= 1  # in the values of a field
open(sys.argv[1], "wb").write(data)
PY
"$gabion" run again.yaml --set run.steps=6 --set resilience.disk.every=2 --out out >said.txt 2>&1
[ $? = 2 ] || complain "a changed initial state is taken for the one before: $(cat said.txt)"
said 'phasefield.initial.path: content '
said 'phasefield.initial.path: the file is first/fields/fields_0000000240'
mv kept.h5 first/fields/fields_0000000240.s0001.h5
"$gabion" run again.yaml --set run.steps=6 --set resilience.disk.every=2 --out out >said.txt 2>&1 ||
  complain "the initial state as before: $(cat said.txt)"
path=$(grep -n 'type: file' again.yaml | cut -d: -f1)
again() { # again SED_EXPRESSION TEXT
  sed "$1" again.yaml >bad.yaml
  check 2 bad.yaml
  said "bad.yaml:$path:"
  said "$2"
}
again 's/0000000240/0000000241/' 'no files'
again 's/cells: \[24, 36\]/cells: [24, 72]/' 'has 24 x 36 x 1 cells, the domain 24 x 72 x 1'
again 's/name: beta/name: other/' 'has no phi_other, only c_1, c_2, phi_alpha'
for file in first/fields/*.s0001.h5; do head -c 900 "$file" >cut && mv cut "$file"; done
again '' 'cannot be read as HDF5'
finish

# SPDX-License-Identifier: Apache-2.0
# gabion-test: timeout=200 labels=quick needs=png
# A phase field with a moving window gives the same state, series, pictures and slabs for any number of processes;
# invalid cases are refused with the place in the file; a run that diverges leaves its state for inspection.
. "$GABION_SOURCE/tests/apps/common.sh"
. "$GABION_SOURCE/tests/apps/phase/phase_common.sh"

cat >>grow.yaml <<'YAML'
output:
  slices:
    - {quantity: phase, every: 120}
  fields: {every: 120, quantities: [phase, mu_1, c_2, phi_alpha]}
  slabs: {quantities: [phase, c_1], precision: double}
  profile: {every: 60}
YAML
run 0 1 grow.yaml
expected=$(checksum)
[ "$(value out/front.csv shift)" -ge 4 ] || complain "the window has not moved: $(tail -1 out/front.csv)"
cp -r out whole
# A run that does not come far leaves nothing of an older one in the same folder.
cp -r out kept
"$GABION_LAUNCH" -n 1 -- "$gabion" run grow.yaml --out kept --fresh --set run.steps=10 >said.txt 2>&1 || complain "again: $(cat said.txt)"
ls kept/slabs/slab_* >/dev/null 2>&1 && complain "slabs of the older run are still there: $(ls kept/slabs)"
run 0 3 grow.yaml --set balance.strategy=morton --set balance.work=measured --set balance.every=15 --set balance.above=1.0
[ "$(checksum)" = "$expected" ] || complain "three processes: another checksum"
for what in front.csv profile.csv phase_0000000240.png slabs; do
  diff -rq whole/$what out/$what || complain "three processes: another $what"
done
# Rows of the profile are counted through: the fractions of a row sum up to one, and it is named as in the slabs.
awk -F, 'NR > 1 && (($6 + $7 + $8 + $9 - 1)^2 > 1e-20 || $4 != 3 * $3 + 1.5) { exit 1 }' out/profile.csv ||
  complain "profile.csv: $(head -3 out/profile.csv)"
[ "$(awk -F, '$1 == 240 { if (!n++) first = $3; last = $3 } END { print first, last, n }' out/profile.csv)" = \
  "$(value out/front.csv shift | awk '{ print $1, $1 + 35, 36 }')" ] || complain "profile.csv: $(tail -1 out/profile.csv)"
# One row of lamellae is all there is, so the spacings are those of it: no more solids than cells.
awk -v width="$(value out/front.csv width)" -v spacing="$(value out/front.csv spacing_beta)" \
    'BEGIN { exit !(width >= 3 && width <= 72 && spacing >= width) }' || complain "spacing: $(tail -1 out/front.csv)"

# ---- the last state, which no schedule writes: of fields and of each slice as their key `final` says
sed '/^output:/,$d; s/steps: 240/steps: 30/' grow.yaml >last.yaml
cat >>last.yaml <<'YAML'
output:
  slices:
    - {quantity: phase, every: 20, final: false}
    - {quantity: solid, every: 20}
  fields: {every: 20, quantities: [phase], final: false}
YAML
written() { # written STEP FILES: of that step
  local found
  found=$(cd out && ls -d ./*_00000000"$1"[._]* fields/*_00000000"$1"[._]* 2>/dev/null | sed 's|^\./||' | tr '\n' ' ')
  [ "$found" = "${2:+$2 }" ] || complain "of step $1 there is $found instead of $2"
}
of_fields() { echo "fields/fields_00000000$1.s0000.h5 fields/fields_00000000$1.xdmf"; }
run 0 1 last.yaml
written 20 "phase_0000000020.png solid_0000000020.png $(of_fields 20)"
written 30 solid_0000000030.png
run 0 1 last.yaml --set output.fields.final=true --set output.slices.1.final=false
written 30 "$(of_fields 30)"
run 0 1 last.yaml --set output.fields.final=true
written 30 "solid_0000000030.png $(of_fields 30)"
run 0 1 last.yaml --set output.slices.1.final=false
written 30 ''

# ---- a run that diverges
sed 's/alpha, composition/alpha, diffusivity: 0.9, composition/; s/temperature: {.*/temperature: {value: 0.8, gradient: -1.0e6}/' \
  grow.yaml >wild.yaml
run 4 1 wild.yaml
said_once 'error: diverged'
said 'cell ('
for file in fields/diverged.xdmf front.csv summary.json; do [ -s out/$file ] || complain "diverged: no $file"; done
ls out/diverged_*.png >/dev/null || complain "diverged: no picture"
grep -q '"exit_code": 4' out/summary.json || complain "summary.json does not say so"

# ---- invalid cases
check 0 grow.yaml
said 'all phases are in equilibrium at T = 1, mu = (1, 1)'
wrong() { # wrong WHAT_IT_SAYS SETTING...
  local text=$1 settings=() setting
  shift
  for setting in "$@"; do settings+=(--set "$setting"); done
  check 2 grow.yaml "${settings[@]}"
  said "$text"
}
wrong 'the sum 0.9, not 1' 'phasefield.initial.shares=[0.3, 0.3, 0.3]'
wrong 'Xi is not positive definite: its leading minor of order 2 is -3' 'phasefield.phases.3.curvature=[1, 2, 2, 1]'
wrong 'is not stable: it must be at most 0.55' phasefield.dt=1.5
wrong 'grow.yaml:' phasefield.epsilon=2
wrong "unknown phase \`delta'; known are alpha, beta, gamma, melt" 'phasefield.initial.solids=[alpha, beta, delta]'
wrong 'is outside the domain, which has 36 rows' phasefield.window.row=36
wrong 'belongs to a flow' fluid.viscosity=1
wrong 'belongs to a flow' 'output.points=[{name: a, at: [1, 1]}]'
wrong 'is more than the domain has: 36' phasefield.window.rows=37
wrong 'has 3 numbers, it needs 4' 'phasefield.phases.3.curvature=[1, 0, 1]'
wrong 'm . (c_melt - c_solid) must be negative' 'phasefield.phases.0.slopes=[-0.45, 0]'
sed 's/, diffusivity: 1//' grow.yaml >still.yaml
check 2 still.yaml
said 'has no diffusivity'
sed '/temperature: {/d' grow.yaml >cold.yaml
check 2 cold.yaml
said 'phasefield.temperature is missing'
run 2 1 good.yaml --set output.slabs.precision=float
said 'belongs to a phase field'
for case in "$GABION_SOURCE"/apps/cases/phasefield/*.yaml; do
  check 0 "$case"
  "$gabion" info "$case" >said.txt 2>&1 || complain "info $case: $(cat said.txt)"
  said ' recommended'
done
"$gabion" plan grow.yaml >said.txt 2>&1 || complain "plan: $(cat said.txt)"
said 'phases and two snapshots'
finish

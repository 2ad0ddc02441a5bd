# gabion-test: timeout=200 labels=quick
# A phase field with a moving window gives the same state, series and pictures for any number of processes, and
# after processes have died in the middle of it; what cannot be is refused with its place in the file.
. "$GABION_SOURCE/tests/apps/common.sh"

cat >grow.yaml <<'YAML'
run: {steps: 240, check_every: 50}
domain: {cells: [24, 36], block: [12, 6], dx: 3}
phasefield:
  epsilon: 8
  dt: 0.5
  interpolation: cubic
  components: [A, B, C]
  eutectic_temperature: 1
  gamma: 1
  series_every: 20
  phases:
    - {name: alpha, composition: [0.70691, 0.146545], slopes: [0.45, 0]}
    - {name: beta, composition: [0.146545, 0.70691], slopes: [0, 0.45]}
    - {name: gamma, composition: [0.146545, 0.146545], slopes: [-0.45, -0.45]}
    - {name: melt, composition: [0.3333333333, 0.3333333333], curvature: [1, 0.5, 0.5, 1], diffusivity: 1}
  temperature: {value: 0.8, gradient: 1.0e-4, velocity: 0.1}
  initial: {type: voronoi, height: 14, seeds: 5, shares: [0.3, 0.3, 0.4]}
  window: {row: 16, every: 10}
resilience: {memory: {every: 40}}
output:
  slices:
    - {quantity: phase, every: 120}
  fields: {every: 120, quantities: [phase, mu_1, c_2, phi_alpha]}
YAML
checksum() { sed -n 's/.*"checksum": "\([0-9a-f]*\)".*/\1/p' out/summary.json; }
equal() { # equal WHAT
  [ "$(checksum)" = "$expected" ] || complain "$1: another checksum"
  for file in front.csv phase_0000000240.png; do
    cmp -s whole/$file out/$file || complain "$1: another $file"
  done
}
run 0 1 grow.yaml
expected=$(checksum)
[ -n "$expected" ] || complain "no checksum"
[ "$(awk -F, 'END { print ($7 >= 3) }' out/front.csv)" = 1 ] || complain "the window has not moved: $(tail -1 out/front.csv)"
cp -r out whole
run 0 3 grow.yaml --set balance.strategy=morton
equal 'three processes'
if [ -n "${GABION_TEST_ULFM:-}" ]; then
  for drill in slot=1,step=100,phase=exchange slot=0,step=61,phase=compute slot=1+0,step=130,phase=output; do
    run 0 5 grow.yaml --inject $drill
    equal "$drill"
    said 'survived: slot'
  done
fi

# ---- what cannot be
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
wrong 'is not stable: it has to be at most 0.83' phasefield.dt=1.5
wrong 'grow.yaml:' phasefield.epsilon=2
wrong "there is no phase \`delta', only alpha, beta, gamma, melt" 'phasefield.initial.solids=[alpha, beta, delta]'
wrong 'is outside the domain, which has 36 rows' phasefield.window.row=36
wrong 'belongs to a flow' fluid.viscosity=1
wrong 'has 3 numbers, it needs 4' 'phasefield.phases.3.curvature=[1, 0, 1]'
wrong 'm . (c_melt - c_solid) has to be negative' 'phasefield.phases.0.slopes=[-0.45, 0]'
sed 's/, diffusivity: 1//' grow.yaml >still.yaml
check 2 still.yaml
said 'has no diffusivity'
sed '/temperature: {/d' grow.yaml >cold.yaml
check 2 cold.yaml
said 'phasefield.temperature is missing'
for case in "$GABION_SOURCE"/apps/phasefield/*.yaml; do check 0 "$case"; done
finish

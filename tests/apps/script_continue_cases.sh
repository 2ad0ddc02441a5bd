# gabion-test: timeout=300 labels=quick
# A phase field with a moving window, and a flow on a grid that adapts, go on from disk on 1, 3 and 7 processes with the
# state and the series of a run that was never interrupted.
. "$GABION_SOURCE/tests/apps/common.sh"

cat >grow.yaml <<'YAML'
run: {steps: 160, check_every: 50}
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
  slabs: {quantities: [phase]}
YAML
cat >deep.yaml <<'YAML'
run: {steps: 14, check_every: 4}
domain: {cells: [16, 12, 12], block: [4, 4, 4]}
refinement:
  levels: 2
  every: 3
  criteria:
    - {type: bodies, level: 1}
    - {type: vorticity, level: 2, above: 0.045, below: 0.042}
    - {type: vorticity, level: 1, above: 0.02, below: 0.018}
fluid: {omega: 1.7}
boundaries:
  x_min: {type: velocity, velocity: [0.06, 0, 0], ramp_time: 6}
  x_max: {type: outflow}
  y_min: {type: free_slip}
  y_max: {type: free_slip}
  z_min: {type: wall}
  z_max: {type: wall}
bodies:
  - {name: ball, type: sphere, centre: [6, 6.5, 5.5], radius: 2}
initial: {velocity: [0.04, 0, 0]}
resilience: {memory: {every: 5}}
output:
  forces: {every: 2}
YAML
checksum() { sed -n 's/.*"checksum": "\([0-9a-f]*\)".*/\1/p' "$1/summary.json" 2>/dev/null; }

# goes_on CASE STEPS EVERY FILE...: on four processes so many steps, then the rest on others
goes_on() {
  local case=$1 steps=$2 every=$3 processes file
  shift 3
  run 0 2 $case.yaml
  rm -rf whole half
  mv out whole
  run 0 4 $case.yaml --set run.steps=$steps --set resilience.disk.every=$every
  mv out half
  for processes in 1 3 7; do
    cp -r half out
    timeout 100 "$GABION_LAUNCH" -n $processes -- "$gabion" run $case.yaml --out out >said.txt 2>&1 ||
      complain "$case on $processes: exit code $?, it said: $(cat said.txt)"
    said "going on from step $steps, a checkpoint on disk of 4 processes"
    [ "$(checksum out)" = "$(checksum whole)" ] || complain "$case: another checksum on $processes processes"
    for file; do cmp -s whole/$file out/$file || complain "$case: another $file on $processes processes"; done
    rm -rf out
  done
}
goes_on grow 90 45 front.csv
[ "$(ls whole/slabs | wc -l)" -gt 0 ] || complain 'the window has not moved'
goes_on deep 8 4 forces.csv
finish

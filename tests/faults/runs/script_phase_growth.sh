# SPDX-License-Identifier: Apache-2.0
# gabion-test: timeout=1500 labels=long needs=ulfm
# Growth of a ternary eutectic in 3D over many shifts of the window: processes die one after another, then four
# neighbours at once like a node. State, series and the solid that left the window are those of the undisturbed run.
. "$GABION_SOURCE/tests/apps/common.sh"

cat >grow.yaml <<'YAML'
run: {steps: 1600, check_every: 200}
domain: {cells: [64, 64, 96], block: [16, 16, 16], dx: 3}
phasefield:
  epsilon: 8
  dt: 0.36
  interpolation: cubic
  components: [A, B, C]
  eutectic_temperature: 1
  gamma: 1
  phases:
    - {name: alpha, composition: [0.70691, 0.146545], slopes: [0.45, 0]}
    - {name: beta, composition: [0.146545, 0.70691], slopes: [0, 0.45]}
    - {name: gamma, composition: [0.146545, 0.146545], slopes: [-0.45, -0.45]}
    - {name: melt, composition: [0.3333333333, 0.3333333333], curvature: [1, 0.5, 0.5, 1], diffusivity: 1}
  temperature: {value: 0.8, gradient: 1.0e-4, velocity: 0.1}
  initial: {type: voronoi, height: 30, seeds: 24}
  window: {row: 34, every: 10, rows: 2}
resilience: {memory: {every: 100}}
output:
  slabs: {quantities: [phase, c_1]}
  profile: {every: 300}
YAML
long_run() { # as run of common.sh, with more time
  local code
  rm -rf out
  timeout 400 "$GABION_LAUNCH" -n 8 -- "$gabion" run grow.yaml --out out "$@" >said.txt 2>&1
  code=$?
  [ $code = 0 ] || complain "gabion run $*: exit code $code
it said: $(cat said.txt)"
}
long_run
expected=$(checksum)
rm -rf whole
cp -r out whole
[ "$(awk -F, 'END { print ($7 >= 10) }' out/front.csv)" = 1 ] || complain "the window moved too little: $(tail -1 out/front.csv)"
equal() {
  [ "$(checksum)" = "$expected" ] || complain "$1: another checksum"
  for what in front.csv profile.csv slabs; do diff -rq whole/$what out/$what || complain "$1: another $what"; done
}
long_run --inject rank=3,step=150,phase=exchange --inject rank=6,step=480,phase=compute \
         --inject rank=0,step=820,phase=commit
equal 'one after another'
long_run --inject rank=0+1+2+3,step=700,phase=exchange
equal 'four neighbours at once'
finish

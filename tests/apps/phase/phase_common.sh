# SPDX-License-Identifier: Apache-2.0
# Shared by the tests of the phase field; to be sourced behind common.sh. A small ternary eutectic that grows fast enough
# for its window to move several times.
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
  window: {row: 16, every: 10, rows: 2}
resilience: {memory: {every: 40}}
YAML
# value FILE COLUMN: of the last row of a series.
value() { awk -F, -v column="$2" 'NR == 1 { for (i = 1; i <= NF; i++) if ($i == column) k = i } END { print $k }' "$1"; }

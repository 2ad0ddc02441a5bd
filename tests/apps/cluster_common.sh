# Shared by the tests of clusters; to be sourced behind tests/apps/common.sh. A uniform flow for 16 processes with four blocks each.
cat >cube.yaml <<'YAML'
run: {steps: 40, check_every: 20}
domain: {cells: [64, 64, 64], block: [16, 16, 16]}
fluid: {omega: 1.5}
boundaries:
  y_min: {type: wall}
  y_max: {type: velocity, velocity: [0.05, 0, 0]}
resilience: {memory: {every: 20}}
YAML

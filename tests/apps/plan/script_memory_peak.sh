# SPDX-License-Identifier: Apache-2.0
# gabion-test: timeout=300
# The memory of a process announced at the start of a run, and forecast by `plan`, is its maximum use, within 5 %:
# counted by purpose, checkpoints with all of their buffers included, and not exceeded when checkpoints are taken.
. "$GABION_SOURCE/tests/apps/common.sh"
command -v python3 >/dev/null || exit 0

cat >box.yaml <<'YAML'
run: {steps: 12, processes: 2}
domain: {cells: [96, 48, 48], block: [48, 48, 48]}
fluid: {omega: 1.6, velocity: 0.05, length: 48}
boundaries:
  x_min: {type: wall}
  x_max: {type: wall}
  y_min: {type: wall}
  y_max: {type: wall}
  z_min: {type: wall}
  z_max: {type: velocity, velocity: [0.05, 0, 0]}
resilience: {memory: {every: 5}}
YAML
cat >levels.yaml <<'YAML'
run: {steps: 12, processes: 2}
domain: {cells: [64, 32, 32], block: [16, 16, 16]}
fluid: {omega: 1.6, velocity: 0.05, length: 16}
boundaries:
  x_min: {type: velocity, velocity: [0.05, 0, 0]}
  x_max: {type: outflow}
  y_min: {type: wall}
  y_max: {type: wall}
  z_min: {type: wall}
  z_max: {type: wall}
bodies:
  - {name: ball, type: sphere, centre: [20, 16, 16], radius: 4}
refinement:
  levels: 1
  every: 6
  criteria:
    - {type: bodies, level: 1, distance: 3}
    - {type: vorticity, level: 1, above: 1000, below: 0.001}
resilience: {memory: {every: 5}}
YAML

. "$GABION_SOURCE/tests/apps/phase/phase_common.sh"
sed -e 's/cells: .24, 36., block: .12, 6./cells: [192, 288], block: [48, 48]/' -e 's/steps: 240/steps: 24/' \
  -e 's/every: 40/every: 10/' grow.yaml >growth.yaml
grep -q 'cells: .192, 288.' growth.yaml || complain 'growth.yaml is not what it should be'

# peak LEAST MOST: the counted peak of the fullest process against the line of the log, in percent.
peak() {
  python3 - "$1" "$2" <<'PY'
import json, re, sys
most = json.load(open("out/summary.json"))["memory"]["peak_per_rank"]
told = 1e6 * float(re.search(r"memory of a process on this grid: ([0-9.]+) MB", open("said.txt").read()).group(1))
percent = 100 * most / told
print("" if float(sys.argv[1]) <= percent <= float(sys.argv[2]) else f"the peak is {most / 1e6:.2f} MB, {told / 1e6:.2f} MB were told")
PY
}
# planned LEAST MOST WORDS...: the same against `plan`.
planned() {
  local least=$1 most=$2
  shift 2
  "$gabion" plan "$@" --json >plan.json 2>plan.err || complain "gabion plan $*: $(cat plan.err)"
  python3 - "$least" "$most" <<'PY'
import json, sys
peak = json.load(open("out/summary.json"))["memory"]["peak_per_rank"]
plan = json.load(open("plan.json"))["memory_bytes"]["most"]
percent = 100 * peak / plan
print("" if float(sys.argv[1]) <= percent <= float(sys.argv[2]) else f"the peak is {peak / 1e6:.2f} MB, plan says {plan / 1e6:.2f} MB")
PY
}
fits() { # fits PROCESSES CASE WORDS...
  local processes=$1 case=$2 wrong
  shift 2
  run 0 "$processes" "$case" "$@"
  wrong=$(peak 99 105) && [ -z "$wrong" ] || complain "$case on $processes, $*: $wrong"
  [ "$case" = growth.yaml ] && return
  wrong=$(planned 95 105 "$case" -n "$processes" "$@" $nodes) && [ -z "$wrong" ] || complain "$case on $processes, $*: $wrong"
}

nodes=
four=(--set 'domain.cells=[192, 48, 48]')
fits 2 box.yaml
fits 2 box.yaml --set resilience.memory.overlap=true
fits 2 box.yaml --set resilience.scheme=none
fits 1 box.yaml
fits 2 box.yaml --set resilience.memory.buffers=1
fits 4 box.yaml "${four[@]}" --set resilience.scheme=ring --set resilience.copies=2
fits 4 box.yaml "${four[@]}" --set resilience.scheme=parity --set resilience.group=4
nodes="--per-node 4" # all of these processes run here, and see each other's images
fits 2 box.yaml --set resilience.memory.within_node=share
fits 4 box.yaml "${four[@]}" --set resilience.scheme=ring --set resilience.copies=2 --set resilience.memory.within_node=share
nodes=
fits 2 levels.yaml
fits 2 growth.yaml
finish

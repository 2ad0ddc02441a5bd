# SPDX-License-Identifier: Apache-2.0
# gabion-test: timeout=200 needs=ulfm
# Monitors of a flow do not disturb a sound one, report faults of others, and check their names.
. "$GABION_SOURCE/tests/apps/common.sh"

run 0 2 good.yaml
expected=$(checksum)
sed 's/{type: velocity, velocity: \[0.05, 0\]}/{type: wall}/; s/^fluid:.*/&\ninitial: {velocity: [0.05, 0.01]}/' good.yaml >closed.yaml
for set in lbm.precision=double lbm.precision=float run.check_every=3; do
  for case in good closed; do
    run 0 2 $case.yaml --set $set --set 'resilience.monitors=[bounds, mass]' --set run.steps=200
    grep -q '"suspicions": 0' out/summary.json || complain "$case, $set: a monitor complained: $(cat said.txt)"
  done
done
# Where all sides are closed interpolated and moving walls keep the mass, too, on one level and on several.
cat >bodies.yaml <<'YAML'
run: {steps: 60, check_every: 10}
domain: {cells: [18, 18, 24], block: [6, 6, 6]}
fluid: {viscosity: 0.03}
units: {dt: 1}
boundaries:
  z_min: {type: free_slip}
  z_max: {type: wall}
bodies:
  - {type: sphere, centre: [4.63, 1.45, 4.27], radius: 1.31, velocity: [0.0138, 0.0009, -0.0453]}
  - {type: sphere, centre: [1.86, 0.79, 13.66], radius: 1.38}
initial: {velocity: [0.02, 0.02, 0.03]}
YAML
cat bodies.yaml - >levels.yaml <<'YAML'
refinement:
  levels: 1
  every: 1
  criteria: [{type: bodies, distance: 1}, {type: gradient, above: 0.03, below: 0.02}]
YAML
for case in bodies levels; do
  run 0 2 $case.yaml --set 'resilience.monitors=[mass]'
  grep -q '"suspicions": 0' out/summary.json || complain "$case: the monitor complained: $(cat said.txt)"
done
run 0 2 good.yaml --set 'resilience.monitors=[mass, bounds]'
[ "$(checksum)" = "$expected" ] || complain 'monitors change the result'

# A flow that diverges does so again: exit 4, after one return.
cat >wild.yaml <<'YAML'
run: {steps: 20000, check_every: 10}
domain: {cells: [32, 32], block: [8, 8]}
fluid: {omega: 1.9999}
lbm: {collision: srt}
boundaries:
  x_min: {type: wall}
  x_max: {type: wall}
  y_min: {type: velocity, velocity: [-0.19, 0]}
  y_max: {type: velocity, velocity: [0.19, 0]}
resilience: {memory: {every: 50}}
YAML
run 4 2 wild.yaml --set 'resilience.monitors=[bounds]'
said "monitor 'bounds' at step"
said 'not a transient error'
grep -q '"event": "suspect"' out/events.jsonl || complain 'events.jsonl does not tell of it'

check 2 good.yaml --set 'resilience.monitors=[mess]'
said "no monitor 'mess' (there are: bounds, mass, recompute)"

# A setting of a monitor that is not requested has no effect, with a message; for a requested one there is no message.
for set in share=0.5 every=3; do
  check 0 good.yaml --set resilience.recompute.$set
  said "resilience.recompute.${set%=*} has no effect: resilience.monitors does not name 'recompute'"
  check 0 good.yaml --set resilience.recompute.$set --set 'resilience.monitors=[recompute]'
  not_said 'has no effect'
done
run 0 2 good.yaml --set resilience.recompute.share=0.5
said_once 'resilience.recompute.share has no effect'

# A program that has no monitors refuses all names, with the place in the file, instead of looking at nothing.
printf 'heat: {steps: 20, blocks: 2}\nresilience:\n  monitors: [mass]\n' >watched.yaml
timeout 100 "$GABION_LAUNCH" -n 2 -- "$GABION_BUILD/bin/heat_loop" watched.yaml >said.txt 2>&1
code=$?
[ $code = 2 ] || complain "heat with a monitor that it does not have: exit code $code"
said "watched.yaml:3:13: resilience.monitors: no monitor 'mass' (this program has none)"
# A program does not know settings of monitors that it lacks.
printf 'heat: {steps: 20, blocks: 2}\nresilience: {recompute: {share: 1}}\n' >watched.yaml
timeout 100 "$GABION_LAUNCH" -n 2 -- "$GABION_BUILD/bin/heat_loop" watched.yaml >said.txt 2>&1
code=$?
[ $code = 2 ] || complain "heat with resilience.recompute: exit code $code"
finish

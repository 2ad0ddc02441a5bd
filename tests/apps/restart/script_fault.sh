# SPDX-License-Identifier: Apache-2.0
# gabion-test: timeout=200 labels=quick needs=ulfm,png
# A flow that loses processes ends with the files of an undisturbed one: state, series, and the report at its end.
. "$GABION_SOURCE/tests/apps/common.sh"

cat >flow.yaml <<'YAML'
run: {steps: 200}
domain: {cells: [128, 64], block: [16, 16]}
fluid: {omega: 1.6, velocity: 0.05, length: 12}
boundaries:
  x_min: {type: velocity, velocity: [0.05, 0]}
  x_max: {type: outflow}
  y_min: {type: wall}
  y_max: {type: wall}
bodies:
  - {name: disc, type: sphere, centre: [30, 31.5], radius: 6}
resilience: {memory: {every: 30}}
output:
  forces: {every: 5}
  integrals: {every: 10}
  probes: {every: 5}
  points:
    - {name: wake, at: [60, 33]}
  slices:
    - {quantity: vorticity, every: 100}
YAML
run 0 4 flow.yaml
expected=$(checksum)
cp -r out whole
# Ghosts used by a picture are of its step, whatever output came in between.
run 0 4 flow.yaml --set output.forces.every=100 --set output.integrals.every=100 --set output.probes.every=100
cmp -s whole/vorticity_0000000200.png out/vorticity_0000000200.png ||
  complain "another picture where rows are as rare as pictures"
for injection in rank=2,step=100,phase=exchange rank=0,step=77,phase=output rank=1+0,step=150,phase=compute \
             rank=3,step=60,phase=commit; do
  run 0 4 flow.yaml --inject $injection
  [ "$(checksum)" = "$expected" ] || complain "$injection: another checksum"
  for file in forces.csv integrals.csv probes.csv vorticity_0000000200.png; do
    cmp -s whole/$file out/$file || complain "$injection: another $file"
  done
  said 'survived: rank'
  grep -q '"event": "recovery"' out/events.jsonl || complain "$injection: events.jsonl does not tell of it"
done
# Both holders of some blocks at once: nothing can bring them back.
run 3 4 flow.yaml --inject rank=0+2,step=100,phase=exchange
said_once 'error: data lost'
said 'rank'
# The report of it does not depend on the storage of copies.
run 3 3 flow.yaml --inject rank=0+1,step=100,phase=exchange
said_once 'error: data lost'
plain=$(grep 'error: data lost' said.txt)
run 3 3 flow.yaml --set resilience.memory.compression=lz4 --inject rank=0+1,step=100,phase=exchange
[ "$(grep 'error: data lost' said.txt)" = "$plain" ] || complain "compressed copies: $(cat said.txt)
instead of: $plain"
finish

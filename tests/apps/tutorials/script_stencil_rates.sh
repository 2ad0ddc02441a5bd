# SPDX-License-Identifier: Apache-2.0
# gabion-test: timeout=150 labels=quick needs=ulfm
# Two fields of a stencil at two rates (helper_rates.c): the sums of a computation without the library, in each step; the same on 2 processes,
# after a SIGKILL between two updates of the slow field, under local and spare, and from disk on another number of processes.
. "$GABION_SOURCE/tests/apps/tutorials/tutorial_common.sh"
cp "$GABION_BUILD/tests/apps/helper_rates" "$work/rates"
gabion=$work/rates
cat >case.yaml <<'YAML'
run: {steps: 50}
domain: {cells: [24, 16], block: [8, 4]}
rates: {every: 1}
resilience: {memory: {every: 7}}
YAML
cat >alone.py <<'PY'
import csv
import math
import sys
nx, ny, every, dt = 24, 16, 4, 0.1
fast = [[math.sin(0.7 * (x + 0.5)) + 0.1 * (y + 0.5) for x in range(nx)] for y in range(ny)]
slow = [[math.cos(0.3 * (x + 0.5) * (y + 0.5)) for x in range(nx)] for y in range(ny)]
rows = list(csv.reader(open("out/rates.csv")))[1:]
worst, steps = 0, 0
for step in range(51):
    for field, column in (fast, 2), (slow, 3):
        right = math.fsum(v * v for line in field for v in line)
        worst = max(worst, abs(float(rows[step][column]) - right) / right)
    steps += int(rows[step][0]) == step
    around = [[fast[y][x - 1] + fast[y][(x + 1) % nx] + fast[y - 1][x] + fast[(y + 1) % ny][x] - 4 * fast[y][x] for x in range(nx)] for y in range(ny)]
    new = [[fast[y][x] + dt * (around[y][x] + slow[y][x]) for x in range(nx)] for y in range(ny)]
    if step % every == 0:
        slow = [[slow[y][x] + every * dt * (0.5 * around[y][x] - slow[y][x] ** 3) for x in range(nx)] for y in range(ny)]
    fast = new
print("%d steps, largest relative difference %.1e" % (steps, worst))
sys.exit(not (steps == 51 and worst < 1e-12))
PY
run 0 1 case.yaml
python3 alone.py || complain "not the sums of a computation alone: $(tail -n 1 out/rates.csv)"
keep rates.csv
alike_on_processes
alike_killed 23 # from the checkpoint of step 21 on: 21 and 22 are no multiples of 4
for rank in 0 2; do # no row of the table, which all ranks would have to compute, between the death and the last checkpoint
  rm -rf out
  timeout 100 "$GABION_LAUNCH" -n 4 --spares 1 -- "$gabion" run case.yaml --set rates.every=25 --set 'resilience.strategies=[local, spare]' \
    --inject "rank=$rank,step=18,phase=exchange" --out out >said.txt 2>&1 || complain "local: $(cat said.txt)"
  grep -q '"strategy": "local"' out/events.jsonl || complain "rank $rank: not local: $(cat said.txt)"
  [ "$(checksum)" = "$expected" ] || complain "local recovery of rank $rank: another checksum"
done
alike_replaced 2 18 spare
run 0 2 case.yaml --set run.steps=22 --set resilience.disk.every=5
timeout 100 "$GABION_LAUNCH" -n 3 -- "$gabion" run case.yaml --set resilience.disk.every=5 --out out >said.txt 2>&1 || complain "resuming: $(cat said.txt)"
said 'resuming from step 22'
alike "resuming from disk"

# The comparison notices another rate; the library notices a slow field that is not copied.
VARIANT=each run 0 1 case.yaml
if python3 alone.py >said.txt; then complain "another rate has the same sums: $(cat said.txt)"; fi
VARIANT=forgets run 1 1 case.yaml
said 'in step 1: it does not set slow of cell (0, 0) in `next`'
said 'copy from `now` what does not change'
finish

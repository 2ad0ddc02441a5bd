# SPDX-License-Identifier: Apache-2.0
# gabion-test: timeout=250 needs=ulfm
# Several stages in a step of a stencil (helper_stages.c): orders 1 to 4 in time of the integrators, against an exact
# solution; a user-written rk3 has the bits of the library's. Results are those of one process on 2 and 3, after
# deaths between stages under shrink, spare and local, and from disk on another number of processes. Mistakes in later
# stages are detected.
. "$GABION_SOURCE/tests/apps/common.sh"
gabion=$GABION_BUILD/tests/apps/helper_stages
cat >turn.yaml <<'YAML'
run: {steps: 40}
domain: {cells: [24, 8], block: [8, 4]}
turn: {every: 10, dt: 0.05}
resilience: {memory: {every: 7}}
YAML

# errors INTEGRATOR: at time 2, with 40 and 80 steps.
errors() {
  local steps
  for steps in 40 80; do
    run 0 1 turn.yaml --set turn.integrator="$1" --set run.steps=$steps --set turn.dt="$(awk -v n=$steps 'BEGIN { print 2 / n }')"
    awk -F, 'END { pi = 4 * atan2(1, 1); e = $3 / 96 - exp(2 * 0.05 * (2 * cos(2 * pi / 24) - 2)) * cos(6); printf "%.3e ", e < 0 ? -e : e }' out/turn.csv
  done
}
order=0
for integrator in euler rk2 rk3 rk4; do
  order=$((order + 1))
  all=$(errors $integrator)
  echo "$integrator: $all" | tee -a orders.txt
  echo "$all" | awk -v order=$order '{ p = log($1 / $2) / log(2); exit !(p > order - 0.25 && p < order + 0.4) }' || complain "$integrator: errors $all are not of order $order"
done

# rk3, which is the default, and by hand.
run 0 1 turn.yaml
expected=$(checksum)
cp out/turn.csv of_one.csv
alike() {
  [ "$(checksum)" = "$expected" ] || complain "$1: another checksum"
  cmp out/turn.csv of_one.csv || complain "$1: another table: $(cat said.txt)"
}
VARIANT=hand run 0 2 turn.yaml
alike "stages by hand"
for integrator in rk3 rk4; do
  set -- --set turn.integrator=$integrator
  run 0 1 turn.yaml "$@"
  expected=$(checksum)
  cp out/turn.csv of_one.csv
  OMP_NUM_THREADS=2 run 0 2 turn.yaml "$@"
  alike "$integrator, 2 processes of 2 threads"
  for visit in 1 2 3; do # the first stage, and those behind it
    run 0 3 turn.yaml "$@" --inject "rank=1,step=23,phase=exchange,visit=$visit"
    said 'rank 1 died'
    alike "$integrator, a death in exchange $visit"
  done
  spares() { "$GABION_LAUNCH" -n 3 --spares 1 -- "$gabion" run turn.yaml "$@" --out out --fresh >said.txt 2>&1 || complain "$*: $(cat said.txt)"; }
  spares "$@" --set 'resilience.strategies=[spare]' --inject rank=1,step=23,phase=exchange,visit=2
  said 'took over'
  alike "$integrator, a spare"
  for rank in 0 1; do
    spares "$@" --set 'resilience.strategies=[local, spare]' --inject "rank=$rank,step=18,phase=exchange,visit=$((2 + rank))"
    said "rank $rank died"
    grep -q '"strategy": "local"' out/events.jsonl || complain "rank $rank: not local: $(cat said.txt)"
    alike "$integrator, local recovery of rank $rank"
  done
  run 0 2 turn.yaml "$@" --set run.steps=20 --set resilience.disk.every=5
  "$GABION_LAUNCH" -n 3 -- "$gabion" run turn.yaml "$@" --set resilience.disk.every=5 --out out >said.txt 2>&1 || complain "resuming: $(cat said.txt)"
  alike "$integrator, resuming from disk"
done

# The time of a stage: with d/dt = 3 t^2, rk3 and rk4 are exact.
for integrator in rk3 rk4; do
  VARIANT=clock run 0 2 turn.yaml --set turn.integrator=$integrator
  awk -F, 'END { d = $4 / 192 - 8; exit !(d < 1e-12 && d > -1e-12) }' out/turn.csv || complain "$integrator: t^3 is not 8 at time 2: $(tail -n 1 out/turn.csv)"
done

# Mistakes in later stages.
VARIANT=beyond run 1 2 turn.yaml
said 'stage 2'
said '`first`, a ghost beyond an edge or corner'
VARIANT=writes run 1 2 turn.yaml
said 'stage 1: it writes'
said 'in `first`, which it may only read'
VARIANT=ghosts run 0 2 turn.yaml
VARIANT=late check 1 turn.yaml
said 'stage_times[0] has to be 0'
VARIANT=both check 1 turn.yaml
said 'it has an update and a rate'
check 2 turn.yaml --set turn.integrator=rk5
said 'turn.integrator'
"$gabion" plan turn.yaml >said.txt 2>&1 || complain "plan: $(cat said.txt)"
said 'sent in a step of level 0'
cat orders.txt
finish

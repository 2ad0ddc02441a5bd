# SPDX-License-Identifier: Apache-2.0
# gabion-test: timeout=250 needs=ulfm,png,formulas
# The tutorial of acoustic waves: of third order in time and fourth in space, by a standing wave between mirrors; results are the same on 1 and 2
# processes, on 4 of which one is killed, and with one that rolls back alone between stages.
. "$GABION_SOURCE/tests/apps/tutorials/tutorial_common.sh"
program waves
cat >hall.yaml <<'YAML'
run: {time: 0.9}
domain: {cells: [32, 32], block: [8, 8], length: 1}
waves: {every: 1}
initial: {pressure: cos(pi * x) * cos(pi * y)}
boundaries:
  x_min: {type: mirrored, odd: [velocity_x]}
  x_max: {type: mirrored, odd: [velocity_x]}
  y_min: {type: mirrored, odd: [velocity_y]}
  y_max: {type: mirrored, odd: [velocity_y]}
YAML
# In time: a Runge-Kutta method of third order loses energy as dt^3.
lost() {
  run 0 2 hall.yaml --set waves.cfl="$1"
  awk -F, 'NR == 2 { first = $3 + $4 } END { printf "%.6e", 1 - ($3 + $4) / first }' out/waves.csv
}
long=$(lost 0.8) short=$(lost 0.4)
# In space: the phase after the time 0.9, which is sqrt(2) pi 0.9 - pi.
error() {
  run 0 1 hall.yaml --set waves.cfl=0.1 --set waves.integrator=rk4 --set "domain.cells=[$1, $1]"
  awk -F, 'END { pi = 4 * atan2(1, 1); p = atan2(sqrt($4), sqrt($3)) - (sqrt(2) * 0.9 - 1) * pi; printf "%.6e", p < 0 ? -p : p }' out/waves.csv
}
coarse=$(error 16) fine=$(error 32)
echo "energy lost: $long $short; errors of the phase: $coarse $fine"
awk -v a="$long" -v b="$short" 'BEGIN { p = log(a / b) / log(2); exit !(p > 2.9 && p < 3.1) }' || complain "losses of $long, $short are not of order 3"
awk -v a="$coarse" -v b="$fine" 'BEGIN { p = log(a / b) / log(2); exit !(p > 3.9 && p < 4.1) }' || complain "errors of $coarse, $fine are not of order 4"

sed -e 's/\[384, 192\]/[64, 32]/; s/\[32, 32\]/[8, 8]/; s/every: 20 /every: 5 /; s/every: 100, outlines: true/every: 10/; s/every: 50 /every: 7 /; /^faults:/,$d' \
  "$GABION_SOURCE/apps/tutorial/waves.yaml" >case.yaml
run 0 1 case.yaml
said 'by run.time: 1.5 is reached'
picture=$(cd out && ls pressure_*0.png | tail -n 1)
keep waves.csv "$picture"
awk -F, 'END { exit !($2 == 1.5 && $3 > 0 && $4 > 0) }' out/waves.csv || complain "no sound: $(tail -n 1 out/waves.csv)"
alike_on_processes
alike_killed 23
run 0 4 case.yaml --inject rank=1,step=18,phase=exchange,visit=2
said 'rank 1 died'
alike "a death between stages"
alike_replaced 0 18 'local, shrink'
alike_replaced 2 18 spare
run 0 2 case.yaml --set run.time=0.6 --set resilience.disk.every=10
timeout 100 "$GABION_LAUNCH" -n 3 -- "$gabion" run case.yaml --set resilience.disk.every=10 --out out >said.txt 2>&1 || complain "resuming: $(cat said.txt)"
said 'resuming from step'
finish

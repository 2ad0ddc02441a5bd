# SPDX-License-Identifier: Apache-2.0
# gabion-test: timeout=250 needs=ulfm,png
# The tutorial of Maxwell's equations: the frequency of a resonant mode is of second order; sides of type value and odd mirrors have the same bits;
# results are the same on 1 and 2 processes, on 4 of which one is killed, and with one that rolls back alone between stages.
. "$GABION_SOURCE/tests/apps/tutorials/tutorial_common.sh"
program maxwell
sed -e 's/^  cells: .*/  cells: [16, 16, 16]/; s/^  block: .*/  block: [8, 8, 8]/; s/time: 4 /time: 1 /; s/every: 10 /every: 5 /' \
  -e 's/every: 50}/every: 10}/; s/every: 50 /every: 7 /' "$GABION_SOURCE/apps/tutorial/maxwell.yaml" >case.yaml
# error N: of the phase after the time 1, which is 2 pi - sqrt(3) pi.
error() {
  run 0 2 case.yaml --set "domain.cells=[$1, $1, $1]" --set maxwell.every=1 --set maxwell.cfl=0.5 --set output.slices=[]
  awk -F, 'END { pi = 4 * atan2(1, 1); p = atan2(sqrt($4), sqrt($3)) - (2 * pi - sqrt(3) * pi); printf "%.6e", p < 0 ? -p : p }' out/maxwell.csv
}
coarse=$(error 16) fine=$(error 32)
echo "errors of the phase: $coarse $fine"
awk -v a="$coarse" -v b="$fine" 'BEGIN { p = log(a / b) / log(2); exit !(p > 1.9 && p < 2.2 && b < 0.01) }' || complain "errors of $coarse, $fine are not of order 2"

run 0 1 case.yaml
picture=$(cd out && ls ez*0.png | tail -n 1)
keep maxwell.csv "$picture"
awk -F, 'NR > 1 { e = $3 + $4; if (NR == 2) first = e; if (e > 1.02 * first || e < 0.98 * first) wrong = 1 } END { exit wrong || NR < 8 }' out/maxwell.csv ||
  complain "the energy is not conserved: $(cat out/maxwell.csv)"
sed -e 's/x_\(m..\): .*/x_\1: {type: mirrored, odd: [ey, ez, hx]}/; s/y_\(m..\): .*/y_\1: {type: mirrored, odd: [ex, ez, hy]}/; s/z_\(m..\): .*/z_\1: {type: mirrored, odd: [ex, ey, hz]}/' \
  case.yaml >mirrors.yaml
run 0 2 mirrors.yaml
alike "odd mirrors"
alike_on_processes
alike_killed 23
run 0 4 case.yaml --inject rank=1,step=18,phase=exchange,visit=2
said 'rank 1 died'
alike "a death between stages"
alike_replaced 0 18 'local, shrink'
alike_replaced 2 18 spare
# A picture of zeros of both signs, whose range does not depend on the number of processes.
cat >zeros.yaml <<'YAML'
run: {steps: 69}
domain: {cells: [8, 16, 4], block: [4, 4, 4]}
maxwell: {dt: 0.3}
boundaries: {x_min: {type: value}, x_max: {type: value}}
output: {slices: [{name: zeros, quantity: hx, every: 69, axis: x}]}
YAML
run 0 1 zeros.yaml
keep zeros_0000000069.png
run 0 3 zeros.yaml
alike "zeros of both signs"

check 2 mirrors.yaml --set 'boundaries.x_min.odd=[ey, hx]'
said 'boundaries.x_min: values of ez lie on this side'
finish

# SPDX-License-Identifier: Apache-2.0
# gabion-test: timeout=120 needs=ulfm,formulas
# Formulas of x, y and t for start, source, values and gradients at sides: errors are of second order, bits do not depend on processes or deaths,
# sides of type own have the bits of the same formula, and formulas without a finite value end a run with their place.
. "$GABION_SOURCE/tests/apps/common.sh"
gabion=$GABION_BUILD/tests/apps/helper_formulas

cat >case.yaml <<'END'
run: {steps: 100}
domain: {cells: [16, 16], block: [8, 4], length: 1}
constants: {a: 2, rate: a / 2}
initial: {u: sin(x + a * y)}
formulas:
  dt: 4e-4
  every: 100
  exact: exp(-rate * t) * sin(x + a * y)
  source: (1 + a^2 - rate) * exp(-rate * t) * sin(x + a * y)
boundaries:
  x_min: {type: value, u: exp(-rate * t) * sin(x + a * y)}
  x_max: {type: gradient, u: exp(-rate * t) * cos(x + a * y)}
  y_min: {type: gradient, u: -a * exp(-rate * t) * cos(x + a * y)}
  y_max: {type: value, u: exp(-rate * t) * sin(x + a * y)}
resilience: {memory: {every: 7}}
END

error() { awk -F, -v n="$1" 'END { printf "%.6e ", sqrt($3) / n }' out/formulas.csv; }
run 0 1 case.yaml
first=$(checksum)
errors=$(error 16)
run 0 1 case.yaml --set 'domain.cells=[32, 32]' --set run.steps=400 --set formulas.every=400 --set formulas.dt=1e-4
errors+=$(error 32)
echo "errors: $errors"
echo "$errors" | awk '{ p = log($1 / $2) / log(2); exit !($1 > 1e-6 && p > 1.8 && p < 2.3) }' || complain "errors $errors are not of second order"

run 0 3 case.yaml --inject rank=1,step=23,phase=exchange
said 'rank 1 died'
[ "$(checksum)" = "$first" ] || complain "another checksum after a death"
rm -rf out
timeout 100 "$GABION_LAUNCH" -n 3 --spares 1 -- "$gabion" run case.yaml --set 'resilience.strategies=[local, shrink]' \
  --inject rank=0,step=23,phase=exchange --out out >said.txt 2>&1 || complain "local: $(cat said.txt)"
said 'rank 0 died'
[ "$(checksum)" = "$first" ] || complain "local: another checksum"

for side in x_min y_max; do sed -i "s/  $side: .*/  $side: {type: own}/" case.yaml; done
run 0 2 case.yaml
[ "$(checksum)" = "$first" ] || complain "sides of type own: another checksum"

check 2 case.yaml --set 'formulas.source=x + w'
said "formulas.source: the formula 'x + w': unexpected token \"w\", at character 5; its variables are x|y|z|t"
run 2 2 case.yaml --set 'boundaries.y_max={type: value, u: 1 / (0.01 - t)}' --set formulas.dt=1e-3
said "boundaries.y_max.u: the formula '1 / (0.01 - t)' is inf at (0"
said 'time 0.01'
run 2 2 case.yaml --set 'initial.u=sqrt(x - 0.5)'
said 'initial: u is '
said 'nan at (0.03125, 0.03125, '
finish

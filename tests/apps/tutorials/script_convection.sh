# SPDX-License-Identifier: Apache-2.0
# gabion-test: timeout=300 needs=ulfm,png
# Natural convection in a cavity heated from its side: the Nusselt number of de Vahl Davis (1983), and 1 without
# motion; heat outflow equals inflow; same checksum, table and picture on 1 and 2 processes, and on 4 of which one is
# killed from outside or rolls back alone; cases beyond the stability of the explicit scheme are refused.
. "$GABION_SOURCE/tests/apps/tutorials/tutorial_common.sh"
program convection

sed -e 's/\[64, 64\]/[32, 32]/; s/\[16, 16\]/[8, 8]/; s/steps: 20000/steps: 6000/; s/every: 20000/every: 6000/; s/every: 1000 .*/every: 100/' \
  "$GABION_SOURCE/apps/tutorial/convection.yaml" >steady.yaml
sed 's/steps: 6000/steps: 600/; s/every: 6000/every: 600/; s/every: 100$/every: 20/' steady.yaml >case.yaml
run 0 1 case.yaml
keep convection.csv isotherms_0000000600.png
alike_on_processes
alike_killed 234
alike_replaced 1 432 local

run 0 1 steady.yaml
said 'on the whole; steady'
# 2.243; 32 cells give 2.252. Both sides and the mean are the same once the state is steady, which it is not at first.
awk -F, 'NR == 2 { first = $7 } { hot = $3; cold = $4; mean = $5; steady = $7 }
  END { exit !(first == 0 && steady == 1 && hot > 2.235 && hot < 2.26 && (hot - cold)^2 < 1e-8 && (hot - mean)^2 < 1e-8) }' out/convection.csv ||
  complain "not the convection of this cavity: $(tail -n 1 out/convection.csv)"
run 0 1 steady.yaml --set convection.rayleigh=0.5 --set convection.speed=0.004
awk -F, 'NR == 2 { first = $7 } { hot = $3; mean = $5 } END { exit !(first == 0 && (hot - 1)^2 < 1e-10 && (mean - 1)^2 < 1e-10) }' out/convection.csv ||
  complain "heat is not conducted where nothing moves: $(tail -n 1 out/convection.csv)"

# On blocks that adapt, of two levels: within 1.5 % of 4.519, and both sides within 1 % of the mean.
adaptive() { run 0 "$@" --set convection.rayleigh=1e5 --set convection.levels=1 --set convection.difference=0.03 --set convection.adapt_every=500; }
adaptive 1 steady.yaml
keep convection.csv
echo "$grid" | awk -F, '{ exit !(NF == 2 && $1 > 0 && $2 > 0) }' || complain "not two levels: $grid"
awk -F, 'END { exit !($5 > 4.45 && $5 < 4.587 && ($3 / $5 - 1)^2 < 1e-4 && ($4 / $5 - 1)^2 < 1e-4) }' kept/convection.csv ||
  complain "not the convection of this cavity on two levels: $(tail -n 1 kept/convection.csv)"
adaptive 3 steady.yaml --inject rank=1,step=2345,phase=exchange
said 'rank 1 died'
alike "two levels, after a death"

helps output.slices.quantity 'temperature (default)' 'isotherms: '
not_said 'pressure'
check 2 case.yaml --set convection.levels=2
said 'unstable above 1/4'
check 2 case.yaml --set convection.rayleigh=100
said 'unstable above 1/4'
check 2 case.yaml --set convection.rayleigh=1e8
said 'unstable below'
check 2 case.yaml --set 'domain.cells=[32, 32, 32]' --set 'domain.block=[8, 8, 8]' --set 'output.slices=[]'
said 'is computed in 2D'
finish

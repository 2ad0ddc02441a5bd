# gabion-test: timeout=300 labels=quick needs=ulfm,png
# Natural convection in a cavity heated from its side: the Nusselt number of de Vahl Davis (1983), and 1 where nothing moves; as
# much heat leaves as enters; same checksum, table and picture on 1, 2 and 4 processes, and when one of them is killed from
# outside or goes back alone; what the explicit scheme does not bear is refused.
. "$GABION_SOURCE/tests/apps/common.sh"
cp "$GABION_BUILD/bin/convection" "$work/convection" # a name that no other process has
gabion=$work/convection

sed -e 's/\[64, 64\]/[32, 32]/; s/\[16, 16\]/[8, 8]/; s/steps: 20000/steps: 6000/; s/every: 20000/every: 6000/; s/every: 1000 .*/every: 100/' \
  "$GABION_SOURCE/apps/tutorial/convection.yaml" >case.yaml
run 0 1 case.yaml
said 'on the whole; steady'
expected=$(checksum)
cp out/convection.csv one.csv && cp out/isotherms_0000006000.png one.png || complain "no table or no picture: $(ls out)"
alike() {
  [ "$(checksum)" = "$expected" ] || complain "$1: another checksum"
  cmp out/convection.csv one.csv || complain "$1: another table"
  cmp out/isotherms_0000006000.png one.png || complain "$1: another picture"
}
run 0 2 case.yaml
alike "2 processes"
run 0 4 case.yaml
alike "4 processes"

# Killed from outside, while a drill has it stopped.
rm -rf out
timeout 100 "$GABION_LAUNCH" -n 4 -- "$gabion" run case.yaml --inject slot=3,step=2345,phase=exchange,stopped=600 --out out >said.txt 2>&1 &
job=$!
stopped() { ps -o pid=,stat= -p "$(pgrep -d, -f "^$gabion run case.yaml")" 2>/dev/null | awk '$2 ~ /^T/ { print $1 }'; }
until [ -n "$(stopped)" ] || ! kill -0 $job 2>/dev/null; do sleep 0.02; done
kill -KILL "$(stopped)" || complain "nobody was stopped: $(cat said.txt)"
wait $job || complain "the run did not survive: $(cat said.txt)"
said 'slot 3 died'
alike "a process was killed"
rm -rf out
timeout 100 "$GABION_LAUNCH" -n 4 --spares 1 -- "$gabion" run case.yaml --set 'resilience.strategies=[local]' \
  --inject slot=1,step=4321,phase=exchange --out out >said.txt 2>&1 || complain "local recovery failed: $(cat said.txt)"
said 'slot 1 died'
alike "one went back alone"

# 2.243; 32 cells give 2.252. Both sides and the mean are the same once the state is steady, which it is not at first.
awk -F, 'NR == 2 { first = $7 } { hot = $3; cold = $4; mean = $5; steady = $7 }
  END { exit !(first == 0 && steady == 1 && hot > 2.235 && hot < 2.26 && (hot - cold)^2 < 1e-8 && (hot - mean)^2 < 1e-8) }' one.csv ||
  complain "not the convection of this cavity: $(tail -n 1 one.csv)"
run 0 2 case.yaml --set convection.rayleigh=0.5 --set convection.speed=0.004
awk -F, 'NR == 2 { first = $7 } { hot = $3; mean = $5 } END { exit !(first == 0 && (hot - 1)^2 < 1e-10 && (mean - 1)^2 < 1e-10) }' out/convection.csv ||
  complain "heat is not conducted where nothing moves: $(tail -n 1 out/convection.csv)"

# On blocks that adapt, of two levels: within 1.5 % of 4.519, and both sides within 1 % of the mean.
blocks() { tr -d '\n ' <out/summary.json | sed -n 's/.*"blocks_of_levels":\[\([0-9,]*\)\].*/\1/p'; }
adaptive() { run 0 "$@" --set convection.rayleigh=1e5 --set convection.levels=1 --set convection.difference=0.03 --set convection.adapt_every=500; }
adaptive 1 case.yaml
expected=$(checksum)
grid=$(blocks)
echo "$grid" | awk -F, '{ exit !(NF == 2 && $1 > 0 && $2 > 0) }' || complain "not two levels: $grid"
cp out/convection.csv one.csv
awk -F, 'END { exit !($5 > 4.45 && $5 < 4.587 && ($3 / $5 - 1)^2 < 1e-4 && ($4 / $5 - 1)^2 < 1e-4) }' one.csv ||
  complain "not the convection of this cavity on two levels: $(tail -n 1 one.csv)"
adaptive 3 case.yaml --inject slot=1,step=2345,phase=exchange
said 'slot 1 died'
[ "$(checksum)" = "$expected" ] || complain "another checksum on two levels, after a death"
[ "$(blocks)" = "$grid" ] || complain "another grid after a death: $(blocks), not $grid"
cmp out/convection.csv one.csv || complain "another table on two levels, after a death"

check 2 case.yaml --set convection.levels=2
said 'unstable above 1/4'
check 2 case.yaml --set convection.rayleigh=100
said 'unstable above 1/4'
check 2 case.yaml --set convection.rayleigh=1e8
said 'unstable below'
check 2 case.yaml --set 'domain.cells=[32, 32, 32]' --set 'domain.block=[8, 8, 8]' --set 'output.slices=[]'
said 'is computed in 2D'
finish

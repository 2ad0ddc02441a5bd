# gabion-test: timeout=300 labels=quick needs=ulfm,png
# The tutorial with a scheme and an entity of its own: the pump reaches its velocity and keeps it; same checksum, table and picture
# on 1, 2 and 4 processes, when one of them is killed from outside, and when a spare takes over; of four processes in two rows both
# of a row or both of a column may die, where `pairwise' or `ring' end with exit 3; both of a diagonal may not. Without the entity
# a run is the same until somebody dies.
. "$GABION_SOURCE/tests/apps/common.sh"
cp "$GABION_BUILD/bin/pump" "$work/pump" # a name that no other process has
gabion=$work/pump

sed -e '/^drills:/,$d' -e 's/\[256, 96\]/[128, 48]/; s/\[32, 24\]/[16, 12]/; s/steps: 12000/steps: 2000/; s/every: 12000/every: 2000/' \
  -e 's/every: 200 .*/every: 50/; s/viscosity: 0.0016/viscosity: 0.0032/; s/, outlines: true//' "$GABION_SOURCE/apps/tutorial/pump.yaml" >case.yaml
run 0 1 case.yaml
expected=$(checksum)
picture=vorticity_0000002000.png
cp out/pump.csv one.csv && cp "out/$picture" one.png || complain "no table or no picture: $(ls out)"
awk -F, 'NR == 2 { first = $3; a = $4 } END { exit !(first == 0 && a == 0 && ($3 - 1)^2 < 4e-4 && $4 > 0) }' one.csv ||
  complain "the pump does not reach 1 m/s: $(sed -n 2p one.csv) ... $(tail -n 1 one.csv)"
alike() {
  [ "$(checksum)" = "$expected" ] || complain "$1: another checksum"
  cmp out/pump.csv one.csv || complain "$1: another table"
  cmp "out/$picture" one.png || complain "$1: another picture"
}
run 0 2 case.yaml
alike "2 processes"
run 0 4 case.yaml
alike "4 processes"

# Killed from outside, while a drill has it stopped: behind a correction that the last checkpoint does not have.
rm -rf out
timeout 100 "$GABION_LAUNCH" -n 4 -- "$gabion" run case.yaml --inject slot=3,step=734,phase=exchange,stopped=600 --out out >said.txt 2>&1 &
job=$!
stopped() { ps -o pid=,stat= -p "$(pgrep -d, -f "^$gabion run case.yaml")" 2>/dev/null | awk '$2 ~ /^T/ { print $1 }'; }
until [ -n "$(stopped)" ] || ! kill -0 $job 2>/dev/null; do sleep 0.02; done
kill -KILL "$(stopped)" || complain "nobody was stopped: $(cat said.txt)"
wait $job || complain "the run did not survive: $(cat said.txt)"
said 'slot 3 died'
alike "a process was killed"

# Two at once. Slots 0 and 1 are one row, 2 and 3 the other; 0 and 2 are a column.
dies() { # dies CODE SCHEME SLOTS
  run "$1" 4 case.yaml --set "resilience.scheme=$2" --inject "slot=$3,step=734,phase=exchange"
}
for lost in 'diagonal 0+2' 'diagonal 0+1' 'pairwise 0+1' 'pairwise 0+3' 'ring 0+2'; do
  # shellcheck disable=SC2086 # words on purpose
  dies 0 $lost
  said "slots ${lost: -3:1}, ${lost: -1} died"
  alike "$lost died"
done
for lost in 'diagonal 0+3' 'pairwise 0+2' 'ring 0+1' 'ring 0+3'; do
  # shellcheck disable=SC2086 # words on purpose
  dies 3 $lost
  said_once 'error: data lost'
done

# A new process gets the entity from the others, whether all go back or the lost slot alone.
for strategy in spare local; do
  rm -rf out
  timeout 100 "$GABION_LAUNCH" -n 4 --spares 1 -- "$gabion" run case.yaml --set "resilience.strategies=[$strategy]" \
    --inject slot=1,step=734,phase=exchange --out out >said.txt 2>&1 || complain "strategy $strategy: $(cat said.txt)"
  said 'slot 1 died'
  alike "strategy $strategy"
done

# Without the entity.
gabion=$GABION_BUILD/tests/apps/helper_pump_forgets
run 0 4 case.yaml
alike "without the entity, undisturbed"
dies 0 diagonal 0+2
[ "$(checksum)" != "$expected" ] || complain "the result does not depend on the entity, so this test shows nothing"

gabion=$work/pump
"$gabion" info >said.txt 2>&1 || complain "info: $(cat said.txt)"
said 'diagonal'
check 2 case.yaml --set resilience.scheme=diagonals
said 'there are: pairwise, ring, parity, reed-solomon, none, diagonal'
check 2 case.yaml --set pump.time=0
said 'value > 0'
finish

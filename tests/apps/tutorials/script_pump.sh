# SPDX-License-Identifier: Apache-2.0
# gabion-test: timeout=300 needs=ulfm,png
# The tutorial with a user-defined scheme and entity: the pump reaches its velocity and keeps it; same checksum, table
# and picture on 1 and 2 processes, on 4 of which one is killed from outside, and with a spare. Of four processes in
# two rows both of a row or both of a column may die, where `pairwise' or `ring' end with exit 3; both of a diagonal
# may not. Without the entity a run is the same until the first death.
. "$GABION_SOURCE/tests/apps/tutorials/tutorial_common.sh"
program pump

sed -e '/^faults:/,$d' -e 's/\[256, 96\]/[128, 48]/; s/\[32, 24\]/[16, 12]/; s/steps: 12000/steps: 2000/; s/every: 12000/every: 2000/' \
  -e 's/every: 200 .*/every: 50/; s/viscosity: 0.0016/viscosity: 0.0032/; s/, outlines: true//' "$GABION_SOURCE/apps/tutorial/pump.yaml" >case.yaml
run 0 1 case.yaml
awk -F, 'NR == 2 { first = $3; a = $4 } END { exit !(first == 0 && a == 0 && ($3 - 1)^2 < 4e-4 && $4 > 0) }' out/pump.csv ||
  complain "the pump does not reach 1 m/s: $(sed -n 2p out/pump.csv) ... $(tail -n 1 out/pump.csv)"
sed -i 's/steps: 2000/steps: 400/; s/every: 2000/every: 400/' case.yaml # enough to be another flow without the correction
run 0 1 case.yaml
keep pump.csv vorticity_0000000400.png
alike_on_processes
alike_killed 334 # behind a correction that the last checkpoint does not have
said 'redundancy: diagonal: 1 copy of each image; any 1 rank can be lost; more only if a copy of each image is left'

# Two at once. Ranks 0 and 1 are one row, 2 and 3 the other; 0 and 2 are a column.
dies() { # dies CODE SCHEME RANKS
  run "$1" 4 case.yaml --set "resilience.scheme=$2" --inject "rank=$3,step=334,phase=exchange"
}
for lost in 'diagonal 0+2' 'diagonal 0+1' 'pairwise 0+1' 'pairwise 0+3' 'ring 0+2'; do
  # shellcheck disable=SC2086 # words on purpose
  dies 0 $lost
  said "ranks ${lost: -3:1}, ${lost: -1} died"
  alike "$lost died"
done
for lost in 'diagonal 0+3' 'pairwise 0+2' 'ring 0+1' 'ring 0+3'; do
  # shellcheck disable=SC2086 # words on purpose
  dies 3 $lost
  said_once 'error: data lost'
done

# A new process gets the entity from the others, whether all go back or the lost rank alone.
for strategy in spare local; do alike_replaced 1 334 $strategy; done

# Without the entity.
gabion=$GABION_BUILD/tests/apps/helper_pump_forgets
run 0 4 case.yaml
alike "without the entity, undisturbed"
dies 0 diagonal 0+2
[ "$(checksum)" != "$expected" ] || complain "the result does not depend on the entity, so this test shows nothing"

gabion=$work/pump
"$gabion" info >said.txt 2>&1 || complain "info: $(cat said.txt)"
said 'diagonal'
helps resilience.scheme 'diagonal: ' 'pairwise: '
check 2 case.yaml --set resilience.scheme=diagonals
said 'there are: pairwise, ring, parity, reed-solomon, none, diagonal'
check 2 case.yaml --set pump.time=0
said 'value > 0'
finish

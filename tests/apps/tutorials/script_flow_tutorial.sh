# SPDX-License-Identifier: Apache-2.0
# gabion-test: timeout=300 needs=ulfm,png
# The tutorial of a flow gives the same checksum, table and picture, to the last bit, on 1, 2 and 4 processes, and
# when one of them is killed from outside. The flow acts on its bodies.
. "$GABION_SOURCE/tests/apps/common.sh"
cp "$GABION_BUILD/bin/flow" "$work/flow" # a name that no other process has

flow() { # flow PROCESSES: its checksum; leaves table.csv and picture.png
  rm -rf out
  timeout 150 "$GABION_LAUNCH" -n "$1" -- "$work/flow" 3000 >said.txt 2>&1 ||
    complain "flow on $1 processes failed: $(cat said.txt)"
  keep
}
keep() {
  sed -n 's/^flow after 3000 steps: checksum \([0-9a-f]*\)$/\1/p' said.txt | grep . || echo "none, $BASHPID"
  cp out/flow/tunnel.csv table.csv && cp out/flow/vorticity_0000003000.png picture.png || complain "no table or no picture"
}
alike() { # alike WHAT CHECKSUM
  [ "$2" = "$expected" ] || complain "$1: another checksum: $(cat said.txt)"
  cmp table.csv table_of_one.csv || complain "$1: another table"
  cmp picture.png picture_of_one.png || complain "$1: another picture"
}
expected=$(flow 1)
mv table.csv table_of_one.csv && mv picture.png picture_of_one.png || complain "nothing to compare with"
case $expected in none*) complain "no checksum: $(cat said.txt)" ;; esac
alike "2 processes" "$(flow 2)"
alike "4 processes" "$(flow 4)"

# A process is killed once rows of the table are on disk, which they are since the checkpoint of step 1000 at the latest.
rm -rf out
timeout 150 "$GABION_LAUNCH" -n 4 -- "$work/flow" 3000 >said.txt 2>&1 &
job=$!
until [ "$(wc -l 2>/dev/null <out/flow/tunnel.csv || echo 0)" -gt 10 ] || ! kill -0 $job 2>/dev/null; do sleep 0.02; done
victim=$(pgrep -f "^$work/flow 3000" | tail -n 1)
kill -KILL "$victim" || complain "nobody was killed: '$victim'"
wait $job || complain "the run did not survive: $(cat said.txt)"
said 'died'
alike "a process was killed" "$(keep)"

# Before it sheds vortices the cylinder has a drag of 1.3, and of the flow in its wake the rod feels less.
awk -F, '$1 >= 2000 { rows += 1; drag += $3; rod += $5; energy += $7 }
  END { exit !(rows > 20 && drag > 1.25 * rows && drag < 1.45 * rows && rod > 0 && rod < drag &&
               energy > 0.0045 * rows && energy < 0.0055 * rows) }' table_of_one.csv ||
  complain "not the forces of this flow: $(tail -n 3 table_of_one.csv)"
head -n 1 table_of_one.csv | grep -q '^step,time,cylinder.c_d,cylinder.c_l,rod.c_d,rod.c_l,kinetic_energy$' ||
  complain "not its columns: $(head -n 1 table_of_one.csv)"

timeout 100 "$GABION_LAUNCH" -n 2 -- "$work/flow" many >said.txt 2>&1
[ $? = 2 ] || complain "words instead of steps are taken: $(cat said.txt)"
said_once 'STEPS must be a number'
finish

# SPDX-License-Identifier: Apache-2.0
# gabion-test: timeout=300 needs=ulfm
# Strategy `local`: a spare takes the rank of a dead process and rolls back alone; no other rank repeats a step or
# joins an agreement. Faults that cannot be handled so go to the next strategy. Always the bits of the undisturbed
# run.
. "$GABION_SOURCE/tests/apps/common.sh"
case=$GABION_SOURCE/tests/faults/local_runs/local.yaml
short="--set run.steps=100 --set output.forces.every=50 --set output.fields.every=50"
. "$GABION_SOURCE/tests/faults/local_runs/local_common.sh"

launch 0 4 0 --set 'resilience.strategies=[shrink]'
expected=$(checksum) lines=$(series)
launch 0 4 2
same "nobody dies"
[ "$(member fault_count)" = 0 ] || complain "nobody dies: $(member fault_count) faults"
[ "$(member meetings)" = 0 ] || complain "nobody dies: agreements"

launch 0 4 1 --inject rank=2,step=39,phase=exchange
alone "in an exchange" 1
[ "$(member replayed)" -gt 0 ] || complain "in an exchange: nothing was replayed"
[ "$(member left_out)" -gt 0 ] || complain "in an exchange: nothing that others had was left out"
grep -q '"event": "took over"' out/events.jsonl || complain "no event says who took over"
grep -q '"event": "caught up"' out/events.jsonl || complain "no event says that the rank has caught up"
# Its events up to where the spare has taken over, and up to where it has caught up.
grep -n '"event": "took over"' out/events.jsonl | cut -d: -f1 >line.txt
mkdir -p cut
head -n "$(cat line.txt)" out/events.jsonl >cut/events.jsonl
"$gabion" status cut >said.txt
said 'behind the others: rank 2, which came back alone from step'
"$gabion" status cut --json >said.txt
said '"rank": 2'
sed '/"caught up"/q' out/events.jsonl >cut/events.jsonl
"$gabion" status cut >said.txt
said 'caught up, step'
not_said 'behind the others'

launch 0 4 1 --set resilience.local.verify=true --inject rank=2,step=39,phase=exchange
alone "verified" 1
verified "verified"
# The body covers cells of several ranks, whose messages contain solid cells; and checkpoints at odd steps.
for rank in 0 1 3; do
  launch 0 4 1 --set resilience.local.verify=true --set resilience.memory.every=19 --inject rank=$rank,step=35,phase=exchange
  alone "verified, rank $rank" 1
  verified "verified, rank $rank"
done
launch 0 4 1 --set resilience.local.verify=false --inject rank=2,step=39,phase=exchange
[ "$(member compared)" = 0 ] || complain "not verified: $(member compared) messages were compared"
check 2 "$case" --set 'resilience.strategies=[spare, shrink]' --set resilience.local.verify=true
said "with strategy 'local' in resilience.strategies only"

launch 0 4 1 --inject rank=0,step=65,phase=reduction
alone "the root, in a reduction" 1
launch 0 3 1 --inject rank=1,step=60,phase=commit
alone "while a checkpoint is on its way" 1
launch 0 4 2 --inject rank=1,step=33,phase=compute --inject rank=2,step=73,phase=compute
alone "one after the other" 2
launch 0 4 2 --inject rank=0,step=33,phase=compute --inject rank=1,step=33,phase=compute
alone "two neighbours at the same step" 2
launch 0 4 2 --inject rank=3,step=33,phase=compute --inject rank=3,step=37,phase=compute,incarnation=1
alone "who came back dies, too" 2

# Limited logs cause earlier checkpoints, at the same steps for returned ranks.
launch 0 4 2
peak=$(sed -n 's/.*"message_log_peak_per_rank": \([0-9]*\).*/\1/p' out/summary.json)
image=$(sed -n 's/.*"image_bytes": \([0-9]*\),.*/\1/p' out/events.jsonl | sort -n | tail -n 1)
[ "$peak" -gt $((image / 2)) ] || complain "without a limit the logs stay below that of the test: $peak of $image bytes"
launch 0 4 2 --set resilience.local.log_limit=0.5 --inject rank=1,step=33,phase=compute --inject rank=2,step=73,phase=compute
alone "limited logs" 2
limited=$(sed -n 's/.*"message_log_peak_per_rank": \([0-9]*\).*/\1/p' out/summary.json)
[ "$limited" -le $((image / 2)) ] || complain "limited logs: $limited bytes, an image has $image"
launch 0 4 2 --set resilience.local.log_limit=0.001 --inject rank=2,step=39,phase=exchange
alone "a limit below what a step logs" 1
said 'there is a checkpoint after every step'
check 2 "$case" --set 'resilience.strategies=[spare, shrink]' --set resilience.local.log_limit=1
said "with strategy 'local' in resilience.strategies only"

# No spare is left for the second, which the holder finds out by asking, or all know since the section between.
launch 0 4 1 --inject rank=1,step=33,phase=compute --inject rank=2,step=43,phase=compute
same "the pool is empty"
[ "$(strategies)" = "local shrink " ] || complain "the pool is empty: strategies $(strategies)"
said 'pool empty'
launch 0 4 1 --inject rank=1,step=33,phase=compute --inject rank=2,step=73,phase=compute
same "no spare is left"
[ "$(strategies)" = "local shrink " ] || complain "no spare is left: strategies $(strategies)"
said "strategy 'local' is no longer active: no spare process is left"
# In a section all go back.
launch 0 4 2 --inject rank=1,step=50,phase=output
same "in output"
[ "$(strategies)" = "spare " ] || complain "in output: strategies $(strategies)"
launch 0 4 2 --inject rank=1,step=33,phase=compute --inject rank=2,step=100,phase=output
same "in the last output, behind a rank that came back"
[ "$(strategies)" = "local spare " ] || complain "in the last output: strategies $(strategies)"
# A rank and the holder of its copies at once: from disk, where the checkpoint of a run before surely is.
disk="--set resilience.disk.every=40 --set resilience.strategies=[local,spare,shrink,disk]"
# shellcheck disable=SC2086 # words on purpose
launch 0 4 2 $disk --set run.steps=40
# shellcheck disable=SC2086
keep=1 launch 0 4 2 $disk --inject rank=0,step=73,phase=compute --inject rank=2,step=73,phase=compute
same "a rank and its holder"
[ "$(strategies)" = "disk " ] || complain "a rank and its holder: strategies $(strategies)"
# The last spare has taken a rank before the section of the checkpoint on disk: all continue without local recovery,
# the returned rank too.
for rank in 1 2; do
  launch 0 4 1 --set 'resilience.strategies=[local, spare, shrink, disk]' --set resilience.disk.every=20 --inject rank=$rank,step=45,phase=compute
  same "checkpoints on disk behind the last spare"
  said 'no spare process is left'
  [ "$(strategies)" = "local " ] || complain "checkpoints on disk behind the last spare: strategies $(strategies)"
done
# A stopped run saves its state to disk, also after a death; the same command resumes from it.
launch 75 4 2 --set resilience.disk.every=40 --inject rank=1,step=33,phase=compute --walltime '1 s' --set run.steps=1000000
steps=$(member steps) stopped=$(checksum)
keep=1 launch 0 4 2 --set resilience.disk.every=40 --set "run.steps=$((steps + 10))"
continued=$(checksum)
launch 0 4 0 --set 'resilience.strategies=[shrink]' --set "run.steps=$steps"
[ "$(checksum)" = "$stopped" ] || complain "stopped at step $steps: another checksum"
launch 0 4 0 --set 'resilience.strategies=[shrink]' --set "run.steps=$((steps + 10))"
[ "$(checksum)" = "$continued" ] || complain "continued from step $steps: another checksum"
# So does a run of which one process that is not the root gets SIGTERM: the root hears of it along the tree of acknowledgements.
rm -rf out
"$GABION_LAUNCH" -n 4 --spares 2 -t 1 --stall 60 -- "$gabion" run "$case" --out out $short --set resilience.disk.every=40 \
  --set run.steps=1000000 >said.txt 2>&1 &
job=$!
until [ "$(grep -c '"event": "checkpoint"' out/events.jsonl 2>/dev/null)" -gt 3 ] || ! kill -0 $job 2>/dev/null; do sleep 0.05; done
for pid in $(pgrep -f "^$gabion run $case --out out " || true); do
  [ "$(tr '\0' '\n' 2>/dev/null <"/proc/$pid/environ" | sed -n 's/^PMIX_RANK=//p')" = 3 ] &&
    [ "$(readlink "/proc/$pid/cwd")" = "$work" ] && kill -TERM "$pid"
done
code=0
wait $job || code=$?
[ $code = 75 ] || complain "SIGTERM for rank 3: exit $code
it said: $(cat said.txt)"
grep -q '"event": "stop".*received a signal' out/events.jsonl || complain "SIGTERM for rank 3: no event says why it stopped"
terminated=$(checksum) steps=$(member steps)
launch 0 4 0 --set 'resilience.strategies=[shrink]' --set "run.steps=$steps"
[ "$(checksum)" = "$terminated" ] || complain "SIGTERM for rank 3, at step $steps: another checksum"

for wrong in scheme=parity copies=2 memory.every=10s memory.overlap=true memory.buffers=1 scrub=10 \
  'strategies=[spare, local]' 'strategies=[local, respawn]' 'disk.every=10 min'; do
  check 2 "$case" --set "resilience.$wrong"
  said "strategy 'local'"
done
check 0 "$case"
finish

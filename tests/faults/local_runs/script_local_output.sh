# SPDX-License-Identifier: Apache-2.0
# gabion-test: timeout=600 needs=ulfm,png
# Output of a run under strategy `local`: fields, pictures and series as of an undisturbed run, to the byte, for
# deaths of any rank, between two outputs or during one. Checkpoints on disk are complete or absent; limited logs
# cause earlier checkpoints, at the same steps for returned ranks; the summary is correct for faults of two kinds in
# one run.
. "$GABION_SOURCE/tests/apps/common.sh"
case=$work/case.yaml
{
  cat "$GABION_SOURCE/tests/faults/local_runs/local.yaml"
  echo '  slices: [{name: speed, quantity: speed, every: 12}]'
} >"$case"
short="--set run.steps=60 --set output.forces.every=7 --set output.fields.every=15"
. "$GABION_SOURCE/tests/faults/local_runs/local_common.sh"

# Fields, pictures and series; in the order of their names.
written() { (cd "$1" && find . -name '*.csv' -o -name '*.png' -o -path './fields/*' -type f | sort | xargs cksum); }
left_behind() { # left_behind NAME: as of the undisturbed run
  same "$1"
  diff <(written whole) <(written out) >differs.txt || complain "$1: other files: $(cat differs.txt)"
}
# The steps of which there were checkpoints, each once.
checkpoints() { sed -n 's/.*"event": "checkpoint", "of_step": \([0-9]*\),.*/\1/p' out/events.jsonl | sort -nu | tr '\n' ' '; }
# fault NUMBER KEY: of a fault in summary.json, the first one is 1
fault() { grep -o '{"lost": .*' out/summary.json | sed -n "$1s/.*\"$2\": \[*\"*\([a-z0-9]*\).*/\1/p"; }
furthest() { sed -n 's/.*"step": \([0-9]*\), "event": "fault noticed".*/\1/p' out/events.jsonl | sort -n | tail -n 1; }

# Output involves all ranks: check reports the longest interval without it, and each of these steps has a checkpoint.
check 0 "$case" --set run.steps=60 --set output.forces.every=7 --set output.fields.every=15
said 'each of their steps is one of a checkpoint: delays mask each other over 7 steps at most'
check 0 "$case" --set run.steps=60 --set output.forces.every=70 --set output.fields.every=25
said 'delays mask each other over 12 steps at most'
check 0 "$case" --set 'resilience.strategies=[spare, shrink]'
not_said 'delays mask each other'
launch 0 4 0 --set 'resilience.strategies=[shrink]'
expected=$(checksum) lines=$(series)
mv out whole
[ "$(written whole | wc -l)" -ge $((1 + 6 + 5 * 5)) ] || complain "the undisturbed run left few files: $(written whole)"
launch 0 4 2
left_behind "nobody dies"
[ "$(checkpoints)" = "0 7 12 14 15 20 21 24 28 30 35 36 40 42 45 48 49 56 " ] || complain "nobody dies: checkpoints of $(checkpoints)"
for injection in rank=1,step=33,phase=compute rank=0,step=40,phase=exchange; do
  launch 0 4 1 --set resilience.local.verify=true --inject $injection
  left_behind "$injection"
  alone "$injection" 1
done
# While fields (30), the series (35), the picture (36) are written.
for injection in rank=2,step=30,phase=output rank=0,step=30,phase=output rank=0,step=35,phase=output rank=3,step=36,phase=output; do
  launch 0 4 1 --inject $injection
  left_behind "$injection"
  [ "$(strategies)" = "spare " ] || complain "$injection: strategies $(strategies)"
done

# A checkpoint on disk that is interrupted by a death starts again after the recovery, and is complete before the next
# step. If the first process dies after the others have completed their parts, no survivor knows of it, and it is
# abandoned.
disk="--set resilience.disk.every=25 --set resilience.disk.keep=9 --set resilience.strategies=[local,spare,shrink,disk]"
blocks() { # blocks FOLDER STEP: of a checkpoint on disk
  rm -rf extracted
  "$gabion" checkpoint extract "$1/checkpoints/step_0000000000$2" --out extracted >said.txt 2>&1 || complain "extract $1 $2: $(cat said.txt)"
  cksum extracted/block_*.bin
}
stored() { # stored NAME STEPS: these are on disk, and whole
  "$gabion" checkpoint verify out >said.txt 2>&1 || complain "$1: verify: $(cat said.txt)"
  [ "$(sed -n 's/^step \([0-9]*\): .*/\1/p' said.txt | sort -n | tr '\n' ' ')" = "$2" ] || complain "$1: not $2, but $(cat said.txt)"
  for step in $2; do
    [ "$(blocks out "$step")" = "$(blocks stored "$step")" ] || complain "$1: other blocks in the checkpoint on disk of step $step"
  done
}
launch 0 4 2 $disk
mv out stored
for injection in rank=1,step=25,phase=disk-write rank=2,step=25,phase=disk-commit rank=0,step=25,phase=disk-write \
  rank=0,step=25,phase=disk-commit; do
  launch 0 4 2 $disk --inject $injection
  left_behind "$injection"
  [ "$(strategies)" = "spare " ] || complain "$injection: strategies $(strategies)"
  if [ -e out/checkpoints/step_000000000025 ] || [ ${injection%%,*} != rank=0 ]; then
    stored "$injection" "25 50 60 "
    grep -q '"step": 25, "event": "disk checkpoint", "of_step": 25,' out/events.jsonl ||
      complain "$injection: the checkpoint on disk came later: $(grep 'disk checkpoint' out/events.jsonl)"
  else stored "$injection" "50 60 "; fi
done
# The holder of its image dies too: all roll back to the last complete checkpoint, not to the incomplete one.
launch 0 4 2 $disk --inject rank=1+3,step=50,phase=disk-write
left_behind "a rank and its holder, while a checkpoint is written"
[ "$(strategies)" = "disk " ] || complain "a rank and its holder, while a checkpoint is written: strategies $(strategies)"
[ "$(fault 1 restored_step)" = 25 ] || complain "a rank and its holder, while a checkpoint is written: back to $(fault 1 restored_step)"
stored "a rank and its holder, while a checkpoint is written" "25 50 60 "

# Limited logs: so few steps between two checkpoints that three times as many log half an image, and one behind the first, to find out.
case=$GABION_SOURCE/tests/faults/local_runs/local.yaml
short="--set run.steps=60 --set output.forces.every=1000 --set output.fields.every=1000"
launch 0 4 0 --set 'resilience.strategies=[shrink]'
expected=$(checksum) lines=$(series)
launch 0 4 2
[ "$(checkpoints)" = "0 20 40 " ] || complain "without a limit: checkpoints of $(checkpoints)"
launch 0 4 2 --set resilience.local.log_limit=0.5
limited=$(checkpoints)
[ "$(echo "$limited" | wc -w)" -gt 5 ] || complain "limited logs: checkpoints of $limited"
[ "$(echo "$limited" | cut -d' ' -f 1-2)" = "0 1" ] || complain "limited logs: checkpoints of $limited"
for rank in 2 0; do
  launch 0 4 2 --set resilience.local.log_limit=0.5 --inject rank=$rank,step=33,phase=compute
  alone "limited logs, rank $rank" 1
  [ "$(checkpoints)" = "$limited" ] || complain "limited logs, rank $rank: checkpoints of $(checkpoints)instead of $limited"
  image=$(sed -n 's/.*"image_bytes": \([0-9]*\),.*/\1/p' out/events.jsonl | sort -n | tail -n 1)
  peak=$(sed -n 's/.*"message_log_peak_per_rank": \([0-9]*\).*/\1/p' out/summary.json)
  [ "$peak" -le $((image / 2)) ] || complain "limited logs, rank $rank: $peak bytes, an image has $image"
done

# Two faults of different kinds: each reports its own strategy and scope. Only the second one made survivors repeat
# steps: the number of steps by which the most advanced was ahead of the checkpoint.
launch 0 4 1 --inject rank=1,step=33,phase=compute --inject rank=2,step=43,phase=compute
same "the pool is empty"
[ "$(fault 1 strategy) $(fault 1 scope) $(fault 1 lost) $(fault 1 incarnation)" = "local local 1 1" ] ||
  complain "the pool is empty: the first fault is $(fault 1 strategy) $(fault 1 scope) $(fault 1 lost) $(fault 1 incarnation)"
[ "$(fault 2 strategy) $(fault 2 scope) $(fault 2 lost)" = "shrink global 2" ] ||
  complain "the pool is empty: the second fault is $(fault 2 strategy) $(fault 2 scope) $(fault 2 lost)"
[ "$(member fault_count) $(member faults) $(member lost_ranks) $(member living)" = "2 1 2 3" ] ||
  complain "the pool is empty: $(member fault_count) faults, $(member faults) local, $(member lost_ranks) ranks, $(member living) living"
[ "$(member survivor_steps_computed_again)" = $(($(furthest) - $(fault 2 restored_step))) ] && [ "$(furthest)" -gt "$(fault 2 restored_step)" ] ||
  complain "the pool is empty: $(member survivor_steps_computed_again) steps again, from $(fault 2 restored_step) to $(furthest)"
# The other way round: first all go back, since it happened while something was written, then one alone, with another rank that came back twice.
launch 0 4 3 --set output.forces.every=36 --inject rank=1,step=36,phase=output --inject rank=2,step=45,phase=compute \
  --inject rank=2,step=43,phase=compute,incarnation=1
[ "$(checksum)" = "$expected" ] || complain "global, then local: another checksum"
[ "$(fault 1 strategy) $(fault 1 scope) $(fault 1 lost) $(fault 1 incarnation)" = "spare global 1 1" ] ||
  complain "global, then local: the first fault is $(fault 1 strategy) $(fault 1 scope) $(fault 1 lost) $(fault 1 incarnation)"
for number in 2 3; do
  [ "$(fault $number strategy) $(fault $number scope) $(fault $number lost) $(fault $number incarnation)" = "local local 2 $((number - 1))" ] ||
    complain "global, then local: fault $number is $(fault $number strategy) $(fault $number scope) $(fault $number lost) $(fault $number incarnation)"
done
[ "$(member survivor_steps_computed_again)" = $((36 - $(fault 1 restored_step))) ] && [ "$(fault 1 restored_step)" -lt 36 ] ||
  complain "global, then local: $(member survivor_steps_computed_again) steps again, from $(fault 1 restored_step)"
finish

# SPDX-License-Identifier: Apache-2.0
# gabion-test: timeout=800 needs=ulfm
# Strategy `local` with a flow on several levels: static, and following the flow. Changes of the grid involve all
# ranks, so deaths in them, or before the commit of the next checkpoint is known everywhere, go to the next strategy;
# all others are recovered locally. Always the bits and the series of the undisturbed run; a returned rank sends the
# messages of its predecessor.
. "$GABION_SOURCE/tests/apps/common.sh"
case=$GABION_SOURCE/tests/faults/local_runs/local_levels.yaml
short="--set run.steps=60 --set output.forces.every=30 --set output.fields.every=30"
. "$GABION_SOURCE/tests/faults/local_runs/local_common.sh"
adapted() { sed -n 's/.*the grid adapted \([0-9]*\) times.*/\1/p' out/log.txt; }

launch 0 4 0 --set 'resilience.strategies=[shrink]'
expected=$(checksum) lines=$(series)
for rank in 0 1 2 3; do
  launch 0 4 1 --set resilience.local.verify=true --inject rank=$rank,step=59,phase=exchange
  alone "static levels, rank $rank" 1
  verified "static levels, rank $rank"
done

# Adapts at 30, 60, 90 and 120, blocks may migrate at 50 and 100 (by measured times); checkpoints at 20, 40, ... and
# at each of these.
case=$GABION_SOURCE/tests/faults/local_runs/local_adaptive.yaml
short="--set run.steps=120 --set output.forces.every=60 --set output.fields.every=60"
launch 0 4 0 --set 'resilience.strategies=[shrink]'
expected=$(checksum) lines=$(series)
[ "$(adapted)" = 4 ] || complain "the undisturbed grid adapted $(adapted) times instead of 4"
launch 0 4 2
same "nobody dies"
[ "$(member fault_count)" = 0 ] || complain "nobody dies: $(member fault_count) faults"
[ "$(member meetings)" = 0 ] || complain "nobody dies: agreements"
[ "$(adapted)" = 4 ] || complain "nobody dies: the grid adapted $(adapted) times instead of 4"
for injection in rank=1,step=29,phase=compute rank=2,step=39,phase=exchange rank=0,step=59,phase=exchange rank=3,step=119,phase=exchange; do
  launch 0 4 1 --set resilience.local.verify=true --inject $injection
  alone "$injection" 1
  verified "$injection"
done
# In fused fields, populations of solid cells must not depend on former blocks at their place.
for injection in rank=1,step=29,phase=compute rank=3,step=119,phase=exchange; do
  launch 0 4 1 --set lbm.fused_blocks=4 --set resilience.local.verify=true --inject $injection
  alone "fused blocks, $injection" 1
  verified "fused blocks, $injection"
done
# Enough ranks that not all of them are partners from the start.
launch 0 8 1 --set resilience.local.verify=true --inject rank=5,step=39,phase=exchange
alone "of eight, behind an adaptation" 1
verified "of eight, behind an adaptation"
# After the first one all restart from their present state, and the grid changes.
launch 0 4 2 --inject rank=2,step=25,phase=compute --inject rank=1,step=39,phase=compute
alone "one, an adaptation, another one" 2
[ "$(adapted)" = 4 ] || complain "between two deaths: the grid adapted $(adapted) times instead of 4"
for injection in rank=1,step=30,phase=adapt-mark rank=2,step=60,phase=adapt-migrate rank=3,step=90,phase=adapt-rebuild; do
  launch 0 4 2 --inject $injection
  same "$injection"
  [ "$(strategies)" = "spare " ] || complain "$injection: strategies $(strategies)"
done
# With the checkpoint of the new grid pending a spare may take the rank before it learns that it cannot resume from
# the old one.
launch 0 4 2 --inject rank=2,step=30,phase=commit
same "in the checkpoint behind an adaptation"
case "$(strategies)" in "spare "|"local spare ") ;; *) complain "in the checkpoint behind an adaptation: strategies $(strategies)" ;; esac
# Images of the state machines become snapshots of the grid of their time.
launch 0 4 1 --inject rank=1,step=45,phase=compute --inject rank=2,step=47,phase=compute
same "the pool is empty behind an adaptation"
[ "$(strategies)" = "local shrink " ] || complain "the pool is empty: strategies $(strategies)"
finish

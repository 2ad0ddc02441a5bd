# SPDX-License-Identifier: Apache-2.0
# gabion-test: timeout=200 needs=ulfm
# Strategy `local` with a phase field: a rank that rolls back alone refreshes its ghosts of phi as all did after the
# checkpoint, with and without a move of the window there. Always the bits, the series and the slabs of the
# undisturbed run.
. "$GABION_SOURCE/tests/apps/common.sh"
case=$GABION_SOURCE/tests/faults/local_runs/local_phase.yaml
short="--set run.steps=200"
. "$GABION_SOURCE/tests/faults/local_runs/local_common.sh"

launch 0 4 0 --set 'resilience.strategies=[shrink]'
expected=$(checksum) lines=$(series)
grep -q '^step' out/front.csv || complain "the undisturbed run has no series"
[ -e out/slabs/slab_0000000002-00000.h5 ] || complain "the window of the undisturbed run did not move"
mv out whole
launch 0 4 2
same "nobody dies"
slabs "nobody dies"
[ "$(member fault_count)" = 0 ] || complain "nobody dies: $(member fault_count) faults"
[ "$(member meetings)" = 0 ] || complain "nobody dies: agreements"

# Steps 60, 100, ... are checkpoints only, at 80, 120 and 160 the window moves. A rank that dies after one of the
# former need not pass a section alone, whatever has been committed by then. A rank that dies right after the
# checkpoint has sent nothing since, if it is committed.
for injection in rank=2,step=69,phase=exchange rank=0,step=105,phase=reduction rank=1,step=60,phase=compute \
  rank=3,step=100,phase=commit rank=1,step=119,phase=compute; do
  launch 0 4 1 --set resilience.local.verify=true --inject $injection
  alone "$injection" 1
  [ $injection = rank=1,step=60,phase=compute ] || verified "$injection"
  slabs "$injection"
done
launch 0 4 2 --inject rank=1,step=63,phase=compute --inject rank=2,step=63,phase=compute
alone "two neighbours at the same step" 2
launch 0 4 2 --inject rank=3,step=113,phase=compute --inject rank=3,step=116,phase=compute,incarnation=1
alone "who came back dies, too" 2
launch 0 4 2 --inject rank=1,step=67,phase=compute --inject rank=0,step=147,phase=exchange
alone "one after the other" 2
slabs "one after the other"
launch 0 4 2 --set resilience.monitors=[recompute] --inject rank=1,step=67,phase=compute
alone "blocks that are computed twice" 1
# In a section all go back.
launch 0 4 2 --inject rank=1,step=120,phase=output
same "while the window moves"
slabs "while the window moves"
[ "$(strategies)" = "spare " ] || complain "while the window moves: strategies $(strategies)"

check 0 "$case" --set balance.every=20 --set balance.work=measured
finish

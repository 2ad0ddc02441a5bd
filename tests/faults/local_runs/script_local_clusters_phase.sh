# SPDX-License-Identifier: Apache-2.0
# gabion-test: timeout=300 needs=ulfm
# Strategy `local` with clusters and a phase field with a moving window: after a death its cluster alone rolls back,
# and refreshes its ghosts of phi as all others did after the checkpoint. Always the bits, the series and the slabs of
# the undisturbed run. Independent of the field, deaths are those of script_local_clusters.sh, in the long tier here.
. "$GABION_SOURCE/tests/apps/common.sh"
case=$GABION_SOURCE/tests/faults/local_runs/local_phase.yaml
short="--set run.steps=200"
. "$GABION_SOURCE/tests/faults/local_runs/local_common.sh"
back() { # back NAME FAULTS RANKS: these went back, and all is as undisturbed
  cluster "$@"
  slabs "$1"
  [ "$(member replayed)" -gt 0 ] || complain "$1: nothing was replayed"
  [ "$(member member_steps_computed_again)" -gt 0 ] || complain "$1: no steps were lost"
}
verify="--set resilience.local.verify=true"
pairs="$verify --set resilience.local.clusters=4" fours="$verify --set resilience.local.clusters=2"

launch 0 8 0 --set 'resilience.strategies=[shrink]'
expected=$(checksum) lines=$(series)
grep -q '^step' out/front.csv || complain "the undisturbed run has no series"
[ -e out/slabs/slab_0000000002-00000.h5 ] || complain "the window of the undisturbed run did not move"
mv out whole
launch 0 8 1
same "each alone, nobody dies"
ranks=$(member logged_bytes)
# shellcheck disable=SC2086 # words on purpose
launch 0 8 1 $fours
same "two clusters, nobody dies"
slabs "two clusters, nobody dies"
[ "$(member logged_bytes)" -gt 0 ] && [ "$(member logged_bytes)" -lt $((ranks / 2)) ] ||
  complain "two clusters log $(member logged_bytes) bytes, each alone $ranks"

# Steps 60, 100, ... are checkpoints only, at 80, 120 and 160 the window moves.
# shellcheck disable=SC2086
{
launch 0 8 1 $pairs --inject rank=2,step=69,phase=exchange
back "one of a pair" 1 "3 "
if every_case; then
launch 0 8 1 $fours --inject rank=6,step=69,phase=exchange
back "one of four" 1 "4 5 7 "
fi
launch 0 8 1 $pairs --inject rank=1,step=105,phase=reduction
back "the root goes back" 1 "0 "
launch 0 8 1 $pairs --inject rank=0,step=149,phase=compute
back "the root dies behind two moves of the window" 1 "1 "
if every_case; then
launch 0 8 1 $pairs --inject rank=4,step=100,phase=commit
cluster "while a checkpoint is on its way" 1 "5 "
fi
launch 0 8 2 $pairs --inject rank=2,step=113,phase=compute --inject rank=5,step=113,phase=exchange
back "two clusters at once" 2 "3 4 "
if every_case; then
launch 0 8 2 $fours --inject rank=1,step=113,phase=compute --inject rank=3,step=113,phase=compute
back "two of one cluster" 2 "0 2 "
fi
launch 0 8 2 $pairs --inject rank=2,step=113,phase=compute --inject rank=3,step=113,phase=compute
cluster "a whole cluster" 2 ""
slabs "a whole cluster"
if every_case; then
launch 0 8 2 $fours --inject rank=3,step=113,phase=compute --inject rank=3,step=107,phase=compute,incarnation=1
back "who came back dies while its cluster computes again" 2 "0 1 2 "
launch 0 8 2 $pairs --inject rank=1,step=67,phase=compute --inject rank=7,step=147,phase=exchange
back "one after the other" 2 "0 6 "
launch 0 8 1 $pairs --set resilience.local.log_limit=0.5 --inject rank=5,step=69,phase=compute
cluster "limited logs" 1 "4 "
fi
# In a section all go back.
launch 0 8 2 $pairs --inject rank=1,step=120,phase=output
same "while the window moves"
slabs "while the window moves"
[ "$(strategies)" = "spare " ] || complain "while the window moves: strategies $(strategies)"
}
finish

# SPDX-License-Identifier: Apache-2.0
# gabion-test: timeout=600 needs=ulfm
# Clusters with own checkpoints (resilience.local.own_every) in flows and a phase field on several levels: static, and
# following the fields. Messages between levels are in the logs of images, each image has the grid of its time, and
# after a change of the grid clusters continue with own checkpoints. Always the bits and the series of the undisturbed
# run; a returned rank sends the messages of its predecessor.
. "$GABION_SOURCE/tests/apps/common.sh"
case=$GABION_SOURCE/tests/faults/local_runs/local_levels.yaml
short="--set run.steps=60 --set output.forces.every=60 --set output.fields.every=60 --set resilience.memory.every=50"
. "$GABION_SOURCE/tests/faults/local_runs/local_common.sh"
own="--set resilience.local.verify=true --set resilience.local.own_every=8" # of 4 ranks by themselves: rank k 2 k steps behind the multiples
two="$own --set resilience.local.clusters=2"                                # ranks 2 and 3 four steps behind
adapted() { sed -n 's/.*the grid adapted \([0-9]*\) times.*/\1/p' out/log.txt; }
# came_back NAME RANK STEP BEFORE: alone, from an image with a log
came_back() {
  alone "$1" 1
  verified "$1"
  went_to "$1" "took over" "$2" "$3" "$4"
  [ "$(member log_messages_restored)" -gt 0 ] || complain "$1: no log came back"
}

launch 0 4 0 --set 'resilience.strategies=[shrink]'
expected=$(checksum) lines=$(series)
# shellcheck disable=SC2086 # words on purpose
{
launch 0 4 1 $own
same "levels, nobody dies"
# seven times each: not at 50, nor at the end
[ "$(member cluster_checkpoints)" = 28 ] || complain "levels, nobody dies: $(member cluster_checkpoints) checkpoints of clusters"
for row in "0 47 40 32" "1 47 42 34" "2 47 44 36" "3 45 38 30"; do # rank, when it dies, to where it goes back
  read -r rank step to before <<<"$row"
  launch 0 4 1 $own --inject rank=$rank,step=$step,phase=exchange
  came_back "levels, rank $rank" $rank $to $before
done
launch 0 4 2 $two --inject rank=1,step=47,phase=compute --inject rank=2,step=47,phase=compute
cluster "levels, two clusters at once" 2 "0 3 "
went_to "levels, two clusters at once" "took over" 1 40 32
went_to "levels, two clusters at once" "took over" 2 44 36
}

# Adapts at 30, 60, 90 and 120, blocks may be given away at 50 and 100 (by measured times): common checkpoints at each of these.
case=$GABION_SOURCE/tests/faults/local_runs/local_adaptive.yaml
short="--set run.steps=120 --set output.forces.every=120 --set output.fields.every=120 --set resilience.memory.every=60"
launch 0 4 0 --set 'resilience.strategies=[shrink]'
expected=$(checksum) lines=$(series)
[ "$(adapted)" = 4 ] || complain "the undisturbed grid adapted $(adapted) times instead of 4"
# shellcheck disable=SC2086
{
launch 0 4 1 $own
same "adaptive, nobody dies"
[ "$(adapted)" = 4 ] || complain "nobody dies: the grid adapted $(adapted) times instead of 4"
# rank 0 at 8, 16, ..., 112 (14; 120 is the end), rank 1 at 2, ..., 114 but 50 and 90 (13), rank 2 at 4, ..., 116 but 60 and 100
# (13), rank 3 at 6, ..., 118 but 30 (14)
[ "$(member cluster_checkpoints)" = 54 ] || complain "adaptive, nobody dies: $(member cluster_checkpoints) checkpoints of clusters"
launch 0 4 1 $own --inject rank=1,step=29,phase=compute
came_back "before the grid adapts" 1 26 18
launch 0 4 1 $own --inject rank=3,step=45,phase=exchange
came_back "behind that" 3 38 30
launch 0 4 1 $own --inject rank=2,step=59,phase=compute
came_back "where blocks have been given away" 2 52 50
launch 0 8 1 $own --inject rank=5,step=43,phase=exchange # rank k k steps behind the multiples of 8
came_back "of eight" 5 37 30
launch 0 4 2 $two --inject rank=1,step=47,phase=compute --inject rank=2,step=83,phase=exchange
cluster "clusters, one, two adaptations, another one" 2 "0 3 "
went_to "clusters, one, two adaptations, another one" "took over" 1 40 32
went_to "clusters, one, two adaptations, another one" "took over" 2 76 68
[ "$(adapted)" = 4 ] || complain "between two deaths: the grid adapted $(adapted) times instead of 4"

launch 0 4 2 $own --inject rank=2,step=60,phase=adapt-migrate
same "while the grid changes"
[ "$(strategies)" = "spare " ] || complain "while the grid changes: strategies $(strategies)"
# A hand-over rolls back to the common checkpoint after the adaptation.
launch 0 4 1 $own --inject rank=1,step=45,phase=compute --inject rank=2,step=47,phase=compute
same "the pool is empty behind an adaptation"
[ "$(strategies)" = "local shrink " ] || complain "the pool is empty: strategies $(strategies)"
grep '"recovery"' out/events.jsonl | grep '"shrink"' | grep -q '"restored_step": 30' || complain "the pool is empty: all go back to step 30, not: $(grep '"recovery"' out/events.jsonl)"
}

# Adapts at 20, 40, ...; the window moves at 40 and 80.
case=$GABION_SOURCE/tests/faults/local_runs/local_phase_levels.yaml
short="--set run.steps=120 --set resilience.memory.every=40 --verbose"
own="--set resilience.local.verify=true --set resilience.local.own_every=5" # rank k k steps behind the multiples
two="$own --set resilience.local.clusters=2"                                # ranks 2 and 3 two steps behind
launch 0 4 0 --set 'resilience.strategies=[shrink]'
expected=$(checksum) lines=$(series)
said 'step 60: the grid adapts'
# shellcheck disable=SC2086
{
launch 0 4 1 $own --inject rank=0,step=59,phase=exchange
came_back "phase field, the root" 0 55 50
launch 0 4 1 $own --inject rank=1,step=79,phase=compute
came_back "phase field, behind an adaptation" 1 76 71
launch 0 4 2 $two --inject rank=1,step=58,phase=compute --inject rank=2,step=95,phase=exchange
cluster "phase field, clusters" 2 "0 3 "
went_to "phase field, clusters" "took over" 1 55 50
went_to "phase field, clusters" "took over" 2 92 87
}
finish

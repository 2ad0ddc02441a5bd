# SPDX-License-Identifier: Apache-2.0
# gabion-test: timeout=300 needs=ulfm labels=quick
# Strategy `local` with clusters that take own checkpoints between the common ones: after a death its cluster rolls
# back to the newest of both. Two clusters lost together find missing messages in the logs of their images. A
# hand-over to the next strategy rolls back to a common one. Always the bits of the undisturbed run.
. "$GABION_SOURCE/tests/apps/common.sh"
case=$GABION_SOURCE/tests/faults/local_runs/local.yaml
short="--set run.steps=100 --set output.forces.every=100 --set output.fields.every=100 --set resilience.memory.every=40"
. "$GABION_SOURCE/tests/faults/local_runs/local_common.sh"
# In four clusters of two every 8 steps: cluster 0 at 8, 16, 24, 32, cluster 1 two steps later, and so on.
own="--set resilience.local.verify=true --set resilience.local.clusters=4 --set resilience.local.own_every=8"
peak() { sed -n 's/.*"message_log_peak_per_rank": \([0-9]*\).*/\1/p' out/summary.json; }

launch 0 8 0 --set 'resilience.strategies=[shrink]'
expected=$(checksum) lines=$(series)
launch 0 8 1 --set resilience.local.clusters=4
same "common checkpoints alone, nobody dies"
[ "$(member cluster_checkpoints)" = 0 ] || complain "nobody asked for $(member cluster_checkpoints) checkpoints of clusters"
seldom=$(peak)

# shellcheck disable=SC2086 # words on purpose
{
launch 0 8 1 $own
same "nobody dies"
# 10, 13, 12 and 12 times, each by two ranks: not at 40, 80 and 100
[ "$(member cluster_checkpoints)" = 94 ] || complain "nobody dies: $(member cluster_checkpoints) checkpoints of clusters"
[ "$(grep -c '"cluster checkpoint"' out/events.jsonl)" = 47 ] || complain "nobody dies: $(grep -c '"cluster checkpoint"' out/events.jsonl) events of them"
[ "$(member log_messages_restored)" = 0 ] || complain "nobody dies: logs came back"
often=$(peak)
[ "$often" -gt 0 ] && [ $((2 * often)) -lt "$seldom" ] || complain "a message log has $often bytes at most, without own times $seldom"

launch 0 8 1 $own --inject rank=2,step=31,phase=compute
cluster "one of a pair" 1 "3 "
verified "one of a pair"
went_to "one of a pair" "took over" 2 26 18
went_to "one of a pair" "went back with its cluster" 3 26 18
[ "$(member log_messages_restored)" -gt 0 ] || complain "one of a pair: no log came back"
launch 0 8 1 $own --inject rank=5,step=43,phase=exchange
cluster "behind a common checkpoint" 1 "4 "
went_to "behind a common checkpoint" "took over" 5 40 36
launch 0 8 2 $own --inject rank=2,step=31,phase=compute --inject rank=4,step=31,phase=compute
cluster "two clusters at once" 2 "3 5 "
went_to "two clusters at once" "took over" 2 26 18
went_to "two clusters at once" "took over" 4 28 20
launch 0 8 2 $own --inject rank=1,step=71,phase=reduction --inject rank=2,step=71,phase=compute
cluster "the root goes back, and its neighbours" 2 "0 3 "
launch 0 8 2 $own --inject rank=2,step=31,phase=compute --inject rank=2,step=29,phase=compute,incarnation=1
cluster "who came back dies while its cluster computes again" 2 "3 "
launch 0 8 1 $own --inject rank=4,step=28,phase=commit
cluster "while a checkpoint of the cluster is on its way" 1 "5 "
launch 0 8 2 --set resilience.local.verify=true --set resilience.local.own_every=8 --inject rank=3,step=31,phase=compute --inject rank=4,step=61,phase=compute
alone "each rank by itself" 2
went_to "each rank by itself" "took over" 3 27 19

# ---- hand-over to the next strategy
launch 0 8 1 $own --inject rank=3,step=63,phase=compute --inject rank=6,step=66,phase=compute
same "the pool is empty"
[ "$(strategies)" = "local shrink " ] || complain "the pool is empty: strategies $(strategies)"
said 'pool empty'
grep '"recovery"' out/events.jsonl | grep '"shrink"' | grep -q '"restored_step": 40' || complain "the pool is empty: all go back to step 40, not: $(grep '"recovery"' out/events.jsonl)"
}

# ---- refusals
check 2 "$case" --set 'resilience.strategies=[spare, shrink]' --set resilience.local.own_every=5
said "with strategy 'local' in resilience.strategies only"
check 2 "$case" --set resilience.local.own_every=20
said 'resilience.local.own_every must be below resilience.memory.every'
check 2 "$case" --set resilience.local.own_every=5 --set resilience.local.log_limit=3
said 'excludes resilience.local.log_limit'
check 0 "$case" --set resilience.local.own_every=5
finish

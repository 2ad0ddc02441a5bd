# SPDX-License-Identifier: Apache-2.0
# gabion-test: timeout=300 needs=ulfm
# Strategy `local` with clusters: after a death only its cluster rolls back. Eight processes in two and in four
# clusters, on one and several nodes; two clusters at once, deaths while a cluster recomputes, no spare left. Always
# the bits of the undisturbed run; only messages between clusters are logged.
. "$GABION_SOURCE/tests/apps/common.sh"
case=$GABION_SOURCE/tests/faults/local_runs/local.yaml
short="--set run.steps=100 --set output.forces.every=50 --set output.fields.every=50"
. "$GABION_SOURCE/tests/faults/local_runs/local_common.sh"

launch 0 8 0 --set 'resilience.strategies=[shrink]'
expected=$(checksum) lines=$(series)

# ---- logged messages: fewer with larger clusters, none in one; equal to the count of ports in the same run, for the
# same division
launch 0 8 1
same "each alone"
ranks=$(member logged_bytes)
launch 0 8 1 --set resilience.local.clusters=4
four=$(member logged_bytes)
launch 0 8 1 --set resilience.local.clusters=2
same "two clusters, nobody dies"
two=$(member logged_bytes)
[ "$(member members_rolled_back)" = 0 ] || complain "two clusters, nobody dies: somebody went back"
launch 0 8 1 --set resilience.local.clusters=1
same "one cluster, nobody dies"
[ "$(member logged_bytes)" = 0 ] || complain "one cluster: $(member logged_bytes) bytes are logged"
[ "$two" -gt 0 ] && [ "$two" -lt "$four" ] && [ "$four" -lt "$ranks" ] || complain "logged: $ranks, $four, $two bytes"
cat >half.txt <<'TXT'
low: 0-3
high: 4-7
TXT
launch 0 8 1 --set resilience.local.clusters=half.txt
same "a file"
[ "$(member logged_bytes)" = "$two" ] || complain "the same two clusters from a file log $(member logged_bytes) bytes, not $two"
if command -v python3 >/dev/null; then
  launch 0 8 0 --set 'resilience.strategies=[shrink]' --traffic traffic.csv
  python3 - "$ranks" "$four" "$two" <<'PY' >compared.txt || complain "$(cat compared.txt)"
import sys
flows = [[int(x) for x in line.split(",")] for line in open("traffic.csv") if line[0].isdigit()]
for size, logged in zip((1, 2, 4), map(int, sys.argv[1:])):
    crossing = sum(b for a, z, _, b in flows if a // size != z // size)
    # with a message logger, requests to stop use other messages, and the traffic includes messages after the last
    # step
    if abs(crossing - logged) > 0.03 * crossing:
        sys.exit("clusters of %d: %d bytes are logged, ports count %d" % (size, logged, crossing))
PY
fi

# ---- deaths
launch 0 8 1 --set resilience.local.clusters=2 --inject rank=2,step=39,phase=exchange
cluster "one of two clusters" 1 "0 1 3 "
[ "$(member replayed)" -gt 0 ] || complain "one of two clusters: nothing was replayed"
[ "$(member left_out)" -gt 0 ] || complain "one of two clusters: nothing that others had was left out"
[ "$(member members_rolled_back)" -ge 3 ] || complain "one of two clusters: $(member members_rolled_back) went back"
[ "$(member member_steps_computed_again)" -gt 0 ] || complain "one of two clusters: no steps were lost"
sed '/"went back with its cluster"/q' out/events.jsonl >first.jsonl
rm -rf cut && mkdir cut && mv first.jsonl cut/events.jsonl
"$gabion" status cut >said.txt
said 'went back with its cluster to step'
launch 0 8 1 --set resilience.local.clusters=half.txt --inject rank=6,step=39,phase=compute
cluster "a cluster from a file" 1 "4 5 7 "
launch 0 8 1 --set resilience.local.clusters=4 --inject rank=0,step=65,phase=reduction
cluster "the root, in a reduction" 1 "1 "
launch 0 8 1 --set resilience.local.clusters=4 --inject rank=1,step=65,phase=compute
cluster "the root goes back" 1 "0 "
launch 0 8 1 --set resilience.local.clusters=4 --inject rank=5,step=60,phase=commit
cluster "while a checkpoint is on its way" 1 "4 "
launch 0 8 1 --set resilience.local.clusters=1 --inject rank=3,step=33,phase=compute
cluster "all in one" 1 "0 1 2 4 5 6 7 "
[ "$(member replayed)" = 0 ] || complain "all in one: something was replayed"
launch 0 8 2 --set resilience.local.clusters=4 --inject rank=2,step=33,phase=compute --inject rank=4,step=33,phase=compute
cluster "two clusters at once" 2 "3 5 "
launch 0 8 2 --set resilience.local.clusters=2 --inject rank=1,step=33,phase=compute --inject rank=3,step=33,phase=compute
cluster "two of one cluster" 2 "0 2 "
launch 0 8 2 --set resilience.local.clusters=2 --inject rank=3,step=33,phase=compute --inject rank=3,step=27,phase=compute,incarnation=1
cluster "who came back dies while its cluster computes again" 2 "0 1 2 "
launch 0 8 2 --set resilience.local.clusters=4 --inject rank=2,step=33,phase=compute --inject rank=3,step=35,phase=compute
same "a member that went back dies, or one that had not yet"
[ "$(member fault_count)" = 2 ] || complain "two of a pair: $(member fault_count) faults"
# Four nodes with two processes each, and one of spares: a whole node dies.
gabion_alone=$gabion
cat >on_node.sh <<SH
#!/bin/sh
GABION_NODE=node\$((OMPI_COMM_WORLD_RANK / 2)) exec "$gabion_alone" "\$@"
SH
chmod +x on_node.sh
gabion=$PWD/on_node.sh
launch 0 8 2 --set resilience.local.clusters=node --inject rank=4,step=39,phase=compute
cluster "of a node" 1 "5 "
launch 0 8 2 --set resilience.local.clusters=node --inject rank=4,step=39,phase=compute --inject rank=5,step=39,phase=compute
alone "a whole node" 2
[ "$(went_back | wc -w)" -le 1 ] || complain "a whole node: ranks $(went_back)went back"
gabion=$gabion_alone
launch 0 8 1 --set resilience.local.clusters=4 --set resilience.local.log_limit=0.5 --inject rank=5,step=39,phase=compute
cluster "limited logs" 1 "4 "

# ---- hand-over to the next strategy, and refusals
launch 0 8 1 --set resilience.local.clusters=4 --inject rank=3,step=33,phase=compute --inject rank=6,step=36,phase=compute
same "the pool is empty"
[ "$(strategies)" = "local shrink " ] || complain "the pool is empty: strategies $(strategies)"
said 'pool empty'
check 2 "$case" --set 'resilience.strategies=[spare, shrink]' --set resilience.local.clusters=2
said "resilience.local.clusters"
said "with strategy 'local' in resilience.strategies only"
check 2 "$case" --set resilience.local.clusters=0
said 'resilience.local.clusters = 0: must be at least 1'
launch 2 8 0 --set resilience.local.clusters=9
said 'resilience.local.clusters = 9: must be at most the number of ranks, 8'
launch 2 8 0 --set resilience.local.clusters=nowhere.txt
said 'nowhere.txt'
sed 's/4-7/4-6/' half.txt >gap.txt
launch 2 8 0 --set resilience.local.clusters=gap.txt
said 'gap.txt'
check 2 "$case" --set resilience.local.clusters=nowhere.txt
said 'nowhere.txt'
check 2 "$case" --set resilience.local.clusters=33
said 'resilience.local.clusters = 33: must be at most the number of ranks, 32'
check 0 "$case" --set resilience.local.clusters=half.txt
check 2 "$case" --set resilience.local.clusters=node --set resilience.separate=none
said 'ignores which processes share a node'
finish

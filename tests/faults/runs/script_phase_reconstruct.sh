# SPDX-License-Identifier: Apache-2.0
# gabion-test: timeout=200 labels=quick needs=ulfm
# A growing eutectic continues after the death of a rank and of all holders of its images, if approximation is
# allowed: all records report it, results are bitwise reproducible for any further deaths, and stay near the
# undisturbed run. Without permission a run ends with exit 3; a flow does not support it.
. "$GABION_SOURCE/tests/apps/common.sh"
. "$GABION_SOURCE/tests/apps/phase/phase_common.sh"
. "$GABION_SOURCE/tests/apps/phase/phase_lost.sh"

run 0 2 grow.yaml
cp -r out whole
expected=$(checksum)
grep -q '"reconstructed_blocks": 0,' out/summary.json || complain "an exact run is said to be none"
run 3 6 grow.yaml $pair
said '12 of 36 blocks are lost'
run 0 6 grow.yaml --set "$approximate" $pair
approximated=$(checksum)
[ "$approximated" != "$expected" ] || complain 'nothing was lost'
is_approximate 'a pair' 12
is_near 'a pair'
said 'records of these ranks are dropped: ledger'
cp -r out first
# Rank 0 dies while the blocks of the others are approximated: the third time that it enters a recovery.
run 0 6 grow.yaml --set "$approximate" $pair --inject rank=0,step=120,phase=recovery,visit=3
said '(2 rounds:'
[ "$(checksum)" = "$approximated" ] || complain 'death while blocks were approximated: another checksum'
for what in front.csv profile.csv; do diff -q first/$what out/$what || complain "death while blocks were approximated: another $what"; done
grep -q '"living": 3' out/summary.json || complain "rank 0 was to die: $(cat said.txt)"

# ---- unsupported cases
check 2 good.yaml --set "$approximate"
said "'reconstruct' is not for this case: populations"
said 'resilience.strategies'
finish

# SPDX-License-Identifier: Apache-2.0
# gabion-test: timeout=600 labels=long needs=ulfm
# Approximation of lost blocks together with all other features: coded groups, compressed and overlapped copies, one
# buffer, later deaths, checkpoints on disk (before it in the list, and of an approximated state), and lost metadata
# images.
. "$GABION_SOURCE/tests/apps/common.sh"
. "$GABION_SOURCE/tests/apps/phase/phase_common.sh"
. "$GABION_SOURCE/tests/apps/phase/phase_lost.sh"

run 0 2 grow.yaml
cp -r out whole
expected=$(checksum)
run 0 6 grow.yaml --set "$approximate" $pair
approximated=$(checksum)
cp -r out first
same() { # same NAME [options]: to the same bits as the first one
  local name=$1
  shift
  run 0 6 grow.yaml --set "$approximate" $pair "$@"
  [ "$(checksum)" = "$approximated" ] || complain "$name: another checksum"
  for what in front.csv profile.csv; do diff -q first/$what out/$what || complain "$name: another $what"; done
  is_approximate "$name" 12
}
same 'once more'
same 'a later death' --inject rank=2,step=190,phase=exchange
same 'copies behind the steps' --set resilience.memory.overlap=true --set resilience.memory.every=40
same 'one buffer' --set resilience.memory.buffers=1
for visit in 1 2 3 4 5; do # before it, in its rounds, behind it: a death that did not come is none
  same "death at visit $visit" --inject rank=5,step=120,phase=recovery,visit=$visit
  [ "$(grep -c '"event": "fault injection"' out/events.jsonl)" = 3 ] || complain "death at visit $visit: it did not come"
done
for visit in 4 5 6; do # during the protection of approximated data, metadata images included
  same "death at visit $visit of the snapshot" --inject rank=5,step=120,phase=snapshot,visit=$visit
  [ "$(grep -c '"event": "fault injection"' out/events.jsonl)" = 3 ] || complain "death at visit $visit of the snapshot: it did not come"
done
for visit in 1 2 3; do # during the snapshot to which the pair will roll back: other ranks hold the lost images
  run 0 6 grow.yaml --set "$approximate" $pair --inject rank=5,step=120,phase=snapshot,visit=$visit
  is_near "death at visit $visit of the snapshot before"
  grep -q '"event": "reconstruction"' out/events.jsonl || complain "death at visit $visit of the snapshot before: nothing was approximated"
done

# ---- coded groups, and no redundancy at all
run 0 6 grow.yaml --set "$approximate" --set resilience.scheme=parity --set resilience.group=6 $pair
[ "$(checksum)" = "$approximated" ] || complain 'a parity group that lost two: another checksum'
run 0 6 grow.yaml --set 'resilience.strategies=[reconstruct]' --set resilience.scheme=none --inject rank=3,step=130,phase=compute
is_approximate 'no copies' 6
is_near 'no copies'

# ---- data that is not lost is not approximated
run 0 6 grow.yaml --set 'resilience.strategies=[reconstruct]' --inject rank=1,step=130,phase=compute
[ "$(checksum)" = "$expected" ] || complain 'one death: another checksum'
not_said APPROXIMATION

# ---- disk
run 0 6 grow.yaml --set 'resilience.strategies=[shrink, disk, reconstruct]' --set resilience.disk.every=40 $pair
[ "$(checksum)" = "$expected" ] || complain 'disk first: another checksum'
not_said APPROXIMATION
run 0 6 grow.yaml --set "$approximate" --set resilience.disk.every=40 --set run.steps=180 $pair
timeout 100 "$GABION_LAUNCH" -n 3 -- "$gabion" run grow.yaml --out out >said.txt 2>&1 || complain "going on from disk: $(cat said.txt)"
said 'of an APPROXIMATION from step 120 on: 12 blocks'
[ "$(checksum)" = "$approximated" ] || complain 'going on from a checkpoint of a state that is approximated: another checksum'

# ---- all but one: of some rank not even the metadata image is left
run 3 6 grow.yaml --set "$approximate" --inject rank=0+1+2+3+4,step=130,phase=compute
said 'died and so did all holders of their images'
finish

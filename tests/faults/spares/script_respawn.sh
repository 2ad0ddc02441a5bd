# SPDX-License-Identifier: Apache-2.0
# gabion-test: timeout=600 labels=quick needs=ulfm
# Respawned processes take the ranks of dead ones: full size, the bits of the undisturbed run, on 2 to 8 processes.
. "$GABION_SOURCE/tests/apps/common.sh"

member() { sed -n "s/.*\"$1\": \([0-9]*\),.*/\1/p" out/summary.json | head -n 1; }
series() { cat out/forces.csv out/probes.csv 2>/dev/null | cksum; }
flow=$GABION_SOURCE/tests/faults/runs/flow.yaml
launch() { # launch EXIT RANKS SPARES STRATEGIES [arguments]: in a new folder
  local expected=$1 ranks=$2 spares=$3 strategies=$4 code=0
  set_aside=$spares
  shift 4
  rm -rf out
  timeout 150 "$GABION_LAUNCH" ${more:-} -n "$ranks" --spares "$spares" -t 1 --stall 60 -- "$GABION_BUILD/bin/gabion" \
    run "$flow" --out out --set "resilience.strategies=[$strategies]" "$@" >said.txt 2>&1 || code=$?
  [ "$code" = "$expected" ] || complain "exit $code instead of $expected: -n $ranks --spares $spares [$strategies] $*
it said: $(cat said.txt)"
}
full() { # full NAME FAULTS RESPAWNED: the undisturbed result, at full size
  local respawned
  respawned=$(sed -n 's/.*"respawned": \([0-9]*\).*/\1/p' out/summary.json | paste -sd+ | bc)
  [ "$(checksum)" = "$expected" ] || complain "$1: another checksum"
  [ "$(series)" = "$lines" ] || complain "$1: another series"
  [ "$(member living)" = "$(member ranks)" ] || complain "$1: $(member living) of $(member ranks) processes
it said: $(cat said.txt)"
  [ "$(member spares)" = "$set_aside" ] || complain "$1: $(member spares) processes set aside instead of $set_aside"
  [ "$(member fault_count)" = "$2" ] || complain "$1: $(member fault_count) faults instead of $2"
  [ "$respawned" = "$3" ] || complain "$1: $respawned processes were respawned instead of $3"
}

launch 0 4 0 respawn,shrink
expected=$(checksum) lines=$(series)
for ranks in 2 3 5 8; do
  launch 0 $ranks 0 respawn --inject rank=1,step=33,phase=exchange
  full "one of $ranks" 1 1
  grep -q '"strategy": "respawn"' out/summary.json || complain "summary.json does not say the strategy"
done
said 'rank 1 died, new process took over'
"$GABION_BUILD/bin/gabion" status out >said.txt 2>&1
said ', new process took over; back to step 30 by respawn'
launch 0 3 0 respawn --inject rank=0,step=33,phase=compute --inject rank=0,step=47,phase=commit,incarnation=1
full "the root, and who took over from it" 2 2
launch 0 4 0 respawn --inject rank=0+1,step=25,phase=snapshot
full "two at once" 1 2
launch 0 4 0 respawn --inject rank=3,step=25,phase=compute --inject rank=1,step=47,phase=output \
  --set resilience.scheme=ring --set resilience.copies=2
full "one after another, with two copies" 2 2
launch 0 3 0 respawn --inject rank=1,step=33,phase=compute --inject rank=1,step=33,phase=recovery,incarnation=1
full "who takes over, before it has its part" 1 1
launch 0 4 0 respawn --inject rank=1,step=33,phase=compute --inject rank=0,step=33,phase=respawn
full "the one that starts processes, while it does" 1 2
launch 0 4 0 respawn --inject rank=1,step=33,phase=compute --inject rank=2,step=33,phase=respawn
full "another one, while a process is started: then two are" 1 2
launch 0 4 1 spare,respawn --inject rank=1,step=33,phase=compute --inject rank=2,step=47,phase=compute
full "a spare first" 2 1
[ "$(grep -o '"strategy": "[a-z]*"' out/summary.json | paste -sd,)" = '"strategy": "spare","strategy": "respawn"' ] ||
  complain "spare, then respawn: summary.json says $(grep -o '"strategy": "[a-z]*"' out/summary.json)"
more=--tcp launch 0 4 0 respawn --inject rank=2,step=33,phase=exchange --inject rank=2,step=47,phase=exchange,incarnation=1
full "over TCP" 2 2
more="--tcp --cut-after 30" launch 0 3 0 respawn --inject rank=0,step=33,phase=compute
full "the root, where connections are watched" 1 1
# A replacement process receives the data of the set-up: the file no longer exists.
cp "$flow" gone.yaml
rm -rf out
(while [ ! -s out/log.txt ]; do sleep 0.05; done; rm gone.yaml) &
flow=gone.yaml launch 0 3 0 respawn --inject rank=2,step=47,phase=exchange
wait
full "the case file is gone" 1 1

# The holder of the copy dies with the rank: nothing to send to a replacement process.
launch 3 4 0 respawn --inject rank=0+2,step=47,phase=compute

# By mpirun itself, with the arguments of the launcher.
by_hand() { # by_hand ARGUMENTS OF MPIRUN
  rm -rf out
  # shellcheck disable=SC2086 # flags
  OMP_NUM_THREADS=1 timeout 100 "$GABION_MPIRUN" $GABION_MPI_FLAGS --prtemca state_base_recoverable 1 \
    --prtemca state_base_notify_errors 1 -n 4 "$@" "$GABION_BUILD/bin/gabion" run "$flow" --out out \
    --set 'resilience.strategies=[respawn]' --inject rank=2,step=33,phase=exchange >said.txt 2>&1 </dev/null
}
GABION_RESPAWN=1 by_hand
full "by mpirun" 1 1
by_hand
said 'was started by mpirun without gabion-launch, and GABION_RESPAWN=1 was not set for it'
[ ! -e out/summary.json ] || complain "by mpirun, without GABION_RESPAWN: not refused"

rm -rf out
"$GABION_BUILD/bin/gabion" run "$flow" --out out --set 'resilience.strategies=[respawn]' --set run.processes=1 >said.txt 2>&1
[ $? = 2 ] || complain "respawn without mpirun: not refused"
said 'was not started by gabion-launch or mpirun'
for wrong in 'shrink, respawn' 'respawn, spare'; do
  "$GABION_BUILD/bin/gabion" check "$flow" --set "resilience.strategies=[$wrong]" >said.txt 2>&1 &&
    complain "check takes the order $wrong"
done
finish

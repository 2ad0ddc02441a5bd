# SPDX-License-Identifier: Apache-2.0
# gabion-test: timeout=400 needs=ulfm
# Images that processes of a node copy from each other, read in place, or send: for any victim, phase and survivor the
# result is the undisturbed one.
. "$GABION_SOURCE/tests/apps/common.sh"

flow=$GABION_SOURCE/tests/faults/runs/flow.yaml adaptive=$GABION_SOURCE/tests/faults/runs/flow_adaptive.yaml
number() { sed -n "s/.*\"$1\": \([0-9]*\).*/\1/p" out/summary.json | head -n 1; }
series() { cat out/forces.csv out/probes.csv 2>/dev/null | cksum; }
launch() { # launch EXIT CASE RANKS SPARES [arguments]: in a new folder, unless `keep` is set
  local expected=$1 case=$2 ranks=$3 spares=$4 code=0
  shift 4
  [ -n "${keep:-}" ] || rm -rf out
  timeout 100 "$GABION_LAUNCH" ${launcher:-} -n "$ranks" --spares "$spares" -t 1 --stall 60 -- "$gabion" run "$case" --out out "$@" >said.txt 2>&1 ||
    code=$?
  [ "$code" = "$expected" ] || complain "exit $code instead of $expected: -n $ranks --spares $spares $*
it said: $(cat said.txt)"
  kept_going -n "$ranks" --spares "$spares" "$@"
}
same() { # same FAULTS WORDS...: the undisturbed result, and images have gone the way that was asked for
  local faults=$1 shared
  shift
  [ "$(checksum)" = "$sum" ] || complain "$way, $*: another checksum"
  [ "$(series)" = "$lines" ] || complain "$way, $*: another series"
  [ "$(number fault_count)" = "$faults" ] || complain "$way, $*: $(number fault_count) faults instead of $faults"
  shared=$(number shared_bytes)
  if [ "$way" = share ]; then
    [ "${shared:-0}" -gt 0 ] && [ "$shared" = "$(number copies_bytes)" ] || complain "$way, $*: $shared bytes are shared"
  else
    [ "$shared" = 0 ] || complain "$way, $*: $shared bytes are shared"
  fi
}
undisturbed() { # undisturbed CASE
  launch 0 "$1" 1 0
  sum=$(checksum) lines=$(series)
}

ways=${WAYS:-copy share send}
undisturbed "$flow"
for way in $ways; do
  within="--set resilience.memory.within_node=$way"
  launch 0 "$flow" 4 0 $within --inject rank=1,step=33,phase=exchange --inject rank=3,step=47,phase=commit
  same 2 "one, then another one"
  launch 0 "$flow" 4 0 $within --set resilience.memory.overlap=true --inject rank=2,step=30,phase=snapshot,visit=2
  same 1 "in the middle of a checkpoint behind the steps"
  launch 0 "$flow" 5 0 $within --set resilience.scheme=ring --set resilience.copies=2 --set resilience.scrub=5 \
    --inject rank=1+2,step=30,phase=snapshot,visit=3
  same 1 "two at once with two copies"
  launch 0 "$flow" 3 1 $within --inject rank=1,step=33,phase=compute --inject rank=1,step=47,phase=swap,incarnation=1
  same 2 "a spare, and what took its place later"
  launch 0 "$flow" 4 0 $within --set "resilience.strategies=[respawn]" --set resilience.scheme=ring --set resilience.copies=2 \
    --inject rank=0,step=33,phase=compute \
    --inject rank=0,step=33,phase=recovery,incarnation=1 --inject rank=2,step=52,phase=compute
  said 'new process took over'
  [ "$(checksum)" = "$sum" ] && [ "$(number living)" = 4 ] || complain "$way, respawned: $(checksum) on $(number living) processes
it said: $(cat said.txt)"
done

# All copies are lost with two deaths too many: from disk, where own images are written from the memory that others
# read.
for way in $ways; do
  case $way in # share, where others read that memory, in all of its states; the others in one each
    share) states='overlap=false overlap=true buffers=1' ;;
    copy) states=overlap=true ;;
    *) states=buffers=1 ;;
  esac
  for more in $states; do
    disk="--set resilience.memory.within_node=$way --set resilience.strategies=[shrink,disk] --set resilience.disk.every=10
      --set resilience.memory.$more"
    launch 0 "$flow" 4 0 $disk --set run.steps=40
    keep=1 launch 0 "$flow" 4 0 $disk --inject rank=0+2,step=47,phase=compute
    same 1 "from disk, $more"
    grep -q '"strategy": "disk"' out/summary.json || complain "$way, $more: not from disk"
  done
done

# Lost data is approximated, equally in each way, also from images read in place.
approximated=
for way in $ways; do
  launch 0 "$GABION_SOURCE/tests/faults/runs/phase.yaml" 4 0 --set resilience.memory.within_node=$way \
    --set "resilience.strategies=[shrink,reconstruct]" --inject rank=0+2,step=47,phase=compute
  said 'APPROXIMATION'
  : "${approximated:=$(checksum)}"
  [ "$(checksum)" = "$approximated" ] || complain "$way: another approximation"
done

# Snapshots in node memory cannot be read elsewhere.
launcher="--relaunch 1" launch 0 "$flow" 4 0 --set resilience.memory.within_node=share --inject rank=1,step=30,phase=snapshot,visit=2
[ "$(checksum)" = "$sum" ] && [ "$(number shared_bytes)" = 0 ] || complain "memory of the node: $(number shared_bytes) bytes are shared"

# The sizes of images change all the time.
undisturbed "$adaptive"
for way in $ways; do
  within="--set resilience.memory.within_node=$way --set resilience.memory.every=3"
  launch 0 "$adaptive" 4 0 $within --inject rank=2,step=25,phase=adapt-migrate --inject rank=0,step=45,phase=snapshot,visit=2
  same 2 "a grid that adapts"
  launch 0 "$adaptive" 3 2 $within --set resilience.memory.overlap=true --inject rank=1,step=33,phase=adapt-rebuild \
    --inject rank=2,step=50,phase=exchange
  same 2 "a grid that adapts, with spares"
done

# Impossible settings are reported.
refused 2 "$flow" --set resilience.memory.within_node=look
said 'resilience.memory.within_node'
refused 2 "$flow" --set resilience.memory.within_node=share --set "resilience.strategies=[local,shrink]"
said 'resilience.memory.within_node'
finish

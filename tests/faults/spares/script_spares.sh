# SPDX-License-Identifier: Apache-2.0
# gabion-test: timeout=240 needs=ulfm
# Spare processes replace dead ones: same ranks, full size, the bits of the undisturbed run, as long as there are any.
. "$GABION_SOURCE/tests/apps/common.sh"

checksum() { sed -n 's/.*"checksum": "\([0-9a-f]*\)".*/\1/p' out/summary.json; }
member() { sed -n "s/.*\"$1\": \([0-9]*\),.*/\1/p" out/summary.json | head -n 1; }
series() { cat out/forces.csv out/probes.csv 2>/dev/null | cksum; }
flow=$GABION_SOURCE/tests/faults/runs/flow.yaml
launch() { # launch EXIT RANKS SPARES [arguments]: in a new folder, unless `keep` is set
  local expected=$1 ranks=$2 spares=$3 code=0
  shift 3
  [ -n "${keep:-}" ] || rm -rf out
  "$GABION_LAUNCH" -n "$ranks" --spares "$spares" -t 1 --stall "${stall:-60}" -- "$GABION_BUILD/bin/gabion" run "$flow" --out out "$@" \
    >said.txt 2>&1 || code=$?
  [ "$code" = "$expected" ] || complain "exit $code instead of $expected: -n $ranks --spares $spares $*
it said: $(cat said.txt)"
  kept_going -n "$ranks" --spares "$spares" "$@"
}
full() { # full NAME FAULTS: the undisturbed result, at full size
  [ "$(checksum)" = "$expected" ] || complain "$1: another checksum"
  [ "$(series)" = "$lines" ] || complain "$1: another series"
  [ "$(member living)" = "$(member ranks)" ] || complain "$1: not at full size"
  [ "$(member fault_count)" = "$2" ] || complain "$1: $(member fault_count) faults instead of $2"
}

launch 0 4 0
expected=$(checksum) lines=$(series)
[ -n "$expected" ] || complain "no checksum"
launch 0 4 2
full "spares that nobody needs" 0
[ "$(member ranks)" = 4 ] || complain "spares count as ranks"

launch 0 4 2 --inject rank=2,step=33,phase=exchange
full "one" 1
grep -q '"strategy": "spare"' out/summary.json || complain "summary.json does not say the strategy"
said 'rank 2 died, spare took over'
"$GABION_BUILD/bin/gabion" status out >said.txt 2>&1
said ', spare took over; back to step 30 by spare'
# The list said: six processes, of which four have ranks.
launch 0 4 2 --set resilience.strategies=[spare,shrink] --inject rank=2,step=33,phase=exchange
full "the list said" 1
[ "$(member ranks)" = 4 ] && [ "$(member spares)" = 2 ] && [ "$(member spares_left)" = 1 ] ||
  complain "the list said: $(member ranks) ranks, $(member spares) spares, $(member spares_left) of them left"
# No rank holds copies of another: from disk, with the spare, which must take part in all collective calls then. The
# first part of the run leaves a checkpoint there, however slow the machine is.
for buffers in '' --set=resilience.memory.buffers=1 --set=resilience.memory.buffers=2; do
  none="--set resilience.scheme=none --set resilience.strategies=[spare,disk] --set resilience.disk.every=10 $buffers"
  launch 0 4 1 $none --set run.steps=40
  keep=1 launch 0 4 1 $none --inject rank=2,step=47,phase=compute
  full "scheme none, $buffers" 1
done
launch 0 3 2 --inject rank=0,step=33,phase=compute --inject rank=0,step=47,phase=commit,incarnation=1
full "the root, and who took over from it" 2
launch 0 4 2 --inject rank=0+1,step=25,phase=snapshot
full "two at once" 1
launch 0 3 3 --inject rank=1,step=33,phase=compute --inject rank=1,step=33,phase=recovery,incarnation=1
full "who takes over, before it has its part" 1
launch 0 3 3 --inject rank=1,step=33,phase=compute --inject rank=2,step=33,phase=snapshot
full "the donor, before the next checkpoint" 1
said 'ranks 1, 2 died, spares took over'
launch 0 4 1 --inject rank=1,step=33,phase=compute --inject rank=2,step=33,phase=repair
grep -q '"living": 3,' out/summary.json || complain "one spare for two: not 3 of 4 processes"
[ "$(checksum)" = "$expected" ] || complain "one spare for two: another checksum"
for scheme in ring parity reed-solomon; do
  launch 0 4 1 --inject rank=3,step=41,phase=exchange --set resilience.scheme=$scheme
  full "scheme $scheme" 1
done
launch 0 4 2 --inject rank=3,step=41,phase=exchange --inject rank=1,step=52,phase=compute --set resilience.scheme=ring \
  --set resilience.copies=2
full "two copies, of which one is sent" 2
launch 0 4 1 --inject rank=3,step=41,phase=exchange --set resilience.memory.compression=lz4 \
  --set resilience.memory.overlap=true
full "compressed copies behind the steps" 1
launch 0 4 1 --inject rank=1,step=41,phase=exchange --set resilience.memory.buffers=1
full "one buffer" 1

launch 3 4 1 --inject rank=1,step=33,phase=compute --inject rank=2,step=47,phase=compute --set 'resilience.strategies=[spare]'
said 'there were spare processes for 0 of 1 lost ranks'

# Nothing can be restored, and another process dies during the notification of the others: its replacement ends as
# they do.
stall=20 launch 3 4 3 --inject rank=0+2,step=47,phase=compute --inject rank=1,step=47,phase=repair,visit=2 --set 'resilience.strategies=[spare]'
said 'died and so did all holders of their images'
[ "$(sed -n 's/.*"event": "called", "process": \([0-9]*\).*/\1/p' out/events.jsonl | sort -u | wc -l)" = 3 ] || complain "lost for good: not three were called"

# The holder of the copy dies with the rank: there is nothing to send to a spare, but there is the disk. In two parts, too.
for spares in 2 1; do
  launch 0 4 $spares --set resilience.disk.every=20 --set run.steps=40
  keep=1 launch 0 4 $spares --set resilience.disk.every=20 --inject rank=0+2,step=47,phase=compute
  [ "$(checksum)" = "$expected" ] || complain "from disk: another checksum"
  grep -q '"strategy": "disk"' out/summary.json || complain "from disk: summary.json does not say so"
  [ "$(member living)" = $((2 + spares)) ] || complain "from disk: not as many processes as there are"
done

# Nobody is left but spares: no active process says that anybody died.
launch 0 2 2 --set resilience.disk.every=20 --set run.steps=40
keep=1 launch 0 2 2 --set resilience.disk.every=20 --inject rank=0+1,step=47,phase=compute
full "all who ran" 1
grep -q '"strategy": "disk"' out/summary.json || complain "all who ran: not from disk"

# Without the disk as a strategy they cannot roll back in the job: they hold no checkpoint. They request another start
# and report the loss. The next start resumes from disk.
launch 0 2 2 --set resilience.disk.every=20 --set run.steps=40 --set 'resilience.strategies=[spare]'
keep=1 launch 76 2 2 --set resilience.disk.every=20 --set 'resilience.strategies=[spare]' --inject rank=0+1,step=47,phase=compute
said 'all processes died that may have held a checkpoint'
said 'what was computed since the last checkpoint on disk, or since the beginning, is lost'
said 'starting the run again (start 2 of at most 2)'
not_said 'nothing is lost'
not_said 'before the first checkpoint'
keep=1 launch 0 2 2 --set resilience.disk.every=20 --set 'resilience.strategies=[spare]'
full "all who ran, started again" 0

# Left is only one that took over just now, which knows of no snapshot but the newest, and of that too little is left.
launch 0 3 1 --set resilience.disk.every=20 --set run.steps=30
keep=1 launch 0 3 1 --set resilience.disk.every=20 --inject rank=2,step=43,phase=compute --inject rank=0+1,step=46,phase=compute
[ "$(checksum)" = "$expected" ] || complain "one replacement process left: another checksum"
said 'died and so did all holders'

launch 2 2 1 --set 'resilience.strategies=[shrink, spare]'
said "strategy 'spare' cannot follow 'shrink'"
"$GABION_BUILD/bin/gabion" check "$flow" --set 'resilience.strategies=[shrink, spare]' >said.txt 2>&1 && complain "check takes an order that cannot be"
said "strategy 'spare' cannot follow 'shrink'"
"$GABION_BUILD/bin/gabion" check "$GABION_SOURCE/tests/faults/runs/phase.yaml" --set 'resilience.strategies=[spare, reconstruct]' >said.txt 2>&1 &&
  complain "check takes spare and reconstruct in one list"
said "strategies 'spare' and 'reconstruct' cannot be combined: a process that takes a rank has nothing to approximate blocks from"
finish

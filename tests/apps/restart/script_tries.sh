# SPDX-License-Identifier: Apache-2.0
# gabion-test: timeout=120 labels=quick needs=ulfm
# A run with repeated deaths before the next checkpoint ends with the reason, even if processes are left; a checkpoint
# between the deaths resets the count. The same for repeated failures of jobs from the same checkpoint on disk.
. "$GABION_SOURCE/tests/apps/common.sh"

injections="--inject rank=1,step=12 --inject rank=2,step=13 --inject rank=3,step=14"
run 1 6 good.yaml --set resilience.tries=2 --set resilience.memory.every=never $injections
said_once 'processes died 3 times in a row on the way from step 0 to the next checkpoint'
run 0 6 good.yaml --set resilience.tries=3 --set resilience.memory.every=never $injections
run 0 6 good.yaml --set resilience.tries=2 --set resilience.memory.every=1 $injections

# again CODE [options]: the same command in the folder that is there. All its processes die in step 14.
again() {
  local expected=$1 code
  shift
  timeout 100 "$GABION_LAUNCH" -n 2 -- "$gabion" run good.yaml --out out --set resilience.disk.every=10 "$@" >said.txt 2>&1
  code=$?
  [ $code = "$expected" ] || complain "again $*: exit code $code, expected $expected; it said: $(cat said.txt)"
}
die='--inject rank=0+1,step=14'
rm -rf out
again 0 --set run.steps=10
for job in 1 2; do again 1 $die --set resilience.tries=2; done
said 'resuming from step 10'
again 1 --set resilience.tries=2
said_once '2 jobs in a row resumed from step 10 and died before the next checkpoint on disk: giving up'
not_said 'resuming from'
"$gabion" status out >said.txt
said '3 starts; went on from a checkpoint 2 times; from step 10 2 times without getting any further'
said 'last checkpoint on disk: step 10'
again 0 --set resilience.tries=3
said 'resuming from step 10'
"$gabion" status out >said.txt || complain "status of a run that is done: $(cat said.txt)"
said '4 starts; went on from a checkpoint 3 times'
not_said 'without getting any further'
again 0 --set resilience.tries=1 --fresh
finish

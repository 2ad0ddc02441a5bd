# gabion-test: timeout=120 labels=quick needs=ulfm
# A run whose processes die again and again before the next checkpoint gives up and says so, also where more of
# them are left; a checkpoint between the deaths gives it new hope.
. "$GABION_SOURCE/tests/apps/common.sh"

drills="--inject slot=1,step=12 --inject slot=2,step=13 --inject slot=3,step=14"
run 1 6 good.yaml --set resilience.tries=2 --set resilience.memory.every=never $drills
said_once 'processes died 3 times in a row on the way from step 0 to the next checkpoint'
run 0 6 good.yaml --set resilience.tries=3 --set resilience.memory.every=never $drills
run 0 6 good.yaml --set resilience.tries=2 --set resilience.memory.every=1 $drills
finish

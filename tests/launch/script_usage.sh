# Wrong command lines are refused with 2 and a reason, before anything starts.
# gabion-test: timeout=60 labels=quick
. "$GABION_SOURCE/tests/launch/common.sh"

launch 0 --help
said 'usage: gabion-launch'
launch 2
said 'no program given'
launch 2 -n 0 true
said 'is no number of at least 1'
launch 2 --stall soon true
said 'soon'
launch 2 --pin sometimes true
said 'neither auto nor always nor never'
launch 2 --no-such-option true
said 'try: gabion-launch --help'
launch 2 "$dir/not-there"
said 'no such program'
launch 2 --mpirun "$dir/not-there" true
said 'no mpirun there'
finish

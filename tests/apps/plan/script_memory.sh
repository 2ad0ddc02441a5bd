# SPDX-License-Identifier: Apache-2.0
# gabion-test: timeout=200
# A case that needs more memory than available is refused with the numbers, unless overridden; a process that the
# system ended for lack of memory is suspected when others continue without it.
. "$GABION_SOURCE/tests/apps/common.sh"

# 76 TB: refused on any machine, before blocks are made, and with no folder.
huge=(--set 'domain.cells=[1048576, 1048576]' --set 'domain.block=[1024, 1024]')
refused 2 good.yaml "${huge[@]}"
said_once 'cells need about'
said 'for each of 2 processes'
said 'for the 2 on this node, where'
said '--overcommit'
check 0 good.yaml "${huge[@]}"
said 'warning: on this machine alone: '
said 'cells need about'

# A machine of files: 30 MB are free, then a control group that leaves less.
machine=$work/machine
mkdir -p "$machine/proc/self" "$machine/sys/fs/cgroup/job"
printf 'MemAvailable:   30000 kB\n' >"$machine/proc/meminfo"
printf 'oom_kill 2\n' >"$machine/proc/vmstat"
printf 'oom_kill 2\n' >"$machine/sys/fs/cgroup/job/memory.events"
printf '0::/job\n' >"$machine/proc/self/cgroup"
export GABION_SYSTEM=$machine
large=(--set 'domain.cells=[1024, 512]' --set 'domain.block=[64, 64]' --set run.steps=1)
refused 2 good.yaml "${large[@]}"
said_once '5.243e+05 cells need about 189 MB: 94.4 MB for each of 2 processes, 189 MB for the 2 on this node, where 30.7 MB are free'
run 0 2 good.yaml "${large[@]}" --overcommit
# Solid cells need none.
run 0 2 good.yaml "${large[@]}" --set 'bodies=[{type: box, lo: [64, -1], hi: [1025, 513]}]' --set domain.length=1024
printf '20000000\n' >"$machine/sys/fs/cgroup/job/memory.max"
printf '15000000\n' >"$machine/sys/fs/cgroup/job/memory.current"
refused 2 good.yaml --set 'domain.cells=[256, 128]' --set 'domain.block=[32, 32]'
said_once '5 MB of the 20 MB of its control group are free'
run 0 2 good.yaml

if [ "${GABION_TEST_ULFM:-}" ]; then
  # Rank 1 dies, and the system has counted one more ended process: meanwhile a fault injection stops it for a time
  # that no other process of the machine waits, as long as the test needs.
  rm -rf out
  hold=$((100000 + $$ % 800000))
  timeout 100 "$GABION_LAUNCH" -n 3 -- "$gabion" run good.yaml --out out --inject rank=1,step=5,stopped=$hold --inject rank=1,step=6 >said.txt 2>&1 &
  job=$!
  until sleeper=$(pgrep -f "^sleep $hold\$") || ! kill -0 $job 2>/dev/null; do sleep 0.05; done
  printf 'oom_kill 3\n' >"$machine/sys/fs/cgroup/job/memory.events"
  kill "$sleeper" || complain "nobody stood still: $(cat said.txt)"
  wait $job || complain "it said: $(cat said.txt)"
  said 'rank 1 died'
  said 'lack of memory is suspected: the system of this node has ended 1 process of the control group of this run for it'
  # Another death is none of the system's, whatever it does elsewhere on the machine.
  printf 'oom_kill 9\n' >"$machine/proc/vmstat"
  run 0 3 good.yaml --inject rank=1,step=5
  said 'rank 1 died'
  not_said 'lack of memory'
fi
finish

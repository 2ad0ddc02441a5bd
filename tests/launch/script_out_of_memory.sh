# SPDX-License-Identifier: Apache-2.0
# When the kernel ends a process for lack of memory, only the last messages of the launcher can report it, and only
# then. As root a run is put into a control group that is too small, and the kernel kills it. The evaluation of the
# counters is tested in any case, with files.
# gabion-test: timeout=120
. "$GABION_SOURCE/tests/launch/common.sh"
gabion=$GABION_BUILD/bin/gabion
suspects='lack of memory is suspected'

group=machine/sys/fs/cgroup/jobs/17
mkdir -p machine/proc/self $group
printf 'MemAvailable: 30000 kB\n' >machine/proc/meminfo
printf '0::/jobs/17\n' >machine/proc/self/cgroup
printf 'oom_kill 2\n' | tee machine/proc/vmstat $group/memory.events >$group/../memory.events
GABION_SYSTEM=$dir/machine "$GABION_LAUNCH" -n 1 sh -c "printf 'oom_kill 3\n' >$dir/$group/memory.events; kill -9 \$\$" >"$dir/out" 2>&1
said "$suspects: the system of this node has ended 1 process of the control group of this run for it since the run began; 30.7 MB are free now"
GABION_SYSTEM=$dir/machine "$GABION_LAUNCH" -n 1 sh -c 'kill -9 $$' >"$dir/out" 2>&1
said 'without completing'
grep -q "$suspects" "$dir/out" && complain "memory is suspected for no reason: $(cat "$dir/out")"
# Of another container, or of anybody else on this machine.
GABION_SYSTEM=$dir/machine "$GABION_LAUNCH" -n 1 sh -c "printf 'oom_kill 3\n' | tee $dir/machine/proc/vmstat >$dir/$group/../memory.events; kill -9 \$\$" >"$dir/out" 2>&1
said 'without completing'
grep -q "$suspects" "$dir/out" && complain "memory is suspected for somebody else's process: $(cat "$dir/out")"

[ "$(id -u)" = 0 ] || finish
for memory in /sys/fs/cgroup/memory /sys/fs/cgroup; do
  group=$memory/gabion-test-$$
  mkdir "$group" 2>/dev/null || continue
  for limit in memory.limit_in_bytes memory.max; do
    if [ -w "$group/$limit" ] && [ -w "$group/cgroup.procs" ]; then break 2; fi
  done
  rmdir "$group"
done
if [ ! -w "$group/cgroup.procs" ]; then finish; fi
trap 'rmdir "$group" 2>/dev/null; rm -rf "$dir"' EXIT
echo 60000000 >"$group/$limit"
if [ -w "$group/memory.swap.max" ]; then echo 0 >"$group/memory.swap.max"; fi
cat >case.yaml <<YAML
run: {steps: 10}
domain: {cells: [2048, 1024], block: [64, 64]}
fluid: {omega: 1.5}
YAML
# The launcher, too: it knows its own group.
sh -c "echo \$\$ >$group/cgroup.procs; exec $GABION_LAUNCH -n 1 --start-retries 0 $gabion run case.yaml --out run --overcommit" >"$dir/out" 2>&1
code=$?
[ $code = 1 ] || complain "a run that the kernel kills: exit code $code, expected 1; it said: $(cat "$dir/out")"
said "$suspects: the system of this node has ended [0-9]* process"
[ "$(tail -n 1 "$dir/out" | grep -c "$suspects")" = 1 ] || complain "not its last words: $(cat "$dir/out")"
finish

# SPDX-License-Identifier: Apache-2.0
# Wrong command lines are refused with 2 and a reason, before anything starts.
# gabion-test: timeout=60 labels=quick
. "$GABION_SOURCE/tests/launch/common.sh"

launch 0 --help
said 'usage: gabion-launch'
launch 2
said 'no program given'
launch 2 -n 0 true
said 'expected a number >= 1'
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

# Hosts are not handed to an agent as options, which may run a command.
cat >agent <<SH
#!/bin/bash
printf '%s\\n' "\$*" >>"$dir/called"
exit 1
SH
chmod +x agent
cp agent ssh
for hosts in "-oProxyCommand=touch $dir/owned:1" "a:1,-F/dev/null:1" ':4' 'a;touch owned' ','; do
  launch 2 --relaunch 1 --agent "$dir/agent" --hosts "$hosts" true
  said '^gabion-launch: --hosts'
  [ ! -e called ] || complain "--hosts $hosts: the agent was called: $(cat called)"
done
for agent in agent ssh; do
  rm -f called
  launch 1 -n 1 --relaunch 1 --agent "$dir/$agent" --hosts a:1 --start-within 5 true
  mv called "called.$agent" || complain "$agent was not called"
done
grep -qx 'a true' called.agent || complain "what agent was called with: $(cat called.agent)"
grep -qx -e '-- a true' called.ssh || complain "ssh was called without -- in front of the host: $(cat called.ssh)"
finish

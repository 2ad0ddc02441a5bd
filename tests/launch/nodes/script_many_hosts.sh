# SPDX-License-Identifier: Apache-2.0
# A relaunch leaves out the hosts that do not answer and no other, however long the list is.
# gabion-test: timeout=60
. "$GABION_SOURCE/tests/launch/common.sh"

cat >mpirun <<SH
#!/bin/bash
# Notes its list of hosts and ends without a word.
while [ "\$1" != --host ]; do shift || exit 1; done
echo "\$2" >>"$dir/hosts"
exit 1
SH
cat >agent <<'SH'
#!/bin/bash
case $1 in *-dead) exit 255 ;; esac
SH
chmod +x mpirun agent
all= left=
for i in $(seq 60); do
  name=compute-node-$i.of-a-rack.with-a-long-name.in-a-cluster
  if [ $((i % 20)) = 7 ]; then
    all+=,$name-dead:1
  else
    all+=,$name:1
    left+=,$name:1
  fi
done
launch 1 -n 60 --relaunch 2 --mpirun "$dir/mpirun" --agent "$dir/agent" --hosts "${all#,}" true
said 'node compute-node-47.of-a-rack.with-a-long-name.in-a-cluster-dead does not answer'
said 'relaunching on 57 processes'
[ "$(wc -l <hosts)" = 3 ] || complain "not three jobs: $(wc -l <hosts)"
[ "$(sed -n 1p hosts)" = "${all#,}" ] || complain "the first job had other hosts: $(sed -n 1p hosts)"
for job in 2 3; do
  [ "$(sed -n ${job}p hosts)" = "${left#,}" ] || complain "job $job had other hosts: $(sed -n ${job}p hosts)"
done
finish

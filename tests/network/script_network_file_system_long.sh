# SPDX-License-Identifier: Apache-2.0
# The folder of the run is a network file system: a process cut off from the others cannot reach it either, and its
# open files hang or fail. It ends without a message in the folder, and the others continue with the undisturbed
# result. The cable may return.
# gabion-test: timeout=900 labels=long,network waits=1 needs=ulfm
. "$GABION_SOURCE/tests/network/nodes.sh"
. "$GABION_SOURCE/tests/network/cut.sh"
command -v sshfs >/dev/null && [ -x /usr/sbin/sshd ] && [ -e /dev/fuse ] || exit 77

nodes_up 3
# An SFTP server where the launcher is, and on each node the folder `far` by a cable that may be pulled. Without it a node has an empty one.
mkdir -p near far && mount --bind near far && mkdir -p /run/sshd && chmod 755 /run/sshd || exit 1
ssh-keygen -q -t ed25519 -N '' -f host_key && ssh-keygen -q -t ed25519 -N '' -f own_key && cp own_key.pub authorized || exit 1
cat >sshd.conf <<CONF
Port 2222
ListenAddress 10.77.0.254
HostKey $work/host_key
AuthorizedKeysFile $work/authorized
PidFile $work/sshd.pid
StrictModes no
PermitRootLogin yes
UsePAM no
Subsystem sftp internal-sftp
CONF
/usr/sbin/sshd -f "$work/sshd.conf" -E /dev/null || exit 1
cat >agent.sh <<SH
#!/bin/bash
node=\$1; shift
exec ip netns exec \$node unshare --uts --mount bash -c \
  "hostname \$node; mount -t tmpfs none /dev/shm; export GABION_NODE=\$node
   umount $work/far && sshfs -p 2222 -o IdentityFile=$work/own_key,StrictHostKeyChecking=no,UserKnownHostsFile=/dev/null,LogLevel=ERROR \
     -o ServerAliveInterval=2,ServerAliveCountMax=2,cache=no,direct_io 10.77.0.254:$work/near $work/far || exit 1
   \$*"
SH
silence="--cut-after ${NETWORK_CUT_AFTER:-6}"
three=nod1:1,nod2:1,nod3:1
reference=far/ref
make_reference $three 3
for back in never 3 8; do
  for node in 3 1 2; do
    cut_at far/out $three 3 320 exchange $((node % 3)) $node
    [ $back = never ] || { sleep $back; plug $node; }
    judge far/out 0
    plug $node
    echo "node $node, back after $back: $code, $(ls far/out/fencing | grep -c ^cut-) cuts, $(grep -cs '"event": "recovery"' far/out/events.jsonl) recoveries"
    [ $back != never ] || has_event far/out "\"lost\": \[$((node - 1))\]" || complain "no recovery from the loss of rank $((node - 1))"
    mv far/out "far/out.$node.$back"; mv far/out.txt "far/out.$node.$back.txt"
  done
done
kill "$(cat sshd.pid)"
umount far
finish

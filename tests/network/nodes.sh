# SPDX-License-Identifier: Apache-2.0
# Shared by the tests of a network that is cut; to be sourced. Nodes are network namespaces on a bridge, with separate
# host names, addresses, and memory: real TCP over cables that can be pulled. All share the folder of the run. A test
# and its processes are in separate namespaces of network, mounts and processes: two tests do not see each other, and
# with the first process all processes and mounts end. NETWORK_KEEP=FOLDER keeps files of the runs.
set -u
: "${GABION_BUILD:?}" "${GABION_LAUNCH:?}"
if [ -z "${NETWORK_INSIDE:-}" ]; then
  [ "$(id -u)" = 0 ] && command -v ip >/dev/null || exit 77
  unshare --net --mount --pid --uts --fork sh -c \
    'mount -t tmpfs none /run && mkdir /run/netns && ip netns add probe &&
     ip link add cable type veth peer name eth0 netns probe && ip link add hub type bridge' >/dev/null 2>&1 || exit 77
  NETWORK_INSIDE=1 exec unshare --net --mount --pid --uts --fork --kill-child --mount-proc bash "$0" "$@"
fi
gabion=$GABION_BUILD/bin/gabion
work=$(mktemp -d)
mount -t tmpfs none "$work" && mkdir -p /run/netns && mount -t tmpfs none /run/netns || exit 1
trap 'cd /; [ -z "${NETWORK_KEEP:-}" ] || cp -r "$work/." "$NETWORK_KEEP"; umount "$work"; rmdir "$work"' EXIT
cd "$work" && mkdir tmp || exit 1
export TMPDIR=$work/tmp # of the daemons of MPI, too
failures=0
complain() { printf '%s\n' "$*"; failures=$((failures + 1)); }
finish() { exit $((failures > 0)); }

# nodes_up N: nod1 … nodN
nodes_up() {
  local n
  ip link set lo up && ip link add hub type bridge && ip addr add 10.77.0.254/24 dev hub && ip link set hub up || exit 1
  for n in $(seq "$1"); do
    ip netns add nod$n && ip link add cable$n type veth peer name eth0 netns nod$n &&
      ip link set cable$n master hub up && ip -n nod$n addr add 10.77.0.$n/24 dev eth0 &&
      ip -n nod$n link set eth0 up && ip -n nod$n link set lo up || exit 1
  done
}
# launcher_cable: connects the namespace of the launcher by a cable called launcher
launcher_cable() {
  ip addr del 10.77.0.254/24 dev hub && ip link add cablelauncher type veth peer name eth0 &&
    ip link set cablelauncher master hub up && ip addr add 10.77.0.254/24 dev eth0 && ip link set eth0 up || exit 1
}
# second_hub NODE...: connects these nodes to a second hub; the cable between the hubs is called hub
second_hub() {
  local n
  ip link add hub2 type bridge && ip link set hub2 up && ip link add cablehub type veth peer name cablehub2 || exit 1
  ip link set cablehub master hub up && ip link set cablehub2 master hub2 up || exit 1
  for n in "$@"; do ip link set cable$n master hub2 || exit 1; done
}
# bad_cable NODE MILLISECONDS PERCENT: the cable of this node is slow, and loses so much
bad_cable() {
  ip link set cable$1 nomaster && ip link add bad$1 type veth peer name good$1 && ip link set good$1 master hub up &&
    ip link set bad$1 up || exit 1
  (cd / && exec "$GABION_BUILD/tests/network/helper_bad_link" cable$1 bad$1 "$2" "$3") &
}
# pull and plug: cables, named by their nodes
pull() { local n; for n in "$@"; do ip link set cable$n down; done; }
plug() { local n; for n in "$@"; do ip link set cable$n up; done; }

# agent.sh NODE COMMAND...: starts a command on a node, in the place of ssh
cat >agent.sh <<SH
#!/bin/bash
node=\$1; shift
exec ip netns exec \$node unshare --uts --mount bash -c \
  "hostname \$node; mount -t tmpfs none /dev/shm; export GABION_NODE=\$node; \$*"
SH
chmod +x agent.sh

# launch OUT HOSTS PROCESSES [OPTION...]: a run of case.yaml, or of $case, in the background, its output in OUT.txt;
# $job is its launcher. Limit of silence: dead_after=SECONDS (10), or silence="OPTION..."
launch() {
  local out=$1 hosts=$2 processes=$3
  shift 3
  "$GABION_LAUNCH" --agent "$work/agent.sh" --hosts "$hosts" -n "$processes" -t 1 ${silence:---dead-after ${dead_after:-10}} --stall 120 --grace 3 \
    --mpi-args "--oversubscribe --mca mpi_yield_when_idle 1 --mca btl self,tcp --mca btl_tcp_if_include 10.77.0.0/24 --prtemca prte_if_include 10.77.0.0/24 ${mpi_args:-}" \
    "$@" -- "$gabion" run "${case:-case.yaml}" --out "$out" ${run_args:-} >"$out.txt" 2>&1 &
  job=$!
}

# processes_left: processes of the program, and their starters on the nodes
processes_left() { pgrep -f "^$gabion run|prted|^$GABION_LAUNCH" | tr '\n' ' '; }

# checksum FOLDER: of the run in it. One that is missing equals no other.
checksum() {
  sed -n 's/.*"checksum": "\([0-9a-f]*\)".*/\1/p' "$1/summary.json" 2>/dev/null | grep . || echo "none, $BASHPID"
}

# step_of FOLDER: present step of the run there
step_of() { sed -n 's/.*"step": *\([0-9]*\).*/\1/p' "$1/progress.json" 2>/dev/null | head -1 | grep . || echo -1; }

# wait_until WHAT COMMAND...: until it succeeds, two minutes at most, or the launcher has ended
wait_until() {
  local what=$1
  shift
  for _ in $(seq 2400); do
    "$@" && return
    kill -0 "$job" 2>/dev/null || break
    sleep 0.05
  done
  complain "waited in vain for $what"
  return 1
}
has_come_to() { [ "$(step_of "$1")" -ge "$2" ]; }

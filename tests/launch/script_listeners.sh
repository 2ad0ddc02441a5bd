# SPDX-License-Identifier: Apache-2.0
# Other machines cannot reach the ports of a run on one machine: neither mpirun's nor those of its processes. A run without mpirun
# has none. GABION_LOOPBACK=0 leaves the ports of the processes open. The other machine is a network namespace.
# gabion-test: timeout=120
. "$GABION_SOURCE/tests/launch/common.sh"
[ "$(id -u)" = 0 ] || exit 77 # for the other machine
command -v ss >/dev/null && command -v ip >/dev/null && command -v nsenter >/dev/null || exit 77
gabion=$GABION_BUILD/bin/gabion
cat >case.yaml <<YAML
run: {steps: 4000000}
domain: {cells: [64, 64], block: [32, 32]}
fluid: {omega: 1.5}
boundaries: {y_max: {type: velocity, velocity: [0.05, 0]}, y_min: {type: wall}}
YAML
network=10.213.$(($$ % 250))
unshare --net sleep 1000 2>/dev/null &
outside=$!
trap 'code=$?; kill $outside; ip link del gab$$a 2>/dev/null; rm -rf "$dir"; [ $code != 0 ] || exit $((failures > 0))' EXIT
for _ in $(seq 100); do [ "$(readlink /proc/$outside/ns/net)" != "$(readlink /proc/self/ns/net)" ] && break; sleep 0.05; done
ip link add gab$$a type veth peer name gab$$b netns $outside 2>/dev/null || exit 77
ip addr add $network.1/24 dev gab$$a && ip link set gab$$a up || exit 77
nsenter -t $outside -n sh -c "ip addr add $network.2/24 dev gab$$b && ip link set gab$$b up" || exit 77

below() { # below PID: it and its descendants
  local child
  echo "$1"
  for child in $(pgrep -P "$1"); do below "$child"; done
}
ports() { # ports PID NAME: listening ports of it and its children under that name, except on loopback
  local each
  for each in $(below "$1"); do
    ss -Hltnp | grep "users:((\"$2\",pid=$each," | awk '{print $4}' | grep -v '^127\.\|^\[::1\]' | sed 's/.*://'
  done
}
reached() { # reached PORTS...: those of them that take a connection from outside
  local port
  for port; do nsenter -t $outside -n timeout 1 bash -c "exec 9<>/dev/tcp/$network.1/$port" 2>/dev/null && echo "$port"; done
}
computes() {
  for _ in $(seq 600); do grep -qs '"step": [1-9]' "$1/progress.json" && return; sleep 0.05; done
  complain "$1: no step within half a minute: $(cat "$dir/out")"
}
count() { wc -w <<<"$1"; }
end() {
  kill -TERM $pid
  wait $pid
}

"$GABION_LAUNCH" -n 2 -t 1 "$gabion" run case.yaml --out launched >"$dir/out" 2>&1 &
pid=$!
computes launched
own=$(ports $pid gabion) theirs=$(ports $pid prterun)
[ "$(count "$own")" = 2 ] && [ "$(count "$theirs")" -ge 1 ] || complain "ports of the launcher's job: $own; $theirs"
# shellcheck disable=SC2086
open=$(reached $own $theirs)
[ -z "$open" ] || complain "the launcher's job can be reached from outside: $open of $own, $theirs"
end

# shellcheck disable=SC2086
"$GABION_MPIRUN" $GABION_MPI_FLAGS -n 2 "$gabion" run case.yaml --out plain >"$dir/out" 2>&1 &
pid=$!
computes plain
own=$(ports $pid gabion)
[ "$(count "$own")" = 2 ] || complain "mpirun's job: ports $own"
# shellcheck disable=SC2086
[ -z "$(reached $own)" ] || complain "processes of mpirun can be reached from outside"
end

GABION_LOOPBACK=0 "$GABION_LAUNCH" -n 2 -t 1 "$gabion" run case.yaml --out told >"$dir/out" 2>&1 &
pid=$!
computes told
# shellcheck disable=SC2046
[ "$(count "$(reached $(ports $pid gabion))")" = 2 ] || complain "GABION_LOOPBACK=0: not reached: $(ports $pid gabion)"
end

"$gabion" run case.yaml --out alone >"$dir/out" 2>&1 &
pid=$!
computes alone
[ -z "$(ports $pid gabion)" ] || complain "a single process listens: $(ports $pid gabion)"
kill -KILL $pid
wait $pid 2>/dev/null

# Messages of a job that has TCP alone get through.
launch 0 -n 2 -t 1 --tcp "$gabion" run case.yaml --set run.steps=20 --out tcp
finish

# A run on one machine listens on the loopback interface alone, mpirun as well as its processes, also one without mpirun;
# GABION_LOOPBACK=0 leaves the sockets of the processes as MPI makes them.
# gabion-test: timeout=120 labels=quick
. "$GABION_SOURCE/tests/launch/common.sh"
command -v ss >/dev/null || exit 77
gabion=$GABION_BUILD/bin/gabion
cat >case.yaml <<YAML
run: {steps: 4000000}
domain: {cells: [64, 64], block: [32, 32]}
fluid: {omega: 1.5}
boundaries: {y_max: {type: velocity, velocity: [0.05, 0]}, y_min: {type: wall}}
YAML
# Does this system allow it at all?
python3 -c 'import socket
s = socket.socket()
s.setsockopt(socket.SOL_SOCKET, socket.SO_BINDTODEVICE, b"lo\0")' 2>/dev/null || exit 77

below() { # below PID: it and its descendants
  local child
  echo "$1"
  for child in $(pgrep -P "$1"); do below "$child"; done
}
# listeners PID: address and program of what listens there
listeners() {
  local each
  for each in $(below "$1"); do ss -Hltnp | sed -n "s/^LISTEN *[0-9]* *[0-9]* *\([^ ]*\):[0-9]* .*((\"\([^\"]*\)\".*pid=$each,.*/\1 \2/p"; done
}
open_ones() { listeners "$1" | grep -v -e '%lo ' -e '^127\.' -e '^\[::1\]'; }
computes() {
  for _ in $(seq 600); do grep -qs '"step": [1-9]' "$1/progress.json" && return; sleep 0.05; done
  complain "$1: no step within half a minute: $(cat "$dir/out")"
}
ended() { # ended PID: and waited for
  kill -TERM "$1"
  wait "$1"
}

"$GABION_LAUNCH" -n 2 -t 1 "$gabion" run case.yaml --out launched >"$dir/out" 2>&1 &
pid=$!
computes launched
[ "$(listeners $pid | grep -c ' gabion$')" = 2 ] || complain "not two processes that listen: $(listeners $pid)"
listeners $pid | grep -q 'prterun$\|mpirun$' || complain "mpirun is not seen to listen: $(listeners $pid)"
[ -z "$(open_ones $pid)" ] || complain "reachable from outside: $(open_ones $pid)"
ended $pid

# shellcheck disable=SC2086
"$GABION_MPIRUN" $GABION_MPI_FLAGS -n 2 "$gabion" run case.yaml --out plain >"$dir/out" 2>&1 &
pid=$!
computes plain
[ "$(listeners $pid | grep -c ' gabion$')" = 2 ] || complain "mpirun: not two processes that listen: $(listeners $pid)"
[ -z "$(open_ones $pid | grep ' gabion$')" ] || complain "mpirun: reachable from outside: $(open_ones $pid)"
ended $pid

GABION_LOOPBACK=0 "$GABION_LAUNCH" -n 2 -t 1 "$gabion" run case.yaml --out told >"$dir/out" 2>&1 &
pid=$!
computes told
[ "$(open_ones $pid | grep -c ' gabion$')" = 2 ] || complain "GABION_LOOPBACK=0: $(listeners $pid)"
ended $pid

"$gabion" run case.yaml --out alone >"$dir/out" 2>&1 &
pid=$!
computes alone
[ -z "$(listeners $pid)" ] || complain "a single process listens: $(listeners $pid)"
kill -KILL $pid
wait $pid 2>/dev/null
finish

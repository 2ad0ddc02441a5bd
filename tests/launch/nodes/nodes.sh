# SPDX-License-Identifier: Apache-2.0
# Shared by the tests of gabion-launch that need several nodes; to be sourced. Nodes are emulated: processes with
# separate host names.
set -u
: "${GABION_BUILD:?}" "${GABION_LAUNCH:?}"
unshare --uts true 2>/dev/null || exit 77 # host names cannot be changed here
gabion=$GABION_BUILD/bin/gabion
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work" || exit 1
failures=0
complain() { printf '%s\n' "$*"; failures=$((failures + 1)); }
finish() { exit $((failures > 0)); }

# box STEPS CELLS [VELOCITY]: a case with a checkpoint in memory every 5 steps.
box() {
  cat <<YAML
run: {steps: $1}
domain: {cells: $2, block: [8, 8]}
fluid: {omega: 1.5}
boundaries:
  y_min: {type: wall}
  y_max: {type: velocity, velocity: [${3:-0.05}, 0]}
resilience: {memory: {every: 5}}
output: {integrals: {every: 10}}
YAML
}

# agent.sh HOST COMMAND...: starts a command on a node, in the place of ssh; none on a node for which there is down.HOST
cat >agent.sh <<SH
#!/bin/bash
host=\$1; shift
[ -e "$work/down.\$host" ] && exit 255
export GABION_NODE=\$host NODES_TEST=$$
exec unshare --uts bash -c "hostname \$host; \$*"
SH
chmod +x agent.sh
nodes_mpi="--oversubscribe --mca mpi_yield_when_idle 1" # for --mpi-args

# processes_of [NODE]: those of this test, or of one of its nodes
processes_of() {
  grep -lszx "NODES_TEST=$$" /proc/[0-9]*/environ |
    { if [ $# = 0 ]; then cat; else xargs -r grep -lszx "GABION_NODE=$1"; fi; } | cut -d/ -f3
}

# all_processes_of [NODE...]: the same of each of these nodes, or of all
all_processes_of() {
  local node
  [ $# -gt 0 ] || processes_of
  for node; do processes_of "$node"; done
}

# kill_all [NODE...]: ends all processes of this test, or of these nodes, as if at one instant. They are stopped before the first
# one dies, since a run of this size continues without a dead process, and completes, within 5 ms. A process may be
# started meanwhile: so both are repeated until nothing is found. @return false if some stay for 10 s
kill_all() {
  local found seen= _
  for _ in $(seq 200); do
    found=$(all_processes_of "$@")
    [ "$found" = "$seen" ] && break
    # shellcheck disable=SC2086 # words on purpose
    kill -STOP $found 2>/dev/null
    seen=$found
  done
  for _ in $(seq 200); do
    found=$(all_processes_of "$@")
    [ -n "$found" ] || return 0
    # shellcheck disable=SC2086
    kill -KILL $found 2>/dev/null
    sleep 0.05
  done
  return 1
}

# lose LAUNCHER NODE...: all processes of these nodes end at once; the launcher reacts afterwards
lose() {
  kill -STOP "$1"
  kill_all "${@:2}" || complain "processes stay: $(processes_of)"
  kill -CONT "$1"
}

# checksum [FOLDER]: of the run in it (out). One that is missing equals no other.
checksum() {
  sed -n 's/.*"checksum": "\([0-9a-f]*\)".*/\1/p' "${1:-out}/summary.json" 2>/dev/null | grep . || echo "none, $BASHPID"
}

# wait_for TEXT FILE [LOG]: until the text is in the file, a minute at most
wait_for() {
  for _ in $(seq 1200); do grep -qs -e "$1" "$2" && return; sleep 0.05; done
  complain "no \`$1' in $2 within a minute${3:+: $(tr -d '\0' <"$3")}"
}

#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Measures the behaviour of the installed MPI after deaths of processes: the rows of the table in doc/ulfm.md. Every
# death is a real SIGKILL. Run it again after a change of the MPI.
#
# usage: scripts/mpi/ulfm-probe.sh [--trials N] [--seconds S] [--out FILE] [ROW ...]
#   --trials N    number of trials per row and transport (default 1000), or until 20 jobs have hung
#   --seconds S   time limit for new jobs of a row (default: none)
#   --out FILE    appends a line per row: row, transport, trials, right, hung, crashed (default: only printed)
# Rows: adjacent adjacent-large spare send receive make many respawn respawn-two respawn-all respawn-all-two (default: all)
set -u
. "$(dirname "${BASH_SOURCE[0]}")/../common.sh"

trials=1000 seconds=1000000 out=/dev/null rows=()
while (($#)); do
  case $1 in
    --trials) trials=$2; shift 2 ;;
    --seconds) seconds=$2; shift 2 ;;
    --out) out=$2; shift 2 ;;
    -h | --help) print_head "$0"; exit 0 ;;
    *) rows+=("$1"); shift ;;
  esac
done
((${#rows[@]})) || rows=(adjacent adjacent-large spare send receive make many respawn respawn-two respawn-all respawn-all-two)

prefix=$(gabion_mpi_prefix)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
export TMPDIR=$work
for program in local make spawn; do
  "$prefix/bin/mpicc" -std=gnu11 -O1 -o "$work/$program" "$GABION_ROOT/scripts/mpi/ulfm_probe/$program.c" || fail "cannot compile $program"
done

# As called by gabion-launch; the kernel chooses the ports.
job() { # job LIMIT PROCESSES PROGRAM [arguments]: output in $work/said; code 124 after a hang
  local limit=$1 processes=$2
  shift 2
  # shellcheck disable=SC2086
  timeout -k 5 "$limit" env --block-signal=PIPE "$prefix/bin/mpirun" --with-ft ulfm --oversubscribe --bind-to none --mca mpi_yield_when_idle 1 \
    --mca coll ^han --mca async_mpi_finalize 1 --mca mpi_add_procs_cutoff 1024 --prtemca state_base_recoverable 1 \
    --prtemca state_base_notify_errors 1 --mca btl_tcp_port_min_v4 0 --mca btl_tcp_port_range_v4 1 $transport_flags -n "$processes" "$@" >"$work/said" 2>"$work/errors"
}

# Several trials in a job, one after the other. A trial is right if all survivors report so; the first wrong one ends
# the job.
local_trials() { # local_trials ROW BYTES LIVING DEATHS
  local processes=32 code=0 good
  local trials_of_job=$((1 + (processes - 8) / $4))
  job 60 $processes "$work/local" "$1" "$2" || code=$?
  good=$(awk -v living="$3" '$5 == "right" {n[$2]++} END {for (t in n) good += n[t] == living; print good + 0}' "$work/said")
  count=$((count + good)) right=$((right + good))
  ((good < trials_of_job)) || return 0
  count=$((count + 1))
  if ((code == 124 || code == 137)); then hung=$((hung + 1)); else crashed=$((crashed + 1)); fi
  { echo "--- $row, $transport, code $code, behind $good trials"; grep -v right "$work/said"; tail -n 3 "$work/errors"; } >>"$work/why"
}

# A trial is a death and the following repair; a job ends with the first failure.
repair_trials() { # repair_trials SECONDS PROCESSES PROGRAM [arguments]
  local code=0 deaths
  job "$@" || code=$?
  deaths=$(sed -n 's/^deaths //p' "$work/said" | tail -n 1)
  right=$((right + ${deaths:-0})) count=$((count + ${deaths:-0}))
  if ! grep -q '^right' "$work/said"; then
    count=$((count + 1))
    if ((code == 124 || code == 137)); then hung=$((hung + 1)); else crashed=$((crashed + 1)); fi
    { echo "--- $row, $transport, code $code, behind ${deaths:-0} deaths"; tail -n 3 "$work/errors"; } >>"$work/why"
  fi
}

for row in "${rows[@]}"; do
  for transport in sm tcp; do
    transport_flags=
    [ "$transport" = sm ] || transport_flags="--mca btl tcp,self --mca btl_tcp_eager_limit 1048576
      --mca btl_tcp_rndv_eager_limit 1048576 --mca btl_tcp_max_send_size 1048576"
    count=0 right=0 hung=0 crashed=0 began=$SECONDS
    while ((count < trials && hung < 20 && SECONDS - began < seconds)); do
      case $row in
        adjacent) local_trials adjacent 800 6 2 ;;
        adjacent-large) local_trials adjacent 480000 6 2 ;;
        spare) local_trials spare 800 6 2 ;;
        send) local_trials send 4000000 7 1 ;; # above the eager limit
        receive) local_trials receive 480000 7 1 ;;
        make) repair_trials 60 23 "$work/make" ;; # 20 deaths
        many) repair_trials 3060 5 "$work/spawn" one 300 1 $RANDOM ;;
        respawn) repair_trials 260 5 "$work/spawn" one 20 1 $RANDOM ;;
        respawn-two) repair_trials 260 5 "$work/spawn" one 20 2 $RANDOM ;;
        respawn-all) repair_trials 260 5 "$work/spawn" all 20 1 $RANDOM ;;
        respawn-all-two) repair_trials 260 5 "$work/spawn" all 20 2 $RANDOM ;;
        *) fail "there is no row $row (--help)" ;;
      esac
    done
    printf '%-16s %-4s %5d trials: %5d right, %3d hung, %3d crashed\n' "$row" "$transport" $count $right $hung $crashed | tee -a "$out"
  done
done
[ ! -s "$work/why" ] || cat "$work/why"

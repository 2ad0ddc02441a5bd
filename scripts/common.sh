# SPDX-License-Identifier: Apache-2.0
# Shared by the scripts of this folder; to be sourced by bash, not run.
# Knows the source tree, the cache outside it, and the MPI that setup.sh chose.

GABION_ROOT=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
export GABION_CACHE=${GABION_CACHE:-${XDG_CACHE_HOME:-${HOME:-/root}/.cache}/gabion}
GABION_CHOICE=$GABION_CACHE/mpi-prefix          # one line: the prefix of the MPI to use
GABION_BUILD=${GABION_BUILD:-$GABION_ROOT/build}

say()  { printf 'gabion: %s\n' "$*"; }
fail() { printf 'gabion: error: %s\n' "$*" >&2; exit 1; }

# The comment at the head of a script is its help.
print_head() { sed -n '2,/^[^#]/{/^#/!d;/^# SPDX/d;s/^# \{0,1\}//;p;}' "$1"; }

# The MPI in use: GABION_MPI if set, else the one recorded by setup.sh, else the one on PATH.
gabion_mpi_prefix() {
  if [ -n "${GABION_MPI:-}" ]; then printf '%s\n' "$GABION_MPI"
  elif [ -s "$GABION_CHOICE" ]; then cat "$GABION_CHOICE"
  elif command -v mpicc >/dev/null 2>&1; then dirname "$(dirname "$(command -v mpicc)")"
  fi
}

# mpirun runs as root only with two settings; containers run as root.
if [ "$(id -u)" = 0 ]; then
  export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1
  export PRTE_ALLOW_RUN_AS_ROOT=1 PRTE_ALLOW_RUN_AS_ROOT_CONFIRM=1
fi

# gabion_lock FILE: until the end of this process no other one passes a call with the same file.
gabion_lock() {
  exec 9>"$1"
  flock -n 9 && return 0
  say "waiting for another one at work (lock $1)"
  flock 9
}

# gabion_python: a Python with matplotlib, else any, else nothing. The Python of the system, which has the packages of
# the distribution, may not be the first on PATH.
gabion_python() {
  local candidate any=
  for candidate in python3 /usr/bin/python3; do
    command -v "$candidate" >/dev/null 2>&1 || continue
    any=${any:-$candidate}
    if "$candidate" -c 'import matplotlib' 2>/dev/null; then any=$candidate; break; fi
  done
  printf '%s\n' "$any"
}

gabion_setup() { "$GABION_ROOT/scripts/setup.sh" --quiet; }

# gabion_build FOLDER [cmake arguments]: configures and builds, quietly; a second call costs about a second.
gabion_build() { # in a subshell, so that the lock ends with it
  (
    dir=$1; shift
    log=$dir/build.log
    mkdir -p "$dir" || fail "cannot make the build folder $dir (GABION_BUILD=DIR chooses another)"
    gabion_lock "$dir/build.lock"
    prefix=$(gabion_mpi_prefix)
    start=$SECONDS
    if [ ! -f "$dir/Makefile" ] && [ ! -f "$dir/build.ninja" ] || [ $# -gt 0 ] ||
       ! grep -qsFx "GABION_MPI_USED:INTERNAL=$prefix" "$dir/CMakeCache.txt"; then
      say "configuring and building in $dir"
      cmake -S "$GABION_ROOT" -B "$dir" -DGABION_MPI="$prefix" "$@" >"$log" 2>&1 9>&- || {
        grep -A 8 -m 1 'CMake Error' "$log" >&2 || tail -n 20 "$log" >&2
        fail "configuring failed; the whole log is $log"; }
      grep -A 4 'Gabion [0-9]' "$log" | sed -n 's/^-- */gabion:   /p' || true
    else
      : >"$log"
    fi
    cmake --build "$dir" -j "$(nproc)" >>"$log" 2>&1 9>&- || {
      grep -nE 'error[: ]|Error [0-9]|undefined reference|CMake Error' "$log" | head -n 20 >&2
      fail "building failed; the whole log is $log"; }
    if grep -q 'warning: ' "$log"; then say "the compiler warns: $(grep -c 'warning: ' "$log") times, see $log"; fi
    if ((SECONDS - start > 4)); then say "built in $((SECONDS - start)) s"; fi
  )
}

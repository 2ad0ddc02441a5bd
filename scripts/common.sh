# Shared by the scripts of this folder; to be sourced by bash, not run.
# Knows where things live: the source tree, the cache outside it, the MPI that setup.sh chose.

GABION_ROOT=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
GABION_CACHE=${GABION_CACHE:-${XDG_CACHE_HOME:-${HOME:-/root}/.cache}/gabion}
GABION_CHOICE=$GABION_CACHE/mpi-prefix          # one line: the prefix of the MPI to use
GABION_BUILD=${GABION_BUILD:-$GABION_ROOT/build}

say()  { printf 'gabion: %s\n' "$*"; }
fail() { printf 'gabion: error: %s\n' "$*" >&2; exit 1; }

# The MPI in force: GABION_MPI if set, else what setup.sh recorded, else the one on PATH.
gabion_mpi_prefix() {
  if [ -n "${GABION_MPI:-}" ]; then printf '%s\n' "$GABION_MPI"
  elif [ -s "$GABION_CHOICE" ]; then cat "$GABION_CHOICE"
  elif command -v mpicc >/dev/null 2>&1; then dirname "$(dirname "$(command -v mpicc)")"
  fi
}

# mpirun refuses root unless told twice; containers run as root.
if [ "$(id -u)" = 0 ]; then
  export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1
  export PRTE_ALLOW_RUN_AS_ROOT=1 PRTE_ALLOW_RUN_AS_ROOT_CONFIRM=1
fi

# Configures and builds once, quietly; a second call costs about a second.
gabion_build() { # gabion_build BUILD_FOLDER [cmake arguments]
  local dir=$1 log; shift
  log=$dir/build.log
  mkdir -p "$dir"
  if [ ! -f "$dir/CMakeCache.txt" ] || [ $# -gt 0 ]; then
    say "configuring in $dir"
    cmake -S "$GABION_ROOT" -B "$dir" -DGABION_MPI="$(gabion_mpi_prefix)" "$@" >"$log" 2>&1 ||
      { tail -n 30 "$log" >&2; fail "configuring failed; the whole log is $log"; }
  fi
  cmake --build "$dir" -j "$(nproc)" >>"$log" 2>&1 ||
    { grep -nE 'error|Error' "$log" | tail -n 20 >&2; fail "building failed; the whole log is $log"; }
}

#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Mutation test of the tests: inserts one defect at a time into the sources, and checks which tests detect it. Each
# defect of scripts/harness/mutations.txt must be detected by at least two programs, or by one where the table gives
# the reason.
#
#   scripts/harness/mutation.sh [--list] [--keep] [--out DIR] [NAME ...]      all defects, or those named
#
# The sources are copied to DIR/source (default: build/mutation) and built once in DIR/build. Each defect in turn is
# inserted there, built, tested, and removed: the tree and the usual build never contain it. The tests of the table
# must pass without a defect. A test that takes ten times as long as then, and at least 20 s, hangs, which counts as
# detected. A missing test is an error, and so is a text to replace that the source does not contain exactly once.
# Prints a table, defect -> tests that detected it; exit code 0 if each was detected by enough tests, 1 if not, 2 for
# other errors. --keep: DIR is kept (the next run is faster).
set -euo pipefail
. "$(dirname "${BASH_SOURCE[0]}")/../common.sh"

OUT=$GABION_BUILD/mutation KEEP= LIST= NAMES=()
while (($#)); do
  case $1 in
    -h|--help) print_head "${BASH_SOURCE[0]}"; exit 0 ;;
    --list) LIST=--list ;;
    --keep) KEEP=1 ;;
    --out) OUT=${2:?--out needs a folder}; shift ;;
    -*) fail "unknown option $1 (try --help)" ;;
    *) NAMES+=("$1") ;;
  esac
  shift
done
table=$GABION_ROOT/scripts/harness/mutations.txt
if [ -n "$LIST" ]; then exec python3 "$GABION_ROOT/scripts/harness/mutation.py" --list "$table"; fi
gabion_setup
OUT=$(realpath -m "$OUT")
mkdir -p "$OUT"
gabion_lock "$OUT/lock"
if command -v ccache >/dev/null; then # the copy is the same source in another folder
  export CMAKE_C_COMPILER_LAUNCHER=ccache CCACHE_BASEDIR=$OUT CCACHE_NOHASHDIR=1
fi
# Temporary files of aborted tests are removed with this folder.
scratch=$(mktemp -d /dev/shm/gabion-mutation.XXXXXX)
trap 'rm -rf "$scratch"; [ -n "$KEEP" ] || rm -rf "$OUT"' EXIT
export TMPDIR=$scratch OMPI_MCA_btl_sm_backing_directory=$scratch
code=0
python3 "$GABION_ROOT/scripts/harness/mutation.py" --root "$GABION_ROOT" --out "$OUT" --mpi "$(gabion_mpi_prefix)" "$table" "${NAMES[@]}" 9>&- || code=$?
exit $code

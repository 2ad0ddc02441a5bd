# SPDX-License-Identifier: Apache-2.0
# gabion-test: timeout=180 labels=quick
# Pictures and tables are the same bytes for 1, 2 and 4 processes; the XDMF files describe the content of the HDF5
# files; on a full disk the program ends with the cause and leaves no incomplete file.
set -eu
program=$GABION_BUILD/tests/blockforest/mpi_blockforest_output
here=$GABION_SOURCE/tests/blockforest/output
work=$(mktemp -d "${TMPDIR:-/tmp}/gabion-output-XXXXXX")
disk=
finish() {
  if [ -n "$disk" ]; then umount "$disk" || true; fi
  rm -rf -- "$work"
}
trap finish EXIT
fail() { echo "$*" >&2; exit 1; }
run() { # processes, folder
  # shellcheck disable=SC2086 # words on purpose
  timeout 60 "$GABION_JUDGE" "$1" "$GABION_MPIRUN" $GABION_MPI_FLAGS -n "$1" "$GABION_JUDGE" --watch "$program" "$2" \
    >"$work/log" 2>&1
}

for np in 1 2 4; do
  run $np "$work/$np" || fail "np=$np: $(cat "$work/log")"
  grep -q "gabion-test: passed" "$work/log" || fail "np=$np did not pass: $(cat "$work/log")"
done
for file in "$work"/1/*.csv "$work"/1/fields/fields.xdmf; do [ -s "$file" ] || fail "there is no $file"; done
for np in 2 4; do
  for file in "$work"/1/*.csv "$work"/1/*.png "$work"/1/fields/fields.xdmf; do
    [ -e "$file" ] || continue # no pictures without libpng
    cmp "$file" "$work/$np/${file#"$work/1/"}" || fail "np=$np differs from np=1"
  done
done

if command -v python3 >/dev/null; then
  for np in 1 2 4; do
    python3 "$here/output_check.py" "$work/$np/fields/fields.xdmf" >"$work/described" || fail "np=$np: bad XDMF"
    [ "$(wc -l <"$work/described")" = 135 ] || fail "np=$np: not 3 quantities of 15 blocks at 3 steps"
    "$program" --described <"$work/described" || fail "np=$np: XDMF and HDF5 do not fit"
  done
fi

# A disk of 200 KiB; only root may mount one.
mkdir "$work/disk"
if mount -t tmpfs -o size=200k none "$work/disk" 2>/dev/null; then
  disk=$work/disk
  run 2 "$disk/run" && fail "a full disk went unnoticed"
  grep -q "No space left on device" "$work/log" || fail "the cause is missing: $(cat "$work/log")"
  [ -z "$(find "$disk" -name '*.tmp')" ] || fail "half-written files: $(find "$disk" -name '*.tmp')"
  [ ! -d "$disk/run/fields" ] || [ -z "$(find "$disk/run/fields" -name '*.h5' -size -1k)" ] || fail "empty files"
fi

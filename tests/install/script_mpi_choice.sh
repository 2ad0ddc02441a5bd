# SPDX-License-Identifier: Apache-2.0
# Which MPI a build takes: MPI_C_COMPILER is obeyed, also when it is configured again; a wrapper that does not exist, or another MPI
# than GABION_MPI says, is refused.
# gabion-test: timeout=200
set -u
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
failures=0
complain() { echo "$1"; failures=1; }
real=$(sed -n 's/^MPI_C_COMPILER:[A-Z]*=//p' "$GABION_BUILD/CMakeCache.txt")
unset GABION_MPI
configure() { cmake -S "$GABION_SOURCE" -B "$dir/build" -DCMAKE_C_COMPILER="$GABION_CC" -DBUILD_TESTING=OFF "$@" >"$dir/log" 2>&1; }
chosen() { sed -n 's/^MPI_C_COMPILER:[A-Z]*=//p' "$dir/build/CMakeCache.txt"; }

mkdir "$dir/bin"
printf '#!/bin/sh\nexec "%s" "$@"\n' "$real" >"$dir/bin/mpicc"
chmod +x "$dir/bin/mpicc"
for arguments in "-DMPI_C_COMPILER=$dir/bin/mpicc" ""; do
  # shellcheck disable=SC2086 # none or one
  configure $arguments || complain "configuring with a wrapper: $(tail -n 5 "$dir/log")"
  [ "$(chosen)" = "$dir/bin/mpicc" ] || complain "asked for $dir/bin/mpicc, chosen: $(chosen)"
done

configure "-DMPI_C_COMPILER=$dir/nowhere/mpicc" && complain "a wrapper that does not exist was taken"
grep -q "nowhere/mpicc: no such program" "$dir/log" || complain "not said that it does not exist: $(tail -n 5 "$dir/log")"
rm -rf "$dir/build"
mkdir -p "$dir/other/bin"
cp "$dir/bin/mpicc" "$dir/other/bin/mpicc"
GABION_MPI=$dir/other configure "-DMPI_C_COMPILER=$dir/bin/mpicc" && complain "two MPIs at once were taken"
grep -q "different MPIs" "$dir/log" || complain "not said that they differ: $(tail -n 5 "$dir/log")"
exit $failures

# SPDX-License-Identifier: Apache-2.0
# A boundary condition of a program's own, against the installed library: one descriptor and one registration, chosen by
# name in the parameter file, with a key of its own, in help and in messages. With a slip length of 0 it is a wall, to the
# last bit; with another the flow has the known mean velocity; the same on 1 and 2 processes and in all kernels.
# gabion-test: timeout=300 labels=quick
set -u
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
unset GABION_MPI
failures=0
complain() { printf '%s\n' "$*" >&2; failures=$((failures + 1)); }
cmake --install "$GABION_BUILD" --prefix "$dir/prefix" >"$dir/log" 2>&1 || { cat "$dir/log"; exit 1; }
export PKG_CONFIG_PATH=$(dirname "$(find "$dir/prefix" -name gabion.pc)")
export LD_LIBRARY_PATH=$(dirname "$(find "$dir/prefix" -name 'libgabion.*' | head -n 1)")
cp "$GABION_SOURCE/tests/install/own/"{own_boundary.c,navier_slip.h} "$dir"
cd "$dir" || exit 1
# shellcheck disable=SC2046 # words on purpose
"$GABION_CC" -std=c11 -Wall -Wextra -Wpedantic -Werror own_boundary.c -o own $(pkg-config --cflags --libs gabion) -lm ||
  exit 1
cat >slip.yaml <<'YAML'
fluid: {omega: 1.0, acceleration: [1.0e-5, 0]}
boundaries:
  y_min: {type: navier_slip, length: 4}
  y_max: {type: navier_slip, length: 4}
YAML
sed 's/navier_slip, length: 4/wall/' slip.yaml >wall.yaml

own() { # own PROCESSES CASE [section.key=value]: its checksum
  local processes=$1
  shift
  # shellcheck disable=SC2086 # words on purpose
  timeout 60 "$GABION_MPIRUN" $GABION_MPI_FLAGS -n "$processes" ./own "$@" >said.txt 2>&1 || complain "$*: $(cat said.txt)"
  sed -n 's/^checksum \([0-9a-f]*\) .*/\1/p' said.txt | grep . || echo "none, $BASHPID"
}
wall=$(own 1 wall.yaml)
[ "$(own 1 slip.yaml boundaries.y_min.length=0 boundaries.y_max.length=0)" = "$wall" ] ||
  complain "without slip it is no wall"
slip=$(own 1 slip.yaml)
[ "$slip" != "$wall" ] || complain "it does not slip"
[ "$(own 2 slip.yaml)" = "$slip" ] || complain "another checksum on 2 processes"
for kernel in vector sparse reference; do
  [ "$(own 1 slip.yaml lbm.kernel=$kernel)" = "$slip" ] || complain "another checksum with the kernel $kernel"
  grep -q "kernel $kernel/" said.txt || complain "the kernel is not $kernel: $(cat said.txt)"
done

# With a = 1e-5, nu = 1/6, H = 16, b = 4: a / (2 nu) (y (H - y) + b (H - 1/2)), since the condition takes the velocity as
# linear over the half cell at the wall (b H without that); its mean over the centres of the cells.
own 1 slip.yaml channel.steps=4000 >/dev/null
awk '/mean/ { exact = 3e-5 * (16 * 16 / 6 + 1 / 12 + 4 * (16 - 1 / 2)); r = $4 / exact; ok = r > 0.9999 && r < 1.0001 }
     END { exit !ok }' said.txt ||
  complain "the mean velocity is not that of a channel with slip: $(cat said.txt)"

./own help boundaries.x_min >said.txt 2>&1
grep -q 'navier_slip' said.txt || complain "help does not list it: $(cat said.txt)"
./own slip.yaml boundaries.y_min.length=-1 >said.txt 2>&1 && complain "a negative slip length is taken"
grep -q 'length' said.txt || complain "it said: $(cat said.txt)"
./own slip.yaml boundaries.y_min.type=navier_slid >said.txt 2>&1 && complain "a type that does not exist is taken"
grep -q 'navier_slip' said.txt || complain "the message does not list it: $(cat said.txt)"
exit $((failures > 0))

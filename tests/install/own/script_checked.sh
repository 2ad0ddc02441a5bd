# SPDX-License-Identifier: Apache-2.0
# Programs built with checked indices against the installed tree, by gabion::checked and by pkg-config (gabion-checked): correct ones
# have the same result; an access outside of a field ends a stencil and a time loop, on 1 and 2 processes, with file, line, block, cell
# and component, where the same program without the checks reads what happens to be there.
# gabion-test: timeout=300 needs=ulfm
. "$GABION_SOURCE/tests/apps/common.sh"
unset GABION_MPI
cmake --install "$GABION_BUILD" --prefix "$work/prefix" >log.txt 2>&1 || { cat log.txt; exit 1; }
export PKG_CONFIG_PATH=$(dirname "$(find "$work/prefix" -name gabion-checked.pc)")
export LD_LIBRARY_PATH=$(dirname "$(find "$work/prefix" -name 'libgabion-app.*' | head -n 1)")
GABION_LAUNCH=$work/prefix/bin/gabion-launch

mkdir own
cp "$GABION_SOURCE/tests/apps/tutorials/helper_mistakes.c" own/plate.c
sed 's/gab_field_get(u, x - 1, y, 0, 0) +/gab_field_get(u, x - 2, y, 0, 0) +/' "$GABION_SOURCE/apps/tutorial/heat_loop.c" >own/wrong_loop.c
cp "$GABION_SOURCE/apps/tutorial/heat_loop.c" own/loop.c
line=$(grep -n "gab_field_get(u, x - 2, y, 0, 0)" own/wrong_loop.c | cut -d: -f1)
cmp -s own/loop.c own/wrong_loop.c && complain "heat_loop.c has another line"
cat >own/CMakeLists.txt <<'END'
cmake_minimum_required(VERSION 3.22)
project(own LANGUAGES C)
set(CMAKE_C_STANDARD 11)
find_package(gabion 0.2 REQUIRED)
add_executable(plate plate.c)
target_link_libraries(plate PRIVATE gabion::app gabion::checked m)
END
{ cmake -S own -B made -DCMAKE_C_COMPILER="$GABION_CC" -DCMAKE_PREFIX_PATH="$work/prefix" && cmake --build made; } >log.txt 2>&1 || { cat log.txt; exit 1; }
# build SOURCE PROGRAM [package]
build() {
  # shellcheck disable=SC2046,SC2086 # words on purpose
  "$GABION_CC" -std=c11 -Wall -Wextra -Wpedantic -Werror -O2 -ffp-contract=off -fopenmp "own/$1" -o "$2" $(pkg-config --cflags --libs gabion-app ${3:-}) -lm || exit 1
}
build loop.c loop
build loop.c checked_loop gabion-checked
build wrong_loop.c wrong_loop
build wrong_loop.c checked_wrong_loop gabion-checked

cat >plate.yaml <<'YAML'
run: {steps: 20}
domain: {cells: [48, 32], block: [12, 8]}
plate: {every: 20}
YAML
gabion=$GABION_BUILD/tests/apps/helper_mistakes
run 0 1 plate.yaml
expected=$(checksum)
gabion=$work/made/plate
run 0 2 plate.yaml
[ "$(checksum)" = "$expected" ] || complain "checked: another checksum"
for processes in 1 2; do
  MISTAKE=two_deep run 1 $processes plate.yaml
  said 'plate.c:'
  said 'gab_field_get() of cell (-2, 0, 0), component 0, in block x '
  said 'the field has x from -1 to 12 with ghosts, cells 0 to 11'
  MISTAKE=component_set run 1 $processes plate.yaml
  said 'gab_field_set() of cell (0, 0, 0), component 1, in block x '
  said 'the field has components 0 to 0'
done
MISTAKE=corners run 1 1 plate.yaml # the index is right: what is there is not filled
said 'a ghost beyond an edge or corner'

# A time loop of a program.
printf 'heat: {steps: 20, blocks: 4}\n' >loop.yaml
for processes in 1 2; do
  loops() { timeout 100 "$GABION_LAUNCH" -n $processes -- "$work/$1" loop.yaml >said.txt 2>&1; }
  loops loop || complain "loop: $(cat said.txt)"
  sum=$(grep -o 'checksum [0-9a-f]*' said.txt)
  loops checked_loop || complain "checked loop: $(cat said.txt)"
  said "$sum"
  loops wrong_loop || complain "the wrong loop does not run without the checks: $(cat said.txt)"
  loops checked_wrong_loop && complain "the wrong loop ran to its end on $processes processes"
  said "wrong_loop.c:$line: gab_field_get() of cell (-2, 0, 0), component 0: the field has x from -1 to "
done
finish

# SPDX-License-Identifier: Apache-2.0
# A program of one's own has all of what `gabion' has, from an installed tree: the tutorials and a solver of its own
# (tests/apps/tutorials/helper_heat.c) build in a folder outside of the sources, unchanged, by find_package (gabion::app) and by pkg-config
# (gabion-app), and run, check, plan, help, info and status work there. The results are those of the same program of the source
# tree, on 1, 2 and 4 processes, and when one of them is killed.
# gabion-test: timeout=300 needs=ulfm,png
. "$GABION_SOURCE/tests/apps/tutorials/tutorial_common.sh"
quietly() { "$@" >log.txt 2>&1 || { echo "failed: $*"; cat log.txt; exit 1; }; }
unset GABION_MPI
quietly cmake --install "$GABION_BUILD" --prefix "$work/installed"
mv installed prefix # an installed tree may be moved
GABION_LAUNCH=$work/prefix/bin/gabion-launch

mkdir solver
cp "$GABION_SOURCE/apps/tutorial/"*.c "$GABION_SOURCE/tests/apps/tutorials/helper_heat.c" solver
cat >solver/CMakeLists.txt <<'END'
cmake_minimum_required(VERSION 3.22)
project(solver LANGUAGES C)
set(CMAKE_C_STANDARD 11)
find_package(gabion 0.2 REQUIRED)
file(GLOB sources *.c)
foreach(source IN LISTS sources)
  get_filename_component(name "${source}" NAME_WE)
  add_executable(${name} "${source}")
  target_compile_options(${name} PRIVATE -ffp-contract=off)
  target_link_libraries(${name} PRIVATE gabion::app m)
endforeach()
END
quietly cmake -S solver -B made -DCMAKE_C_COMPILER="$GABION_CC" -DCMAKE_PREFIX_PATH="$work/prefix" -DCMAKE_BUILD_TYPE=Release
if grep -A 8 -i 'warning' log.txt; then complain "a project that uses Gabion is warned when it is configured"; fi
quietly cmake --build made
export PKG_CONFIG_PATH=$(dirname "$(find prefix -name gabion-app.pc)")
for name in heat gray_scott helper_heat; do
  # shellcheck disable=SC2046 # words on purpose
  quietly "$GABION_CC" -std=c11 -O2 -ffp-contract=off "solver/$name.c" -o "solver/$name" $(pkg-config --cflags --libs gabion-app) -lm
done
# A shared library lies where no loader looks by itself.
export LD_LIBRARY_PATH=$(dirname "$(find "$work/prefix" -name 'libgabion-app.*' | head -n 1)")

sed -e '/^faults:/,$d' -e 's/steps: 2000/steps: 400/' -e 's/\[256, 256\]/[128, 128]/' -e 's/every: 1000, outlines: true/every: 200/' \
  "$GABION_SOURCE/apps/tutorial/heat.yaml" >case.yaml
gabion=$GABION_BUILD/bin/heat
run 0 1 case.yaml
keep heat.csv temperature_0000000400.png
gabion=$work/solver/heat # built by pkg-config
run 0 1 case.yaml
alike "by pkg-config"
gabion=$work/made/heat
run 0 1 case.yaml
alike "1 process"
alike_on_processes
"$gabion" status out >said.txt 2>&1 || complain "status: $(cat said.txt)"
said '400'

alike_killed 233

"$gabion" --help >said.txt 2>&1
said '  heat run CASE.yaml [options]'
"$gabion" check --help >said.txt 2>&1
said 'usage: heat check CASE.yaml'
"$gabion" rum >said.txt 2>&1 && complain "rum is a command"
said "heat: unknown command 'rum'; did you mean 'run'?"
check 0 case.yaml
said 'heat.k = 0.2'
check 2 case.yaml --set heat.kk=0.1
said 'heat.kk'
check 2 case.yaml --set heat.k=0.3
said 'heat.k'
"$gabion" plan case.yaml -n 16 >said.txt 2>&1 || complain "plan: $(cat said.txt)"
said 'sent in a step of level 0'
helps heat 'Conductivity; up to 0.25 it is stable.'
"$gabion" info case.yaml >said.txt 2>&1 || complain "info: $(cat said.txt)"
said 'strategies'

# The other programs give what they give in the source tree, on 2 processes.
cat >reaction.yaml <<'YAML'
run: {steps: 50}
domain: {cells: [24, 24, 24], block: [12, 12, 12]}
gray_scott: {feed: 0.037, kill: 0.06}
YAML
cat >own.yaml <<'YAML'
run: {title: a plate, steps: 40}
domain: {cells: [32, 24], block: [8, 8]}
heat: {k: 0.2}
resilience: {memory: {every: 5}}
YAML
both() { # both PROGRAM-OF-THE-SOURCES PROGRAM CASE
  gabion=$1
  run 0 1 "$3"
  expected=$(checksum)
  gabion=$2
  run 0 2 "$3"
  [ "$(checksum)" = "$expected" ] || complain "$2: the checksum is $(checksum), in the source tree $expected"
}
both "$GABION_BUILD/bin/gray_scott" "$work/made/gray_scott" reaction.yaml
both "$GABION_BUILD/tests/apps/helper_heat" "$work/made/helper_heat" own.yaml
cat >cavity.yaml <<'YAML'
run: {steps: 60}
domain: {cells: [32, 32], block: [16, 16]}
convection: {rayleigh: 1.0e4, every: 20}
YAML
both "$GABION_BUILD/bin/convection" "$work/made/convection" cavity.yaml
cat >channel.yaml <<'YAML'
run: {steps: 60}
domain: {cells: [32, 32], block: [16, 16], length: 1}
fluid: {omega: 1.2, velocity: 1, length: 1}
units: {lattice_velocity: 0.05}
boundaries:
  y_min: {type: wall}
  y_max: {type: wall}
lbm: {kernel: in_place}
pump: {velocity: 1}
resilience: {scheme: diagonal, memory: {every: 10}}
YAML
both "$GABION_BUILD/bin/pump" "$work/made/pump" channel.yaml
gabion=$work/made/helper_heat
check 2 own.yaml --set heat.kk=0.1
said 'heat.kk'
finish

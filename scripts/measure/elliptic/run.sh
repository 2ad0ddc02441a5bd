#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# run.sh BUILD [N...]: compares the multigrid solver of Gabion with PFMG of hypre, in turn, one process each
# (doc/elliptic.md). BUILD is a build folder of Gabion. Needs libhypre-dev and its MPI (mpicc.openmpi, or HYPRE_CC).
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
build=${1:?usage: run.sh BUILD [N...]}
shift
hypre_cc=${HYPRE_CC:-mpicc.openmpi}
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cmake --install "$build" --prefix "$work/gabion" >"$work/install.log"
cat >"$work/CMakeLists.txt" <<END
cmake_minimum_required(VERSION 3.20)
project(poisson C)
find_package(gabion REQUIRED)
add_executable(poisson_gabion $here/poisson_gabion.c)
target_link_libraries(poisson_gabion gabion::gabion)
END
cmake -S "$work" -B "$work/build" -DCMAKE_BUILD_TYPE=Release -DCMAKE_PREFIX_PATH="$work/gabion" \
  -DMPI_C_COMPILER="$(sed -n 's/^MPI_C_COMPILER:[A-Z]*=//p' "$build/CMakeCache.txt")" >"$work/cmake.log"
cmake --build "$work/build" >"$work/build.log"
"$hypre_cc" -O3 -I/usr/include/hypre "$here/poisson_hypre.c" -o "$work/poisson_hypre" -lHYPRE -lm
export OMP_NUM_THREADS=1
for n in "${@:-64}"; do
  for run in 1 2; do
    "$work/build/poisson_gabion" "$n" 16
    "$work/poisson_hypre" "$n"
  done
done

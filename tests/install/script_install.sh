# SPDX-License-Identifier: Apache-2.0
# From an installed tree the tutorials build outside the source tree, by find_package and by pkg-config, and run.
# gabion-test: timeout=300 labels=quick needs=png if=apps/tutorial/heat_loop.c
set -eu
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
quietly() { "$@" >"$dir/log" 2>&1 || { echo "failed: $*"; cat "$dir/log"; exit 1; }; }
unset GABION_MPI

quietly cmake --install "$GABION_BUILD" --prefix "$dir/installed"
mv "$dir/installed" "$dir/prefix" # an installed tree may be moved
mkdir "$dir/tutorial"
cp -r "$GABION_SOURCE/apps/tutorial/." "$dir/tutorial"
cat >"$dir/tutorial/CMakeLists.txt" <<'END'
cmake_minimum_required(VERSION 3.22)
project(tutorials LANGUAGES C)
find_package(gabion 0.2 REQUIRED)
foreach(name IN ITEMS heat_loop flow)
  add_executable(${name} ${name}.c)
  set_target_properties(${name} PROPERTIES C_STANDARD 11)
  target_link_libraries(${name} PRIVATE gabion::gabion)
endforeach()
if(NOT EXISTS "${gabion_LAUNCHER}")
  message(FATAL_ERROR "gabion_LAUNCHER is no file: ${gabion_LAUNCHER}")
endif()
END
quietly cmake -S "$dir/tutorial" -B "$dir/tutorial/build" -DCMAKE_C_COMPILER="$GABION_CC" -DCMAKE_PREFIX_PATH="$dir/prefix"
if grep -A 8 -i 'warning' "$dir/log"; then echo "a project that uses Gabion is warned when it is configured"; exit 1; fi
quietly cmake --build "$dir/tutorial/build"

export PKG_CONFIG_PATH=$(dirname "$(find "$dir/prefix" -name gabion.pc)")
for name in heat_loop flow; do
  # shellcheck disable=SC2046 # words on purpose
  quietly "$GABION_CC" -std=c11 "$dir/tutorial/$name.c" -o "$dir/tutorial/$name" $(pkg-config --cflags --libs gabion) -lm
done

# A project of C++ alone.
if cxx=$(command -v c++ || command -v g++); then
  mkdir "$dir/cxx"
  cat >"$dir/cxx/CMakeLists.txt" <<'END'
cmake_minimum_required(VERSION 3.22)
project(of_cxx LANGUAGES CXX)
find_package(gabion 0.2 REQUIRED)
add_executable(of_cxx of_cxx.cc)
target_link_libraries(of_cxx PRIVATE gabion::gabion)
END
  cat >"$dir/cxx/of_cxx.cc" <<'END'
#include "core/messages/collective.h"
#include "resilience/reports/completion.h"
int main(int argc, char **argv)
{
  gab_world *world;
  uint64_t one = 1;
  if (gab_world_create(&argc, &argv, &world) != GAB_OK || gab_world_sum_u64(world, &one, 1) != GAB_OK) return 1;
  const int code = gab_report_completion(world, one == 2 ? 0 : 1);
  gab_world_destroy(&world);
  return code;
}
END
  quietly cmake -S "$dir/cxx" -B "$dir/cxx/build" -DCMAKE_CXX_COMPILER="$cxx" -DCMAKE_PREFIX_PATH="$dir/prefix"
  quietly cmake --build "$dir/cxx/build"
  quietly "$dir/prefix/bin/gabion-launch" -n 2 --stall 60 --retries 0 "$dir/cxx/build/of_cxx"
fi

# A shared libgabion lies where no loader looks by itself.
export LD_LIBRARY_PATH=$(dirname "$(find "$dir/prefix" -name 'libgabion.*' | head -n 1)")
printf 'heat:\n  steps: 100\n' >"$dir/short.yaml"
for made in "$dir/tutorial/build" "$dir/tutorial"; do
  mkdir "$dir/run"; cd "$dir/run"
  quietly "$dir/prefix/bin/gabion-launch" -n 2 --stall 60 --retries 0 "$made/heat_loop" "$dir/short.yaml"
  quietly "$dir/prefix/bin/gabion-launch" -n 2 --stall 60 --retries 0 "$made/flow" 100
  cd "$dir"; rm -rf "$dir/run"
done

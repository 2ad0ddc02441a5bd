# From an installed tree the tutorial builds outside the source tree, by find_package and by pkg-config, and runs.
# gabion-test: timeout=300 labels=quick needs=png if=apps/tutorial/heat.c
set -eu
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
quietly() { "$@" >"$dir/log" 2>&1 || { echo "failed: $*"; cat "$dir/log"; exit 1; }; }
unset GABION_MPI

quietly cmake --install "$GABION_BUILD" --prefix "$dir/installed"
mv "$dir/installed" "$dir/prefix" # an installed tree may be moved
mkdir "$dir/heat"
cp -r "$GABION_SOURCE/apps/tutorial/." "$dir/heat"
cat >"$dir/heat/CMakeLists.txt" <<'END'
cmake_minimum_required(VERSION 3.22)
project(heat LANGUAGES C)
find_package(gabion 0.1 REQUIRED)
add_executable(heat heat.c)
set_target_properties(heat PROPERTIES C_STANDARD 11)
target_link_libraries(heat PRIVATE gabion::gabion)
if(NOT EXISTS "${gabion_LAUNCHER}")
  message(FATAL_ERROR "gabion_LAUNCHER is no file: ${gabion_LAUNCHER}")
endif()
END
quietly cmake -S "$dir/heat" -B "$dir/heat/build" -DCMAKE_C_COMPILER="$GABION_CC" -DCMAKE_PREFIX_PATH="$dir/prefix"
if grep -A 8 -i 'warning' "$dir/log"; then echo "a project that uses Gabion is warned when it is configured"; exit 1; fi
quietly cmake --build "$dir/heat/build"

export PKG_CONFIG_PATH=$(dirname "$(find "$dir/prefix" -name gabion.pc)")
# shellcheck disable=SC2046 # words on purpose
quietly "$GABION_CC" -std=c11 "$dir/heat/heat.c" -o "$dir/heat/heat" $(pkg-config --cflags --libs gabion)

# A shared libgabion lies where no loader looks by itself.
export LD_LIBRARY_PATH=$(dirname "$(find "$dir/prefix" -name 'libgabion.*' | head -n 1)")
printf 'heat:\n  steps: 100\n' >"$dir/short.yaml"
for program in "$dir/heat/build/heat" "$dir/heat/heat"; do
  mkdir "$dir/run"; cd "$dir/run"
  quietly "$dir/prefix/bin/gabion-launch" -n 2 --stall 60 --retries 0 "$program" "$dir/short.yaml"
  cd "$dir"; rm -rf "$dir/run"
done

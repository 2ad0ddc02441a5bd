# SPDX-License-Identifier: Apache-2.0
# gabion-test: timeout=120 labels=quick
# From an installed tree an ordinary MPI program is built with libgabion-persist alone, by the compiler wrapper of the MPI, by
# pkg-config and by find_package, and remembers. Nothing but MPI and the C library is linked.
. "$GABION_SOURCE/tests/persist/scripts/common.sh"
cmake --install "$GABION_BUILD" --prefix "$dir/prefix" >log 2>&1 || { cat log; exit 1; }
library=$(find prefix -name 'libgabion-persist.*' | head -n 1)
[ -n "$library" ] || { echo "libgabion-persist is not installed"; exit 1; }
lib=$dir/$(dirname "$library")
export LD_LIBRARY_PATH=$lib
"$GABION_MPICC" -std=c11 -I"$dir/prefix/include/gabion" "$GABION_SOURCE/apps/papers/persist2015/figure2.c" -o by-wrapper -L"$lib" \
  -lgabion-persist || exit 1
export PKG_CONFIG_PATH=$lib/pkgconfig
# shellcheck disable=SC2046 # words on purpose
"$GABION_CC" -std=c11 "$GABION_SOURCE/apps/papers/persist2015/figure2.c" -o by-pkg-config $(pkg-config --cflags --libs gabion-persist) || exit 1
mkdir cmake && cp "$GABION_SOURCE/apps/papers/persist2015/figure2.c" cmake
cat >cmake/CMakeLists.txt <<'END'
cmake_minimum_required(VERSION 3.22)
project(figure2 LANGUAGES C)
find_package(gabion REQUIRED)
add_executable(by-cmake figure2.c)
target_link_libraries(by-cmake PRIVATE gabion::gabion-persist)
END
cmake -S cmake -B cmake/build -DCMAKE_C_COMPILER="$GABION_CC" -DCMAKE_PREFIX_PATH="$dir/prefix" >log 2>&1 &&
  cmake --build cmake/build >log 2>&1 || { cat log; exit 1; }
for program in ./by-wrapper ./by-pkg-config cmake/build/by-cmake; do
  rm -rf store
  for value in 3 9; do
    said=$("$GABION_MPIRUN" -n 1 "$program" $value store 2>&1)
    [ "$said" = "Final: 0 3" ] || complain "$program $value says: $said"
  done
  for other in fyaml hdf5 png gabion.so metis; do
    ldd "$program" | grep -q "lib$other" && complain "$program needs lib$other"
  done
done
exit $failures

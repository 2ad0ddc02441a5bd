# SPDX-License-Identifier: Apache-2.0
# A program may call its own functions what it likes: all external names of the installed libraries begin with gab_. (In a static
# library the linker would take a program's function of the same name for the library's, without a word.) libgabion-persist
# stands before MPI and has its names, too. libgabion has four of them, weak, which refuse MPI_COMM_WORLD after a fault
# (core/world/comm_world.c).
# gabion-test: timeout=60 labels=quick
set -u
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
command -v nm >/dev/null || { echo "no nm here: not checked"; exit 77; }
cmake --install "$GABION_BUILD" --prefix "$dir/prefix" >"$dir/log" 2>&1 || { cat "$dir/log"; exit 1; }
failures=0
for library in gabion gabion-app gabion-persist; do
  more= weak=
  case $library in
  gabion-persist) more='\|^MPIX\?_' ;;
  gabion) weak='^MPI_Comm_(rank|size|group|set_errhandler)$' ;;
  esac
  file=$(find "$dir/prefix" \( -name "lib$library.a" -o -name "lib$library.so" \) | head -n 1)
  [ -n "$file" ] || { echo "lib$library was not installed"; exit 1; }
  case $file in *.so) dynamic=-D ;; *) dynamic= ;; esac
  # shellcheck disable=SC2086 # a word or none
  nm $dynamic -g --defined-only "$file" | awk -v weak="$weak" \
    'NF == 3 && !(weak && $2 == "W" && $3 ~ weak) { print $3 }' | sort -u >"$dir/names"
  grep -q '^gab_' "$dir/names" || { echo "no names in $file"; exit 1; }
  # sections of OpenMP have names of the compiler's
  if grep -v "^gab_\|^\.gomp_critical_user_gab_\|^_init\$\|^_fini\$$more" "$dir/names"; then
    echo "names of lib$library that do not begin with gab_"
    failures=1
  fi
done
exit $failures

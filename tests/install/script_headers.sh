# Every installed header compiles alone, in C and in C++, against the installed tree and nothing else.
# gabion-test: timeout=300 labels=quick
set -u
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
cmake --install "$GABION_BUILD" --component devel --prefix "$dir/prefix" >"$dir/log" 2>&1 || { cat "$dir/log"; exit 1; }
include=$dir/prefix/include/gabion
export PKG_CONFIG_PATH=$(dirname "$(find "$dir/prefix" -name gabion.pc)")
read -ra flags < <(pkg-config --cflags gabion)
failures=0
headers=$(cd "$include" && find . -name '*.h' | sed 's|^\./||' | sort)
[ -n "$headers" ] || { echo "no headers were installed"; exit 1; }
case $headers in *_impl.h*) echo "internal headers were installed"; failures=1 ;; esac
for header in $headers; do
  printf '#include "%s"\n' "$header" >"$dir/alone.c"
  "${GABION_CC:-cc}" -std=c11 -Wall -Wextra -Wpedantic -Werror "${flags[@]}" -fsyntax-only "$dir/alone.c" || failures=1
  if command -v c++ >/dev/null 2>&1; then
    c++ -std=c++17 -w "${flags[@]}" -x c++ -fsyntax-only "$dir/alone.c" || failures=1
  fi
done
exit $failures

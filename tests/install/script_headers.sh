# SPDX-License-Identifier: Apache-2.0
# Every installed header compiles alone and without a warning as C11, and all of them together as C11, C++11 and C++17, against the
# installed tree and nothing else; C++ only where there is a compiler for it.
# gabion-test: timeout=300
set -u
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
cmake --install "$GABION_BUILD" --component devel --prefix "$dir/prefix" >"$dir/log" 2>&1 || { cat "$dir/log"; exit 1; }
include=$dir/prefix/include/gabion
export PKG_CONFIG_PATH=$(dirname "$(find "$dir/prefix" -name gabion.pc)")
read -ra flags < <(pkg-config --cflags gabion)
failures=0
cxx=$(command -v c++ || command -v g++ || command -v clang++ || true)
headers=$(cd "$include" && find . -name '*.h' | sed 's|^\./||' | sort)
[ -n "$headers" ] || { echo "no headers were installed"; exit 1; }
case $headers in *_impl.h*) echo "internal headers were installed"; failures=1 ;; esac
(cd "$include" && ! grep -L 'Tier: \(user\|extender\) header' $headers | grep .) || { echo "installed, but not said to be public"; failures=1; }
case $headers in *apps/driver/stencil/stencil.h*) ;; *) echo "the headers of gabion-app were not installed"; failures=1 ;; esac
for header in $headers; do
  printf '#include "%s"\n' "$header" | tee -a "$dir/all.c" >"$dir/alone.c"
  "${GABION_CC:-cc}" -std=c11 -Wall -Wextra -Wpedantic -Werror "${flags[@]}" -fsyntax-only "$dir/alone.c" || failures=1
done
"${GABION_CC:-cc}" -std=c11 -Wall -Wextra -Wpedantic -Werror "${flags[@]}" -fsyntax-only "$dir/all.c" || failures=1
for standard in ${cxx:+c++11 c++17}; do
  "$cxx" -std=$standard -Wall -Wextra -Wpedantic -Werror "${flags[@]}" -x c++ -fsyntax-only "$dir/all.c" || failures=1
done
exit $failures

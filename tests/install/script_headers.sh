# SPDX-License-Identifier: Apache-2.0
# Every installed header compiles alone and without a warning as C11, and all of them together as C11, C++11 and C++17, against the
# installed tree and nothing else. Every umbrella (<gabion/X.h>) compiles alone by each compiler, also as C++. Programs of the
# tutorials use stable functions only; another function is an error behind <gabion/stable_only.h>. GAB_DEPRECATED warns.
# C++ and Clang only where they are.
# gabion-test: timeout=300
set -u
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
cmake --install "$GABION_BUILD" --component devel --prefix "$dir/prefix" >"$dir/log" 2>&1 || { cat "$dir/log"; exit 1; }
include=$dir/prefix/include/gabion
export PKG_CONFIG_PATH=$(dirname "$(find "$dir/prefix" -name gabion.pc)")
read -ra flags < <(pkg-config --cflags gabion)
failures=0
complain() { echo "$*"; failures=1; }
cc=${GABION_CC:-cc}
cxx=$(command -v c++ || command -v g++ || command -v clang++ || true)
strict=(-Wall -Wextra -Wpedantic -Werror -fsyntax-only)
headers=$(cd "$include" && find . -name '*.h' | sed 's|^\./||' | sort)
[ -n "$headers" ] || { echo "no headers were installed"; exit 1; }
case $headers in *_impl.h*) complain "internal headers were installed" ;; esac
# shellcheck disable=SC2086 # words on purpose
(cd "$include" && ! grep -L 'Stability: \(stable\|extender\)[.;]' $headers | grep .) || complain "installed, but not said to be public"
case $headers in *core/system/file.h*) complain "a header with \`Stability: internal' was installed" ;; esac
case $headers in *apps/driver/stencil/stencil.h*) ;; *) complain "the headers of gabion-app were not installed" ;; esac
for header in $headers; do
  printf '#include "%s"\n' "$header" | grep -v stable_only >>"$dir/all.c"
  printf '#include "%s"\ntypedef int not_empty;\n' "$header" >"$dir/alone.c"
  "$cc" -std=c11 "${strict[@]}" "${flags[@]}" "$dir/alone.c" || failures=1
done
"$cc" -std=c11 "${strict[@]}" "${flags[@]}" "$dir/all.c" || failures=1
for standard in ${cxx:+c++11 c++17}; do
  "$cxx" -std=$standard "${strict[@]}" "${flags[@]}" -x c++ "$dir/all.c" || failures=1
done

umbrellas=$(cd "$include" && ls -- *.h)
case $umbrellas in *extend.h*gabion.h*stencil.h*) ;; *) complain "umbrellas were not installed: $umbrellas" ;; esac
for compiler in gcc clang; do
  command -v $compiler >/dev/null || continue
  for umbrella in $umbrellas; do
    printf '#include <gabion/%s>\ntypedef int not_empty;\n' "$umbrella" >"$dir/alone.c"
    $compiler -std=c11 "${strict[@]}" "${flags[@]}" "$dir/alone.c" || failures=1
    plus=g++
    [ "$compiler" = gcc ] || plus=clang++
    command -v $plus >/dev/null || continue
    for standard in c++11 c++17; do
      $plus -std=$standard "${strict[@]}" "${flags[@]}" -x c++ "$dir/alone.c" || failures=1
    done
  done

  # A call of a deprecated function is a warning with its message.
  cat >"$dir/deprecated.c" <<'END'
#include <gabion/gabion.h>
GAB_DEPRECATED("since 0.2: use gab_new()") int gab_old(void);
int call(void);
int call(void) { return gab_old(); }
END
  $compiler -std=c11 -fsyntax-only "${flags[@]}" "$dir/deprecated.c" >"$dir/log" 2>&1 || complain "$compiler: GAB_DEPRECATED is an error"
  grep -q 'since 0.2: use gab_new()' "$dir/log" || complain "$compiler: no warning of a deprecated function: $(cat "$dir/log")"

  # only_stable FILE: what is behind the includes of FILE uses stable functions only
  only_stable() {
    printf '#include <gabion/app.h>\n#include <gabion/stable_only.h>\n' >"$dir/stable.c"
    grep -v '#include "gabion' "$1" >>"$dir/stable.c"
    $compiler -std=c11 -D_GNU_SOURCE "${strict[@]}" -Wno-unknown-pragmas "${flags[@]}" "$dir/stable.c" >"$dir/log" 2>&1
  }
  for tutorial in heat heat_implicit projection heat_loop gray_scott tracers flow; do
    only_stable "$GABION_SOURCE/apps/tutorial/$tutorial.c" || complain "$compiler: $tutorial.c uses more than the stable functions: $(cat "$dir/log")"
  done
  printf 'int call(void);\nint call(void) { return (int)gab_hash64("", 0); }\n' >"$dir/not_stable.c"
  if only_stable "$dir/not_stable.c"; then complain "$compiler: gab_hash64() is not stable, and may be used behind <gabion/stable_only.h>"; fi
  grep -q poisoned "$dir/log" || complain "$compiler: refused for another reason: $(cat "$dir/log")"
done
exit $failures

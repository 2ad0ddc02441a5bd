# SPDX-License-Identifier: Apache-2.0
# gabion-test: timeout=300 labels=quick
# Every C file is laid out as .clang-format says. (`clang-format -i FILE' does it; version 14, as others break lines differently.)
# The first comment of each source, header, script and CMake file names the licence.
set -u
: "${GABION_SOURCE:?}"
cd "$GABION_SOURCE" || exit 1
top=$(git rev-parse --show-toplevel 2>/dev/null) && [ "$top" = "$PWD" ] || exit 77
count=$(git ls-files '*.c' '*.h' | wc -l)
[ "$count" -gt 400 ] || { echo "only $count C files found"; exit 1; }
lacking=$(git ls-files -z '*.c' '*.h' '*.inc' '*.sh' '*.py' '*.cmake' '*.cmake.in' '*.awk' '*CMakeLists.txt' .ci/run 2>/dev/null |
  xargs -0 -r awk 'FNR <= 2 && /SPDX-License-Identifier: Apache-2\.0/ { found[FILENAME] = 1 } FNR == 2 { nextfile }
    END { for (i = 1; i < ARGC; i++) if (!(ARGV[i] in found)) print ARGV[i] }')
[ -z "$lacking" ] || { printf 'without a licence line (SPDX-License-Identifier: Apache-2.0):\n%s\n' "$lacking"; exit 1; }
format=$(command -v clang-format-14 || command -v clang-format) || exit 77
"$format" --version | grep -q 'version 14\.' || exit 77
git ls-files -z '*.c' '*.h' | xargs -0 "$format" --dry-run --Werror 2>&1 | grep 'error:' | sed 's/:[0-9]*: error.*//' | sort | uniq -c | head -n 20 >&2
exit "$((PIPESTATUS[1] != 0))"

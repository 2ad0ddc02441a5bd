# gabion-test: timeout=300 labels=quick
# Every C file is laid out as .clang-format says. (`clang-format -i FILE' does it; version 14, as others break lines differently.)
set -u
: "${GABION_SOURCE:?}"
format=$(command -v clang-format-14 || command -v clang-format) || exit 77
"$format" --version | grep -q 'version 14\.' || exit 77
cd "$GABION_SOURCE" || exit 1
top=$(git rev-parse --show-toplevel 2>/dev/null) && [ "$top" = "$PWD" ] || exit 77
count=$(git ls-files '*.c' '*.h' | wc -l)
[ "$count" -gt 400 ] || { echo "only $count C files found"; exit 1; }
git ls-files -z '*.c' '*.h' | xargs -0 "$format" --dry-run --Werror 2>&1 | grep 'error:' | sed 's/:[0-9]*: error.*//' | sort | uniq -c | head -n 20 >&2
exit "$((PIPESTATUS[1] != 0))"

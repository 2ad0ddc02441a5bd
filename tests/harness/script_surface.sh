# SPDX-License-Identifier: Apache-2.0
# The public surface keeps the rules of scripts/harness/surface.py, and the script notices each broken rule: a stable function that
# changes or vanishes without a line in CHANGELOG.md or without having been deprecated, a public function without a caller, an
# installed header that includes an internal one, a stable function that no umbrella reaches.
# gabion-test: timeout=60 labels=quick
set -u
: "${GABION_SOURCE:?}"
command -v python3 >/dev/null || { echo "no python3 here: not run"; exit 77; }
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
failed=0
complain() { echo "$*"; failed=1; }
surface=$GABION_SOURCE/scripts/harness/surface.py

python3 "$surface" --check >"$work/log" 2>&1 || { cat "$work/log"; complain "see CONTRIBUTING.md, \`Stability'"; }
stable=$(grep -c '^[0-9]' "$GABION_SOURCE/doc/stable-api.txt")
[ "${stable:-0}" -gt 200 ] || complain "only ${stable:-no} stable entries: the script found no declarations"

# ---- A tree with one stable, one deprecated and one extender function, of version 0.3, which recorded them at 0.2.
tree=$work/tree
begin() {
  rm -rf "$tree"
  mkdir -p "$tree"/{core/base,field,blockforest,loadbalance,lbm,phasefield,resilience,apps,tests,gabion,doc}
  printf '#define GABION_VERSION_MAJOR 0\n#define GABION_VERSION_MINOR 3\n/* Stability: stable. */\n' >"$tree/core/base/version.h"
  printf '# Changes\n\n## 0.3.0\n\n## 0.2.0\n`gab_one()`\n' >"$tree/CHANGELOG.md"
  printf '/* Stability: stable; extender where marked. */\ntypedef struct gab_pair {\n  int a, b; /* two */\n} gab_pair;\nint gab_one(const gab_pair *pair);\n
GAB_DEPRECATED("since 0.2: use gab_one()") int gab_old(void);\nGAB_EXTENDER int gab_more(int a);\n' >"$tree/core/base/one.h"
  printf '#include "core/base/one.h"\nint gab_one(const gab_pair *pair) { return pair->a; }\nint gab_old(void) { return 1; }\nint gab_more(int a) { return a; }\n' >"$tree/core/base/one.c"
  printf 'int main(void) { return gab_one(0) + gab_old() + gab_more(1); }\n' >"$tree/tests/test_one.c"
  for name in app persist extend; do printf '/* Stability: stable. */\n#include "core/base/one.h"\n' >"$tree/gabion/$name.h"; done
  sed -i 's/MINOR 3/MINOR 2/; ' "$tree/core/base/version.h"
  sed -i 's/## 0.3.0/## 0.2.0/' "$tree/CHANGELOG.md"
  python3 "$surface" --root "$tree" --write || complain "the tree is refused"
  sed -i 's/MINOR 2/MINOR 3/' "$tree/core/base/version.h"
  printf '# Changes\n\n## 0.3.0\n\n## 0.2.0\n`gab_one()`\n' >"$tree/CHANGELOG.md"
}
# fails OPTION WORDS: the tree is refused, with these words
fails() {
  if python3 "$surface" --root "$tree" "$1" >"$work/log" 2>&1; then complain "accepted: $2"; fi
  grep -qF -- "$2" "$work/log" || { cat "$work/log"; complain "expected: $2"; }
}
passes() { python3 "$surface" --root "$tree" "$1" >"$work/log" 2>&1 || { cat "$work/log"; complain "refused: $2"; }; }

begin
passes --check "an unchanged tree"
grep -q '^0\.2  gab_one  int gab_one(const gab_pair \*pair)$' "$tree/doc/stable-api.txt" || complain "no gab_one in the list"
grep -q '^0\.2  gab_pair  typedef struct gab_pair { int a, b; } gab_pair$' "$tree/doc/stable-api.txt" || complain "no gab_pair in the list"
if grep -q gab_more "$tree/doc/stable-api.txt"; then complain "a function of extenders is in the list"; fi
grep -q 'poison gab_more$' "$tree/gabion/stable_only.h" || complain "gab_more is not poisoned"

sed -i 's/int gab_one(const gab_pair \*pair);/long gab_one(const gab_pair *pair);/' "$tree/core/base/one.h"
fails --check 'gab_one: changed, and the section of this version'
fails --write 'gab_one: changed, and the section of this version'
sed -i '0,/^## 0.3.0/s//## 0.3.0\n- `gab_one()` returns a long./' "$tree/CHANGELOG.md"
fails --check 'doc/stable-api.txt is not up to date'
passes --write "a change that the log names"
passes --check "a list that was written"
grep -q '^0\.2  gab_one  long gab_one' "$tree/doc/stable-api.txt" || complain "the list has the old gab_one"

begin # a member of a structure
sed -i 's/int a, b;/int a, b, c;/' "$tree/core/base/one.h"
fails --check 'gab_pair: changed, and the section of this version'

begin # removed: one that was not deprecated, and one that was
sed -i '/gab_one(const/d' "$tree/core/base/one.h"
sed -i '0,/^## 0.3.0/s//## 0.3.0\n- `gab_one()` is gone./' "$tree/CHANGELOG.md"
fails --write 'gab_one: no longer stable, but was not GAB_DEPRECATED'
begin
sed -i '/gab_old/d' "$tree/core/base/one.h"
fails --write 'gab_old: no longer stable, and the section of this version'
sed -i '0,/^## 0.3.0/s//## 0.3.0\n- `gab_old()` is gone./' "$tree/CHANGELOG.md"
passes --write "a function that was deprecated in an earlier version"

begin
printf 'GAB_STABLE int gab_one_more(int a);\n' >>"$tree/core/base/one.h"
fails --check 'GAB_STABLE says what the head of the header says'
fails --check 'gab_one_more() has no caller'
begin
printf '/* Stability: internal. */\n' >"$tree/core/base/inner.h"
sed -i '1a #include "core/base/inner.h"' "$tree/core/base/one.h"
fails --check 'is installed, but includes core/base/inner.h'
begin
printf '/* Without a level. */\n' >"$tree/core/base/none.h"
fails --check 'core/base/none.h: its head lacks'
begin
for name in app persist extend; do printf '/* Stability: stable. */\n' >"$tree/gabion/$name.h"; done
fails --check 'gab_one() is stable, but no header in gabion/ includes its header'
exit "$failed"

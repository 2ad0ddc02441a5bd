# SPDX-License-Identifier: Apache-2.0
# gabion-test: timeout=20 labels=quick
# What it takes a proxy program to survive: ten lines at most, added or changed; all else is shared by both versions. What
# doc/resilience.md shows of it is that, line by line.
set -u
wrong=0
shown=$(sed -n '/^```diff/,/^```$/p' "$GABION_SOURCE/doc/resilience.md")
complain() { echo "$*"; wrong=1; }
for plain in "$GABION_SOURCE"/apps/papers/reinit2020/*_plain.c; do
  name=$(basename "$plain" _plain.c)
  there=$(diff <(grep -v '^/\*' "$plain") <(grep -v '^/\*' "${plain%_plain.c}_reinit.c"))
  new=$(grep -c '^>' <<<"$there") gone=$(grep -c '^<' <<<"$there")
  echo "$name: $new lines new or changed, $gone gone or changed"
  sed 's/^/  /' <<<"$there"
  ((new > 0 && new <= 10)) || wrong=1
  while read -r line; do
    grep -qxF -e "$line" <<<"$shown" || complain "$name: the documentation does not show: $line"
  done < <(sed -n 's/^> /+/p; s/^< /-/p' <<<"$there")
  [ "$name" != md ] || of_md=$(grep -c '^[<>]' <<<"$there")
done
# All of one program, and of each other one the line that names its state.
lines=$(grep -c '^[-+]' <<<"$shown")
[ "$lines" = $((${of_md:-0} + 2)) ] || complain "the documentation shows $lines lines that differ, of md there are ${of_md:-none}"
[ "${name:-}" ] || wrong=1
exit "$wrong"

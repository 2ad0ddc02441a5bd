# gabion-test: timeout=20 labels=quick
# What it takes a proxy program to survive: ten lines at most, added or changed; all else is shared by both versions.
set -u
wrong=0
for plain in "$GABION_SOURCE"/apps/proxy/*_plain.c; do
  name=$(basename "$plain" _plain.c)
  there=$(diff <(grep -v '^/\*' "$plain") <(grep -v '^/\*' "${plain%_plain.c}_reinit.c"))
  new=$(grep -c '^>' <<<"$there") gone=$(grep -c '^<' <<<"$there")
  echo "$name: $new lines new or changed, $gone gone or changed"
  sed 's/^/  /' <<<"$there"
  ((new > 0 && new <= 10)) || wrong=1
done
[ "${name:-}" ] || wrong=1
exit "$wrong"

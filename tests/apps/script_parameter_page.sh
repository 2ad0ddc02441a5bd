# SPDX-License-Identifier: Apache-2.0
# gabion-test: timeout=60 labels=quick
# doc/parameters.md equals the output of `gabion help --reference`; every explanation is a complete sentence.
. "$GABION_SOURCE/tests/apps/common.sh"

"$gabion" help --reference >page.md || complain "gabion help --reference failed"
diff "$GABION_SOURCE/doc/parameters.md" page.md >difference ||
  complain "doc/parameters.md is out of date; scripts/parameters.sh writes it anew
$(head -20 difference)"
# Rows of keys: six columns; the last is the explanation. Not a bar that is part of a list of choices ("\|").
grep '^| `' page.md | sed 's/\\|//g' | awk -F '|' '
  NF != 8 { print "not six columns: " $0; next }
  { text = $7; sub(/ +$/, "", text) }
  text !~ /[.)]$/ || text ~ / [.,;:][a-z ]| [.,;:]$|[^.]\.\.$|\.\.\.\./ { print "no sentence: " $0 }' >odd
[ ! -s odd ] || complain "$(head -20 odd)"
[ "$(grep -c '^| `' page.md)" -gt 200 ] || complain "hardly any keys in the page"
finish

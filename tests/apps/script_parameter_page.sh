# gabion-test: timeout=60 labels=quick
# doc/parameters.md is what `gabion help --reference` writes.
. "$GABION_SOURCE/tests/apps/common.sh"

"$gabion" help --reference >page.md || complain "gabion help --reference failed"
diff "$GABION_SOURCE/doc/parameters.md" page.md >difference ||
  complain "doc/parameters.md is out of date; scripts/parameters.sh writes it anew
$(head -20 difference)"
finish

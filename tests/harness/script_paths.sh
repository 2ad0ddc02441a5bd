# SPDX-License-Identifier: Apache-2.0
# Scripts, shell tests and documents name existing files of the source tree: the quick tests do not run long scripts, which would
# otherwise fail only for their user. ARCHITECTURE.md keeps its limits of length. Sources differ in their names.
# gabion-test: timeout=60 labels=quick
cd "$GABION_SOURCE" || exit 1
failed=0 looked=0
complain() { echo "$*"; failed=1; }
# there PATH: with variables in it, something that it may be
shopt -s extglob
there() {
  local path=${1%%[.,:;]} pattern
  looked=$((looked + 1))
  [ -e "$path" ] && return
  pattern=${1//\$\{*([^\}])\}/*} pattern=${pattern//\$+([A-Za-z0-9_])/*}
  compgen -G "$pattern" >/dev/null
}

# ---- In shell: below the root of the sources.
while IFS=: read -r file line path; do
  path=${path#*/}
  case $path in build*|*.new|*[A-Z][A-Z]*) continue ;; esac # made, or a word for something
  there "$path" || complain "$file:$line: $path is not there"
done < <(grep -rnoE --include='*.sh' '\$\{?GABION_(ROOT|SOURCE)\}?/[A-Za-z0-9_./${}-]*[A-Za-z0-9_}]' scripts tests apps)

# ---- In documents and comments of scripts: files by their path. A test may be meant by its name.
while IFS=: read -r file line path; do
  path=${path#"${path%%[a-z]*}"}
  case $path in *[A-Z][A-Z]*) continue ;; esac
  there "$path" || [ -n "$(find "tests/${path%%/*}" -name "script_${path##*/}" 2>/dev/null)" ] || complain "$file:$line: $path is not there"
done < <(grep -noE '(^|[^A-Za-z0-9_./${}-])(tests|apps|scripts|core|field|blockforest|loadbalance|lbm|phasefield|resilience|doc|cmake)/[A-Za-z0-9_./-]+\.(yaml|c|h|sh|py|txt|inc|md|png)\b' \
  ./*.md doc/*.md scripts/*.sh scripts/*/*.sh scripts/*/*.py apps/*/*.md apps/papers/*/*.{md,sh,py} phasefield/*.md 2>/dev/null)

# ---- The page that everybody reads first stays short: at most 250 lines, and 200 characters in a cell of a table.
lines=$(wc -l <ARCHITECTURE.md)
[ "$lines" -le 250 ] || complain "ARCHITECTURE.md: $lines lines, at most 250; move details to doc/"
[ "$lines" -ge 50 ] || complain "ARCHITECTURE.md: only $lines lines"
while IFS=: read -r line length; do
  complain "ARCHITECTURE.md:$line: a table cell of $length characters, at most 200; move the text below the table"
done < <(LC_ALL=C.UTF-8 awk -F '|' '/^\|/ { for (i = 2; i < NF; i++) if (length($i) > 200) print NR ":" length($i) }' ARCHITECTURE.md)

# ---- No two sources have one name. phasefield/ has the file names of lbm/, and a tutorial the name of its subject.
while read -r name; do
  complain "sources of one name: $(find core field blockforest loadbalance lbm resilience apps -name "$name" -not -path 'apps/tutorial/*' | sort | paste -sd' ')"
done < <(find core field blockforest loadbalance lbm resilience apps -name '*.[ch]' -not -path 'apps/tutorial/*' -not -name main.c -printf '%f\n' | sort | uniq -d)

[ "$looked" -gt 500 ] || complain "only $looked paths were found: this test looks for nothing"
exit "$failed"

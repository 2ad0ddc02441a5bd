# SPDX-License-Identifier: Apache-2.0
# gabion-test: timeout=60 labels=quick
# The quick tier covers what the project consists of: each folder of tests, each module, each solver, and each word of `gabion info`
# that a parameter file can choose. The times of tests come into the table, with a warning for those above their budget.
set -u
: "${GABION_SOURCE:?}" "${GABION_BUILD:?}"
list=$GABION_SOURCE/tests/harness/quick.txt tiers=$GABION_BUILD/tests/tiers.txt
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
failed=0
complain() { echo "$*"; failed=1; }
[ -s "$tiers" ] || { complain "there is no $tiers"; exit 1; }

# ---- folders: of tests, and of the modules, which the tests of the folder of that name are about
awk '$2 == "quick" {print $3}' "$tiers" | sort -u >"$work/sources"
cd "$GABION_SOURCE" || exit 1
folders=$(awk '$2 != "long" {print $3}' "$tiers" | sed 's,/[^/]*$,,' | sort -u)
[ "$(wc -l <<<"$folders")" -ge 20 ] || complain "only these folders have tests: $folders"
modules=$(sed -n 's/^gabion_module(\([a-z]*\).*/\1/p' CMakeLists.txt)
[ "$(wc -w <<<"$modules")" -ge 7 ] || complain "only these modules were found: $modules"
for module in apps $modules; do
  [ -d "$module" ] || complain "there is no folder $module"
  folders+=$'\n'tests/$module
done
for folder in $(sort -u <<<"$folders"); do
  case $folder in tests/network) continue ;; esac # root, network namespaces, minutes of waiting: scripts/test.sh --full
  grep -q "^$folder/" "$work/sources" || complain "$folder: no test of the quick tier (labels=quick or quick=N in one of its tests)"
done

# ---- words that a case can choose
"$GABION_BUILD/bin/gabion" info >"$work/info" || complain "gabion info fails"
for group in strategies schemes balancing kernels precisions lattices collisions boundaries criteria; do
  words=$(sed -n "s/^ *$group  *//p" "$work/info" | tr -d ',')
  [ "$words" ] || complain "gabion info has no row $group"
  for word in $words; do echo "$group $word"; done
done >"$work/known"
# Solvers: those of the program, and one of the user's.
sed -n 's/.*\[\] = {\(&gab_[^}]*\)}.*/\1/p' apps/driver/main.c | tr ',' '\n' | sed 's/ *&gab_[a-z]*_/solvers /' >"$work/solvers"
[ "$(wc -l <"$work/solvers")" -ge 2 ] || complain "apps/driver/main.c: no list of solvers was found"
{ cat "$work/solvers"; echo "solvers user-defined"; } >>"$work/known"
while read -r group word; do
  grep -q "^$group $word:" "$list" || complain "quick.txt: no row '$group $word: TEST' for what gabion knows; name a quick test of it"
done <"$work/known"
while read -r group word test; do
  word=${word%:}
  grep -qx "$group $word" "$work/known" || complain "quick.txt: $group $word: gabion does not know it"
  read -r tier source < <(awk -v test="$test" '$1 == test {print $2, $3}' "$tiers")
  [ "${tier:-}" = quick ] || { complain "quick.txt: $group $word: $test is not in the quick tier: ${tier:-no such test}"; continue; }
  # The source, or what it includes or runs from the folder of tests.
  grep -hoE '(tests|apps)/[A-Za-z0-9_/.-]+\.(c|h|sh|yaml|txt)' "$source" | sort -u >"$work/used"
  sed -n 's,.*\(helper_[a-z_0-9]*\).*,\1,p' "$source" | sort -u | while read -r helper; do find tests -name "$helper.c"; done >>"$work/used"
  # A case names a solver by its section.
  if [ "$group" = solvers ]; then
    section=$(grep -rhA 8 "gab_[a-z]*_$word = {" apps/driver | sed -n 's/.*section = "\([a-z]*\)".*/\1/p' | head -n 1)
    word=${section:-$word}
  fi
  [ "$word" = user-defined ] || xargs grep -qiwE "$word|[a-z0-9_]*_$word(_[a-z0-9_]*)?|${word}_[a-z0-9_]*" "$source" 2>/dev/null <"$work/used" ||
    complain "quick.txt: $group $word: $source does not name it"
done < <(sed '/^#/d; /^ *$/d' "$list")

# ---- times of tests
new=$work/new
GABION_TEST_TIMES=$new bash tests/stopwatch.sh a/quick quick 1 true || complain "stopwatch: true fails"
GABION_TEST_TIMES=$new bash tests/stopwatch.sh a/bad full 1 bash -c 'exit 3'
[ $? = 3 ] || complain "stopwatch: another code than that of the command"
code=$({ GABION_TEST_TIMES=$new bash tests/stopwatch.sh a/killed full 1 bash -c 'kill -KILL $$'; echo $?; } 2>/dev/null)
[ "$code" = 137 ] || complain "stopwatch: another signal than that of the command"
GABION_TEST_TIMES=$new bash tests/stopwatch.sh a/busy full 0 bash -c 'for ((i = 0; i < 30000; i++)); do :; done'
GABION_TEST_TIMES=$new bash tests/stopwatch.sh a/asks full 1 bash -c '[ -z "${GABION_TEST_TIMES:-}" ]' || complain "stopwatch: the command would write times, too"
bash tests/stopwatch.sh a/unasked full 1 true || complain "stopwatch: fails if nobody asks for times"
printf 'test\ttier\tcode\twall s\tCPU s\tbudget\na/bad\tfull\t0\t1.0\t777.000\t1\nb/old\tfull\t0\t1.0\t0.500\t1\n' >"$work/table"
scripts/harness/test-times.sh "$new" "$work/table" >"$work/said" || complain "test-times.sh fails"
[ ! -e "$new" ] || complain "test-times.sh: the times of the run stay"
[ "$(cut -f1 "$work/table" | sort | paste -sd' ')" = "a/asks a/bad a/busy a/killed a/quick b/old test" ] || complain "test-times.sh: another table: $(cat "$work/table")"
grep -q "^a/bad	full	3	" "$work/table" || complain "test-times.sh: an old row stays: $(cat "$work/table")"
[ "$(sed -n 2p "$work/table" | cut -f1)" = b/old ] || complain "test-times.sh: not the dearest first: $(cat "$work/table")"
grep -q 'warning: 1 of them took more CPU time than their budget' "$work/said" && grep -q '^  a/busy (full): [0-9.]* s, budget 0 s$' "$work/said" ||
  complain "test-times.sh: no warning of a/busy alone: $(cat "$work/said")"

# ---- scripts/test.sh, with a cmake and a ctest that only say what they are asked
mkdir "$work/bin" "$work/build"
printf '#!/bin/sh\nexit 0\n' >"$work/bin/cmake"
cat >"$work/bin/ctest" <<'END'
#!/bin/sh
echo "ctest: $*"
printf 'a/test\tquick\t3\t1.000\t9.000\t8\n' >>"$GABION_TEST_TIMES"
exit 8
END
chmod +x "$work/bin/cmake" "$work/bin/ctest"
# asks WANTED UNWANTED ARGUMENTS...: what ctest gets; its code is that of scripts/test.sh
asks() {
  local wanted=$1 unwanted=$2 code=0
  shift 2
  PATH=$work/bin:$PATH GABION_BUILD=$work/build GABION_TEST_TIMES= scripts/test.sh "$@" >"$work/said" 2>&1 || code=$?
  [ "$code" = 8 ] || complain "test.sh $*: code $code instead of that of ctest: $(cat "$work/said")"
  grep -q "^ctest: .*$wanted" "$work/said" || complain "test.sh $*: ctest is not asked for '$wanted': $(cat "$work/said")"
  ! grep -q "^ctest: .*$unwanted" "$work/said" || complain "test.sh $*: ctest is asked for '$unwanted': $(cat "$work/said")"
  grep -q '^  a/test (quick): 9.0 s, budget 8 s$' "$work/said" || complain "test.sh $*: no warning of the budget: $(cat "$work/said")"
  grep -q '^a/test' "$work/build/test-times.tsv" || complain "test.sh $*: no table of times"
}
asks ' -L ^quick\$' ' -R ' -V
asks ' --output-on-failure' ' -L ' --full
asks ' -R core/ -V' ' -L ' -R core/ -V
asks ' -L ^mpi\$' 'quick' -L '^mpi$'
grep -q 'test.sh" --full' .ci/run || complain ".ci/run does not run the full tier"
exit "$failed"

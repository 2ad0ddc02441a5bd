# SPDX-License-Identifier: Apache-2.0
# gabion-test: timeout=200 labels=quick
# Results of a finished run are replaced with --fresh only. A run that replaces them leaves none of its files and touches no
# other files; a run that resumes keeps everything.
. "$GABION_SOURCE/tests/apps/common.sh"

cat >before.yaml <<'YAML'
run: {title: before, steps: 20}
domain: {cells: [32, 16], block: [8, 8]}
fluid: {omega: 1.5}
boundaries:
  y_min: {type: wall}
  y_max: {type: velocity, velocity: [0.05, 0]}
output:
  fields: {every: 5, quantities: [velocity]}
  slices: [{quantity: speed, every: 5, name: cut}]
  points: [{name: a, at: [5, 5]}]
  probes: {every: 2, quantities: [velocity]}
  integrals: {every: 5}
YAML
sed -e 's/title: before, steps: 20/title: after, steps: 12/' -e '/slices/d' -e '/points/d' -e '/probes/d' -e '/integrals/d' \
  before.yaml >after.yaml
again() { # again CASE [options]: into the folder that is there
  timeout 100 "$GABION_LAUNCH" -n 2 -- "$gabion" run "$1" --out out "${@:2}" >said.txt 2>&1 ||
    complain "again $*: exit code $?: $(cat said.txt)"
}

run 0 3 before.yaml
touch out/fields/fields_0000000015.s0001.h5.tmp # as of a process that was killed
mkdir out/plots out/cut_0000000005.png.d
echo mine | tee out/notes.txt out/integrals.csv.bak out/fields/mine.h5 out/fields/fields_best.xdmf out/plots/cut_1.png \
  out/cut.png >outside.csv
ln -s ../outside.csv out/cut_0000000777.png

# The results of another case are kept, and so are those of the same case.
listed() { (cd out && find . -type f -exec sha256sum {} + | sort); }
refuses() { # refuses CASE [options]
  timeout 100 "$GABION_LAUNCH" -n 2 -- "$gabion" run "$1" --out out "${@:2}" >said.txt 2>&1
  [ $? = 2 ] || complain "not refused: $*: $(cat said.txt)"
  [ "$(listed)" = "$before" ] || complain "a refused start has changed: $(diff <(echo "$before") <(listed))"
}
before=$(listed)
refuses after.yaml
said_once 'the output folder out has the results of another case'
said 'run.steps: 20 in the folder, 12 now'
said 'output.integrals.every: 5 in the folder, '
said '--fresh replaces them, another --out keeps them'
not_said 'domain.cells'
refuses before.yaml --set fluid.omega=1.6
said 'fluid.omega: 1.5 in the folder, 1.6 now'
again before.yaml --set resilience.memory.every=7
said_once 'finished: out has the results of this case'
[ "$(listed)" = "$before" ] || complain 'a finished run was computed again'
mv out/case.yaml kept.yaml && echo 'lbm: {of: another version}' >out/case.yaml
before=$(listed)
refuses before.yaml
said 'its case.yaml cannot be read'
mv kept.yaml out/case.yaml
sed -i 's/"exit_code": 0/"exit_code": 1/' out/summary.json # a run that failed may be replaced
again before.yaml
said 'of an earlier run from out'

again after.yaml --fresh
said 'of an earlier run from out'
for file in $(cd out && find . -name 'cut_0000000*' -type f -o -name '*.csv' -o -name '*_0000000015*' -o -name '*.tmp' -o \
    -name '*_0000000020*'); do
  complain "left of the run before: $file"
done
[ "$(grep -c 'href' out/fields/fields.xdmf)" = 4 ] || # 0, 5, 10 and the last one, 12
  complain "steps of the field series: $(grep 'href' out/fields/fields.xdmf)"
for file in notes.txt integrals.csv.bak fields/mine.h5 fields/fields_best.xdmf plots/cut_1.png cut.png; do
  [ "$(cat out/$file)" = mine ] || complain "$file, which no run wrote, is gone or changed"
done
[ -L out/cut_0000000777.png ] && [ "$(cat outside.csv)" = mine ] || complain 'a link was taken for a file of the run'
[ -d out/cut_0000000005.png.d ] || complain 'a folder was removed'

# A run that is refused, or one that is finished, clears nothing away.
find out -type f | sort >files-before
timeout 100 "$GABION_LAUNCH" -n 2 -- "$gabion" run after.yaml --out out --set resilience.domains=nowhere.txt >said.txt 2>&1
find out -type f | sort >files-now
cmp -s <(grep -v summary.json files-before) <(grep -v -e summary.json -e log.txt files-now; echo out/log.txt) ||
  diff files-before files-now | grep '^<' | grep -v summary.json && complain "a refused run removed files: $(cat said.txt)"

# The list of another program, or one that was tampered with, leads nowhere else.
echo victim >victim.txt
mkdir -p out/deep/er && echo victim >out/deep/er/file
printf '%s\n' '../victim.txt' "$PWD/victim.txt" 'deep/er/file' 'plots/../notes.txt' >>out/files.txt
again after.yaml --fresh
[ "$(cat victim.txt)" = victim ] && [ "$(cat out/deep/er/file)" = victim ] && [ "$(cat out/notes.txt)" = mine ] ||
  complain 'files outside of the folder, or deep in it, were removed'

# A resumed run keeps the earlier output, also output that it no longer writes.
sed '/slices/d' before.yaml >next.yaml
run 0 2 before.yaml --set resilience.disk.every=10
(cd out && find . -name '*.png' -o -name '*.csv' -o -name 'fields_*' | sort) >files-before
again next.yaml --set resilience.disk.every=10 --set run.steps=30
said 'resuming from step 20'
while read -r file; do [ -e "out/$file" ] || complain "a run that went on removed $file"; done <files-before
grep -q '^cut_<n>.png$' out/files.txt || complain "the list forgot: $(cat out/files.txt)"
# A later run from the beginning removes all of it.
again after.yaml --fresh
[ -z "$(find out -name '*.png' -o -name '*.csv')" ] || complain "left of two runs: $(find out -name '*.png' -o -name '*.csv')"
finish

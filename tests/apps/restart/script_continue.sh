# SPDX-License-Identifier: Apache-2.0
# gabion-test: timeout=300 labels=quick
# The same command in the same folder resumes from the newest complete checkpoint on disk, on any number of processes,
# and ends with the files of an uninterrupted run; a damaged checkpoint is named and the previous one used.
. "$GABION_SOURCE/tests/apps/common.sh"

cat >flow.yaml <<'YAML'
run: {steps: 120}
domain: {cells: [64, 32], block: [8, 8]}
fluid: {omega: 1.6, velocity: 0.05, length: 8}
boundaries:
  x_min: {type: velocity, velocity: [0.05, 0]}
  x_max: {type: outflow}
  y_min: {type: wall}
  y_max: {type: wall}
bodies:
  - {name: disc, type: sphere, centre: [20, 15.5], radius: 4}
resilience: {memory: {every: 15}, disk: {every: 40, group: 3}}
output:
  forces: {every: 5}
  integrals: {every: 10}
  fields: {every: 60, quantities: [density]}
YAML
equal() { # equal WHAT: `out' has the content of `whole'
  [ "$(checksum out)" = "$(checksum whole)" ] || complain "$1: another checksum"
  for file in forces.csv integrals.csv; do cmp -s whole/$file out/$file || complain "$1: another $file"; done
  [ "$(grep '<Time' out/fields/fields.xdmf)" = "$(grep '<Time' whole/fields/fields.xdmf)" ] ||
    complain "$1: other times in fields.xdmf: $(grep '<Time' out/fields/fields.xdmf)"
}
# again CODE PROCESSES [options]: the same command in the folder that is there.
again() {
  local expected=$1 processes=$2 code
  shift 2
  timeout 100 "$GABION_LAUNCH" -n "$processes" -- "$gabion" run flow.yaml --out out "$@" >said.txt 2>&1
  code=$?
  [ $code = "$expected" ] || complain "again on $processes processes $*: exit code $code, expected $expected
it said: $(cat said.txt)"
}
from() { rm -rf out; cp -r "$1" out; }

run 0 2 flow.yaml --set resilience.disk.every=never
mv out whole
run 0 4 flow.yaml --set run.steps=80
mv out half
run 0 4 flow.yaml --set run.steps=80 --set fluid.omega=1.61
mv out other
for processes in 1 3 7; do
  from half
  again 0 $processes --set resilience.scheme=ring
  said 'resuming from step 80, a checkpoint on disk of 4 processes'
  equal "4 processes, then $processes"
done
again 0 2
said 'finished: out has the results of all 120 steps'
equal 'a finished run'
again 0 2 --fresh
not_said 'resuming from'
equal 'a fresh run'

# ---- coefficients in the log are of the steps that it names
coefficients() { sed -n 's/.*  disc, /disc, /p' "$1/log.txt" | tail -n 1; }
mean() { # mean FOLDER FIRST LAST: of c_x over steps of forces.csv
  awk -F, -v first="$2" -v last="$3" 'NR == 1 { for (i = 1; i <= NF; i++) if ($i == "disc.cx") column = i }
    NR > 1 && $1 >= first && $1 <= last { sum += $column; count++ } END { printf "c_x %.4f (", sum / count }' "$1/forces.csv"
}
says() { # says FOLDER STEPS FIRST LAST
  coefficients "$1" | grep -qF "disc, $2: $(mean "$1" "$3" "$4")" ||
    complain "expected: disc, $2: $(mean "$1" "$3" "$4"); the log says: $(coefficients "$1")"
}
says whole 'second half of the run' 60 120
says half 'second half of the run' 40 80
from half
again 0 3
says out 'steps 40 to 120' 40 120
run 0 2 flow.yaml --set run.steps=40
says out 'second half of the run' 20 40
again 0 2
says out 'second half of the run' 60 120
[ "$(coefficients out)" = "$(coefficients whole)" ] || complain "continued from step 40: $(coefficients out), not $(coefficients whole)"

# ---- another case
from half
again 2 2 --set fluid.omega=1.7 --set run.steps=100 --set resilience.copies=2
said_once 'has a checkpoint (step 80) of another case'
said 'fluid.omega: 1.6 in the checkpoint, 1.7 now'
not_said 'run.steps'
not_said 'resilience'
again 0 2 --set fluid.omega=1.7 --continue-anyway
said 'resuming from the checkpoint of another case'

# ---- a start that is refused while reading the checkpoint changes nothing: existing files are correct
from half
listed() { (cd out && find . -type f ! -name 'group_*' -exec sha256sum {} + | sort); }
before=$(listed)
grep -q summary.json <<<"$before" || complain "no summary: $before"
again 2 2 --set lbm.precision=float --continue-anyway
said 'the state in the checkpoint does not fit the changed case'
said 'the start is refused; the output folder is as it was'
[ "$(listed)" = "$before" ] || complain "a refused start has changed: $(diff <(echo "$before") <(listed))"

# ---- damaged files: the previous checkpoint is used, or the run starts from the beginning
list() { "$gabion" checkpoint "$@" >said.txt 2>&1; }
broken() { # broken WHAT WHAT_IT_SAYS STEP
  if list verify out; then complain "verify does not find: $1"; fi
  said "$2"
  again 0 3
  said 'the checkpoint of step 80 cannot be used'
  said "resuming from step $3"
  equal "$1"
}
from half
list verify out || complain "a whole checkpoint does not pass: $(cat said.txt)"
list list out
[ "$(grep -c yes said.txt)" = 2 ] || complain "list: $(cat said.txt)"
flip() { # flip FILE BYTE
  local byte
  byte=$(od -An -tu1 -j "$2" -N 1 "$1")
  printf "%b" "\\$(printf '%03o' $((byte ^ 16)))" | dd of="$1" bs=1 seek="$2" conv=notrunc status=none
}
flip out/checkpoints/step_000000000080/group_000000.h5 60000
broken 'a flipped bit' 'group_000000.h5' 40
[ -d out/checkpoints/unusable_000000000080 ] || complain "what cannot be used is not set aside: $(ls out/checkpoints)"
from half
cp other/checkpoints/step_000000000080/group_000000.h5 out/checkpoints/step_000000000080
broken 'a file of another write' 'its hashes are not those of the manifest' 40
from half
truncate -s 70000 out/checkpoints/step_000000000080/group_000001.h5
broken 'a truncated file' 'has 70000 bytes' 40
from half
rm out/checkpoints/step_000000000080/group_000000.h5
broken 'a missing file' 'group_000000.h5: No such file' 40
from half
flip out/checkpoints/step_000000000080/manifest.json 150
broken 'a changed manifest' 'does not match the hash at its end' 40
from half
rm out/checkpoints/step_000000000080/manifest.json
broken 'no manifest' 'manifest.json: cannot be opened: No such file' 40

# ---- a job that died while it removed an old checkpoint: the next one removes the rest, also if nothing is left to compute
from half
again 0 2
rm out/checkpoints/step_000000000080/manifest.json
again 0 2
said 'finished'
not_said 'cannot be used'
[ ! -e out/checkpoints/step_000000000080 ] || complain "half of a removed checkpoint stays: $(ls out/checkpoints)"
list verify out || complain "after it: $(cat said.txt)"

# ---- taking it apart
from half
list extract out --out parts --block 0x23 || complain "extract: $(cat said.txt)"
[ -s parts/block_0x23.bin ] && [ -s parts/replicated.bin ] || complain "extract left $(ls parts)"
grep -q '^fluid.omega = 1.6$' parts/parameters.txt || complain 'the parameters are not in it'
list extract out --out parts
[ "$(ls parts/block_* | wc -l)" = 32 ] || complain "extract: $(ls parts | wc -l) files"
if list extract out --out parts --block 0x7; then complain 'a block that does not exist was extracted'; fi
finish

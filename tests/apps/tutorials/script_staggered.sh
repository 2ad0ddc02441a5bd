# SPDX-License-Identifier: Apache-2.0
# gabion-test: timeout=200 needs=ulfm,formulas
# Staggered fields (helper_staggered.c): initial positions, ghosts beyond sides and values on them are exact for a
# linear function of place and time, on 1 to 3 processes, after deaths under shrink and local, and from disk. Invalid
# sides and tables are refused.
. "$GABION_SOURCE/tests/apps/common.sh"
gabion=$GABION_BUILD/tests/apps/helper_staggered
cat >grid.yaml <<'YAML'
run: {steps: 20}
domain: {cells: [12, 8], block: [4, 4], length: 3}
staggered: {every: 1}
boundaries:
YAML
sides=()
for side in x_min x_max y_min y_max; do
  echo "  $side: {type: value, centre: x + 10 * y + t, u: x + 10 * y + t, v: x + 10 * y + t, corner: x + 10 * y + t}"
done >>grid.yaml
echo 'resilience: {memory: {every: 7}}' >>grid.yaml
run 0 1 grid.yaml
expected=$(checksum)
cp out/staggered.csv of_one.csv
# Cells of 1/4: the sums are 96 (mean of x + 10 y + t), u and the corner half a cell to the left, v and the corner half a cell below.
awk -F, 'function wrong(a, b) { return a - b > 1e-9 || b - a > 1e-9 }
  NR > 1 { t = $1 / 4; c = 96 * (1.5 + 10 + t)
    if ($2 != t || $3 > 1e-10 || wrong($4, c) || wrong($5, c - 12) || wrong($6, c - 120) || wrong($7, c - 132)) bad = 1 }
  END { exit bad || NR != 22 }' of_one.csv || complain "not exact: $(cat of_one.csv)"
alike() {
  [ "$(checksum)" = "$expected" ] || complain "$1: another checksum"
  cmp out/staggered.csv of_one.csv || complain "$1: another table: $(cat said.txt)"
}
run 0 3 grid.yaml --inject rank=1,step=17,phase=exchange
said 'rank 1 died'
alike "a death"
"$GABION_LAUNCH" -n 3 --spares 1 -- "$gabion" run grid.yaml --set 'resilience.strategies=[local, shrink]' --set staggered.every=20 \
  --inject rank=0,step=17,phase=exchange --out out --fresh >said.txt 2>&1 || complain "local: $(cat said.txt)"
grep -q '"strategy": "local"' out/events.jsonl || complain "not local: $(cat said.txt)"
[ "$(checksum)" = "$expected" ] || complain "local: another checksum"
run 0 2 grid.yaml --set run.steps=10 --set resilience.disk.every=5
"$GABION_LAUNCH" -n 3 -- "$gabion" run grid.yaml --set resilience.disk.every=5 --out out >said.txt 2>&1 || complain "resuming: $(cat said.txt)"
alike "resuming from disk"

check 2 grid.yaml --set boundaries.x_max.type=gradient
said 'boundaries.x_max: values of u lie on this side'
check 2 grid.yaml --set 'domain.block=[2, 4]'
said 'need blocks of more than 2 cells along x'
VARIANT=levels check 1 grid.yaml
said 'staggered fields need a grid of one level'
VARIANT=unknown check 1 grid.yaml
said 'a field has a centring that does not exist'
finish

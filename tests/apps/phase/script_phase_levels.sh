# SPDX-License-Identifier: Apache-2.0
# gabion-test: timeout=200 needs=ulfm
# A phase field whose grid is fine only around interfaces advances as on a grid that is fine everywhere. Its bits are
# the same for any number of processes and after deaths during a change of the grid; its window moves by whole wide
# cells; invalid cases are refused with the place in the file.
. "$GABION_SOURCE/tests/apps/common.sh"
. "$GABION_SOURCE/tests/apps/phase/phase_common.sh"

sed -e 's/steps: 240/steps: 400/; s/cells: \[24, 36\], block: \[12, 6\]/cells: [48, 144], block: [12, 12]/' \
  -e 's/value: 0.8,/value: 0.9,/; s/height: 14/height: 34/; s/{row: 16, every: 10, rows: 2}/{row: 34, every: 10, rows: 4}/' \
  -e 's/^  window:/  refinement: {levels: 2, every: 10, margin: 8}\n&/' grow.yaml >levels.yaml
grid() { sed -n 's/.*"blocks_of_levels": \[\(.*\)\].*/\1/p' out/summary.json; }
run 0 1 levels.yaml --verbose
expected=$(checksum)
said '2 blocks split' # when the front has come near
said '2 merged'       # when the window has taken it back
[[ $(grid) =~ ^[1-9][0-9]*,\ [1-9][0-9]*,\ [1-9][0-9]*$ ]] || complain "blocks of levels: $(grid)"
[ "$(value out/front.csv shift)" -ge 4 ] || complain "the window has not moved: $(tail -1 out/front.csv)"
cp -r out whole
run 0 3 levels.yaml
[ "$(checksum)" = "$expected" ] || complain "three processes: another checksum"
cmp -s whole/front.csv out/front.csv || complain "three processes: another front"
for phase in adapt-mark adapt-balance adapt-migrate adapt-rebuild exchange; do
  run 0 3 levels.yaml --inject "rank=1,step=160,phase=$phase"
  said '2 of 3 processes left'
  [ "$(checksum)" = "$expected" ] || complain "$phase: another checksum"
  cmp -s whole/front.csv out/front.csv || complain "$phase: another front"
done
run 0 1 levels.yaml --set phasefield.refinement.levels=0
[ "$(grid)" = 48 ] || complain "one grid: $(grid)"
for column in front height alpha beta content_1; do
  awk -v a="$(value whole/front.csv $column)" -v b="$(value out/front.csv $column)" \
    'BEGIN { exit !(a > 0 && b > 0 && (a / b - 1)^2 < 1e-10) }' ||
    complain "$column: $(value whole/front.csv $column), on a fine grid $(value out/front.csv $column)"
done

wrong() { # wrong WHAT_IT_SAYS SETTING...
  local text=$1 settings=() setting
  shift
  for setting in "$@"; do settings+=(--set "$setting"); done
  check 2 levels.yaml "${settings[@]}"
  said "$text"
}
wrong 'are not a multiple of blocks 8 times as wide' phasefield.refinement.levels=3
wrong 'an even number is needed, 4 or more' 'domain.block=[3, 3]'
wrong 'are too many for blocks of 12: at most 10' phasefield.refinement.margin=11
wrong 'moves by multiples of 4 rows, not by 2' phasefield.window.rows=2
wrong 'belongs to a flow' refinement.levels=1
finish

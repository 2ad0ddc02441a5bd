# SPDX-License-Identifier: Apache-2.0
# gabion-test: timeout=200 needs=ulfm
# Mistakes in functions of a stencil (helper_mistakes.c) end the run before its first step, on 1 and 2 processes, with block, cell,
# component and remedy. A correct program has the same checksum with and without the trial, also after a death.
. "$GABION_SOURCE/tests/apps/common.sh"
gabion=$GABION_BUILD/tests/apps/helper_mistakes

cat >plate.yaml <<'YAML'
run: {steps: 20}
domain: {cells: [48, 32], block: [12, 8]}
plate: {every: 20}
resilience: {memory: {every: 4}}
YAML
cat >levels.yaml <<'YAML'
run: {steps: 20}
domain: {cells: [48, 32], block: [12, 8]}
plate: {every: 20, refinement: {levels: 1, every: 5, criteria: [{type: corner, above: 0.5}]}}
YAML

# ---- Correct programs.
run 0 1 plate.yaml
expected=$(checksum)
cp out/plate.csv plate.csv
same() {
  [ "$(checksum)" = "$expected" ] || complain "$1: another checksum"
  cmp out/plate.csv plate.csv || complain "$1: another table"
}
GABION_TRIAL=0 run 0 1 plate.yaml
same "without trial"
for idiom in copy memset; do
  MISTAKE=$idiom run 0 2 plate.yaml
  same "$idiom"
done
OMP_NUM_THREADS=2 run 0 2 plate.yaml
same "2 threads"
run 0 3 plate.yaml --inject rank=1,step=9,phase=compute
said 'rank 1 died'
same "after a death"
for strategies in 'local, shrink' spare; do # the replacement process tries update before it computes steps again
  rm -rf out
  timeout 100 "$GABION_LAUNCH" -n 3 --spares 1 -- "$gabion" run plate.yaml --set "resilience.strategies=[$strategies]" \
    --inject rank=1,step=9,phase=exchange --out out >said.txt 2>&1 || complain "strategies $strategies: $(cat said.txt)"
  said 'rank 1 died'
  same "strategies $strategies"
done
run 0 2 levels.yaml
levels=$(checksum)
GABION_TRIAL=0 run 0 1 levels.yaml
[ "$(checksum)" = "$levels" ] || complain "levels: another checksum without trial"
MISTAKE=counter GABION_TRIAL=0 run 0 1 plate.yaml
MISTAKE=untried run 0 1 plate.yaml

# ---- Mistakes. mistake CODE NAME TEXT...
case=plate.yaml
mistake() {
  local code=$1 name=$2 processes text
  shift 2
  for processes in 1 2; do
    MISTAKE=$name run "$code" "$processes" $case
    for text in "$@"; do said "$text"; done
    said 'plate: '
    said 'GABION_TRIAL=0 skips this trial'
    [ ! -s out/plate.csv ] || [ "$(wc -l <out/plate.csv)" -le 2 ] || complain "$name: steps were computed: $(cat out/plate.csv)"
  done
}
mistake 1 corners 'update of block x ' 'in step 0: temperature of cell (11, 7) depends on temperature of cell (12, 8) in `now`' \
  'beyond an edge or corner' 'set gab_stencil.diagonals'
mistake 1 two_deep 'temperature of cell (11, 7) depends on temperature of cell (13, 7) in `now`, outside of the block' \
  'set gab_stencil.depth = 2, or read at most 1 beyond a face'
mistake 1 unwritten 'it does not set temperature of cell (11, 0) in `next` (8 of 96 values are not set)' 'set all cells'
mistake 1 alternate 'in step 1: it does not set temperature of cell (0, 0) in `next` (96 of 96 values are not set)' 'copy from `now` what does not change'
mistake 1 component 'depends on component 1 of cell (11, 7) in `now`, a component that does not exist' 'add a name to gab_stencil.fields'
mistake 1 one_beyond 'it writes temperature of cell (12, 0) in `next`, outside of the block (12 x 8 x 1 cells)' 'set cells 0 to'
mistake 1 random 'when computed again from the same values; use no random numbers'
mistake 1 into_now 'it writes temperature of cell (0, 0) in `now`' 'write to `next`'
mistake 1 reads_next 'depends on temperature of cell (11, 7) in `next` from before the step; read from `now` only'
mistake 1 swapped 'it writes temperature of cell (0, 8) in `next`, outside of the block'
mistake 1 component_set 'it writes component 1 of cell (0, 0) in `next`, a component that does not exist'
mistake 1 third_axis 'depends on temperature of cell (11, 7, 1) in `now`, outside of a grid in 2D; read z = 0 only'
mistake 1 row_counter 'when computed again from the same values; use no random numbers, clocks or counters'
mistake 1 last_block 'another block was computed between: keep nothing in static variables'
mistake 1 unset_heap 'memory that it does not set held other bytes'
mistake 1 unset_large 'memory that it does not set held other bytes'
mistake 1 clock 'when computed again from the same values'
mistake 4 nan 'temperature of cell (3, 2) becomes NaN or infinite, computed from finite values'
OMP_NUM_THREADS=2 mistake 1 thread 'another thread computed it'
mistake 1 start_random 'start gives temperature' 'when called again for the cell at (' 'gab_hash_counter()'
mistake 1 start_beyond 'start sets values[1]' 'the last field is values[0]'
mistake 1 add_short 'add does not set terms[1], of the sum squares' 'set one term for each name'
mistake 1 quantity_short 'quantity gradient in cell (0, 0, 0)' 'value 2 is not set'
mistake 1 quantity_corner 'quantity gradient in cell (11, 7, 0)' 'depends on values of `now` that are not filled'
case=levels.yaml
mistake 1 criterion_corner 'criterion corner measures'
mistake 1 two_deep 'level 1 in step 0' 'outside of the block'
finish

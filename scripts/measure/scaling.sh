#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Scaling of a flow with cores, and the cost of blocks: a closed box of 128^3 cells (D3Q19, TRT, double, in place) as
# one block per process, and as 8, 64, 512, 4096 blocks, on one core, with two threads, and on two processes.
#
#   scripts/measure/scaling.sh [--quick] [--rounds N] [--out DIR] [--draw]
#
#   --quick     96^3 cells, fewer repetitions
#   --rounds N  of all three, in turn, so that a slow change of the machine affects all (default 3)
#   --out DIR   default: BUILD/scaling; for lines.jsonl, table.md, scaling.png
#   --draw      only draws, with existing lines
#
# Each number of blocks is measured in turn with one block per process; shares are medians of these pairs. `alone`:
# each block with its own field (`lbm.fused_blocks: 1`). The picture needs matplotlib.
set -euo pipefail
. "$(dirname "${BASH_SOURCE[0]}")/../common.sh"

QUICK='' ROUNDS=3 OUT='' DRAW=''
while (($#)); do
  case $1 in
    -h|--help) print_head "${BASH_SOURCE[0]}"; exit 0 ;;
    --quick) QUICK=--quick ;;
    --rounds) [[ ${2:-} =~ ^[1-9][0-9]*$ ]] || fail "--rounds needs a number of at least 1"; ROUNDS=$2; shift ;;
    --out) OUT=${2:?--out needs a folder}; shift ;;
    --draw) DRAW=1 ;;
    *) fail "unknown option $1 (try --help)" ;;
  esac
  shift
done
OUT=${OUT:-$GABION_BUILD/scaling}
python=$(gabion_python)
[ -n "$python" ] || fail "the table and the picture need Python 3"
if [ -z "$DRAW" ]; then
  gabion_setup
  gabion_build "$GABION_BUILD"
  mkdir -p "$OUT"
  : >"$OUT/lines.jsonl"
  cores=$(nproc)
  for ((round = 0; round < ROUNDS; round++)); do
    say "round $((round + 1)) of $ROUNDS"
    # With threads the benchmark first runs with one thread, then with all.
    OMP_NUM_THREADS=$((cores < 2 ? 1 : 2)) "$GABION_BUILD/bin/gabion-bench" $QUICK --only blocks --json "$OUT/lines.jsonl" >"$OUT/last.txt"
    OMP_NUM_THREADS=1 "$GABION_BUILD/bin/gabion-launch" -n 2 -- "$GABION_BUILD/bin/gabion-bench" $QUICK --only blocks \
      --json "$OUT/lines.jsonl" >"$OUT/last.txt"
  done
fi
"$python" "$GABION_ROOT/scripts/measure/scaling.py" "$OUT/lines.jsonl" --edge $((${#QUICK} ? 96 : 128)) --table "$OUT/table.md" --png "$OUT/scaling.png"

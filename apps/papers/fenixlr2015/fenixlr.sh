#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Figures 2, 3, 7 and 8 of Gamell et al. 2015 (FenixLR), and the numbers of section 4.3, by the model of `gabion plan
# --delays`: how the delay of a failed process spreads, and what local recovery saves against global. Nothing is killed
# here and nothing runs on several processes: figures 7 and 8 of the paper are measured, these are their model. Measured are
# figures 6, 7 and 10 by apps/papers/fenixlr2015/fenixlr-runs.sh, beside that model.
#
#   apps/papers/fenixlr2015/fenixlr.sh [--quick] [--out DIR] [--built]
#
#   --quick     ten runs instead of thirty for figure 3, a grid of 40^3 instead of 100^3 for section 4.3, 100 steps of a million processes instead of 1000
#   --out DIR   default: out/paper-fenixlr
#   --built     takes what is in build/bin as it is
#
# DIR gets figure2_*.png, figure7*.png, figure8*.png (processes against time, drawn by gabion itself), figure3.png and
# figure6_model.png (by python3-matplotlib, else gnuplot), the numbers as JSON and CSV, and report.md.
set -euo pipefail
. "$(dirname "${BASH_SOURCE[0]}")/../../../scripts/common.sh"

OUT=out/paper-fenixlr RUNS=30 EDGE=100 MILLION_STEPS=1000 BUILT=
while (($#)); do
  case $1 in
    -h|--help) print_head "${BASH_SOURCE[0]}"; exit 0 ;;
    --quick) RUNS=10 EDGE=40 MILLION_STEPS=100 ;;
    --out) OUT=${2:?--out needs a folder}; shift ;;
    --built) BUILT=1 ;;
    *) fail "unknown option $1 (try --help)" ;;
  esac
  shift
done
if [ -z "$BUILT" ]; then
  gabion_setup
  gabion_build "$GABION_BUILD"
fi
GABION=$GABION_BUILD/bin/gabion
[ -x "$GABION" ] || fail "nothing built in $GABION_BUILD"
mkdir -p "$OUT"
delays() { # delays NAME OPTIONS: numbers to NAME.json
  local name=$1; shift
  "$GABION" plan --delays --json "$@" >"$OUT/$name.json" || fail "gabion plan --delays $* failed"
}
draw() { # draw NAME OPTIONS: and a picture
  local name=$1; shift
  delays "$name" --picture "$OUT/$name.png" "$@"
}

say "figure 2: delays on 32 and on 13824 processes in a row"
draw figure2_32 --grid 32 --steps 80 --noise 0.1 --runs 1 --fail 12:7 --fail 16:22 --fail 50:14
draw figure2_13824 --grid 13824 --steps 2000 --t2 100 --noise 0.1 --runs 1 --group 16 --fail 200:1000 --fail 420:4200 \
  --fail 700:9800 --fail 1000:6800 --fail 1300:12600 --fail 1600:2600

say "figure 3: 16 x 16 x 16 processes, 100 steps, $RUNS runs"
for form in printed causal; do
  delays "figure3_$form" --noise 0.1 --runs $RUNS --form $form --rate 0.001%,0.005%,0.01%
  delays "figure3_times_$form" --noise 0.1 --runs $RUNS --form $form --rate 0.01% --csv "$OUT/figure3_times_$form.csv"
done

say "section 4.3: a failure in the middle of $EDGE x $EDGE x $EDGE processes"
middle=$((3 * EDGE / 2))
for depth in 1 10 20; do
  delays "reach_$depth" --grid ${EDGE}x${EDGE}x$EDGE --reach centre --ghost-depth $depth --steps $((middle * depth)) \
    --at $((EDGE * depth / 2)),$((EDGE * 3 * depth / 4)),$((middle * depth))
done

say "a million processes"
TIMEFORMAT='%U %S'
{ time delays million --grid 100x100x100 --steps "$MILLION_STEPS" --t2 5 --noise 0.1 --runs 1 --rate 1e-6; } 2>"$OUT/million.time"

say "figure 6, as a model: overhead against the mean time between failures in steps"
delays figure6 --noise 0.1 --runs $RUNS --steps 200 --t2 5 --mtbf 1,2,3,4,6,8,9,12,16,24,48,96

say "figure 7: 32 processes, 1 to 4 failures far from each other, and two of which one knows of the other"
far=(--fail 20:4 --fail 26:28 --fail 24:12 --fail 22:20)
for count in 1 2 3 4; do
  draw "figure7_$count" --grid 32 --steps 80 --t2 20 --noise 0.05 --runs 1 "${far[@]:0:2 * count}"
done
draw figure7_nested --grid 32 --steps 80 --t2 20 --noise 0.05 --runs 1 --fail 20:4 --fail 40:13

say "figure 8: 13824 processes, nodes of 16, 0, 1, 4 and 10 of them fail"
nodes=(--fail 200:700 --fail 350:3400 --fail 500:6100 --fail 650:8800 --fail 800:11500 --fail 950:2000 --fail 1100:4800
       --fail 1250:7500 --fail 1400:10200 --fail 1550:13000)
row=(--grid 13824 --group 16 --steps 2000 --t2 200 --noise 0.1 --runs 1)
draw figure8_0 "${row[@]}" "${nodes[@]}" --recovery none
for count in 1 4 10; do draw "figure8_$count" "${row[@]}" "${nodes[@]:0:2 * count}"; done
draw figure8_10_global "${row[@]}" "${nodes[@]}" --recovery global

python=$(gabion_python)
[ -n "$python" ] || fail "no python3: pictures and numbers are in $OUT, without report"
"$python" "$GABION_ROOT/apps/papers/fenixlr2015/fenixlr.py" --out "$OUT"
cat "$OUT/report.md"
say "pictures:"
printf '  %s\n' "$OUT"/*.png

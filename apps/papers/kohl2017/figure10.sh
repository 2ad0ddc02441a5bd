#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Figure 10 of Kohl et al. 2017: a vortex street on adaptive blocks and eight processes, of which two die at the
# same step; and the same run undisturbed. The final states have to be equal to the last bit.
#
#   apps/papers/kohl2017/figure10.sh [--short] [--out DIR]
#
#   --short     8000 steps instead of 40000, with the deaths before step 7000: a fifth of the time
#   --out DIR   default: out/figure10; the runs go to DIR/healthy and DIR/deaths
#
# Three pictures of each run are named at the end: before the deaths, after the recovery, the last. Their
# outlines are coloured by owner (vorticity) and by level (speed). Exit 0 only if both runs end well, the second
# one having lost processes 6 and 7, with the same checksum, grid, forces, and pictures of the same flow.
set -euo pipefail
. "$(dirname "${BASH_SOURCE[0]}")/../../../scripts/common.sh"

OUT=out/figure10 SHORT=
while (($#)); do
  case $1 in
    -h|--help) print_head "${BASH_SOURCE[0]}"; exit 0 ;;
    --short) SHORT=1 ;;
    --out) OUT=${2:?--out needs a folder}; shift ;;
    *) fail "unknown option $1 (try --help)" ;;
  esac
  shift
done

CASE=$GABION_ROOT/apps/cases/flow/cylinder_adaptive.yaml
before=32000 after=34000 end=40000 death=33900 # steps
options=()
if [ -n "$SHORT" ]; then
  before=6000 after=7000 end=8000 death=6900
  options=(--set run.steps=$end --set output.slices.0.every=1000 --set output.slices.1.every=1000)
fi

gabion_setup
gabion_build "$GABION_BUILD"
mkdir -p "$OUT"
run() { # run NAME [options]: prints what the log says of the end
  local name=$1; shift
  say "$name: $end steps"
  # shellcheck disable=SC2086 # words on purpose
  "$GABION_BUILD/bin/gabion-launch" ${GABION_LAUNCH_OPTIONS:-} -n 8 -- "$GABION_BUILD/bin/gabion" run "$CASE" \
    --out "$OUT/$name" --fresh --quiet ${options[@]+"${options[@]}"} "$@" || fail "the run in $OUT/$name failed"
  sed -n '/done:/,$p' "$OUT/$name/log.txt" | grep -E 'done:|survived:|checksum|adapted' | sed 's/^\[[^]]*\] //'
}
value() { sed -n "s/.*\"$2\": \(.*\)/\1/p" "$OUT/$1/summary.json" | sed 's/,$//' | head -n 1; }

run healthy --set 'faults=[]'
run deaths --set 'faults=[]' --inject "rank=6+7,step=$death,phase=exchange"

wrong=0
differ() { say "not equal: $1"; wrong=1; }
[ "$(value deaths lost_ranks)" = 2 ] || differ "$(value deaths lost_ranks) processes died, not 2"
[ -n "$(value healthy checksum)" ] && [ "$(value healthy checksum)" = "$(value deaths checksum)" ] ||
  differ "checksums $(value healthy checksum) and $(value deaths checksum)"
[ "$(value healthy grid)" = "$(value deaths grid)" ] || differ "grids $(value healthy grid) and $(value deaths grid)"
cmp -s "$OUT/healthy/forces.csv" "$OUT/deaths/forces.csv" || differ "forces.csv"
pictures=()
for step in $before $after $end; do
  for quantity in vorticity speed; do
    picture=$(printf '%s_%010d.png' $quantity $step)
    for name in healthy deaths; do
      if [ -s "$OUT/$name/$picture" ]; then pictures+=("$OUT/$name/$picture"); else differ "no $picture in $name"; fi
    done
    # owners are another matter after deaths; speed is outlined by level
    if [ $quantity = speed ]; then cmp -s "$OUT/healthy/$picture" "$OUT/deaths/$picture" || differ "$picture"; fi
  done
done
say "pictures before the deaths, after the recovery, and at the end:"
printf '  %s\n' ${pictures[@]+"${pictures[@]}"}
if ((wrong)); then fail "the run that lost processes did not end as the undisturbed one"; fi
say "equal to the last bit: checksum $(value healthy checksum | tr -d \")"

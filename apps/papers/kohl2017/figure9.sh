#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Figure 9 of Kohl et al. 2017: directional solidification of Al-Ag-Cu in 3D, 160 x 160 x 120 cells in blocks of 20^3,
# 2000 steps, of which four processes do not see the end: (a) killed one after another, from outside, by SIGKILL;
# (b) four neighbours at once, like a node. Both end with the state of the undisturbed run, to the last bit.
#
#   apps/papers/kohl2017/figure9.sh [--quick] [-n PROCESSES] [--out DIR] [--again]
#
#   --quick     80 x 80 x 60 cells in blocks of 10^3, 600 steps: a tenth of the time or less
#   -n N        default 16: 24 of the 384 blocks each; in the paper there are six each, which takes 64
#   --out DIR   default: out/figure9; runs go to DIR/healthy, DIR/one_by_one, DIR/node
#   --again     run again what is there already; without it a script that was interrupted goes on with the next run
#
# Pictures are named at the end: before the deaths, as restored with the lost blocks left blank, and the last. Exit 0
# only if all runs end well and the two with four deaths each have the undisturbed checksum, series and solid.
set -euo pipefail
. "$(dirname "${BASH_SOURCE[0]}")/../../../scripts/common.sh"

OUT=out/figure9 QUICK= AGAIN= N=16
while (($#)); do
  case $1 in
    -h|--help) print_head "${BASH_SOURCE[0]}"; exit 0 ;;
    --quick) QUICK=1 ;;
    --again) AGAIN=1 ;;
    -n) N=${2:?-n needs a number}; shift ;;
    --out) OUT=${2:?--out needs a folder}; shift ;;
    *) fail "unknown option $1 (try --help)" ;;
  esac
  shift
done
((N >= 8)) || fail "four of $N processes are to die: -n 8 or more"

CASE=$GABION_ROOT/apps/cases/phasefield/al_ag_cu.yaml
steps=2000 cells='[160, 160, 120]' block=20 every=100 pictures=500 middle=80 height=30
[ -z "$QUICK" ] || steps=600 cells='[80, 80, 60]' block=10 every=50 pictures=150 middle=40
gabion_setup
gabion_build "$GABION_BUILD"
mkdir -p "$OUT"
settings=(--set "domain.cells=$cells" --set "domain.block=[$block, $block, $block]" --set run.steps=$steps
  --set run.check_every=$pictures --set phasefield.series_every=$every
  --set "phasefield.temperature={value: 0.96, gradient: 1.0e-5, velocity: 0.002}"
  --set "phasefield.initial={type: voronoi, height: $height, seeds: 64, seed: 3, shares: [0.2, 0.4, 0.4]}"
  --set "phasefield.window={row: $((height + 4)), rows: 2}" --set "output={slabs: {quantities: [phase]}, slices: [
      {quantity: phase, axis: z, position: $((height - 4)).5, every: $pictures, name: section, outlines: true},
      {quantity: phase, axis: y, position: $middle, every: $pictures, name: side, outlines: true}]}"
  --set "resilience.memory={every: $every}")

value() { sed -n "s/.*\"$2\": \(.*\)/\1/p" "$OUT/$1/summary.json" 2>/dev/null | sed 's/,$//' | head -n 1; }
is_done() { [ -z "$AGAIN" ] && [ -n "$(value "$1" checksum)" ] && [ "$(cat "$OUT/$1/settings" 2>/dev/null)" = "$N ${settings[*]}" ]; }
start() { # start NAME [options]: in the background; its process is $launched
  local name=$1; shift
  rm -rf "${OUT:?}/$name"
  mkdir -p "$OUT/$name"
  say "$name: $steps steps on $N processes"
  # shellcheck disable=SC2086 # words on purpose
  OMP_NUM_THREADS=${OMP_NUM_THREADS:-1} "$GABION_BUILD/bin/gabion-launch" ${GABION_LAUNCH_OPTIONS:-} -n "$N" -- \
    "$GABION_BUILD/bin/gabion" run "$CASE" --out "$OUT/$name" --quiet "${settings[@]}" "$@" &
  launched=$!
}
finish() { # finish NAME: waits, and prints what the log says of the end
  wait "$launched" || fail "the run in $OUT/$1 failed"
  sed -n '/done:/,$p' "$OUT/$1/log.txt" | grep -E 'done:|survived:|checksum' | sed 's/^\[[^]]*\] //'
  echo "$N ${settings[*]}" >"$OUT/$1/settings"
}
# Those of the run in a folder: processes of this user whose command line has it, without the launcher.
active_processes() { pgrep -u "$(id -u)" -f "bin/gabion run .*--out $1 " | while read -r pid; do
              [ "$(basename "$(readlink "/proc/$pid/exe" 2>/dev/null)")" = gabion ] && echo "$pid"; done; }
recoveries() { grep -c '"event": "recovery"' "$OUT/$1/events.jsonl" 2>/dev/null || true; }
# Kills one of the living after the other. Where the run is, the pictures tell: between two of them is the time for it.
kill_one_by_one() {
  local name=$1 k pids
  for k in 1 2 3 4; do
    until [ -e "$OUT/$name/$(printf 'side_%010d.png' $((pictures * (k - 1))))" ] && [ "$(recoveries "$name")" = $((k - 1)) ]; do
      kill -0 "$launched" 2>/dev/null || return 0
      sleep 0.2
    done
    sleep 1 # somewhere in a step, a message, a checkpoint
    mapfile -t pids < <(active_processes "$OUT/$name")
    ((${#pids[@]})) || return 0
    say "$name: kill -9 ${pids[$((k * 5 % ${#pids[@]}))]}"
    kill -9 "${pids[$((k * 5 % ${#pids[@]}))]}"
  done
}

is_done healthy || { start healthy; finish healthy; }
is_done one_by_one || { start one_by_one; kill_one_by_one one_by_one; finish one_by_one; }
is_done node || {
  start node --inject "rank=4+5+6+7,step=$((steps / 2 + every / 2)),phase=exchange"
  finish node
}

wrong=0
differ() { say "not equal: $1"; wrong=1; }
[ -n "$(value healthy checksum)" ] || differ "the undisturbed run has no checksum"
for name in one_by_one node; do
  [ "$(value $name lost_ranks)" = 4 ] || differ "$(value $name lost_ranks) processes died in $name, not 4"
  [ "$(value healthy checksum)" = "$(value $name checksum)" ] ||
    differ "checksums $(value healthy checksum) and $(value $name checksum) of $name"
  for what in front.csv slabs; do diff -rq "$OUT/healthy/$what" "$OUT/$name/$what" || differ "$what of $name"; done
  ls "$OUT/$name"/side_lost_*.png >/dev/null 2>&1 || differ "no picture of the loss in $name"
  say "$name, pictures before the deaths, of what was lost, and of the end:"
  ls "$OUT/$name"/{section,side}_0000000000.png "$OUT/$name"/{section,side}_lost_*.png \
     "$OUT/$name"/{section,side}_"$(printf %010d $steps)".png | sed 's/^/  /'
done
if ((wrong)); then fail "a run that lost processes did not end as the undisturbed one"; fi
say "equal to the last bit: checksum $(value healthy checksum | tr -d \")"

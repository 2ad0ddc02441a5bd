# SPDX-License-Identifier: Apache-2.0
# gabion-test: timeout=600 needs=ulfm
# A run accepts the division of `gabion plan --clusters K --write FILE` (resilience.local.clusters: FILE), and logs as
# many bytes as plan forecasts, within 2 %: for a uniform flow from the case alone, for an adaptive flow and a phase
# field with a moving window from the traffic of a run.
. "$GABION_SOURCE/tests/apps/common.sh"
. "$GABION_SOURCE/tests/apps/plan/cluster_common.sh"
faults=$GABION_SOURCE/tests/faults/local_runs
member() { sed -n "s/.*\"$1\": \([0-9]*\),.*/\1/p" out/summary.json | head -n 1; }
planned() { sed -n 's/.*"division": .*"log": {"total": \([0-9.e+]*\),.*/\1/p' said.txt; } # byte per step, of the last plan
local_run() { # local_run CASE ARGUMENTS...: 16 processes and a spare
  local code=0
  rm -rf out
  "$GABION_LAUNCH" -n 16 --spares 1 -t 1 --stall 60 -- "$gabion" run "$@" --out out --set 'resilience.strategies=[local, spare, shrink]' \
    >said.txt 2>&1 || code=$?
  [ $code = 0 ] || complain "gabion run $*: exit code $code; it said: $(cat said.txt)"
}
# forecast NAME STEPS CLUSTERS GOAL PLANNED CASE ARGUMENTS...: PLANNED is the text of plan about the division
forecast() {
  local name="$1, $3 clusters by least $4" steps=$2 clusters=$3 goal=$4 what=$5 due
  shift 5
  # shellcheck disable=SC2086 # words on purpose
  plan 0 $what --clusters "$clusters" --least "$goal" --write division.txt --json
  due=$(planned)
  [ -n "$due" ] || complain "$name: plan tells no log of the division"
  [ "$(grep -c '^cluster[0-9]*: ' division.txt)" = "$clusters" ] || complain "$name: $(cat division.txt)"
  local_run "$@" --set resilience.local.clusters=division.txt
  awk -v logged="$(member logged_bytes)" -v due="$due" -v steps="$steps" 'BEGIN {
    if (logged == "") exit 1
    difference = logged - due * steps
    exit !((difference < 0 ? -difference : difference) <= 0.02 * due * steps) }' ||
    complain "$name: $(member logged_bytes) bytes are logged in $steps steps, plan forecasts $due each"
}

adaptive="$faults/local_adaptive.yaml --set run.steps=100 --set balance.every=0 --set balance.work=cells --set domain.cells=[128,64] --set output.forces.every=100 --set output.fields.every=100"
phase="$faults/local_phase.yaml --set run.steps=120 --set domain.cells=[48,72]"
# shellcheck disable=SC2086 # words on purpose
{
local_run $adaptive --traffic adaptive.csv
[ -s adaptive.csv ] || complain "the flow that adapts has written no traffic"
local_run $phase --traffic phase.csv
[ -s phase.csv ] || complain "the phase field has written no traffic"
for clusters in ${GABION_CLUSTERS:-4}; do
  forecast "uniform flow" 40 "$clusters" total "cube.yaml -n 16 --bandwidth 1e9" cube.yaml
  forecast "flow that adapts" 100 "$clusters" largest "--traffic adaptive.csv" $adaptive
  forecast "phase field" 120 "$clusters" total "--traffic phase.csv" $phase
done
}
# Whole nodes: eight of two processes in two clusters. In one cluster nothing is logged.
plan 0 cube.yaml -n 16 --per-node 2 --bandwidth 1e9 --clusters 2 --write nodes.txt
said 'written to nodes.txt'
awk -F: '/^cluster/ { n = split($2, range, " "); for (i = 1; i <= n; i++) { split(range[i], end, "-"); last = end[2] == "" ? end[1] : end[2]
  if (end[1] % 2 != 0 || last % 2 != 1) exit 1 } }' nodes.txt || complain "a node is cut: $(cat nodes.txt)"
plan 0 --traffic phase.csv --clusters=1 --write one.txt
grep -qx 'cluster1: 0-15' one.txt || complain "one cluster: $(cat one.txt)"
plan 2 cube.yaml -n 16 --clusters 17 --write none.txt
said 'there are 16 failure domains'
plan 2 cube.yaml -n 16 --write none.txt
said '--clusters K'
plan 2 cube.yaml -n 16 --clusters 2 --least most
[ ! -e none.txt ] || complain "a division that cannot be is written"
plan 1 cube.yaml -n 16 --clusters 2 --bandwidth 1e9 --write nowhere/none.txt
said 'nowhere/none.txt'
finish

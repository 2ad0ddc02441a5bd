#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Table 1 of Ropars et al. 2013 (SPBC) for programs of this project: what 16 processes log for 1, 2, 4, 8 and 16 clusters, as `gabion plan`
# says and as runs under strategy `local` count it: a uniform flow, a flow that adapts, a phase field whose window moves, and (by plan
# alone) the planes that conjugate gradients exchange.
#
#   apps/papers/spbc2013/cluster-logs.sh [--clusters LIST] [--out DIR] [--built] [--report]
#
#   --clusters LIST  that are run (default "1 2 4 8 16"); plan says all of these
#   --out DIR        default: out/cluster-logs
#   --built          takes what is in build/bin as it is
#   --report         runs nothing: the report of what is in DIR, with the --clusters of that run
#
# Nothing is timed: it may run beside other work. DIR gets report.md, what plan said (plan_*.json) and what was counted (traffic_*.csv,
# runs.csv). Exit 1 if a run fails or one of --clusters is missing, or logs more than 2 % more or less than plan says for its division.
set -euo pipefail
. "$(dirname "${BASH_SOURCE[0]}")/../../../scripts/common.sh"

OUT=out/cluster-logs CLUSTERS="1 2 4 8 16" BUILT='' REPORT=''
while (($#)); do
  case $1 in
    -h|--help) print_head "${BASH_SOURCE[0]}"; exit 0 ;;
    --clusters) CLUSTERS=${2:?--clusters needs a list}; shift ;;
    --out) OUT=${2:?--out needs a folder}; shift ;;
    --built) BUILT=1 ;;
    --report) REPORT=1 BUILT=1 ;;
    *) fail "unknown option $1 (try --help)" ;;
  esac
  shift
done
for number in $CLUSTERS; do [[ $number =~ ^(1|2|4|8|16)$ ]] || fail "--clusters $number: 1, 2, 4, 8 or 16"; done
if [ -z "$BUILT" ]; then
  gabion_setup
  gabion_build "$GABION_BUILD"
fi
LAUNCH=$GABION_BUILD/bin/gabion-launch GABION=$GABION_BUILD/bin/gabion
for program in "$LAUNCH" "$GABION"; do [ -x "$program" ] || fail "build first: $program is missing"; done
python=$(gabion_python)
[ -n "$python" ] || fail "no python3"
OUT=$(realpath -m "$OUT"); mkdir -p "$OUT"
export OMP_NUM_THREADS=1
failures=0

faults=$GABION_ROOT/tests/faults/local_runs
CUBE=$GABION_ROOT/tests/apps/plan/cluster_cube.yaml
# shellcheck disable=SC2034 # used by their names
flow=("$CUBE")
# Owners by cells, not by measured work: else the traffic of one run is not that of the next.
# shellcheck disable=SC2034
adaptive=("$faults/local_adaptive.yaml" --set run.steps=100 --set balance.every=0 --set balance.work=cells --set 'domain.cells=[128,64]'
  --set output.forces.every=100 --set output.fields.every=100)
# shellcheck disable=SC2034
phase=("$faults/local_phase.yaml" --set run.steps=120 --set 'domain.cells=[48,72]')
declare -A steps=([flow]=40 [adaptive]=100 [phase]=120)

# local_run NAME ARGUMENTS...: 16 processes and a spare, in DIR/run; nobody dies
local_run() {
  rm -rf "$OUT/run"
  timeout -k 10 600 "$LAUNCH" -n 16 --spares 1 -t 1 --stall 120 -- "$GABION" run "${@:2}" --out "$OUT/run" \
    --set 'resilience.strategies=[local, spare, shrink]' >"$OUT/$1.log" 2>&1 </dev/null ||
    { failures=$((failures + 1)); say "failed: $1, see $OUT/$1.log"; return 1; }
}
# what_is_divided NAME: words of plan
what_is_divided() { if [ "$1" = flow ]; then printf '%s\n' "$CUBE" -n 16 --bandwidth 1e9; else printf '%s\n' --traffic "$OUT/traffic_$1.csv"; fi; }

# Planes of 16 x 16 numbers of 8 bytes to those beside, 16 processes in a row; two sums over all (apps/papers/reinit2020/cg.h) are left out.
conjugate_gradients() {
  local i
  printf '# steps 1, processes 16\nfrom,to,messages,bytes\n'
  for ((i = 0; i < 15; i++)); do printf '%d,%d,1,2048\n' "$i" $((i + 1)) $((i + 1)) "$i"; done
}

if [ -z "$REPORT" ]; then
  conjugate_gradients >"$OUT/traffic_cg.csv"
  : >"$OUT/runs.csv"
  for name in flow adaptive phase cg; do
    declare -n words=$name
    if [ $name = adaptive ] || [ $name = phase ]; then
      say "$name: its traffic"
      local_run "traffic_$name" "${words[@]}" --traffic "$OUT/traffic_$name.csv"
    fi
    mapfile -t divided < <(what_is_divided $name)
    "$GABION" plan "${divided[@]}" --clusters --json >"$OUT/plan_$name.json" || fail "gabion plan ${divided[*]} --clusters failed"
    if [ $name = cg ]; then continue; fi
    for clusters in $CLUSTERS; do
      say "$name: $clusters clusters"
      "$GABION" plan "${divided[@]}" --clusters "$clusters" --write "$OUT/division.txt" >/dev/null
      local_run "run_${name}_$clusters" "${words[@]}" --set "resilience.local.clusters=$OUT/division.txt" || continue
      logged=$(sed -n 's/.*"logged_bytes": \([0-9]*\),.*/\1/p' "$OUT/run/summary.json")
      echo "$name,$clusters,${steps[$name]},$logged" >>"$OUT/runs.csv"
    done
    declare +n words
  done
  rm -rf "$OUT/run"
fi

"$python" - "$OUT" "$CLUSTERS" <<'PYTHON' || failures=$((failures + 1))
import json, os, sys

out, wrong = sys.argv[1], []
NAMES = (("flow", "uniform flow"), ("adaptive", "adaptive flow"), ("phase", "phase field"), ("cg", "conjugate gradients"))
plans, counted = {}, {}
for name, _ in NAMES:
    with open(os.path.join(out, "plan_%s.json" % name)) as file:
        plans[name] = {row["clusters"]: row for row in json.load(file)["clusters"]}
with open(os.path.join(out, "runs.csv")) as file:
    for line in file:
        name, clusters, steps, logged = line.strip().split(",")
        counted[name, int(clusters)] = int(logged) / (int(steps) * 16)
lines = ["# What clusters of 16 processes log, byte per step and process: mean / most of a process", ""]
heads = ["clusters", "rolls back"]
for name, title in NAMES:
    heads += [title + ", total"] + (["largest"] if name != "cg" else [])
lines += ["| " + " | ".join(heads) + " |", "|---|---|" + "---:|" * (len(heads) - 2)]
for clusters in (1, 2, 4, 8, 16):
    cells = [str(clusters), "%g %%" % (100 / clusters)]
    for name, _ in NAMES:
        row = plans[name][clusters]
        for goal in ("least_total", "least_largest")[:1 if name == "cg" else 2]:
            cells.append("%.0f / %.0f" % (row[goal]["mean"], row[goal]["most"]))
    lines.append("| " + " | ".join(cells) + " |")
lines += ["", "Means of runs with the divisions of least total, and how much they are off plan:", "",
          "| clusters | " + " | ".join("%s | off, %%" % title for name, title in NAMES if name != "cg") + " |",
          "|---|" + "---:|---:|" * 3]
for clusters in (1, 2, 4, 8, 16):
    cells = [str(clusters)]
    for name, title in NAMES:
        if name == "cg":
            continue
        due, found = plans[name][clusters]["least_total"]["mean"], counted.get((name, clusters))
        off = None if found is None else 100 * (found - due) / due if due else 0.0 if found == 0 else float("inf")
        cells += ["–", "–"] if found is None else ["%.0f" % found, "%+.2f" % off]
        if off is None and str(clusters) in sys.argv[2].split():
            wrong.append("%s, %d clusters: no run" % (title, clusters))
        if off is not None and abs(off) > 2:
            wrong.append("%s, %d clusters: %.0f logged, %.0f planned" % (title, clusters, found, due))
    lines.append("| " + " | ".join(cells) + " |")
with open(os.path.join(out, "report.md"), "w") as file:
    file.write("\n".join(lines) + "\n")
for line in wrong:
    print("not as planned (2 %): " + line, file=sys.stderr)
sys.exit(bool(wrong))
PYTHON
cat "$OUT/report.md"
((failures == 0))

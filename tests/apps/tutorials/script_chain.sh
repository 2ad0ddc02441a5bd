# SPDX-License-Identifier: Apache-2.0
# gabion-test: timeout=200 labels=quick needs=ulfm
# The chain of apps/papers/fenixlr2015/fenixlr-runs.sh gives its result after any death; its times have a row for each
# step of each rank, those of dead processes included, and the report of such runs finds its data.
. "$GABION_SOURCE/tests/apps/common.sh"

chain() { # chain FOLDER [arguments]: 4 processes and 2 spares
  local folder=$1
  shift
  timeout 100 "$GABION_LAUNCH" -n 4 --spares 2 -- "$GABION_BUILD/bin/chain" --out "$folder" --set chain.blocks=4 --set chain.steps=30 \
    --set chain.step_time=0.001 --set resilience.memory.every=10 "$@" >said.txt 2>&1 || complain "chain $*: $(cat said.txt)"
  grep -q '"largest_error": [0-9.]*e-1[5-9]' "$folder/summary.json" || complain "chain $*: not the answer: $(grep largest_error "$folder/summary.json")"
}
steps_of() { # steps_of FOLDER [INCARNATION]: how many pairs of rank and step there are
  cat "$1"/times/process-*.csv | awk -F, -v which="${2:-}" '$6 != "" && $1 != "rank" && (which == "" || $2 == which) { seen[$1 "," $3] } END { print length(seen) }'
}
chain undisturbed --set 'resilience.strategies=[shrink]'
expected=$(checksum undisturbed)
[ "$(steps_of undisturbed)" = 120 ] || complain "$(steps_of undisturbed) rows of 4 ranks and 30 steps"
chain alone --set 'resilience.strategies=[local, spare]' rank=1,step=17,phase=compute rank=3,step=26,phase=compute
[ "$(checksum alone)" = "$expected" ] || complain "local recovery: another checksum"
grep -q '"survivor_steps_computed_again": 0,' alone/summary.json || complain "local recovery: survivors computed steps again"
[ "$(grep -o '"strategy": "local"' alone/summary.json | wc -l)" = 2 ] || complain "local recovery: $(cat alone/summary.json)"
[ "$(steps_of alone)" = 120 ] || complain "local recovery: $(steps_of alone) rows"
# From the steps of the deaths on at least.
[ "$(steps_of alone 1)" -ge 17 ] || complain "local recovery: $(steps_of alone 1) rows of those who took over"
chain together --set 'resilience.strategies=[spare]' rank=1,step=17,phase=compute
[ "$(checksum together)" = "$expected" ] || complain "strategy spare: another checksum"

# Output of the script of its runs, and its report.
mkdir -p report/runs
mv undisturbed report/runs/u && mv alone report/runs/a
said_of() { printf '{"run": "%s", "figure": 7, "name": "%s", "repeat": 1, "strategy": "local", "ranks": 4, "spares": 2, "steps": 30, "every": 10, "step_time": 0.001, "load": 0, "deaths": [%s]}\n' "$@"; }
{ said_of u undisturbed ''; said_of a 1 '[17, 1], [26, 3]'; } >report/runs.jsonl
report() { # report CODE
  local code=0
  PYTHONDONTWRITEBYTECODE=1 python3 "$GABION_SOURCE/apps/papers/fenixlr2015/fenixlr_runs.py" --out report --gabion "$gabion" >said.txt 2>&1 || code=$?
  [ $code = "$1" ] || complain "the report ended with $code instead of $1: $(cat said.txt)"
}
if command -v python3 >/dev/null; then
  report 0
  grep -q '^| 1: 17: 1, 26: 3 |' report/report.md || complain "no line of the deaths: $(cat report/report.md)"
  sed -i 's/"checksum": "./"checksum": "-/' report/runs/a/summary.json
  report 1
  grep -q 'another checksum' report/report.md || complain "another checksum is not told: $(cat report/report.md)"
fi

# Clusters: output of apps/papers/spbc2013/spbc.sh, and its report.
mkdir -p spbc/runs
chain spbc/runs/c --set 'resilience.strategies=[local, spare]' --set resilience.local.clusters=2 rank=1,step=17,phase=compute
[ "$(checksum spbc/runs/c)" = "$expected" ] || complain "clusters: another checksum"
grep -q '"survivor_steps_computed_again": 0,' spbc/runs/c/summary.json || complain "clusters: others computed steps again"
printf '{"run": "c", "part": "rework", "repeat": 1, "strategy": "local", "clusters": %s, "ranks": 4, "steps": 30, "step_time": 0.001, "load": 0, "deaths": [[17, 1]]}\n' 2 >spbc/runs.jsonl
report_of_clusters() { # report_of_clusters CODE
  local code=0
  PYTHONDONTWRITEBYTECODE=1 python3 "$GABION_SOURCE/apps/papers/spbc2013/spbc.py" --out spbc >said.txt 2>&1 || code=$?
  [ $code = "$1" ] || complain "the report of clusters ended with $code instead of $1: $(cat said.txt spbc/report.md)"
}
if command -v python3 >/dev/null; then
  report_of_clusters 0
  # from the checkpoint of step 10, or 0, up to the death
  grep -qE '^\| 2 \| 2 \| (7|17) \|' spbc/report.md || complain "no line of the cluster: $(cat spbc/report.md)"
  # of one cluster all four would have gone back
  sed -i 's/"clusters": 2/"clusters": 1/' spbc/runs.jsonl
  report_of_clusters 1
  grep -q 'no steps that the whole cluster has computed twice' spbc/report.md || complain "who did not go back is not told: $(cat spbc/report.md)"
fi
finish

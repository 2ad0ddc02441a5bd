# SPDX-License-Identifier: Apache-2.0
# gabion-test: timeout=300
# Logs between clusters: computed by hand from a file of traffic; the forecast of `plan --clusters` for 16 processes
# equals the counts of their ports in a run, for 1, 2, 4, 8 and 16 clusters. Invalid files are refused, and a run with
# a fault writes none.
. "$GABION_SOURCE/tests/apps/common.sh"
. "$GABION_SOURCE/tests/apps/plan/cluster_common.sh"

is() { # is EXPRESSION VALUE: of the plan in said.txt as d; without Python only the exit codes are checked
  local found
  command -v python3 >/dev/null || return 0
  found=$(python3 -c 'import json, sys; d = json.load(open("said.txt")); c = d["clusters"]; print(eval(sys.argv[1]))' "$1" 2>&1)
  [ "$found" = "$2" ] || complain "$1 is $found, expected $2, in $(cat said.txt)"
}

# A chain of four processes in ten steps: 0 - 1 strong, 1 - 2 weak, 2 - 3 strong; 3 also sends a little to 0.
cat >chain.csv <<'CSV'
# steps 10, processes 4
from,to,messages,bytes
0,1,10,1000
1,0,10,1000
1,2,10,100
2,1,10,100
2,3,5,600
2,3,5,400
3,2,10,1000
3,0,10,50
CSV
plan 0 --traffic chain.csv --json
is '[r["clusters"] for r in c]' '[1, 2, 4]'
is '[r["least_total"]["total"] for r in c]' '[0, 25, 425]'
is '[r["least_total"]["most"] for r in c]' '[0, 10.0, 110.0]'
is '[r["least_total"]["rolls_back_mean"] for r in c]' '[1, 0.5, 0.25]'
plan 0 --traffic chain.csv --per-node 2 --json
is '[r["clusters"] for r in c], d["domains"]' '([1, 2], 2)'
is 'c[1]["least_largest"]["total"], c[1]["least_largest"]["most"], c[1]["least_largest"]["mean"]' '(25, 10.0, 6.25)'
plan 0 --traffic chain.csv
said 'by least largest'

# Reductions are counted but not forecast, and are few.
run 0 16 cube.yaml --traffic counted.csv
plan 0 --traffic counted.csv --json
cp said.txt counted.json
plan 0 cube.yaml -n 16 --clusters --json --bandwidth 1e9
is '[r["clusters"] for r in c]' '[1, 2, 4, 8, 16]'
is 'c[4]["least_total"]["mean"] > 100000' True
near='(lambda e: [abs(a["least_total"][k] - b["least_total"][k]) <= 0.02 * b["least_total"][k]
  for a, b in zip(c, e) for k in ("total", "mean", "most")])(json.load(open("counted.json"))["clusters"])'
is "$near" "[$(printf 'True, %.0s' {1..14})True]"
plan 0 cube.yaml -n 16 --clusters --per-node 4
said 'of 4 failure domains'

# Invalid files, and superfluous arguments.
for bad in 's/,to,/,/' 's/steps 10/steps 0/' 's/^3,0,.*/3,4,1,1/' 's/^3,0,.*/3,0,x,1/'; do
  sed "$bad" chain.csv >bad.csv
  plan 2 --traffic bad.csv
  said 'bad.csv:'
done
plan 2 --traffic missing.csv
plan 2 cube.yaml --traffic chain.csv
said 'no case'
rm -f counted.csv
run 0 4 good.yaml --traffic counted.csv --inject rank=2,step=12,phase=exchange
said 'counted.csv is not written'
[ ! -e counted.csv ] || complain "a run that met a fault has written its traffic"
finish

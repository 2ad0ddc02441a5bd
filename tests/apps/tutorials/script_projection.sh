# SPDX-License-Identifier: Apache-2.0
# gabion-test: timeout=300 needs=ulfm,png
# An incompressible flow by projection (apps/tutorial/projection.c): a vortex decays with errors of second order, the
# flow under a lid has the centre lines of Ghia et al. 1982 within 1 % of the speed of the lid, and both are
# divergence-free to the tolerance of the solver. The same checksum, table and picture on any number of processes,
# after deaths in each stage and within the solve under each strategy, and resumed from disk on another number of
# processes.
. "$GABION_SOURCE/tests/apps/tutorials/tutorial_common.sh"
sed -e '/^faults:/,$d' -e 's/\[64, 64\]/[32, 32]/; s/\[16, 16\]/[8, 8]/' "$GABION_SOURCE/apps/tutorial/projection.yaml" >cavity.yaml

# ---- order; the file cells has the values of the cells after the last step
gabion=$GABION_BUILD/tests/apps/helper_projection
cat >vortex.yaml <<'YAML'
domain: {cells: [16, 16], block: [8, 8]}
projection: {viscosity: 0.05, cfl: 0.9}
output: {slices: [{quantity: u, every: 1}]}
YAML
for n in 16 32 64; do
  steps=$((10 * n * n / 256)) # each as long as n^-2
  rm -rf out cells
  VORTEX=1 RECORD=cells RECORD_TIME=0.1 timeout 100 "$gabion" run vortex.yaml --set run.steps=$steps --set "domain.cells=[$n, $n]" \
    --set "domain.dx=$(awk -v n=$n 'BEGIN { printf "%.17g", 1 / n }')" --set output.slices.0.quantity=record \
    --set output.slices.0.every=$steps --out out >said.txt 2>&1 || complain "vortex: $(cat said.txt)"
  awk -v n=$n 'function size(x) { return x < 0 ? -x : x }
    BEGIN { k = 8 * atan2(1, 1); t = 10 * 0.9 / 256 / 0.2; decay = exp(-2 * k * k * 0.05 * t); h = 1 / n }
    { e = size($3 - 1 - decay * sin(k * ($1 - t)) * cos(k * ($2 + h / 2))); if (e > most) most = e
      e = size($4 + decay * cos(k * ($1 + h / 2 - t)) * sin(k * $2)); if (e > most) most = e
      if (size($8) > divergence) divergence = size($8) }
    END { printf "%.3e ", most; exit !(NR == n * n && divergence < 1e-9) }' cells >>errors || complain "vortex of $n: $(wc -l cells)"
done
echo "errors of the vortex: $(cat errors)"
awk '{ p = log($1 / $2) / log(2); q = log($2 / $3) / log(2); exit !($3 > 0 && p > 1.9 && p < 2.1 && q > 1.9 && q < 2.1) }' errors ||
  complain "not of second order: $(cat errors)"

# ---- the cavity of 32 x 32 cells, steady: centre lines and the divergence.
rm -rf out cells
RECORD=cells RECORD_TIME=0.1 timeout 100 "$gabion" run cavity.yaml --set output.slices.0.quantity=record --set output.slices.0.every=20000 \
  --out out >said.txt 2>&1 || complain "cavity: $(cat said.txt)"
said 'by steady'
awk -v n=32 '{ i = int($1 * n + 0.5); j = int($2 * n + 0.5); d = $8 < 0 ? -$8 : $8; if (d > most) most = d
    if (i == n / 2 - 1) left[j] = $5; if (i == n / 2) right[j] = $5; if (j == n / 2 - 1) below[i] = $6; if (j == n / 2) above[i] = $6 }
  END { for (k = 0; k < n; k++) printf "left%d.velocity.x,right%d.velocity.x,below%d.velocity.y,above%d.velocity.y,", k, k, k, k
    print "divergence"
    for (k = 0; k < n; k++) printf "%.9g,%.9g,%.9g,%.9g,", left[k], right[k], below[k], above[k]
    print most; exit !(NR == n * n && most < 1e-8) }' cells >probes.csv || complain "divergence: $(wc -l cells; tail -c 40 probes.csv)"
awk -v n=32 -v re=100 -f "$GABION_SOURCE/tests/physics/ghia.awk" probes.csv >table
awk '/^rms/ { rms = $2 } /^most/ { most = $2 } END { exit !(rms > 0 && rms < 0.005 && most < 0.01) }' table || complain "not the flow of Ghia et al.: $(cat table)"

# ---- deaths.
program projection
sed -e 's/steps: 20000/steps: 40/; s/every: 1000, outlines: true/every: 40/; s/every: 100$/every: 10/' cavity.yaml >case.yaml
run 0 1 case.yaml
keep projection.csv u_0000000040.png
OMP_NUM_THREADS=2 run 0 3 case.yaml
alike "3 processes of 2 threads"
for visit in 1 2 30; do # in the stages, and within the solve between them
  run 0 4 case.yaml --inject "rank=2,step=23,phase=exchange,visit=$visit"
  said 'rank 2 died'
  alike "a death in exchange $visit"
done
run 0 3 case.yaml --inject rank=1,step=23,phase=reduction,visit=4
said 'rank 1 died'
alike "a death in a reduction"
spares() { "$GABION_LAUNCH" -n 3 --spares 1 -- "$gabion" run case.yaml "$@" --out out --fresh >said.txt 2>&1 || complain "$*: $(cat said.txt)"; }
spares --set 'resilience.strategies=[spare]' --inject rank=1,step=23,phase=exchange,visit=5
said 'took over'
alike "a spare"
for rank in 0 1; do # 0 is the root of the reductions
  spares --set 'resilience.strategies=[local, spare]' --inject "rank=$rank,step=23,phase=exchange,visit=5"
  said "rank $rank died"
  grep -q '"strategy": "local"' out/events.jsonl || complain "rank $rank: not local: $(cat said.txt)"
  alike "local recovery of rank $rank"
done
run 0 2 case.yaml --set run.steps=20 --set resilience.disk.every=5
"$GABION_LAUNCH" -n 3 -- "$gabion" run case.yaml --set resilience.disk.every=5 --out out >said.txt 2>&1 || complain "resuming: $(cat said.txt)"
alike "resuming from disk"
finish

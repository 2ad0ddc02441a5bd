# gabion-test: timeout=300 labels=quick needs=ulfm,png
# Blocks of a program's own equation adapt to its own fields: same checksum, table and picture on 1, 2 and 4 processes, with a
# process killed from outside between two adaptations, killed within one, and with one that goes back alone. Nothing comes or
# goes that the equation does not make; the result is that of one fine grid, nearly, on far fewer cells. What a case may not
# say is refused.
. "$GABION_SOURCE/tests/apps/common.sh"
cp "$GABION_BUILD/bin/gray_scott" "$work/gray_scott" # a name that no other process has
gabion=$work/gray_scott

sed -e 's/\[192, 192, 96\]/[192, 64, 64]/; s/steps: 2000/steps: 300/; s/every: 1000, outlines: true, outlined: level/every: 300/' \
  -e 's/^  kill: .*/&\n  every: 20/; s/every: 200 .*/every: 50/' "$GABION_SOURCE/apps/tutorial/gray_scott_adaptive.yaml" >case.yaml
blocks() { tr -d '\n ' <out/summary.json | sed -n 's/.*"blocks_of_levels":\[\([0-9,]*\)\].*/\1/p'; }
run 0 1 case.yaml
expected=$(checksum)
grid=$(blocks)
cp out/gray_scott.csv one.csv && cp out/v-z32_0000000300.png one.png || complain "no table or no picture: $(ls out)"
alike() {
  [ "$(checksum)" = "$expected" ] || complain "$1: another checksum"
  [ "$(blocks)" = "$grid" ] || complain "$1: another grid, $(blocks)"
  cmp out/gray_scott.csv one.csv || complain "$1: another table"
  cmp out/v-z32_0000000300.png one.png || complain "$1: another picture"
}
echo "$grid" | awk -F, '{ exit !(NF == 3 && $1 > 0 && $2 > 0 && $3 > 0 && $1 + $2 + $3 < 768) }' ||
  complain "not a grid of three levels with less than half of 1536 blocks: $grid"
run 0 2 case.yaml
alike "2 processes"
run 0 4 case.yaml
alike "4 processes"

# Killed from outside, between the adaptations behind steps 220 and 240, while a drill has it stopped.
rm -rf out
timeout 100 "$GABION_LAUNCH" -n 4 -- "$gabion" run case.yaml --inject slot=3,step=233,phase=exchange,stopped=600 --out out >said.txt 2>&1 &
job=$!
stopped() { ps -o pid=,stat= -p "$(pgrep -d, -f "^$gabion run case.yaml")" 2>/dev/null | awk '$2 ~ /^T/ { print $1 }'; }
until [ -n "$(stopped)" ] || ! kill -0 $job 2>/dev/null; do sleep 0.02; done
kill -KILL "$(stopped)" || complain "nobody was stopped: $(cat said.txt)"
wait $job || complain "the run did not survive: $(cat said.txt)"
said 'slot 3 died'
alike "a process was killed"
run 0 3 case.yaml --inject slot=1,step=240,phase=adapt-mark
said 'slot 1 died'
alike "killed while the grid adapts"
rm -rf out
timeout 100 "$GABION_LAUNCH" -n 4 --spares 1 -- "$gabion" run case.yaml --set 'resilience.strategies=[local, shrink]' \
  --inject slot=1,step=233,phase=exchange --out out >said.txt 2>&1 || complain "local recovery failed: $(cat said.txt)"
said 'slot 1 died'
alike "one went back alone"

# One fine grid starts with the same and ends with nearly the same.
run 0 2 case.yaml --set gray_scott.refinement.levels=0
awk -F, 'FNR == NR { u[FNR] = $3; v[FNR] = $4; rows = FNR; next }
         FNR == 2 && ($3 != u[2] || $4 != v[2]) { wrong = 1 }
         FNR > 1 { du = $3 / u[FNR] - 1; dv = $4 / v[FNR] - 1; if (du * du > 1e-8 || dv * dv > 1e-4) wrong = 1; last = $4; n = FNR }
  END { exit !(n == rows && n > 10 && !wrong && last > 2 * v[2]) }' one.csv out/gray_scott.csv ||
  complain "not what one fine grid gives: $(tail -n 1 one.csv) and $(tail -n 1 out/gray_scott.csv)"

# Without feed and decay U and V together stay the same, across borders of levels and through splitting and merging.
run 0 2 case.yaml --set gray_scott.feed=0 --set gray_scott.kill=0
awk -F, 'NR > 1 { all = $3 + $4; v = $4; if (NR == 2) { first = all; v_first = v }
                  if ((all / first - 1)^2 > 1e-24) wrong++ }
  END { exit !(NR > 10 && v > v_first && !wrong) }' out/gray_scott.csv ||
  complain "without feed and decay something comes or goes: $(head -n 2 out/gray_scott.csv; tail -n 1 out/gray_scott.csv)"

check 2 case.yaml --set gray_scott.refinement.criteria.0.below=0.011
said 'more than half of above'
check 2 case.yaml --set gray_scott.refinement.criteria.0.field=w
said 'w'
check 2 case.yaml --set gray_scott.refinement.levels=4
said 'no whole number of blocks that are 16 times as wide'
sed '/criteria:/,/type:/d' case.yaml >bare.yaml
check 2 bare.yaml
said 'nothing would ever be refined'
"$gabion" plan case.yaml >said.txt 2>&1 || complain "plan: $(cat said.txt)"
said '20 steps'
finish

# gabion-test: timeout=300 labels=quick needs=ulfm,png
# The tutorial with two fields in space has the same checksum, table and picture on 1, 2 and 4 processes, and when one of them
# is killed from outside, or alone goes back (strategy local). Without feed and decay no substance comes or goes, and what
# diverges is found.
. "$GABION_SOURCE/tests/apps/common.sh"
cp "$GABION_BUILD/bin/gray_scott" "$work/gray_scott" # a name that no other process has
gabion=$work/gray_scott

sed -e 's/\[64, 64, 64\]/[48, 48, 48]/; s/\[32, 16, 16\]/[24, 16, 16]/; s/steps: 5000/steps: 400/; s/every: 1000/every: 400/' \
  -e 's/^  kill: .*/&\n  every: 20/; s/every: 200 .*/every: 50/' "$GABION_SOURCE/apps/tutorial/gray_scott.yaml" >case.yaml
run 0 1 case.yaml
expected=$(checksum)
cp out/gray_scott.csv one.csv && cp out/v-z32_0000000400.png one.png || complain "no table or no picture: $(ls out)"
alike() {
  [ "$(checksum)" = "$expected" ] || complain "$1: another checksum"
  cmp out/gray_scott.csv one.csv || complain "$1: another table"
  cmp out/v-z32_0000000400.png one.png || complain "$1: another picture"
}
run 0 2 case.yaml
alike "2 processes"
run 0 4 case.yaml
alike "4 processes"

# Killed from outside, while a drill has it stopped at step 233, so that the run cannot be over before. (mpirun ends a
# job with a process that was stopped ten seconds late, when the launcher ends it.)
rm -rf out
timeout 100 "$GABION_LAUNCH" -n 4 -- "$gabion" run case.yaml --inject slot=3,step=233,phase=exchange,stopped=600 --out out >said.txt 2>&1 &
job=$!
stopped() { ps -o pid=,stat= -p "$(pgrep -d, -f "^$gabion run case.yaml")" 2>/dev/null | awk '$2 ~ /^T/ { print $1 }'; }
until [ -n "$(stopped)" ] || ! kill -0 $job 2>/dev/null; do sleep 0.02; done
kill -KILL "$(stopped)" || complain "nobody was stopped: $(cat said.txt)"
wait $job || complain "the run did not survive: $(cat said.txt)"
said 'slot 3 died'
alike "a process was killed"
rm -rf out
timeout 100 "$GABION_LAUNCH" -n 4 --spares 1 -- "$gabion" run case.yaml --set 'resilience.strategies=[local]' \
  --inject slot=1,step=333,phase=exchange --out out >said.txt 2>&1 || complain "local recovery failed: $(cat said.txt)"
said 'slot 1 died'
alike "one went back alone"

# V has grown out of its two cubes of 8^3 cells, which held a quarter each.
awk -F, 'NR == 2 { first = $4 } { last = $4 } END { exit !(first == 256 && last > 4 * first) }' one.csv ||
  complain "not the reaction of this case: $(head -n 2 one.csv; tail -n 1 one.csv)"
run 0 2 case.yaml --set gray_scott.feed=0 --set gray_scott.kill=0
awk -F, 'NR > 1 { all = $3 + $4; v = $4; if (NR == 2) { first = all; v_first = v }
                  if ((all / first - 1)^2 > 1e-24) wrong++ }
  END { exit !(NR > 20 && v > v_first && !wrong) }' out/gray_scott.csv ||
  complain "without feed and decay something comes or goes: $(head -n 2 out/gray_scott.csv; tail -n 1 out/gray_scott.csv)"

run 4 2 case.yaml --set gray_scott.feed=1 --set gray_scott.kill=1 --set gray_scott.diffusion_v=0.16
said ' at ('
check 2 case.yaml --set 'domain.cells=[48, 48]' --set 'domain.block=[24, 16]' --set 'output.slices=[]'
said 'is computed in 3D'
"$gabion" plan case.yaml >said.txt 2>&1 || complain "plan: $(cat said.txt)"
said 'sent in a step of level 0'
finish

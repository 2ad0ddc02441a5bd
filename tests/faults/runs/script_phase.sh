# SPDX-License-Identifier: Apache-2.0
# gabion-test: timeout=200 labels=quick needs=ulfm,png
# A phase field whose processes die ends with the state, series, pictures and slabs of an undisturbed run, byte for
# byte; pictures of the losses lack the blocks of dead ranks. The same for a run resumed from a checkpoint of fewer
# processes.
. "$GABION_SOURCE/tests/apps/common.sh"
. "$GABION_SOURCE/tests/apps/phase/phase_common.sh"

cat >>grow.yaml <<'YAML'
output:
  slices:
    - {quantity: phase, every: 120}
    - {quantity: solid, every: 240, outlines: true}
  slabs: {quantities: [phase, c_1]}
  profile: {every: 60}
YAML
run 0 1 grow.yaml
expected=$(checksum)
cp -r out whole
for injection in rank=1,step=100,phase=exchange rank=0,step=61,phase=compute rank=1+0,step=130,phase=output; do
  run 0 5 grow.yaml --inject $injection
  said 'survived: rank'
  [ "$(checksum)" = "$expected" ] || complain "$injection: another checksum"
  for what in front.csv profile.csv phase_0000000240.png slabs; do
    diff -rq whole/$what out/$what || complain "$injection: another $what"
  done
  ls out/solid_lost_*.png >/dev/null 2>&1 || complain "$injection: no picture of the loss"
done

# A checkpoint of one process is resumed on four, one of which is a spare that has taken a rank; then a rank and its
# holder are lost at once, and all roll back to that checkpoint. The spare gets no part of it: its counts since are
# undone, too (`gained` of front.csv).
case=$GABION_SOURCE/tests/faults/local_runs/local_phase.yaml
often="--set phasefield.series_every=10 --set output.profile.every=200"
# shellcheck disable=SC2086 # words on purpose
run 0 1 "$case" $often --set run.steps=120 --set 'resilience.strategies=[shrink]'
expected=$(checksum)
cp out/front.csv undisturbed.csv
# shellcheck disable=SC2086
{
run 0 1 "$case" $often --set run.steps=40 --set 'resilience.strategies=[shrink, disk]' --set resilience.disk.every=40
timeout 100 "$GABION_LAUNCH" -n 4 --spares 1 -- "$gabion" run "$case" $often --out out --set run.steps=120 \
  --set 'resilience.strategies=[spare, shrink, disk]' --set resilience.disk.every=1000 \
  --inject rank=3,step=45,phase=compute --inject rank=0+2,step=95,phase=compute >said.txt 2>&1 || complain "exit $?: $(cat said.txt)"
}
said 'rank 3 died, spare took over'
said 'back from step 95 to step 40'
[ "$(checksum)" = "$expected" ] || complain "back to a checkpoint of fewer ranks: another checksum"
diff undisturbed.csv out/front.csv >/dev/null || complain "back to a checkpoint of fewer ranks: another front.csv"
finish

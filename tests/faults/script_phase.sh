# gabion-test: timeout=200 labels=quick needs=ulfm,png
# A phase field whose processes die ends with the state, series, pictures and slabs of an undisturbed run, byte for byte;
# pictures of the losses lack the blocks of the dead.
. "$GABION_SOURCE/tests/apps/common.sh"
. "$GABION_SOURCE/tests/apps/phase_common.sh"

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
for drill in slot=1,step=100,phase=exchange slot=0,step=61,phase=compute slot=1+0,step=130,phase=output; do
  run 0 5 grow.yaml --inject $drill
  said 'survived: slot'
  [ "$(checksum)" = "$expected" ] || complain "$drill: another checksum"
  for what in front.csv profile.csv phase_0000000240.png slabs; do
    diff -rq whole/$what out/$what || complain "$drill: another $what"
  done
  ls out/solid_lost_*.png >/dev/null 2>&1 || complain "$drill: no picture of the loss"
done
finish

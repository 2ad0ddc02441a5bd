# SPDX-License-Identifier: Apache-2.0
# gabion-test: timeout=200 needs=ulfm
# Planes: files have the same bytes on other numbers of processes, after deaths (of rank 0 under local, too) and a restart; refusals.
. "$GABION_SOURCE/tests/apps/common.sh"
. "$GABION_SOURCE/tests/apps/street.sh"

{
  street
  echo "$adapts"
  echo 'output: {planes: [{name: behind, axis: x, position: 2.3, every: 5}, {name: along, axis: y, position: 0.95, every: 7, start: 3, quantities: [velocity, vorticity]}]}'
} >street.yaml
run 0 1 street.yaml
said 'plane: out/behind.h5'
keep out/behind.h5 out/along.h5
same_anyhow street.yaml

# Another plane under the same name begins a file of its own when the run resumes.
run 0 1 street.yaml --set run.steps=25 --set resilience.disk.every=25
"$gabion" run street.yaml --set run.steps=40 --set resilience.disk.every=25 --set output.planes.0.position=2 --out out >said.txt 2>&1 ||
  complain "not resumed: $(cat said.txt)"
said 'behind.h5 was begun by a run with another plane: it is out/behind_1.h5 now'
[ -s out/behind.h5 ] && [ -s out/behind_1.h5 ] || complain "files: $(ls out)"

bad() { # SETTING TEXT
  check 2 street.yaml --set "$1"
  said "$2"
}
bad output.planes.0.axis=z 'in 2D there is no axis z: give x or y'
bad output.planes.0.position=4.1 'x = 4.1 is outside the domain, which ranges from 0 to 4'
bad 'output.planes.0.quantities=[speed, nothing]' 'nothing'
bad output.planes.0.every=0 'every = 0 is out of range'
bad output.planes.0.name=a/b 'a/b'
bad output.planes.1.name=behind 'behind'
sed 's/position: 2.3, //' street.yaml >bare.yaml
check 2 bare.yaml
said 'bare.yaml:13:19: missing key output.planes.0.position'
finish

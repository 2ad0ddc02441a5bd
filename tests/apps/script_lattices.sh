# SPDX-License-Identifier: Apache-2.0
# gabion-test: timeout=400 needs=ulfm
# Lattices of 3D are chosen in the parameter file. D3Q27: the same checksum on 1, 2 and 4 processes, of all kernels,
# on two levels with a body and open sides, and after a death; plan counts its populations.
. "$GABION_SOURCE/tests/apps/common.sh"
cat >space.yaml <<'YAML'
run: {title: a duct with a ball, steps: 12, check_every: 4}
domain: {cells: [32, 16, 16], block: [8, 8, 8]}
fluid: {omega: 1.6}
lbm: {lattice: d3q27}
boundaries:
  x_min: {type: velocity, velocity: [0.04, 0, 0]}
  x_max: {type: outflow}
  y_min: {type: wall}
  y_max: {type: free_slip}
  z_min: {type: wall}
  z_max: {type: wall}
bodies:
  - {type: sphere, centre: [10, 8, 8], radius: 3.2}
resilience: {memory: {every: 4}}
output: {forces: {every: 4}}
YAML
forces() { cksum <out/forces.csv; }

run 0 1 space.yaml --set lbm.lattice=d3q19
other=$(checksum)
for collision in trt rr smagorinsky; do
  run 0 1 space.yaml --set lbm.collision=$collision
  expected=$(checksum) lines=$(forces)
  [ "$expected" != "$other" ] || complain "$collision: the lattice makes no difference"
  for processes in 2 4; do
    run 0 $processes space.yaml --set lbm.collision=$collision
    [ "$(checksum)" = "$expected" ] || complain "$collision: another checksum on $processes processes"
    [ "$(forces)" = "$lines" ] || complain "$collision: other forces on $processes processes"
  done
  for kernel in vector sparse reference; do
    run 0 2 space.yaml --set lbm.collision=$collision --set lbm.kernel=$kernel
    [ "$(checksum)" = "$expected" ] || complain "$collision: another checksum with the kernel $kernel"
  done
  run 0 3 space.yaml --set lbm.collision=$collision --inject rank=1,step=7,phase=exchange
  [ "$(checksum)" = "$expected" ] || complain "$collision: another checksum after a death"
  [ "$(forces)" = "$lines" ] || complain "$collision: other forces after a death"
  said 'rank 1 died'
done

cat >>space.yaml <<'YAML'
refinement:
  levels: 1
  criteria:
    - {type: box, level: 1, lo: [6, 4, 4], hi: [14, 12, 12]}
YAML
run 0 1 space.yaml
expected=$(checksum)
run 0 4 space.yaml
[ "$(checksum)" = "$expected" ] || complain "two levels: another checksum on 4 processes"
run 0 3 space.yaml --inject rank=2,step=6,phase=compute
[ "$(checksum)" = "$expected" ] || complain "two levels: another checksum after a death"
said 'rank 2 died'

refused 1 space.yaml --set lbm.collision=mrt
said 'MRT is not defined on the lattice D3Q27'
"$gabion" info space.yaml >said.txt
said 'in_place/D3Q27/double/free'
said '216 bytes per cell'
said 'D2Q9, D3Q19, D3Q27'
for lattice in d3q19 d3q27; do
  "$gabion" plan space.yaml --set lbm.lattice=$lattice >plan.$lattice 2>&1 || complain "plan: $(cat plan.$lattice)"
done
mean() { awk '/^  populations  / { print ($5 == "MB" ? $4 : "other") }' "plan.$1"; }
awk -v few="$(mean d3q19)" -v all="$(mean d3q27)" 'BEGIN { r = few > 0 ? all / few * 19 / 27 : 0; exit !(r > 0.99 && r < 1.01) }' ||
  complain "plan: populations of $(mean d3q19) and $(mean d3q27) MB are not as 19 to 27"
"$gabion" help lbm.lattice >said.txt
said 'd3q27'
finish

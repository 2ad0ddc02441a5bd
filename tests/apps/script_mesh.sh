# SPDX-License-Identifier: Apache-2.0
# gabion-test: timeout=300 needs=ulfm
# Bodies of triangles: the drag of a sphere from a file is that of the exact shape; the same bits on 1, 2 and 3
# processes, on two levels, across a periodic side, and after deaths; a changed file is another case; bad files are
# refused with triangle and place.
. "$GABION_SOURCE/tests/apps/common.sh"
command -v python3 >/dev/null || { echo "no python3 here: not checked"; exit 77; }
mesh() { python3 "$GABION_SOURCE/scripts/meshes.py" "$@" || complain "meshes.py $*"; }
drag() { tail -n 1 out/forces.csv | cut -d , -f 3; }
near() { # A B: within 0.3 %
  awk -v a="$1" -v b="$2" 'BEGIN { exit !(a + 0 > 0 && (a - b) ^ 2 <= (0.003 * b) ^ 2) }' || complain "$3: drag $1, expected $2"
}
cat >ball.yaml <<'YAML'
run: {title: a ball, steps: 60, check_every: 20}
domain: {cells: [40, 24, 24], block: [8, 8, 8], dx: 0.125}
fluid: {reynolds: 20, velocity: 1, length: 1}
units: {lattice_velocity: 0.08}
boundaries:
  x_min: {type: velocity, velocity: [1, 0, 0]}
  x_max: {type: outflow}
bodies:
  - {name: ball, type: sphere, centre: [1.53, 1.5, 1.52], radius: 0.5}
resilience: {memory: {every: 20}}
output: {forces: {every: 20}}
YAML
sed 's/type: sphere.*}/type: mesh, file: ball.stl, units: cm, scale: 50, translate: [1.53, 1.5, 1.52]}/' ball.yaml >mesh.yaml
run 0 1 ball.yaml
exact=$(drag)
for triangles in 1280 20480; do
  mesh sphere ball.stl --triangles $triangles --match volume
  run 0 1 mesh.yaml
  near "$(drag)" "$exact" "$triangles triangles"
done
check 0 mesh.yaml
said 'mesh ball: 20480 triangles, 1 part, size 1.00018 x 1.00018 x 1.00018 m = 8.001 x 8.001 x 8.001 cells, volume 0.523599 m^3'
said 'closed'
for shape in gear car; do
  mesh $shape part.stl
  check 0 mesh.yaml --set bodies.0.file=part.stl
  said '1 part'
  said 'closed'
done

# ---- the same bits on other processes and after deaths; two levels, and a torus that reaches beyond a periodic side
mesh torus ring.obj
cat >ring.yaml <<'YAML'
run: {title: a ring, steps: 16, check_every: 4}
domain: {cells: [24, 16, 16], block: [8, 8, 8]}
fluid: {omega: 1.5, acceleration: [1e-4, 0, 0]}
bodies:
  - {name: ring, type: mesh, file: ring.obj, rotate: [10, 80, 30], fit: [1, 9, 3, 8, 19.2, 13]}
refinement: {levels: 1, criteria: [{type: bodies, distance: 0.5}]}
resilience: {memory: {every: 4}}
output: {forces: {every: 4}}
YAML
run 0 1 ring.yaml
expected=$(checksum) lines=$(cksum <out/forces.csv)
grep -q 'ring' out/forces.csv || complain "no forces of the ring: $(head -n 2 out/forces.csv)"
for processes in 2 3; do
  run 0 $processes ring.yaml
  [ "$(checksum)" = "$expected" ] || complain "another checksum on $processes processes"
  [ "$(cksum <out/forces.csv)" = "$lines" ] || complain "other forces on $processes processes"
done
run 0 3 ring.yaml --inject rank=1,step=7,phase=exchange
said 'rank 1 died'
[ "$(checksum)" = "$expected" ] || complain 'another checksum after a death'
rm -rf out
timeout 100 "$GABION_LAUNCH" -n 3 --spares 1 -- "$gabion" run ring.yaml --set 'resilience.strategies=[local, shrink]' \
  --inject rank=0,step=7,phase=exchange --out out >said.txt 2>&1 || complain "local: $(cat said.txt)"
said 'rank 0 died'
[ "$(checksum)" = "$expected" ] || complain 'another checksum under local'
run 0 1 ring.yaml --set bodies.0.rotate='[10, 80, 31]'
[ "$(checksum)" != "$expected" ] || complain 'the angle makes no difference'

# ---- the processes of a node share a large mesh: the same bits, also where another process takes over; nothing is left behind
mesh sphere ball.stl --triangles 20480
short=(mesh.yaml --set run.steps=12 --set run.check_every=4 --set resilience.memory.every=4)
GABION_SHARED_FILES='' run 0 1 "${short[@]}"
expected=$(checksum)
export GABION_SHARED_FILES=$work/shared
run 0 3 "${short[@]}"
said 'MB on each node'
[ "$(checksum)" = "$expected" ] || complain 'another checksum with a shared mesh'
rm -rf out
timeout 100 "$GABION_LAUNCH" -n 3 --spares 1 -- "$gabion" run "${short[@]}" --set 'resilience.strategies=[spare, shrink]' \
  --inject rank=0,step=7,phase=exchange --inject rank=1,step=10,phase=exchange --out out >said.txt 2>&1 || complain "spare: $(cat said.txt)"
said 'rank 1 died'
[ "$(checksum)" = "$expected" ] || complain 'another checksum where spare processes have mapped the mesh'
[ ! -e shared ] || complain "left behind: $(ls -l shared)"
"$gabion" run mesh.yaml --set run.steps=1000000 --out killed >said.txt 2>&1 &
process=$!
for _ in $(seq 200); do ! grep -q MLUPS said.txt || break; sleep 0.1; done
kill -KILL $process
wait $process 2>/dev/null
ls shared/*.shared >/dev/null || complain "not shared: $(cat said.txt)"
check 0 mesh.yaml --set bodies.0.scale=49
[ ! -e shared ] || complain "not removed after a killed process: $(ls -l shared)"
unset GABION_SHARED_FILES

# ---- its content is part of the case
mesh sphere ball.stl --triangles 320
run 0 1 mesh.yaml --set resilience.disk.every=20
mesh sphere ball.stl --triangles 500
"$gabion" run mesh.yaml --set resilience.disk.every=20 --set run.steps=80 --out out >said.txt 2>&1
[ $? = 2 ] || complain "a changed file was taken: $(cat said.txt)"
said 'bodies.0.file: content'
said 'bodies.0.file: the file is ball.stl'

# ---- refused
printf 'hello' >bad.stl
refused 2 mesh.yaml --set bodies.0.file=bad.stl
said_once 'bodies.0.file: '
said 'bad.stl: not an STL file: 5 bytes'
head -c 5000 ball.stl >bad.stl
refused 1 mesh.yaml --set bodies.0.file=bad.stl
said 'its head says 500 triangles, which take 25084 bytes, but the file has 5000'
printf 'v 0 0 0\nv 1 0 0\nv 0 1 0\nv 0 0 1\nf 1 3 2\nf 1 2 4\nf 1 4 3\n' >open.obj
refused 1 mesh.yaml --set bodies.0.file=open.obj
said "open.obj: not a closed, oriented surface: 3 open edges (triangle 1 at (1.78, 1.75, 1.52) m) around 1 hole"
run 0 1 mesh.yaml --set bodies.0.file=open.obj --set bodies.0.repair=winding
check 0 mesh.yaml --set bodies.0.file=open.obj --set bodies.0.repair=winding
said '1 hole, 3 faults repaired'
said 'volume 0.0208333 m^3' # of the tetrahedron of 0.5 m
refused 1 mesh.yaml --set bodies.0.file=none.stl
said 'none.stl'
refused 1 mesh.yaml --set bodies.0.fit='[0, 0, 0, 1, 1, 1]'
said 'has no effect with fit'
refused 1 mesh.yaml --set bodies.0.scale=0.1
said 'no cell'
sed 's/file: ball.stl.*/file: ball.stl}/; s/type: sphere/type: mesh/' good.yaml >flat.yaml
printf 'bodies: [{type: mesh, file: ball.stl}]\n' >>flat.yaml
refused 1 flat.yaml
said 'a mesh needs 3 dimensions; in 2D use a polygon or a mask'
finish

# SPDX-License-Identifier: Apache-2.0
# gabion-test: timeout=120 needs=ulfm
# Refinement by curvature: the grid of a sphere has the predicted level, that of a fine mesh is the same, a coarse mesh has edges; the same
# bits on 1 and 3 processes, while the grid adapts, and after a death; what cannot be is refused.
. "$GABION_SOURCE/tests/apps/common.sh"
command -v python3 >/dev/null || { echo "no python3 here: not checked"; exit 77; }
mesh() { python3 "$GABION_SOURCE/scripts/meshes.py" sphere "$@" || complain "meshes.py $*"; }
cat >ball.yaml <<'YAML'
run: {title: a ball, steps: 6, check_every: 2}
domain: {cells: [24, 16, 16], block: [4, 4, 4]}
fluid: {omega: 1.5, acceleration: [1e-4, 0, 0]}
bodies:
  - {name: ball, type: sphere, centre: [8.1, 8.2, 7.9], radius: 3}
refinement: {levels: 2, every: 2, criteria: [{type: curvature, angle: 15}, {type: vorticity, above: 1, below: 0.5}]}
resilience: {memory: {every: 2}}
YAML
levels() { # CASE [options]: blocks per level
  check 0 "$@"
  sed -n 's/.*blocks of levels 0 to [0-9]*: \(.*\), dx of.*/\1/p' said.txt
}
# The normal turns by 18.9 degrees on level 0, 9.5 on level 1.
one=$(levels ball.yaml)
[[ $one == *" + "* && $one != *" + "*" + "* ]] || complain "15 degrees: $one instead of two levels"
two=$(levels ball.yaml --set refinement.criteria.0.angle=9)
[[ $two == *" + "*" + "* ]] || complain "9 degrees: $two instead of three levels"
none=$(levels ball.yaml --set refinement.criteria.0.angle=20)
[[ $none != *" + "* ]] || complain "20 degrees: $none instead of one level"
sed 's/type: sphere.*}/type: mesh, file: ball.stl, scale: 3, translate: [8.1, 8.2, 7.9]}/' ball.yaml >mesh.yaml
mesh ball.stl --triangles 8000
[ "$(levels mesh.yaml)" = "$one" ] || complain "a fine mesh: $(levels mesh.yaml) instead of $one"
mesh ball.stl --triangles 80
coarse=$(levels mesh.yaml)
[[ $coarse == *" + "*" + "* ]] || complain "a coarse mesh: $coarse instead of three levels"
[[ $(levels mesh.yaml --set refinement.criteria.0.level=1) != *" + "*" + "* ]] || complain 'level is no limit'

run 0 1 ball.yaml --set refinement.criteria.0.angle=9
expected=$(checksum)
run 0 3 ball.yaml --set refinement.criteria.0.angle=9
[ "$(checksum)" = "$expected" ] || complain 'another checksum on 3 processes'
run 0 3 ball.yaml --set refinement.criteria.0.angle=9 --inject rank=1,step=3,phase=exchange
said 'rank 1 died'
[ "$(checksum)" = "$expected" ] || complain 'another checksum after a death'

refused 1 ball.yaml --set refinement.criteria.0.angle=0
said 'refinement.criteria.0.angle'
refused 1 ball.yaml --set 'bodies=[]'
said "criterion 'curvature', but the case has no bodies"
finish

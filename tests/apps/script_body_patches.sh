# SPDX-License-Identifier: Apache-2.0
# gabion-test: timeout=240 needs=ulfm
# Patches of bodies: a vessel from an OBJ file with named inlet and outlet; the report of `check` on each; the same
# bits on other numbers of processes, with sparse blocks and after deaths; groups of STL files; refusals with their
# place.
. "$GABION_SOURCE/tests/apps/common.sh"

# A duct of 20 x 8 x 8 cells with its ends as groups, in a box of 24 x 12 x 12.
python3 - <<'PY'
lo, hi = (2.3, 2.2, 2.1), (21.6, 9.9, 10.2)
v = [[(lo, hi)[i >> k & 1][k] for k in range(3)] for i in range(8)]
ends = {"inflow": [(0, 4, 6, 2)], "outflow": [(1, 3, 7, 5)],
        "side": [(0, 1, 5, 4), (2, 6, 7, 3), (0, 2, 3, 1), (4, 5, 7, 6)]}
with open("duct.obj", "w") as f, open("duct.stl", "w") as s:
    for p in v:
        f.write("v %g %g %g\n" % tuple(p))
    for name, faces in ends.items():
        f.write("g %s\n" % name)
        s.write("solid %s\n" % name)
        for face in faces:
            f.write("f %d %d %d %d\n" % tuple(i + 1 for i in face))
            for t in (face[:3], (face[0], face[2], face[3])):
                s.write("facet normal 0 0 0\nouter loop\n" + "".join("vertex %g %g %g\n" % tuple(v[i]) for i in t) + "endloop\nendfacet\n")
        s.write("endsolid %s\n" % name)
PY
cat >duct.yaml <<'END'
run: {steps: 60}
domain: {cells: [24, 12, 12], block: [8, 6, 6]}
fluid: {viscosity: 0.05, velocity: 0.03, length: 8}
units: {dt: 1}
bodies:
  - {name: vessel, type: mesh, file: duct.obj, inside: fluid}
body_patches:
  - {name: heart, body: vessel, type: velocity, region: group, group: inflow, flow_rate: 1.2, ramp_time: 20, factor: 1 + 0.2 * sin(0.3 * t)}
  - {name: vein, body: vessel, type: pressure, region: group, group: outflow, pressure: 1e-4}
  - {name: belt, body: vessel, type: wall, region: box, lo: [0, 0, 0], hi: [12, 12, 3], velocity: [0.01, 0, 0.01]}
resilience: {memory: {every: 7}}
output: {sides: {every: 5, forces: true}, forces: {every: 5}}
END
check 0 duct.yaml
said 'vessel patch heart (velocity): area 64 m^2, diameter of its area 9.027 m, flow rate 1.4'
said 'vessel patch vein (pressure): area 64 m^2'
run 0 1 duct.yaml
expected=$(checksum)
cp out/sides.csv first.csv
python3 - <<'PY' || complain "results: $(cat out/summary.json)"
import json
results = json.load(open("out/summary.json"))["results"]
heart, vein, belt = results["sides"]
assert [s["name"] for s in results["sides"]] == ["heart", "vein", "belt"]
assert abs(heart["flow_rate_m3_per_s"] / 1.2 - 1) < 0.25 and vein["flow_rate_m3_per_s"] < -0.5
assert len(heart["torque_N_m"]) == 3 and belt["force_N"][0] != 0
assert results["patches"][0]["body"] == "vessel"
PY
for n in 2 3; do
  run 0 $n duct.yaml
  [ "$(checksum)" = "$expected" ] || complain "another checksum on $n processes"
  cmp first.csv out/sides.csv || complain "another sides.csv on $n processes"
done
run 0 2 duct.yaml --set lbm.kernel=in_place
[ "$(checksum)" = "$expected" ] || complain 'another checksum with dense blocks'
cmp first.csv out/sides.csv || complain 'another sides.csv with dense blocks'
run 0 3 duct.yaml --inject rank=1,step=23,phase=exchange
said 'rank 1 died'
[ "$(checksum)" = "$expected" ] || complain 'another checksum after a death'
rm -rf out
timeout 100 "$GABION_LAUNCH" -n 3 --spares 1 -- "$gabion" run duct.yaml --set 'resilience.strategies=[local, shrink]' \
  --inject rank=0,step=23,phase=exchange --out out >said.txt 2>&1 || complain "local: $(cat said.txt)"
said 'rank 0 died'
[ "$(checksum)" = "$expected" ] || complain 'another checksum under local'
sed 's/duct.obj/duct.stl/' duct.yaml >stl.yaml
run 0 1 stl.yaml
[ "$(checksum)" = "$expected" ] || complain 'another checksum of the same surface with named solids'

refused() { # refused SCRIPT TEXT: the changed case is refused with the text.
  sed "$1" duct.yaml >bad.yaml
  check 2 bad.yaml
  said "$2"
}
refused 's/group: inflow/group: inlet/' "bad.yaml:8:71: body_patches.0.group: body 'vessel' has no part 'inlet'"
refused 's/name: heart, body: vessel/name: heart, body: vein/' "bad.yaml:8:25: body_patches.0.body: no body has the name 'vein'"
refused 's/name: belt/name: vein/' 'bad.yaml:10:'
refused 's/lo: \[0, 0, 0\], hi: \[12, 12, 3\]/lo: [0, 5, 5], hi: [1, 6, 6]/' "bad.yaml:10:5: body_patches.2: patch 'belt' has no link"
refused 's/region: group, group: outflow/region: group, radius: 3/' 'body_patches.1.radius: has no effect: the region is a group'
refused 's/type: pressure/type: wall/; s/, pressure: 1e-4//' 'fluid enters'
refused 's/flow_rate: 1.2/flow_rate: 1.2, profile: pipe/' 'pipe needs a region of type disc'

# A border between levels through a pressure patch is named, once; one beside it is not.
sed 's/vein, body/outlet, body/' duct.yaml >border.yaml
echo 'refinement: {levels: 1, criteria: [{type: box, lo: [16.5, 0, 0], hi: [24, 5, 12]}]}' >>border.yaml
check 0 border.yaml
said_once "border.yaml:9:5: body_patches.1: patch 'outlet' has links of several levels ("
said ' of level 0, '
said ' of level 1): those across the border'
run 0 2 border.yaml --set run.steps=2
said_once "patch 'outlet' has links of several levels"
sed -i 's/hi: \[24, 5, 12\]/hi: [24, 12, 12]/' border.yaml
check 0 border.yaml
not_said 'several levels'
run 0 2 border.yaml --set run.steps=2
not_said 'several levels'

# On a grid that adapts, a patch can lose its last link: the message has the step; a criterion that holds the surface lets `check` see it.
cat >thin.yaml <<'END'
run: {steps: 4}
domain: {cells: [24, 6, 18], block: [6, 6, 6]}
fluid: {viscosity: 0.3, velocity: 0.05, length: 5}
units: {dt: 1}
boundaries: {y_min: {type: wall}, y_max: {type: wall}, z_min: {type: pressure, pressure: 0.001}, z_max: {type: pressure}}
bodies: [{name: slope, type: half_space, point: [3.6, 2.66, 4.34], normal: [1, 0.2, 0.2], wall: interpolated}]
body_patches:
  - {name: most, body: slope, region: box, lo: [-9, -9, -9], hi: [10.33, 3.49, 9.5], type: wall, velocity: [0.01, 0.01, 0.01]}
  - {name: rest, body: slope, region: box, lo: [-9, -9, -9], hi: [19.15, 4.57, 7.13], type: wall}
initial: {velocity: [0.01, -0.03, 0.01]}
refinement: {levels: 2, every: 2, criteria: [{type: gradient, above: 1e-9, below: 1e-10}]}
END
check 0 thin.yaml
run 2 2 thin.yaml
said "thin.yaml:9:5: body_patches.1: patch 'rest' has no link"
said 'on the grid as adapted in step 2;'
sed -i 's/{type: gradient.*}\]/{type: bodies, distance: 2}]/' thin.yaml
check 2 thin.yaml
said "thin.yaml:9:5: body_patches.1: patch 'rest' has no link"
not_said 'as adapted'

# The values of a formula count, not its scale; half of a moving body would fill a closed box.
cat >jet.yaml <<'END'
run: {steps: 4}
domain: {cells: [24, 16], block: [8, 8], length: 24}
fluid: {viscosity: 0.05}
units: {dt: 1}
boundaries: {x_min: {type: wall}, x_max: {type: outflow}, y_min: {type: wall}, y_max: {type: wall}}
bodies: [{name: b, type: sphere, centre: [10.3, 7.6], radius: 4.2}]
body_patches: [{name: jet, body: b, region: box, lo: [10.3, 0], hi: [24, 16], type: velocity, flow_rate: 0.2, shape: 1}]
END
run 0 1 jet.yaml
expected=$(checksum)
run 0 1 jet.yaml --set body_patches.0.shape=0.001953125
[ "$(checksum)" = "$expected" ] || complain 'the scale of a shape changes a flow rate'
sed 's/flow_rate: 0.2, shape: 1/normal_velocity: 0.01, shape: 60/' jet.yaml >bad.yaml
run 2 2 bad.yaml
said 'makes a velocity of 0.6 cells per step'
sed 's/type: velocity, flow_rate: 0.2, shape: 1/type: pressure, pressure: 0.01, shape: 60/' jet.yaml >bad.yaml
run 2 2 bad.yaml
said 'changes the density on the lattice by 1.8'
sed 's/x_max: {type: outflow}/x_max: {type: wall}/; s/type: velocity, .*/type: wall, velocity: [0, 0]}]/; s/radius: 4.2/&, velocity: [0.02, 0]/' jet.yaml >bad.yaml
check 2 bad.yaml
said 'bad.yaml:7:16: body_patches.0: the body moves, and the patch replaces its velocity on a part of its surface: the rest takes in'
sed -i 's/velocity: \[0.02, 0\]/spin: [0.004]/' bad.yaml
check 0 bad.yaml

# A body that a side cuts pushes fluid into a closed box, whatever patches give that only the grid knows; a patch can take it out again.
cat >piston.yaml <<'END'
run: {steps: 4}
domain: {cells: [24, 16], block: [8, 8], length: 24}
fluid: {viscosity: 0.05}
units: {dt: 1}
boundaries: {x_min: {type: wall}, x_max: {type: wall}, y_min: {type: wall}, y_max: {type: wall}}
bodies:
  - {name: piston, type: box, lo: [-1, -1], hi: [4, 17], velocity: [0.01, 0], wall: staircase}
  - {name: drain, type: box, lo: [20, -1], hi: [25, 17], wall: staircase}
body_patches: [{name: hole, body: drain, region: box, lo: [19, 4], hi: [21, 12], type: velocity, normal_velocity: -0.0192}]
END
check 0 piston.yaml
run 0 1 piston.yaml
for change in body_patches.0.normal_velocity=0.02 body_patches.0.normal_velocity=-0.03 'bodies.0.velocity=[-0.01,0]' body_patches.0.ramp_time=3; do
  "$gabion" check piston.yaml --set "$change" >said.txt 2>&1 && complain "closed box, $change: taken"
  said 'pressure or outflow'
done
"$gabion" check piston.yaml --set body_patches.0.normal_velocity=-1e-9 >said.txt 2>&1 && complain 'a piston in a closed box: taken'
said 'bodies.0.velocity: the body pushes fluid at one end only, since a side of the domain cuts it'
finish

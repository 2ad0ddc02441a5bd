# SPDX-License-Identifier: Apache-2.0
# gabion-test: timeout=240 needs=ulfm
# Patches of sides: the reports of `check` and the summary, mass that is constant to rounding between two flow rates
# on one level and on two, all regions, the same bits on other numbers of processes, with other blocks and kernels and
# after deaths, and refusals with their place.
. "$GABION_SOURCE/tests/apps/common.sh"

cat >box.yaml <<'END'
run: {steps: 40}
domain: {cells: [24, 16, 16], block: [8, 8, 8], length: 1.5}
fluid: {viscosity: 0.01}
units: {dt: 0.02}
boundaries:
  x_min:
    type: wall
    patches:
      - {name: jet, region: disc, centre: [0, 0.5, 0.5], radius: 0.2, type: velocity, flow_rate: 0.01, ramp_time: 0.1}
  x_max: {type: wall}
  y_min: {type: wall}
  y_max:
    type: wall
    patches:
      - {name: drain, region: box, lo: [0.3, 0, 0.2], hi: [1.2, 0, 0.8], type: velocity, flow_rate: -0.01, ramp_time: 0.1}
  z_min: {type: wall}
  z_max: {type: free_slip}
resilience: {memory: {every: 7}}
output: {integrals: {every: 1}}
END
check 0 box.yaml
said 'x_min patch jet (velocity): area 0.125 m^2'
said 'y_max patch drain (velocity): area 0.5469 m^2, hydraulic diameter 0.7292 m, flow rate 0.01 m^3/s out, mean velocity 0.01829 m/s, Re 1.333 at its peak'
not_said 'x_min (wall)'

keeps_mass() { # keeps_mass WHAT: integrals.csv of the last run.
  awk -F, 'NR == 1 { for (i = 1; i <= NF; i++) if ($i == "mass") c = i } NR == 2 { first = $c } NR > 1 { d = $c / first - 1; if (d < 0) d = -d; if (!(d < 1e-13)) exit 1 }
    END { if (NR < 40) exit 1 }' out/integrals.csv || complain "mass, $1: $(tail -n 2 out/integrals.csv)"
}
run 0 1 box.yaml
keeps_mass 'one level'
python3 - <<'PY' || complain "results.patches: $(cat out/summary.json)"
import json, math
jet, drain = json.load(open("out/summary.json"))["results"]["patches"]
assert (jet["name"], jet["side"], jet["type"]) == ("jet", "x_min", "velocity") and drain["name"] == "drain"
assert abs(jet["flow_rate_m3_per_s"] - 0.01) < 1e-15 and abs(drain["flow_rate_m3_per_s"] + 0.01) < 1e-15
assert jet["area_m2"] == 32 / 16**2 and abs(drain["reynolds"] / (0.01 / 0.546875 * 0.7291667 / 0.01) - 1) < 1e-6
PY
# The border crosses the outlines of both. With a ramp levels have their own times.
sed 's/, ramp_time: 0.1//; $a refinement: {levels: 1, criteria: [{type: box, lo: [0.4, 0.1, 0.1], hi: [0.49, 0.9, 0.4]}]}' box.yaml >levels.yaml
run 0 1 levels.yaml
grep -Eq '"blocks_of_levels": \[[1-9][0-9]*, [1-9]' out/summary.json || complain "no two levels: $(cat said.txt)"
keeps_mass 'two levels'

# All regions and types; the same bits in any way of computing it.
picture disc.png '(x - 16)**2 + (2 * y - 16)**2 < 150'
cat >many.yaml <<'END'
run: {steps: 50}
domain: {cells: [24, 16, 16], block: [8, 8, 8], length: 1.5}
fluid: {viscosity: 0.01}
units: {dt: 0.02}
boundaries:
  x_min:
    type: wall
    patches:
      - {name: jet, region: mask, file: disc.png, lo: [0, 0.1, 0.1], hi: [0, 0.9, 0.9], type: velocity, flow_rate: 0.01, profile: parabolic, factor: 1 + 0.3 * cos(20 * t)}
      - {name: belt, region: box, lo: [0, 0, 0], hi: [0, 1, 0.2], type: velocity, velocity: [0, 0.1, 0]}
  x_max:
    type: outflow
    patches:
      - {name: plate, region: polygon, points: [0.2, 0.2, 0.8, 0.3, 0.4, 0.9], type: wall}
      - {name: glass, region: disc, centre: [0, 0.8, 0.8], radius: 0.2, type: free_slip}
  y_min: {type: wall}
  y_max: {type: free_slip, patches: [{name: vent, region: box, lo: [0.6, 0, 0.3], hi: [1.2, 0, 0.7], type: pressure, pressure: 0.001, ramp_time: 0.2}]}
  z_min: {type: wall}
  z_max: {type: wall}
refinement: {levels: 1, criteria: [{type: box, lo: [0, 0, 0], hi: [0.4, 0.4, 0.4]}]}
resilience: {memory: {every: 7}}
END
run 0 1 many.yaml
expected=$(checksum)
said 'x_min patch jet (velocity): area'
said 'x_max (outflow): area'
said 'y_max patch vent (pressure): area 0.2109 m^2'
run 0 2 many.yaml
[ "$(checksum)" = "$expected" ] || complain 'another checksum on 2 processes'
run 0 1 many.yaml --set lbm.fused_blocks=3
[ "$(checksum)" = "$expected" ] || complain 'another checksum with fused blocks'
run 0 1 many.yaml --set lbm.kernel=sparse
[ "$(checksum)" = "$expected" ] || complain 'another checksum with sparse blocks'
run 0 3 many.yaml --inject rank=1,step=23,phase=exchange
said 'rank 1 died'
[ "$(checksum)" = "$expected" ] || complain 'another checksum after a death'
rm -rf out
timeout 100 "$GABION_LAUNCH" -n 3 --spares 1 -- "$gabion" run many.yaml --set 'resilience.strategies=[local, shrink]' \
  --inject rank=0,step=23,phase=exchange --out out >said.txt 2>&1 || complain "local: $(cat said.txt)"
said 'rank 0 died'
[ "$(checksum)" = "$expected" ] || complain 'another checksum under local'
sed 's/radius: 0.2, type: free_slip/radius: 0.25, type: free_slip/' many.yaml >other.yaml
run 0 1 other.yaml
[ "$(checksum)" != "$expected" ] || complain 'another radius changes nothing'
# A run is not resumed with another picture.
run 0 1 many.yaml --set resilience.disk.every=20
picture disc.png 'x > 16'
"$gabion" run many.yaml --set resilience.disk.every=20 --set run.steps=80 --out out >said.txt 2>&1 && complain 'resumed with another picture'
said 'disc.png'

# An open patch in the second row from an open side, on a side with free slip elsewhere: the patch bounces back
# populations that the open side reads in the next row.
cat >rows.yaml <<'YAML'
run: {steps: 20}
domain: {cells: [12, 16, 12], block: [4, 4, 4]}
fluid: {viscosity: 0.02, velocity: 0.049, length: 5}
units: {dt: 1}
boundaries:
  x_min: {type: pressure, pressure: 0.001}
  x_max: {type: pressure}
  y_min:
    type: free_slip
    patches:
      - {name: vent, region: box, lo: [1, 0, 1], hi: [4, 0, 3], type: pressure, pressure: 0.001}
  y_max: {type: wall}
  z_min: {type: pressure, pressure: 0.001}
  z_max: {type: pressure}
initial: {velocity: [-0.02, -0.01, 0.015]}
YAML
run 0 1 rows.yaml --set lbm.kernel=in_place
expected=$(checksum)
for kernel in sparse reference; do
  run 0 1 rows.yaml --set lbm.kernel=$kernel
  [ "$(checksum)" = "$expected" ] || complain "an open patch next to an open side: another checksum with $kernel"
done

# refused SED TEXT: box.yaml with a change is refused with its place.
refused() {
  sed "$1" box.yaml >refused.yaml
  check 2 refused.yaml
  said_once "$2"
  grep -Eq 'refused.yaml:[0-9]+:[0-9]+: ' said.txt || complain "no place: $(cat said.txt)"
}
refused 's/radius: 0.2/radius: 0.02/' "patch 'jet' covers no face of the side: its extent is 0.64 x 0.64 cells"
refused 's/centre: \[0, 0.5, 0.5\]/centre: [0, 5, 0.5]/' "patch 'jet' covers no face of the side"
refused '/name: jet/{h; s/jet/plug/; s/0.2,/0.3,/; p; g}' "patch 'jet' has no face: all 32 of its region belong to earlier patches (plug)"
refused 's/name: drain/name: jet/' "'jet' is the name of boundaries.x_min.patches.0 already"
refused '/name: jet/{p}' "two of boundaries.x_min.patches have the name 'jet'"
refused 's/name: jet/name: ""/' 'a patch needs a name'
refused 's/name: jet/name: z_max/' "'z_max' is the name of a side"
refused '0,/type: wall/s//type: periodic/; s/x_max: {type: wall}/x_max: {type: periodic}/' 'a periodic side has no patches; give it another type'
refused 's/radius: 0.2/lo: [0, 0, 0]/' 'has no effect: the region is a disc'
refused 's/, radius: 0.2//' 'disc needs radius'
refused 's/region: disc/region: box/' 'box needs lo'
refused 's/lo: \[0.3/lo: [1.3/' 'is not above the lower corner: 1.2 and 1.3 along x'
refused 's/flow_rate: 0.01/flow_rate: 0.01, profile: logarithmic/' 'logarithmic needs'
refused 's/radius: 0.2, type: velocity, flow_rate: 0.01, ramp_time: 0.1/radius: 0.2, type: pressure, presure: 1/' "unknown key 'presure'"
refused 's/radius: 0.2, type: velocity, flow_rate: 0.01, ramp_time: 0.1/radius: 0.2, type: periodic/' "type = 'periodic' is none of wall, velocity, pressure, outflow, characteristic, convective, free_slip"
refused 's/flow_rate: 0.01/flow_rate: 90/' 'boundaries.x_min.patches.0.flow_rate: the Mach number on the lattice is'
refused 's/flow_rate: 0.01/velocity: [90, 0, 0]/' 'boundaries.x_min.patches.0.velocity: the Mach number on the lattice is'
refused 's/flow_rate: 0.01/flow_rate: 0.02/' 'fluid enters through sides of type velocity'
refused '0,/type: wall/s//type: outflow/; s/radius: 0.2/radius: 2/' 'patches cover all of the side; make it type: wall'
refused 's/region: disc, centre: \[0, 0.5, 0.5\], radius: 0.2/region: mask, file: none.png, lo: [0, 0, 0], hi: [0, 1, 1]/' 'none.png'
refused 's/region: disc, centre: \[0, 0.5, 0.5\], radius: 0.2/region: polygon, points: [0, 0, 1, 0, 1, 1, 2]/' 'has an odd number of coordinates: 7'
finish

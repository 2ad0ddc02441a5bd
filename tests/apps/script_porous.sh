# SPDX-License-Identifier: Apache-2.0
# gabion-test: timeout=200 needs=ulfm
# Permeability of a body-centred array of spheres, as bodies and as voxels, compared with Sangani & Acrivos (1982);
# the same bits on other numbers of processes and after deaths; a sample similar to sandstone; refusals of files that
# do not fit, and of a changed file.
. "$GABION_SOURCE/tests/apps/common.sh"

# Spheres of radius 0.7 sqrt(3) / 4 in a unit cube: K = 8.5653 by the series, permeability 1 / (12 pi a K).
radius=0.30310889132455354 expected=0.0102170811
cells=24
python3 - $cells $radius <<'END'
import sys
n, r = int(sys.argv[1]), float(sys.argv[2])
near = lambda d: min(d, 1 - d)
def solid(p):
    return any(sum(near(abs(q - c)) ** 2 for q in p) <= r * r for c in (0, 0.5))
values = [solid([(k + 0.5) / n for k in (x, y, z)]) for z in range(n) for y in range(n) for x in range(n)]
open("array.raw", "wb").write(bytes(values))
open("short.raw", "wb").write(bytes(values)[:-1])
# The same with a bar that is no longer symmetric, and that as gray values of two bytes behind a head, z fastest; 200 and more are solid.
for x, y in ((11, 4), (12, 4), (12, 5)):
    values[((n // 4) * n + y) * n + x] = True
open("bar.raw", "wb").write(bytes(values))
gray = [values[(z * n + y) * n + x] for x in range(n) for y in range(n) for z in range(n)]
open("gray.raw", "wb").write(b"head" + b"".join((250 if v else 100).to_bytes(2, "little") for v in gray))
END
cat >array.yaml <<END
run: {steps: 500}
domain: {cells: [$cells, $cells, $cells], block: [12, 12, 12], length: 1}
fluid: {viscosity: 0.1, acceleration: [0.01, 0, 0]}
units: {dt: 0.0024}
resilience: {memory: {every: 60}}
bodies:
  - {name: array, type: voxels, file: array.raw, size: [$cells, $cells, $cells], lo: [0, 0, 0], voxel: $(awk "BEGIN { printf \"%.17g\", 1 / $cells }")}
END
permeability() { sed -n 's/.*"permeability_x_m2": \([-+.e0-9]*\).*/\1/p' out/summary.json; }
within() { # within SHARE WHAT
  permeability | awk -v wanted=$expected -v most="$1" '{ e = $1 / wanted - 1; found = 1; if (e < 0) e = -e } END { exit !(found && e < most) }' ||
    complain "$2: permeability $(permeability), expected $expected to $1"
}
run 0 1 array.yaml
within 0.08 voxels
said 'porosity 0.76'
voxels=$(checksum)
run 0 3 array.yaml --inject rank=1,step=230,phase=exchange
said 'rank 1 died'
[ "$(checksum)" = "$voxels" ] || complain 'voxels: another checksum after a death'
rm -rf out
timeout 100 "$GABION_LAUNCH" -n 3 --spares 1 -- "$gabion" run array.yaml --set 'resilience.strategies=[local, shrink]' \
  --inject rank=0,step=230,phase=exchange --out out >said.txt 2>&1 || complain "local: $(cat said.txt)"
said 'rank 0 died'
[ "$(checksum)" = "$voxels" ] || complain 'voxels: another checksum under local'

sed 's/array.raw/bar.raw/' array.yaml >bar.yaml
run 0 1 bar.yaml
bar=$(checksum)
[ "$bar" != "$voxels" ] || complain 'a bar changes nothing'
sed 's/file: array.raw,/file: gray.raw, numbers: uint16, skip: 4, fastest: z, solid: [200, 300],/' array.yaml >gray.yaml
run 0 1 gray.yaml
[ "$(checksum)" = "$bar" ] || complain 'gray values: another checksum'

sed "/voxels/d" array.yaml >spheres.yaml
cat >>spheres.yaml <<END
  - {name: array, type: sphere, centre: [0, 0, 0], radius: $radius, copies: [2, 2, 2], copy_offset: [1, 1, 1]}
  - {name: middle, type: sphere, centre: [0.5, 0.5, 0.5], radius: $radius}
END
run 0 1 spheres.yaml
within 0.02 spheres
spheres=$(checksum)
sed -i 's/, copies: .*}/}/' spheres.yaml
run 0 2 spheres.yaml
[ "$(checksum)" = "$spheres" ] || complain 'spheres: images beyond periodic sides differ from copies'

# A case with another sample is another case.
sed -i 's/memory: {every: 60}/memory: {every: 60}, disk: {every: 60}/' array.yaml
run 0 1 array.yaml --set run.steps=60
cp array.raw kept.raw
printf '\001' | dd of=array.raw bs=1 seek=6500 conv=notrunc status=none
if cmp -s array.raw kept.raw; then printf '\000' | dd of=array.raw bs=1 seek=6500 conv=notrunc status=none; fi
timeout 60 "$gabion" run array.yaml --set run.steps=90 --out out >said.txt 2>&1
[ $? = 2 ] || complain "another sample: $(cat said.txt)"
said 'the file is array.raw'

# A sample similar to sandstone, from the script of its case.
python3 "$GABION_SOURCE/scripts/sandstone.py" 32 0.3 sandstone.raw >said.txt
said 'porosity 0.2'
sed 's/\[48, 48, 48\]/[32, 32, 32]/g' "$GABION_SOURCE/apps/cases/flow/sandstone.yaml" >sandstone.yaml
run 0 2 sandstone.yaml --set run.time=0.002 --set 'faults=[]' --set output={}
permeability | awk '{ exit !($1 > 1e-14 && $1 < 1e-9) }' || complain "sandstone: permeability $(permeability) m^2"

# Files that do not fit.
sed 's/array.raw/short.raw/' array.yaml >bad.yaml
refused 1 bad.yaml
said 'bad.yaml:7:'
said 'makes 13824 bytes, but'
said 'short.raw has 13823'
sed 's/array.raw/absent.raw/' array.yaml >bad.yaml
refused 1 bad.yaml
said 'bad.yaml:7:'
said 'absent.raw'
sed 's/size: [^]]*\], //' array.yaml >bad.yaml
refused 1 bad.yaml
said 'is needed for raw numbers'
sed 's/file: array.raw,/file: array.raw, solid: [2, 3],/' array.yaml >bad.yaml
refused 1 bad.yaml
said 'covers no cell'
sed 's/file: array.raw,/file: array.raw, solid: [0, 3],/' array.yaml >bad.yaml
refused 1 bad.yaml
said 'all cells are solid'
finish

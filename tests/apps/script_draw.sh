# SPDX-License-Identifier: Apache-2.0
# gabion-test: timeout=100
# gabion check --draw: the surface in bodies.vtp encloses the solid cells, with normals into the fluid and the number
# of each body, and a slice shows the area of each body in a separate colour; on the finest level, in 3D and 2D.
# Refusals.
. "$GABION_SOURCE/tests/apps/common.sh"
command -v python3 >/dev/null || { echo "no python3 here: not checked"; exit 77; }
cat >case.yaml <<'END'
run: {steps: 10}
domain: {cells: [24, 16, 16], block: [8, 8, 8], dx: 0.125, origin: [-1, 0, 2]}
fluid: {omega: 1.5}
units: {dt: 0.01}
bodies:
  - {name: ball, type: sphere, centre: [0, 1, 3], radius: 0.6}
  - {name: rod, type: box, lo: [1.3, 0.5, 2.4], hi: [1.6, 1.4, 3.1]}
END
volumes() { # of the bodies in a folder, by the divergence theorem, and the number of faces
  python3 - "$1" <<'END'
import re, struct, sys
data = open(sys.argv[1] + "/bodies.vtp", "rb").read()
head, raw = data.split(b'encoding="raw">\n_', 1)
points, faces = (int(re.search(b'NumberOf%s="(\\d+)"' % k, head)[1]) for k in (b"Points", b"Polys"))
offsets = [int(v) for v in re.findall(b'offset="(\\d+)"', head)]
def block(i, form, count):
    size, = struct.unpack_from("<Q", raw, offsets[i])
    assert size == count * struct.calcsize(form), (i, size, count)
    return struct.unpack_from("<%d%s" % (count, form), raw, offsets[i] + 8)
xyz, corners, ends, bodies = block(0, "f", 3 * points), block(1, "q", 4 * faces), block(2, "q", faces), block(3, "i", faces)
assert points == 4 * faces and list(ends) == list(range(4, 4 * faces + 1, 4))
volume, depth = {}, {}
for k in range(faces):
    a, b, c, d = (xyz[3 * i : 3 * i + 3] for i in corners[4 * k : 4 * k + 4])
    u, v = [p - q for p, q in zip(c, a)], [p - q for p, q in zip(d, b)]
    normal = [0.5 * (u[(i + 1) % 3] * v[(i + 2) % 3] - u[(i + 2) % 3] * v[(i + 1) % 3]) for i in range(3)]
    middle = [(p + q) / 2 for p, q in zip(a, c)]
    volume[bodies[k]] = volume.get(bodies[k], 0) + normal[0] * middle[0]
print(faces, " ".join("%d:%.6f" % (k, volume[k]) for k in sorted(volume)))
END
}
solid() { # solid LEVEL: cells of the ball and of the rod, as volumes
  python3 - "$1" <<'END'
import sys
n = 2 ** int(sys.argv[1]); dx = 0.125 / n
ball = rod = 0
for z in range(16 * n):
    for y in range(16 * n):
        for x in range(24 * n):
            p = (-1 + (x + 0.5) * dx, (y + 0.5) * dx, 2 + (z + 0.5) * dx)
            inside = p[0] ** 2 + (p[1] - 1) ** 2 + (p[2] - 3) ** 2 <= 0.36
            ball += inside
            rod += not inside and 1.3 <= p[0] <= 1.6 and 0.5 <= p[1] <= 1.4 and 2.4 <= p[2] <= 3.1
print("0:%.6f 1:%.6f" % (ball * dx ** 3, rod * dx ** 3))
END
}
areas() { # areas PICTURE: both bodies cover as many pixels of the slice y = 1.0625 as they have cells there, in two colours
  python3 - "$1" <<'END' || complain "$1: other areas"
import collections, struct, sys, zlib
data, at, packed = open(sys.argv[1], "rb").read(), 8, b""
while at < len(data):
    size, kind = struct.unpack_from(">I4s", data, at)
    if kind == b"IHDR":
        width, height, depth, colour = struct.unpack_from(">IIBB", data, at + 8)
    packed += data[at + 8 : at + 8 + size] if kind == b"IDAT" else b""
    at += 12 + size
assert (depth, colour) == (8, 2), (depth, colour)
raw, stride, before, rows = zlib.decompress(packed), 3 * width, bytearray(3 * width), []
for y in range(height):
    kind, row = raw[y * (stride + 1)], bytearray(raw[y * (stride + 1) + 1 : (y + 1) * (stride + 1)])
    for i in range(stride):
        a, b, c = (row[i - 3] if i > 2 else 0), before[i], (before[i - 3] if i > 2 else 0)
        paeth = min((abs(b - c), 0, a), (abs(a - c), 1, b), (abs(a + b - 2 * c), 2, c))[2]
        row[i] = (row[i] + (0, a, b, (a + b) // 2, paeth)[kind]) % 256
    rows.append(row)
    before = row
counts = collections.Counter(bytes(row[i : i + 3]) for row in rows for i in range(0, stride, 3))
ball = rod = 0
for z in range(16):
    for x in range(24):
        p = (-1 + (x + 0.5) / 8, 2 + (z + 0.5) / 8)
        inside = p[0] ** 2 + 0.0625 ** 2 + (p[1] - 3) ** 2 <= 0.36
        ball += inside
        rod += not inside and 1.3 <= p[0] <= 1.6 and 2.4 <= p[1] <= 3.1
each = (700 // 24) ** 2
found = set(counts.values())
sys.exit(not any(abs(n - ball * each) <= 200 for n in found) or not any(abs(n - rod * each) <= 60 for n in found))
END
}
check 0 case.yaml --draw drawn
said '    body 1: rod (2 in pictures)'
found=$(volumes drawn)
[ "${found#* }" = "$(solid 0)" ] || complain "level 0: volumes $found, expected $(solid 0)"
said "bodies.vtp: ${found%% *} faces between fluid and bodies, cells of level 0"
if grep -q 'slices in bodies' said.txt; then
  for axis in x y z; do [ -s drawn/bodies-$axis.png ] || complain "no slice across $axis"; done
  areas drawn/bodies-y.png
fi
check 0 case.yaml --draw drawn --set 'refinement.levels=1' --set 'refinement.criteria=[{type: bodies}]'
found=$(volumes drawn)
[ "${found#* }" = "$(solid 1)" ] || complain "level 1: volumes $found, expected $(solid 1)"

# A square of 4 x 3 cells in the plane: 14 edges.
cat >plane.yaml <<'END'
run: {steps: 10}
domain: {cells: [16, 16], block: [8, 8], dx: 1}
fluid: {omega: 1.5}
units: {dt: 0.1}
bodies: [{type: box, lo: [3, 5], hi: [7, 8]}]
END
check 0 plane.yaml --draw flat
[ "$(volumes flat)" = '14 0:12.000000' ] || complain "plane: $(volumes flat)"

sed '/^bodies/,$d' case.yaml >empty.yaml
check 2 empty.yaml --draw drawn
said 'there is nothing to draw: the case has no bodies'
check 2 case.yaml --draw absent/drawn
said 'absent/drawn cannot be made'
check 2 "$GABION_SOURCE/apps/cases/phasefield/binary_lamellae.yaml" --draw drawn
said 'has nothing to draw'
finish

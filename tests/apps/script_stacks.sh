# SPDX-License-Identifier: Apache-2.0
# gabion-test: timeout=100 labels=quick needs=png
# Voxels from stacks of pictures: PNG files and pages of TIFF files give the bits of raw numbers, on 1, 2 and 3 processes; a run does not
# continue with another page; files that do not fit are refused by their names.
. "$GABION_SOURCE/tests/apps/common.sh"

# A porous cube of 16 x 12 x 10 voxels: grey values of two bytes, of which 300 to 400 are solid; and its layer 4 alone.
python3 - <<'END'
import struct, zlib
nx, ny, nz = 16, 12, 10
gray = lambda x, y, z: 350 if (x * x + 3 * y + 5 * z + x * z) % 7 < 2 and x > 2 else 299 + (x + y) % 2 * 102
rows = [[[gray(x, y, z) for x in range(nx)] for y in range(ny)] for z in range(nz)]
raw = lambda order, z: b"".join(struct.pack("%s%dH" % (order, nx), *row) for row in rows[z])
part = lambda kind, data: struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))
def png(z):
    lines = b"".join(b"\0" + struct.pack(">%dH" % nx, *row) for row in rows[z])
    return (b"\x89PNG\r\n\x1a\n" + part(b"IHDR", struct.pack(">IIBBBBB", nx, ny, 16, 0, 0, 0, 0)) +
            part(b"IDAT", zlib.compress(lines)) + part(b"IEND", b""))
def tiff(layers):
    out = bytearray(b"II*\0\0\0\0\0")
    link = 4
    for z in layers:
        at = len(out)
        out += raw("<", z)
        out[link:link + 4] = struct.pack("<I", len(out))
        tags = ((256, nx), (257, ny), (258, 16), (259, 1), (262, 1), (273, at), (277, 1), (278, ny), (279, 2 * nx * ny))
        out += struct.pack("<H", len(tags)) + b"".join(struct.pack("<HHII", tag, 4, 1, value) for tag, value in tags) + bytes(4)
        link = len(out) - 4
    return bytes(out)
open("cube.raw", "wb").write(b"".join(raw("<", z) for z in range(nz)))
open("layer.raw", "wb").write(raw("<", 4))
open("cube.tif", "wb").write(tiff(range(nz)))
open("short.tif", "wb").write(tiff(range(nz))[:-100])
for z in range(nz):
    open("page_%02d.png" % (z + 5), "wb").write(png(z))
    open("page_%02d.tif" % (z + 5), "wb").write(tiff([z]))
END
cat >cube.yaml <<'END'
run: {steps: 20}
domain: {cells: [20, 14, 12], block: [10, 7, 6], length: 20}
fluid: {viscosity: 0.1, acceleration: [0.001, 0, 0]}
units: {dt: 1}
resilience: {memory: {every: 10}}
bodies:
  - {name: cube, type: voxels, file: cube.raw, size: [16, 12, 10], numbers: uint16, solid: [300, 400], lo: [2, 1, 1], voxel: 1}
END
run 0 1 cube.yaml
cube=$(checksum)
case_of() { sed "s/file: cube.raw, size: .*, numbers: uint16,/file: $1,/" cube.yaml; }
case_of cube.tif >tiff.yaml
case_of page_05..14.png >png.yaml
case_of page_05..14.tif >pages.yaml
processes=0
for name in tiff png pages; do
  processes=$((processes + 1))
  run 0 $processes $name.yaml
  [ "$(checksum)" = "$cube" ] || complain "$name on $processes processes: $(checksum), raw numbers: $cube"
done
case_of page_14..05.png >down.yaml
run 0 1 down.yaml
[ "$(checksum)" != "$cube" ] || complain 'the order of the pages changes nothing'
timeout 60 "$gabion" check png.yaml >said.txt 2>&1 || complain "check: $(cat said.txt)"
said '16 x 12 x 10, each 1 cells wide'

# In two dimensions a picture is a layer.
sed 's/\[20, 14, 12\]/[20, 14]/; s/\[10, 7, 6\]/[10, 7]/; s/\[0.001, 0, 0\]/[0.001, 0]/; s/\[2, 1, 1\]/[2, 1]/' cube.yaml >flat.yaml
sed 's/cube.raw, size: \[16, 12, 10\]/layer.raw, size: [16, 12]/' flat.yaml >layer.yaml
run 0 1 layer.yaml
layer=$(checksum)
sed 's/file: cube.raw, size: .*, numbers: uint16,/file: page_09.png,/' flat.yaml >layer.yaml
run 0 2 layer.yaml
[ "$(checksum)" = "$layer" ] || complain 'a picture in two dimensions: another checksum than raw numbers'
sed -i 's/page_09.png/cube.tif/' layer.yaml
refused 1 layer.yaml
said 'cube.tif has 10 pages, the domain two dimensions'

# A case with another page is another case.
sed -i 's/memory: {every: 10}/memory: {every: 10}, disk: {every: 10}/' png.yaml
run 0 1 png.yaml --set run.steps=10
cp page_09.png kept.png
cp page_10.png page_09.png
timeout 60 "$gabion" run png.yaml --out out >said.txt 2>&1
[ $? = 2 ] || complain "another page: $(cat said.txt)"
said 'the file is page_05..14.png'
cp kept.png page_09.png
timeout 60 "$gabion" run png.yaml --out out >said.txt 2>&1 || complain "the page is back: $(cat said.txt)"
[ "$(checksum)" = "$cube" ] || complain 'resumed: another checksum'

# What does not fit.
rm page_09.png
refused 2 png.yaml
said_once 'png.yaml:7:'
said 'page_09.png'
sed 's/cube.tif/short.tif/' tiff.yaml >bad.yaml
refused 1 bad.yaml
said 'bad.yaml:7:'
said 'short.tif is cut off or damaged'
case_of 'page_05.png, numbers: uint16' >bad.yaml
refused 1 bad.yaml
said 'has no effect without size'
case_of cube.raw >bad.yaml
refused 1 bad.yaml
said 'pictures end in .png, .tif or .tiff'
finish

#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Writes triangle meshes as STL (binary) or OBJ, the same bytes on every call:

  scripts/meshes.py sphere OUT --triangles N [--radius R] [--match corners|volume]
  scripts/meshes.py torus|gear|car OUT

sphere: an icosphere of 20 n^2 triangles, n from N, around the origin. With --match volume its volume is that of the sphere of
radius R; with corners (the default) its corners are on it. torus: about z, radii 1 and 0.4. gear: about z, 12 teeth, outer radius
1. car: length 1, along x, nose at x = 0, bottom at z = 0, symmetric about y = 0.
"""
import argparse
import math
import struct

FACES = [(0, 11, 5), (0, 5, 1), (0, 1, 7), (0, 7, 10), (0, 10, 11), (1, 5, 9), (5, 11, 4), (11, 10, 2), (10, 7, 6), (7, 1, 8),
         (3, 9, 4), (3, 4, 2), (3, 2, 6), (3, 6, 8), (3, 8, 9), (4, 9, 5), (2, 4, 11), (6, 2, 10), (8, 6, 7), (9, 8, 1)]


class Mesh:
    """Vertices by key, so that neighbours share them."""

    def __init__(self):
        self.points, self.keys, self.triangles = [], {}, []

    def vertex(self, key, point):
        if key not in self.keys:
            self.keys[key] = len(self.points)
            self.points.append(point)
        return self.keys[key]

    def add(self, a, b, c):
        if len({a, b, c}) == 3:
            self.triangles.append((a, b, c))

    def volume(self):
        total = 0.0
        for a, b, c in self.triangles:
            p, q, r = self.points[a], self.points[b], self.points[c]
            total += (p[0] * (q[1] * r[2] - q[2] * r[1]) + p[1] * (q[2] * r[0] - q[0] * r[2])
                      + p[2] * (q[0] * r[1] - q[1] * r[0]))
        return total / 6


def sphere(triangles, radius, match):
    g = (1 + math.sqrt(5)) / 2
    corner = [(-1, g, 0), (1, g, 0), (-1, -g, 0), (1, -g, 0), (0, -1, g), (0, 1, g),
              (0, -1, -g), (0, 1, -g), (g, 0, -1), (g, 0, 1), (-g, 0, -1), (-g, 0, 1)]
    n = max(1, round(math.sqrt(triangles / 20)))
    mesh = Mesh()

    def at(face, i, k):
        weights = sorted(zip(face, (n - i - k, i, k)))
        key = tuple((v, w) for v, w in weights if w)
        if key in mesh.keys:
            return mesh.keys[key]
        p = [sum(w * corner[v][axis] for v, w in weights) for axis in range(3)]
        length = math.sqrt(sum(x * x for x in p))
        return mesh.vertex(key, [radius * x / length for x in p])

    for face in FACES:
        for i in range(n):
            for k in range(n - i):
                mesh.add(at(face, i, k), at(face, i + 1, k), at(face, i, k + 1))
                if k < n - i - 1:
                    mesh.add(at(face, i + 1, k), at(face, i + 1, k + 1), at(face, i, k + 1))
    if match == "volume":
        factor = (4 / 3 * math.pi * radius ** 3 / mesh.volume()) ** (1 / 3)
        mesh.points = [[factor * x for x in p] for p in mesh.points]
    return mesh


def torus(ring=1.0, tube=0.4, around=96, across=48):
    mesh = Mesh()

    def at(i, k):
        i, k = i % around, k % across
        u, v = 2 * math.pi * i / around, 2 * math.pi * k / across
        return mesh.vertex((i, k), [(ring + tube * math.cos(v)) * math.cos(u), (ring + tube * math.cos(v)) * math.sin(u),
                                    tube * math.sin(v)])

    for i in range(around):
        for k in range(across):
            mesh.add(at(i, k), at(i + 1, k), at(i + 1, k + 1))
            mesh.add(at(i, k), at(i + 1, k + 1), at(i, k + 1))
    return mesh


def gear(teeth=12, outer=1.0, inner=0.8, half_width=0.15):
    mesh = Mesh()
    rim = []
    for tooth in range(teeth):
        for part, radius in ((0.0, inner), (0.3, inner), (0.4, outer), (0.65, outer), (0.75, inner)):
            angle = 2 * math.pi * (tooth + part) / teeth
            rim.append((radius * math.cos(angle), radius * math.sin(angle)))
    count = len(rim)

    def at(i, side):
        x, y = rim[i % count]
        return mesh.vertex((i % count, side), [x, y, side * half_width])

    middle = {side: mesh.vertex(side, [0.0, 0.0, side * half_width]) for side in (-1, 1)}
    for i in range(count):
        mesh.add(at(i, -1), at(i + 1, -1), at(i + 1, 1))
        mesh.add(at(i, -1), at(i + 1, 1), at(i, 1))
        mesh.add(middle[1], at(i, 1), at(i + 1, 1))
        mesh.add(middle[-1], at(i + 1, -1), at(i, -1))
    return mesh


def smooth(x, places):
    """Values at places, interpolated by half cosines."""
    for (a, low), (b, high) in zip(places, places[1:]):
        if x <= b:
            return low + (high - low) * 0.5 * (1 - math.cos(math.pi * min(max((x - a) / (b - a), 0), 1)))
    return places[-1][1]


def car(sections=32, around=24):
    """Sections normal to x: superellipses with the widths, floors and roofs of a hood, a windscreen, a roof and a tail."""
    roof = [(0.0, 0.115), (0.10, 0.165), (0.30, 0.190), (0.48, 0.290), (0.68, 0.295), (0.90, 0.215), (1.0, 0.170)]
    floor = [(0.0, 0.085), (0.08, 0.045), (0.85, 0.045), (1.0, 0.080)]
    width = [(0.0, 0.120), (0.12, 0.175), (0.50, 0.190), (0.85, 0.180), (1.0, 0.145)]
    mesh = Mesh()

    def at(i, k):
        k %= around
        x = 0.5 * (1 - math.cos(math.pi * i / (sections - 1)))
        angle = 2 * math.pi * k / around
        c, s = math.cos(angle), math.sin(angle)
        top, bottom, half = smooth(x, roof), smooth(x, floor), smooth(x, width)
        y = half * math.copysign(abs(c) ** 0.6, c)
        z = 0.5 * (top + bottom) + 0.5 * (top - bottom) * math.copysign(abs(s) ** 0.6, s)
        y *= 1 - 0.25 * max(0.0, (z - 0.19) / 0.11)  # the cabin narrows upwards
        return mesh.vertex((i, k), [x, y, z])

    for i in range(sections - 1):
        for k in range(around):
            mesh.add(at(i, k), at(i, k + 1), at(i + 1, k + 1))
            mesh.add(at(i, k), at(i + 1, k + 1), at(i + 1, k))
    for i, turned in ((0, True), (sections - 1, False)):
        ring = [at(i, k) for k in range(around)]
        middle = mesh.vertex(("end", i), [sum(mesh.points[v][axis] for v in ring) / around for axis in range(3)])
        for k in range(around):
            a, b = ring[k], ring[(k + 1) % around]
            mesh.add(middle, *((b, a) if turned else (a, b)))
    if mesh.volume() < 0:
        mesh.triangles = [(a, c, b) for a, b, c in mesh.triangles]
    return mesh


def write(mesh, path):
    if path.endswith(".obj"):
        with open(path, "w") as out:
            for p in mesh.points:
                out.write("v %.6g %.6g %.6g\n" % tuple(x + 0.0 for x in p))
            for a, b, c in mesh.triangles:
                out.write("f %d %d %d\n" % (a + 1, b + 1, c + 1))
        return
    with open(path, "wb") as out:
        out.write(b"binary STL by scripts/meshes.py".ljust(80) + struct.pack("<I", len(mesh.triangles)))
        for corners in mesh.triangles:
            out.write(struct.pack("<12fH", 0, 0, 0, *(x for v in corners for x in mesh.points[v]), 0))


def main():
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("shape", choices=["sphere", "torus", "gear", "car"])
    options.add_argument("out")
    options.add_argument("--triangles", type=int, default=1280)
    options.add_argument("--radius", type=float, default=1.0)
    options.add_argument("--match", choices=["corners", "volume"], default="corners")
    given = options.parse_args()
    if given.shape == "sphere":
        mesh = sphere(given.triangles, given.radius, given.match)
    else:
        mesh = {"torus": torus, "gear": gear, "car": car}[given.shape]()
    write(mesh, given.out)


if __name__ == "__main__":
    main()

#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""A sample similar to sandstone: overlapping periodic grains of different sizes, for sandstone.yaml.

    sandstone.py [CELLS] [POROSITY] [FILE]     (48, 0.25, sandstone.raw)

Writes one byte per voxel, x fastest: 1 is grain, 0 is pore. The same arguments give the same file.
"""
import sys


def uniform(state):
    """Numbers from 0 to 1, the same on all machines."""
    while True:
        state = (6364136223846793005 * state + 1442695040888963407) % 2**64
        yield (state >> 11) / 2**53


def fill(voxels, n, centre, radius):
    """Marks the voxels of a grain. Returns the number of new ones."""
    count = 0
    ranges = [range(int(c - radius), int(c + radius) + 2) for c in centre]
    for z in ranges[2]:
        for y in ranges[1]:
            across = (y + 0.5 - centre[1]) ** 2 + (z + 0.5 - centre[2]) ** 2
            if across > radius**2:
                continue
            row = ((z % n) * n + y % n) * n
            for x in ranges[0]:
                if across + (x + 0.5 - centre[0]) ** 2 <= radius**2:
                    count += not voxels[row + x % n]
                    voxels[row + x % n] = 1
    return count


def main(arguments):
    n = int(arguments[0]) if arguments else 48
    porosity = float(arguments[1]) if len(arguments) > 1 else 0.25
    path = arguments[2] if len(arguments) > 2 else "sandstone.raw"
    voxels, solid, numbers = bytearray(n**3), 0, uniform(2017)
    while solid < (1 - porosity) * n**3:
        centre = [n * next(numbers) for _ in range(3)]
        solid += fill(voxels, n, centre, n * (0.06 + 0.08 * next(numbers)))
    with open(path, "wb") as file:
        file.write(voxels)
    print(f"{path}: {n}^3 voxels, porosity {1 - solid / n**3:.4f}")


main(sys.argv[1:])

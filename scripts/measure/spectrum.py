#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The energy spectrum of the velocity of a run (output.fields), on one level in a periodic box.

A side that is not periodic would add a spurious tail: a run with one (by summary.json) is refused.

  spectrum.py OUT... [--label TEXT]... [--time T]... [--viscosity NU] [--csv FILE] [--png FILE]

OUT           output folder of a run; with several, each has its own line style in the picture
--label       labels of the runs in the picture, in their order; default: names of the folders
--time        only the output nearest to these times; default: all
--viscosity   kinematic: prints the dissipation 2 nu sum k^2 E over all waves, and draws the inertial range of Kolmogorov (1941),
              1.6 eps^(2/3) k^(-5/3), for the largest of them; without it a line of that slope
--csv, --png  output files: the table goes to standard output otherwise, a picture is drawn only on request

E(k) is the kinetic energy per mass in waves with wave numbers in the shell [k - dk/2, k + dk/2), divided by dk; k is a multiple
of dk, 2 pi over the longest edge of the box. The sum of E(k) dk is the mean of u^2/2 (Parseval), which is checked. Shells above
pi / dx extend beyond the wave numbers of the grid: they are printed, but not drawn. In 2D w is zero. Needs numpy and h5py;
pictures need matplotlib. The format of the files: doc/field-format.md.
"""
import argparse
import json
import pathlib
import re
import sys


def fail(text):
    sys.exit(f"error: {text}")


try:
    import h5py
    import numpy
except ImportError as why:
    fail(f"{why}; scripts/setup.sh installs python3-h5py where it can")

KOLMOGOROV = 1.6  # of the spectrum in all directions; Sreenivasan (1995) finds 1.5 +- 0.15 in many experiments


def read_step(files):
    """The velocity of a step: array [z, y, x, component], lengths of the edges (x, y, z), time."""
    blocks, time = [], None
    for path in files:
        with h5py.File(path, "r") as file:
            if file.attrs["format"] != 2:
                fail(f"{path}: format {file.attrs['format']}, expected 2")
            if "fields/velocity" not in file:
                fail(f"{path} has no velocity: output: {{fields: {{quantities: [velocity]}}}}")
            if numpy.any(file["blocks/level"][:] != 0):
                fail(f"{path}: blocks of several levels, expected one")
            time = float(file.attrs["time"])
            values = file["fields/velocity/level-0"][:].astype(float)
            for row, origin, spacing in zip(file["blocks/row"], file["blocks/origin"], file["blocks/spacing"]):
                blocks.append((numpy.array(origin), float(spacing), values[row]))
    dx = blocks[0][1]
    places = numpy.rint(numpy.array([block[0] for block in blocks]) / dx).astype(int)
    places -= places.min(axis=0)
    size = numpy.array(blocks[0][2].shape[2::-1])  # x, y, z
    cells = places.max(axis=0) + size
    if len(blocks) * size.prod() != cells.prod():
        fail(f"{files[0]} and others: {len(blocks)} blocks do not fill a box of {' x '.join(map(str, cells))} cells")
    u = numpy.full((*cells[::-1], 3), numpy.nan)
    for (x, y, z), (_, _, values) in zip(places, blocks):
        u[z:z + size[2], y:y + size[1], x:x + size[0]] = values
    if not numpy.all(numpy.isfinite(u)):
        fail(f"{files[0]}: cells without a velocity; there are walls, or blocks are missing")
    return u, cells * dx, time


def spectrum(u, lengths):
    """k and E(k) of the velocity u [z, y, x, component] in a box with edges `lengths` (x, y, z), and the sum over all waves of
    energy times k^2."""
    waves = [2 * numpy.pi * numpy.fft.fftfreq(n, d=length / n) for n, length in zip(u.shape[2::-1], lengths)]
    dk = 2 * numpy.pi / max(lengths[axis] for axis in range(3) if u.shape[2 - axis] > 1)
    square = waves[2][:, None, None]**2 + waves[1][None, :, None]**2 + waves[0][None, None, :]**2
    shell = numpy.floor(numpy.sqrt(square) / dk + 0.5).astype(int)
    count = u[..., 0].size
    energy = numpy.zeros(shell.shape)
    for component in range(3):
        energy += 0.5 * numpy.abs(numpy.fft.fftn(u[..., component]) / count)**2
    sums = numpy.bincount(shell.ravel(), weights=energy.ravel())
    return dk * numpy.arange(len(sums)), sums / dk, (square * energy).sum()


def steps_of(folder, times):
    """[(k, E, time, last complete k)] of a run, in the order of time."""
    files = {}
    for path in sorted(pathlib.Path(folder).glob("fields/fields_*.xdmf")):
        found = re.search(r"_(\d+)\.xdmf$", path.name)
        if found: # it names all files of the step
            names = sorted(set(re.findall(r"[\w.+-]+\.h5", path.read_text())))
            files[int(found[1])] = [path.parent / name for name in names]
    if not files:
        fail(f"{folder} has no fields/fields_*.xdmf")
    missing = [str(path) for paths in files.values() for path in paths if not path.is_file()]
    if missing:
        fail(f"{missing[0]} is missing")
    when = {}
    for step, paths in files.items():
        with h5py.File(paths[0], "r") as file:
            when[step] = float(file.attrs["time"])
    wanted = sorted({min(when, key=lambda step: abs(when[step] - t)) for t in times} if times else when)
    rows = []
    for step in wanted:
        u, lengths, time = read_step(files[step])
        k, e, squares = spectrum(u, lengths)
        whole, mean = e.sum() * (k[1] - k[0]), 0.5 * (u**2).sum(axis=3).mean()
        if abs(whole - mean) > 1e-9 * max(mean, 1e-300):
            fail(f"{folder}, step {step}: the spectrum holds {whole}, the field {mean}")
        rows.append((k, e, time, numpy.pi * u.shape[2] / lengths[0], squares))
    check_sides(pathlib.Path(folder) / "summary.json")
    return rows


def check_sides(path):
    if not path.is_file():
        print(f"warning: there is no {path}: whether the box is periodic is not known", file=sys.stderr)
        return
    for key, value in json.loads(path.read_text()).get("parameters", {}).items():
        if re.fullmatch(r"boundaries\.[xyz]_(min|max)\.type", key) and value != "periodic":
            fail(f"{path.parent}: side {key.split('.')[1]} is of type {value}, a spectrum needs a periodic box")


def draw(path, runs, viscosity):
    import matplotlib
    matplotlib.use("Agg")
    import matplotlib.pyplot as plt
    import matplotlib.ticker
    figure, axes = plt.subplots(figsize=(7.2, 5.0))
    most = max(len(rows) for _, rows in runs)
    largest, level = 0, None
    for number, (label, rows) in enumerate(runs):
        for place, (k, e, time, last, squares) in enumerate(rows):
            shown = (k > 0) & (k < last) & (e > 1e-9 * e.max())
            axes.loglog(k[shown], e[shown], ["-", "--", ":", "-."][number % 4],
                        color=plt.cm.viridis(0.9 * place / max(most - 1, 1)), label=f"{label}, t = {time:.2g}")
            if viscosity:
                largest = max(largest, 2 * viscosity * squares)
            elif level is None:
                middle = numpy.argmax(shown) + shown.sum() // 8
                level = e[middle] * k[middle]**(5 / 3)
    if viscosity:
        level = KOLMOGOROV * largest**(2 / 3)
    reach = numpy.array([2.0, 30.0]) * runs[0][1][0][0][1]
    axes.loglog(reach, level * reach**(-5 / 3), color="black", linewidth=1,
                label=r"$1.6\,\varepsilon^{2/3} k^{-5/3}$" if viscosity else r"$k^{-5/3}$")
    top = max(e.max() for _, rows in runs for _, e, *_ in rows)
    axes.set_ylim(1e-7 * top, 3 * top)
    axes.xaxis.set_major_locator(matplotlib.ticker.LogLocator(subs=(1, 2, 5)))
    axes.xaxis.set_major_formatter(matplotlib.ticker.ScalarFormatter())
    axes.xaxis.set_minor_formatter(matplotlib.ticker.NullFormatter())
    axes.set_xlabel("wave number k, in 1 / unit of length of the case")
    axes.set_ylabel("E(k), kinetic energy per mass and wave number")
    axes.grid(True, which="major", alpha=0.3)
    axes.legend(fontsize=8)
    figure.tight_layout()
    figure.savefig(path, dpi=110)
    plt.close(figure)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("out", nargs="+")
    parser.add_argument("--label", action="append", default=[])
    parser.add_argument("--time", action="append", type=float, default=[])
    parser.add_argument("--viscosity", type=float)
    parser.add_argument("--csv", type=argparse.FileType("w"), default=sys.stdout)
    parser.add_argument("--png")
    given = parser.parse_args()
    if given.label and len(given.label) != len(given.out):
        fail(f"{len(given.label)} labels for {len(given.out)} folders")
    labels = given.label or [pathlib.Path(folder).name for folder in given.out]
    runs = [(label, steps_of(folder, given.time)) for label, folder in zip(labels, given.out)]
    print("run,time,k,E", file=given.csv)
    for label, rows in runs:
        for k, e, time, _, squares in rows:
            for at, value in zip(k, e):
                print(f'"{label}",{time:.9g},{at:.9g},{value:.9g}', file=given.csv)
            text = f"{label}: t = {time:.4g}, energy {e.sum() * (k[1] - k[0]):.6g}"
            if given.viscosity:
                text += f", dissipation of what is resolved {2 * given.viscosity * squares:.4g}"
            print(text, file=sys.stderr)
    if given.png:
        draw(given.png, runs, given.viscosity)


if __name__ == "__main__":
    main()

# SPDX-License-Identifier: Apache-2.0
"""Fields: quantities on all cells, block by block, in HDF5 files (doc/field-format.md)."""
import glob
import os
import re
from collections.abc import Mapping, Sequence

import numpy


def _h5py():
    try:
        import h5py
    except ImportError as reason:
        raise ImportError("fields are HDF5 files: install h5py to read them") from reason
    return h5py


def files_of_steps(folder, name, ending):
    """Files NAME_STEP and an ending (a regular expression) in a folder: a list of paths for each step, in the order of steps."""
    pattern = re.compile(re.escape(name) + r"_(\d{10})" + ending)
    steps = {}
    for path in sorted(glob.glob(os.path.join(glob.escape(folder), glob.escape(name) + "_*"))):
        found = pattern.fullmatch(os.path.basename(path))
        if found:
            steps.setdefault(int(found.group(1)), []).append(path)
    return dict(sorted(steps.items()))


class Fields(Sequence):
    """The states that a run has written, in the order of steps: `fields[0]`, `fields[-1]`, `fields.at(step=1000)`.

    Nothing is read until it is asked for.
    """

    def __init__(self, folder, name="fields"):
        self.folder, self.name = folder, name
        self._files = files_of_steps(folder, name, r"\.s\d+\.h5")

    @property
    def steps(self):
        """Numbers of the steps."""
        return list(self._files)

    def __len__(self):
        return len(self._files)

    def __getitem__(self, index):
        if isinstance(index, slice):
            return [State(step, self._files[step]) for step in self.steps[index]]
        step = self.steps[index]
        return State(step, self._files[step])

    def at(self, step=None, time=None):
        """The state of a step, or the state nearest to a time."""
        if step is not None:
            if step not in self._files:
                raise KeyError(f"no fields of step {step}; steps: {self.steps}")
            return State(step, self._files[step])
        if time is None:
            raise TypeError("at() takes step= or time=")
        if not self._files:
            raise KeyError("the run has no fields")
        return min(self, key=lambda state: abs(state.time - time))

    def __repr__(self):
        return f"<gabion.Fields: {len(self)} steps in {self.folder}>"


class State(Mapping):
    """All quantities of one step: a mapping from the name of a quantity to a Field."""

    def __init__(self, step, paths):
        h5py = _h5py()
        self.step, self._paths = step, paths
        self._blocks = []  # file, level, row, origin, spacing, id, owner
        self._fields = {}
        self.time = self.cells = None
        for path in paths:
            with h5py.File(path, "r") as file:
                if int(file.attrs.get("format", 1)) != 2:
                    raise ValueError(f"{path}: format {file.attrs.get('format', 1)} of fields; this package reads format 2")
                self.time = float(file.attrs["time"])
                self.cells = tuple(int(count) for count in file.attrs["cells"])
                names = ("level", "row", "origin", "spacing", "id", "owner")
                for block in zip(*(file["blocks/" + name][...] for name in names)):
                    self._blocks.append((path,) + block)
                for name, group in file["fields"].items():
                    unit = group.attrs.get("unit", "")
                    self._fields.setdefault(name, unit.decode() if isinstance(unit, bytes) else str(unit))
        if not self._blocks:
            raise ValueError(f"step {step}: no blocks in {paths}")
        self.levels = sorted({int(block[1]) for block in self._blocks})
        origins = numpy.array([block[3] for block in self._blocks])
        ends = origins + numpy.array([[block[4] * count for count in self.cells] for block in self._blocks])
        self.lower, self.upper = origins.min(axis=0), ends.max(axis=0)
        self.dimension = 2 if self.cells[2] == 1 else 3

    def __getitem__(self, name):
        if name not in self._fields:
            raise KeyError(f"no quantity '{name}' in step {self.step}; quantities: {', '.join(self._fields)}")
        return Field(self, name, self._fields[name])

    def __iter__(self):
        return iter(self._fields)

    def __len__(self):
        return len(self._fields)

    @property
    def blocks(self):
        """The blocks as a structured array: id, level, owner, origin, spacing. In ascending order of ids."""
        kind = [("id", "u8"), ("level", "i4"), ("owner", "i4"), ("origin", "f8", 3), ("spacing", "f8")]
        table = [(b[5], b[1], b[6], tuple(b[3]), b[4]) for b in self._blocks]
        return numpy.sort(numpy.array(table, dtype=kind), order="id")

    def spacing(self, level):
        """Width of the cells of a level."""
        widths = [block[4] for block in self._blocks if block[1] == level]
        if not widths:
            raise KeyError(f"no blocks of level {level} in step {self.step}; levels: {self.levels}")
        return float(widths[0])

    def __repr__(self):
        return f"<gabion.State: step {self.step}, time {self.time:g}, {len(self._blocks)} blocks, {', '.join(self)}>"


class Field:
    """One quantity of one step. Arrays are [z, y, x], of a vector [z, y, x, component]; in 2D [y, x] and [y, x, component]."""

    def __init__(self, state, name, unit):
        self.state, self.name, self.unit = state, name, unit

    def blocks(self):
        """Yields each block as (level, origin, array [z, y, x] or [z, y, x, component])."""
        h5py = _h5py()
        files = {}
        for block in self.state._blocks:
            files.setdefault(block[0], []).append(block)
        for path, blocks in files.items():
            with h5py.File(path, "r") as file:
                for _, level, row, origin, *_ in blocks:
                    yield int(level), origin, file[f"fields/{self.name}/level-{level}"][int(row)]

    def on_grid(self, level=None, box=None):
        """All blocks on one grid with the cells of a level (default: the finest).

        Cells of coarser levels are repeated, cells of finer levels averaged (NaN does not count). NaN where there is no block or no
        fluid. box: (lower corner, upper corner), to be covered; default: the whole domain.
        """
        grid = Grid(self.state, self.state.levels[-1] if level is None else level, box)
        total = count = None
        for of, origin, values in self.blocks():
            if total is None:
                total = numpy.zeros(grid.shape + values.shape[3:])
                count = numpy.zeros_like(total)
            grid.add(of, origin, values, total, count)
        with numpy.errstate(invalid="ignore", divide="ignore"):
            values = total / count
        return values[0] if self.state.dimension == 2 else values

    def coordinates(self, level=None, box=None):
        """Coordinates of the cell centres of on_grid(): x, y, z (in 2D x, y)."""
        grid = Grid(self.state, self.state.levels[-1] if level is None else level, box)
        return grid.centres()[: self.state.dimension]

    def slice(self, axis, at, level=None):
        """The cells that a plane across an axis ("x", "y", "z") passes through, as a 2-D array (and components)."""
        index = "xyz".index(axis)
        if index >= self.state.dimension:
            raise ValueError(f"no axis {axis} in {self.state.dimension}D")
        if not self.state.lower[index] <= at <= self.state.upper[index]:
            raise ValueError(f"{axis} = {at} is outside of {self.state.lower[index]} to {self.state.upper[index]}")
        width = self.state.spacing(self.state.levels[-1] if level is None else level)
        lower, upper = self.state.lower.copy(), self.state.upper.copy()
        cell = min(int((at - lower[index]) / width), round((upper[index] - lower[index]) / width) - 1)
        upper[index] = lower[index] + (cell + 1) * width
        lower[index] += cell * width
        values = self.on_grid(level, (lower, upper))
        return numpy.take(values, 0, axis=self.state.dimension - 1 - index)

    def sample(self, points):
        """Values of the cells that contain the points [n, 2 or 3]; NaN outside of all blocks."""
        points = numpy.atleast_2d(numpy.asarray(points, dtype=float))
        if points.shape[1] == 2:
            points = numpy.hstack([points, numpy.full((len(points), 1), 0.5 * (self.state.lower[2] + self.state.upper[2]))])
        values = None
        for level, origin, block in self.blocks():
            if values is None:
                values = numpy.full((len(points),) + block.shape[3:], numpy.nan)
            cell = numpy.floor((points - origin) / self.state.spacing(level)).astype(int)
            inside = numpy.all((cell >= 0) & (cell < self.state.cells), axis=1)
            x, y, z = cell[inside].T
            values[inside] = block[z, y, x]
        return values

    def to_xarray(self, level=None):
        """An xarray.DataArray with coordinates."""
        import xarray

        names = ["z", "y", "x"][-self.state.dimension :]
        values = self.on_grid(level)
        centres = dict(zip("xyz", self.coordinates(level)))
        if values.ndim > len(names):
            names.append("component")
        return xarray.DataArray(
            values, dims=names, coords={name: centres[name] for name in names if name in centres}, name=self.name,
            attrs={"units": self.unit, "step": self.state.step, "time": self.state.time},
        )

    def picture(self, path=None, axis="z", at=None, component=None, level=None, **options):
        """Draws the field, or a plane of it; of a vector its length or a component. options go to matplotlib's imshow().

        Returns the axes; with `path` the picture is written there and closed.
        """
        from .picture import draw

        return draw(self, path, axis, at, component, level, options)

    def __repr__(self):
        return f"<gabion.Field: {self.name}{' in ' + self.unit if self.unit else ''}, step {self.state.step}>"


class Grid:
    """A uniform grid of the cells of one level over a box, to which blocks of all levels add."""

    def __init__(self, state, level, box=None):
        self.state, self.level = state, level
        self.width = state.spacing(level) if level in state.levels else state.spacing(state.levels[0]) * 2.0 ** (
            state.levels[0] - level)
        lower, upper = (numpy.asarray(corner, dtype=float) for corner in (box or (state.lower, state.upper)))
        if len(lower) == 2:
            lower, upper = numpy.append(lower, state.lower[2]), numpy.append(upper, state.upper[2])
        first = numpy.floor((lower - state.lower) / self.width + 1e-6).astype(int)
        last = numpy.ceil((upper - state.lower) / self.width - 1e-6).astype(int)
        if state.dimension == 2:
            first[2], last[2] = 0, 1
        if numpy.any(last <= first):
            raise ValueError(f"the box from {lower} to {upper} covers no cell")
        self.first, self.count = first, last - first

    @property
    def shape(self):
        return tuple(self.count[::-1])

    def centres(self):
        return [self.state.lower[i] + self.width * (self.first[i] + numpy.arange(self.count[i]) + 0.5) for i in range(3)]

    def add(self, level, origin, values, total, count):
        """Adds the cells of one block, [z, y, x, ...], to sums and to numbers of summands."""
        state = self.state
        axes = range(state.dimension)
        if level < self.level:  # coarser: repeated
            for axis in axes:
                values = numpy.repeat(values, 2 ** (self.level - level), axis=2 - axis)
        ratio = 2 ** max(level - self.level, 0)  # finer: averaged
        width = self.width / ratio
        start = numpy.rint((numpy.asarray(origin) - state.lower) / width).astype(int)
        if state.dimension == 2:
            start[2] = 0
        index = []
        for axis in (2, 1, 0):
            step = ratio if axis < state.dimension else 1
            cells = (start[axis] + numpy.arange(values.shape[2 - axis])) // step - self.first[axis]
            index.append((cells, (cells >= 0) & (cells < self.count[axis])))
        if not all(inside.any() for _, inside in index):
            return
        values = values[numpy.ix_(*(inside for _, inside in index))]
        place = numpy.ix_(*(cells[inside] for cells, inside in index))
        known = ~numpy.isnan(values)
        if ratio == 1:  # each cell once
            total[place] += numpy.where(known, values, 0)
            count[place] += known
        else:
            numpy.add.at(total, place, numpy.where(known, values, 0))
            numpy.add.at(count, place, known)

# SPDX-License-Identifier: Apache-2.0
"""Planes: quantities on a uniform grid in a plane (in 2D on a line), all steps in one HDF5 file (doc/field-format.md)."""
import glob
import os
from collections.abc import Mapping

import numpy

from .fields import _h5py


def _text(value):
    return value.decode() if isinstance(value, bytes) else str(value)


class Plane(Mapping):
    """A file of a plane: a mapping from the name of a quantity to its values [row, up, across], of a vector [row, up, across, component].

    In 2D a line: [row, along] and [row, along, component]. `plane.row(i)` reads one row only. Solid cells are NaN.
    """

    def __init__(self, path):
        self.path = path
        with _h5py().File(path, "r") as file:
            if _text(file.attrs.get("content", "")) != "plane":
                raise ValueError(f"{path} is not a file of a plane")
            if int(file.attrs["format"]) != 1:
                raise ValueError(f"{path}: format {file.attrs['format']} of planes; this package reads format 1")
            self.axis, self.position = _text(file.attrs["axis"]), float(file.attrs["position"])
            self.case = _text(file.attrs["case"])
            self.origin = numpy.array(file.attrs["origin"])
            spacing, points = numpy.atleast_1d(file.attrs["spacing"]), numpy.atleast_1d(file.attrs["points"])
            self.dimension = len(points) + 1
            self._names = [name for name in file["rows"].dtype.names if name not in ("step", "time")]
            self.units = {name: _text(file.attrs[f"unit of {name}"]) for name in self._names}
            self.units["time"] = _text(file.attrs["unit of time"])
            self.steps, self.times = file["rows"].fields("step")[...], file["rows"].fields("time")[...]
        along = [axis for axis in "xyz"[: self.dimension] if axis != self.axis]
        self.coordinates = {
            axis: self.origin["xyz".index(axis)] + width * numpy.arange(count) for axis, width, count in zip(along, spacing, points)
        }

    def __getitem__(self, name):
        self._check(name)
        with _h5py().File(self.path, "r") as file:
            return file["rows"].fields(name)[...]

    def row(self, index, name):
        """The values of a quantity in one row."""
        self._check(name)
        with _h5py().File(self.path, "r") as file:
            return file["rows"].fields(name)[range(len(self.steps))[index]]

    def _check(self, name):
        if name not in self._names:
            raise KeyError(f"no quantity '{name}' in {self.path}; quantities: {', '.join(self._names)}")

    def __iter__(self):
        return iter(self._names)

    def __len__(self):
        return len(self._names)

    def __repr__(self):
        return f"<gabion.Plane: {self.axis} = {self.position:g}, {len(self.steps)} rows, {', '.join(self)}>"


class Planes(Mapping):
    """The planes of a run by name: `run.planes["outlet"]` for outlet.h5."""

    def __init__(self, folder):
        self._paths = {os.path.basename(path)[:-3]: path for path in sorted(glob.glob(os.path.join(glob.escape(folder), "*.h5")))}

    def __getitem__(self, name):
        if name not in self._paths:
            raise KeyError(f"no plane '{name}'; planes: {', '.join(self._paths) or 'none'}")
        return Plane(self._paths[name])

    def __iter__(self):
        return iter(self._paths)

    def __len__(self):
        return len(self._paths)

# SPDX-License-Identifier: Apache-2.0
"""Particles and tracers of a run (doc/field-format.md)."""
import glob
import os
import re
from collections.abc import Sequence

from .fields import _h5py


class Particles(Sequence):
    """Steps with particles: each a dictionary of numpy arrays ("id", "position", further columns), "step" and "time"."""

    def __init__(self, folder, name="tracers"):
        pattern = re.compile(re.escape(name) + r"_(\d{10})\.h5$")
        paths = glob.glob(os.path.join(glob.escape(folder), glob.escape(name) + "_*.h5"))
        found = {int(match.group(1)): path for path in paths if (match := pattern.search(os.path.basename(path)))}
        self._files = dict(sorted(found.items()))

    @property
    def steps(self):
        return list(self._files)

    def __len__(self):
        return len(self._files)

    def __getitem__(self, index):
        if isinstance(index, slice):
            return [self[i] for i in range(*index.indices(len(self)))]
        step = self.steps[index]
        with _h5py().File(self._files[step], "r") as file:
            columns = {name: data[...] for name, data in file["particles"].items() if name != "row"}
            return {"step": step, "time": float(file.attrs["time"]), **columns}

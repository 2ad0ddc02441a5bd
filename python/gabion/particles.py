# SPDX-License-Identifier: Apache-2.0
"""Particles and tracers of a run (doc/field-format.md)."""
from collections.abc import Sequence

from .fields import _h5py, files_of_steps


class Particles(Sequence):
    """Steps with particles: each a dictionary of numpy arrays ("id", "position", further columns), "step" and "time"."""

    def __init__(self, folder, name="tracers"):
        self._files = {step: paths[0] for step, paths in files_of_steps(folder, name, r"\.h5").items()}

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

# SPDX-License-Identifier: Apache-2.0
"""The output folder of a run."""
import glob
import json
import os

from .fields import Fields
from .particles import Particles
from .planes import Planes
from .series import Table


class Series(dict):
    """Tables by name ("forces" for forces.csv), read when they are asked for."""

    def __init__(self, folder):
        super().__init__()
        self._paths = {os.path.basename(path)[:-4]: path for path in sorted(glob.glob(os.path.join(glob.escape(folder), "*.csv")))}

    def __missing__(self, name):
        if name not in self._paths:
            raise KeyError(f"no table '{name}'; tables: {', '.join(self._paths) or 'none'}")
        self[name] = Table.read(self._paths[name])
        return self[name]

    def __contains__(self, name):
        return name in self._paths

    def __iter__(self):
        return iter(self._paths)

    def __len__(self):
        return len(self._paths)

    def keys(self):
        return self._paths.keys()

    def values(self):
        return [self[name] for name in self._paths]

    def items(self):
        return [(name, self[name]) for name in self._paths]


class Run:
    """What a run has left: parameters, tables, fields, events. Files are read when they are asked for, and once."""

    def __init__(self, folder):
        self.folder = os.fspath(folder)
        if not os.path.exists(os.path.join(self.folder, "case.yaml")):
            raise FileNotFoundError(f"{self.folder}: not the output folder of a run (no case.yaml)")
        self.series = Series(self.folder)
        self._summary = None

    @property
    def summary(self):
        """summary.json; {} while the run computes."""
        if self._summary is None:
            try:
                with open(os.path.join(self.folder, "summary.json"), encoding="utf-8") as file:
                    self._summary = json.load(file)
            except FileNotFoundError:
                return {}
        return self._summary

    @property
    def is_finished(self):
        """Whether the run computed all its steps."""
        return self.summary.get("exit_code") == 0

    @property
    def results(self):
        """Numbers that the solver states at the end: coefficients, permeability, Nusselt numbers."""
        return self.summary.get("results", {})

    @property
    def parameters(self):
        """Parameters that differ from their defaults: {"fluid.viscosity": 0.001}."""
        return self.summary.get("parameters", {})

    @property
    def checksum(self):
        """The checksum of the final state; equal on any number of processes, with and without deaths."""
        return self.summary.get("checksum")

    @property
    def events(self):
        """What happened: deaths, recoveries, checkpoints, adaptations; a list of dictionaries."""
        return self._lines("events.jsonl")

    @property
    def log(self):
        """The log as text."""
        with open(os.path.join(self.folder, "log.txt"), encoding="utf-8", errors="replace") as file:
            return file.read()

    @property
    def fields(self):
        return Fields(os.path.join(self.folder, "fields"))

    @property
    def means(self):
        """Time means (output.means)."""
        return Fields(os.path.join(self.folder, "fields"), "means")

    @property
    def tracers(self):
        return Particles(os.path.join(self.folder, "fields"))

    @property
    def planes(self):
        """Planes (output.planes)."""
        return Planes(self.folder)

    @property
    def pictures(self):
        """Paths of all pictures, in the order of names and steps."""
        return sorted(glob.glob(os.path.join(glob.escape(self.folder), "*.png")))

    def _lines(self, name):
        try:
            with open(os.path.join(self.folder, name), encoding="utf-8") as file:
                lines = file.read().split("\n")
        except FileNotFoundError:
            return []
        return [json.loads(line) for line in lines[:-1] if line]  # the last one may be in the making

    def __repr__(self):
        end = "finished" if self.is_finished else f"exit code {self.summary['exit_code']}" if self.summary else "not finished"
        return f"<gabion.Run: {self.folder}, {end}>"


def open_folder(folder):
    """Opens the output folder of a run, finished or not."""
    return Run(folder)

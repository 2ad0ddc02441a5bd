# SPDX-License-Identifier: Apache-2.0
"""Results and runs of Gabion in Python.

    import gabion
    run = gabion.open("out/cylinder")
    forces = run.series["forces"]            # a table: forces["time"], forces["cylinder.cx"]
    state = run.fields[-1]                   # the last step with fields
    velocity = state["velocity"].on_grid()   # numpy, [z, y, x, component], NaN where there is no fluid
    state["vorticity"].picture("vorticity.png")

    run = gabion.run("cylinder.yaml", out="out/re200", settings={"fluid.velocity": 2.0}, processes=4)

Needs numpy; fields need h5py, pictures matplotlib, `to_xarray()` xarray.
"""
from .fields import Field, Fields, State
from .particles import Particles
from .planes import Plane, Planes
from .run_folder import Run, open_folder as open  # noqa: A004 (the word that users expect)
from .series import Table
from .start import Failed, check, program, run, sweep

__all__ = ["Failed", "Field", "Fields", "Particles", "Plane", "Planes", "Run", "State", "Table", "check", "open", "program", "run", "sweep"]

# SPDX-License-Identifier: Apache-2.0
"""What the package says of the runs of script_package.sh, against the files themselves and sums of the program."""
import csv
import glob
import math
import os
import re
import sys

import h5py
import numpy

import gabion


def raises(kind, call, text):
    try:
        call()
    except kind as error:
        assert text in str(error), f"{text!r} is not in {error}"
        return error
    raise AssertionError(f"no {kind.__name__}")


run = gabion.open("out")
assert run.is_finished and len(run.checksum) == 16 and run.parameters["fluid.viscosity"] == 0.02
assert "survived" in run.log and any(event["event"] == "recovery" for event in run.events), run.events
raises(FileNotFoundError, lambda: gabion.open("nowhere"), "not the output folder of a run")

# Tables, as the csv module reads them.
forces = run.series["forces"]
with open("out/forces.csv", newline="") as file:
    rows = list(csv.DictReader(file))
assert len(forces) == len(rows) == 7 and forces["step"].dtype == numpy.int64
assert all(float(row["ball.fx"]) == value for row, value in zip(rows, forces["ball.fx"]))
assert list(forces.between(0.5, 1.3)["step"]) == [8, 12]
raises(KeyError, lambda: forces["nothing"], "no column 'nothing'; columns: step, time, ball.fx")
raises(KeyError, lambda: run.series["nothing"], "behind, forces, integrals, level, probes")
with open("cut.csv", "w") as file:
    file.write("step,time,a\n0,0,1\n1,0.5,2\n2,1,")
assert list(gabion.Table.read("cut.csv")["a"]) == [1, 2]

# Fields: blocks as doc/field-format.md describes them.
fields = run.fields
assert fields.steps == [0, 12, 24] and fields.at(time=1.1).step == 12 and fields.at(step=24).time == fields[-1].time
raises(KeyError, lambda: fields.at(step=13), "no fields of step 13; steps: [0, 12, 24]")
state = fields[-1]
assert state.levels == [0, 1] and state.dimension == 3 and list(state.upper) == [6, 4, 4]
assert sorted(state) == ["density", "level", "velocity"] and state["velocity"].unit == "m/s"
raises(KeyError, lambda: state["pressure"], "no quantity 'pressure'")
fine, coarse = state["velocity"].on_grid(), state["velocity"].on_grid(0)
assert fine.shape == (32, 32, 48, 3) and coarse.shape == (16, 16, 24, 3)
checked, volume, mass = 0, 0.0, 0.0
for path in glob.glob("out/fields/fields_0000000024.s*.h5"):
    with h5py.File(path) as file:
        for level, row, origin, width in zip(*(file["blocks/" + name] for name in ("level", "row", "origin", "spacing"))):
            block = file[f"fields/velocity/level-{level}"][row]
            density = file[f"fields/density/level-{level}"][row]
            volume += numpy.isfinite(density).sum() * width**3
            mass += numpy.nansum(density) * width**3
            for z in range(8):
                for y in range(8):
                    for x in range(8):
                        i, j, k = (int(math.floor((o + (c + 0.25) * width) / 0.125)) for o, c in zip(origin, (x, y, z)))
                        numpy.testing.assert_array_equal(fine[k, j, i], block[z, y, x])
                        checked += 1
assert checked == sum(len(state.blocks[state.blocks["level"] == level]) for level in (0, 1)) * 512
# The mean density of the program, by exact sums.
assert abs(mass / volume - run.series["integrals"]["mass"][-1]) < 1e-13, (mass / volume, run.series["integrals"]["mass"][-1])
# Averages of eight fine cells, of those that are fluid.
with numpy.errstate(invalid="ignore"):
    eight = fine.reshape(16, 2, 16, 2, 24, 2, 3)
    expected = numpy.nansum(eight, axis=(1, 3, 5)) / numpy.isfinite(eight).sum(axis=(1, 3, 5))
numpy.testing.assert_allclose(coarse, expected, rtol=0, atol=1e-15)
assert numpy.isnan(fine[16, 16, 16]).all() and numpy.isfinite(fine[0, 0, 0]).all()

# Files of planes: points in the centres of cells of the finest level have the values of these cells.
behind = run.planes["behind"]
assert list(run.planes) == ["behind", "level"] and list(behind.steps) == [0, 6, 12, 18, 24] and abs(behind.times[1] - 0.6) < 1e-12
assert sorted(behind) == ["density", "velocity"] and behind.units == {"velocity": "m/s", "density": "kg/m^3", "time": "s"}
assert behind["velocity"].shape == (5, 32, 32, 3) and behind["density"].shape == (5, 32, 32) and len(behind.case) == 16
numpy.testing.assert_array_equal(behind.coordinates["y"], state["velocity"].coordinates()[1])
near, whole = behind.row(-1, "velocity"), fine[:, :, 23]
refined = numpy.isfinite(whole).all(axis=2) & numpy.isfinite(near).all(axis=2)
refined[:8], refined[24:], refined[:, :8], refined[:, 24:] = False, False, False, False  # the rest may be of level 0
assert refined.sum() > 200
numpy.testing.assert_array_equal(near[refined], whole[refined])
assert numpy.isnan(run.planes["level"]["velocity"][0, 8, 8]).all() and run.planes["level"]["pressure"].shape == (3, 16, 24)
raises(KeyError, lambda: behind["pressure"], "no quantity 'pressure'")
raises(KeyError, lambda: run.planes["nothing"], "no plane 'nothing'; planes: behind, level")

# Points, planes, boxes: the same cells.
probes = run.series["probes"]
for name, at in (("a", [2.9, 2.2, 1.3]), ("b", [5, 1.1, 3.3])):
    value = state["velocity"].sample([at])[0]
    numpy.testing.assert_array_equal(value, [probes[f"{name}.velocity.{c}"][-1] for c in "xyz"])
assert numpy.isnan(state["density"].sample([[7, 1, 1]])).all()
x, y, z = state["velocity"].coordinates()
assert x[0] == 0.0625 and len(x) == 48 and y[-1] == 4 - 0.0625 and len(z) == 32
numpy.testing.assert_array_equal(state["velocity"].slice("x", 5.01), fine[:, :, 40])
numpy.testing.assert_array_equal(state["velocity"].slice("y", 4), fine[:, 31])
numpy.testing.assert_array_equal(state["velocity"].slice("z", 0.3), fine[2])
numpy.testing.assert_array_equal(state["density"].on_grid(box=([1, 0.5, 2], [2, 1, 3])), state["density"].on_grid()[16:24, 4:8, 8:16])
raises(ValueError, lambda: state["velocity"].slice("z", 9), "outside of")

# Tracers: nine in a row, which the flow has carried on.
first, last = run.tracers[0], run.tracers[-1]
assert run.tracers.steps == [0, 12, 24] and last["step"] == 24 and last["time"] == state.time and list(last["id"]) == list(first["id"])
numpy.testing.assert_allclose(first["position"], [[0.5, 1 + 0.25 * i, 1 + 0.25 * i] for i in range(9)], rtol=0, atol=1e-12)
with h5py.File("out/fields/tracers_0000000024.h5") as file:
    numpy.testing.assert_array_equal(last["position"], file["particles/position"])
assert (last["position"][:, 0] > first["position"][:, 0] + 0.1).all(), last["position"]

# Programs: messages come through.
assert "cavity.yaml: fine" in gabion.check("cavity.yaml")
error = raises(gabion.Failed, lambda: gabion.run("cavity.yaml", out="bad", settings={"fluid.viscosity": -1.0}), "fluid.viscosity")
assert error.code == 2 and not os.path.exists("bad")
first = gabion.run("cavity.yaml", out="again", settings={"run.steps": 10, "boundaries.y_max.velocity": [0.5, 0]}).checksum
error = raises(gabion.Failed, lambda: gabion.run("cavity.yaml", out="again", settings={"run.steps": 20}), "--fresh")
assert gabion.run("cavity.yaml", out="again", settings={"run.steps": 20}, fresh=True).checksum != first

# The examples of the documentation, in one namespace.
with open(sys.argv[1]) as file:
    examples = re.findall(r"^```python\n(.*?)^```", file.read(), re.MULTILINE | re.DOTALL)
assert len(examples) >= 5
try:
    import matplotlib
except ImportError:
    matplotlib = None
names = {}
for example in examples:
    if "picture(" in example and not matplotlib:
        continue
    exec(compile(example, sys.argv[1], "exec"), names)
assert os.path.exists("sweep/viscosity_0.05-steps_100/summary.json")
results = dict((chosen["fluid.viscosity"], run) for chosen, run in gabion.sweep("cavity.yaml", {"fluid.viscosity": [0.02, -1.0]}, "mixed", {"run.steps": 5}))
assert results[0.02].is_finished and isinstance(results[-1.0], gabion.Failed) and results[-1.0].code == 2
if matplotlib:
    from matplotlib.image import imread

    assert len(numpy.unique(imread("speed.png").reshape(-1, 4), axis=0)) > 100
print("all of them")

# SPDX-License-Identifier: Apache-2.0
"""Loads a time series written by mpi_output.c through the XDMF readers of VTK and ParaView, and compares steps,
bounds and every cell. Exit code 77: there is no such reader here."""
import importlib
import math
import os
import sys

CELLS, BLOCKS, STEPS = (6, 5, 4), 15, [0.0, 1.25, 2.5]
ORIGIN, DX = (-1.0, 0.5, 2.0), 0.125


def expect(condition, what):
    if not condition:
        sys.exit(what)


def solid(x, y, z):
    return (x - 7) ** 2 + (y - 5) ** 2 + max(z - 3, 0) < 6.5


def density(x, y, z):
    return math.nan if solid(x, y, z) else 1 + 0.25 * x + 0.5 * y + 0.125 * z


def velocity(x, y, z):
    if solid(x, y, z):
        return (math.nan,) * 3
    return (0.5 * (x + 1) - 2, -0.25 * (y + 1) - 2, z + 1 - 2.0)


def same(a, b):
    return a == b or (math.isnan(a) and math.isnan(b))


def leaves(data):
    walk = data.NewIterator()
    walk.InitTraversal()
    while not walk.IsDoneWithTraversal():
        yield walk.GetCurrentDataObject()
        walk.GoToNextItem()


def check_block(name, block):
    low = [round((block.GetBounds()[2 * d] - ORIGIN[d]) / DX) for d in range(3)]
    high = [round((block.GetBounds()[2 * d + 1] - ORIGIN[d]) / DX) for d in range(3)]
    expect([h - l for h, l in zip(high, low)] == list(CELLS), f"{name}: bounds of a block")
    data = block.GetCellData()
    arrays = [data.GetArray(key) for key in ("density", "velocity")]
    expect(all(arrays), f"{name}: an array is missing")
    expect(all(a.GetNumberOfTuples() == 120 for a in arrays), f"{name}: one value per cell")
    cell = 0
    for z in range(low[2], high[2]):
        for y in range(low[1], high[1]):
            for x in range(low[0], high[0]):
                expect(same(arrays[0].GetTuple1(cell), density(x, y, z)), f"{name}: density of {x} {y} {z}")
                pairs = zip(arrays[1].GetTuple3(cell), velocity(x, y, z))
                expect(all(same(a, b) for a, b in pairs), f"{name}: velocity of {x} {y} {z}")
                cell += 1
    return tuple(low)


def check(name, reader, path):
    pipeline = importlib.import_module("vtkmodules.vtkCommonExecutionModel").vtkStreamingDemandDrivenPipeline
    path = os.path.abspath(path)  # XDMF 3 looks for data beside it only if it has a folder
    reader.SetFileName(path)
    expect(reader.CanReadFile(path), f"{name} does not take the file")
    reader.UpdateInformation()
    info, key = reader.GetOutputInformation(0), pipeline.TIME_STEPS()
    expect([info.Get(key, i) for i in range(info.Length(key))] == STEPS, f"{name}: time steps")
    for time in STEPS:
        reader.UpdateTimeStep(time)
        blocks = list(leaves(reader.GetOutputDataObject(0)))
        expect(len({check_block(name, block) for block in blocks}) == BLOCKS == len(blocks), f"{name}: blocks")


def main(path):
    found = 0
    # ParaView calls them Xdmf Reader, Xdmf3ReaderS and Xdmf3ReaderT.
    for module, name, series in (
        ("vtkIOXdmf2", "vtkXdmfReader", None),
        ("vtkIOXdmf3", "vtkXdmf3Reader", False),
        ("vtkIOXdmf3", "vtkXdmf3Reader", True),
    ):
        try:
            importlib.import_module("vtkmodules.vtkCommonDataModel")
            reader = getattr(importlib.import_module("vtkmodules." + module), name)()
        except ImportError:
            continue
        if series is not None:
            reader.SetFileSeriesAsTime(series)
        check(name, reader, path)
        found += 1
    sys.exit(0 if found else 77)


main(sys.argv[1])

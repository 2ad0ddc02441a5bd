# SPDX-License-Identifier: Apache-2.0
"""Loads particles written by mpi_particle_output.c through the XDMF readers of VTK and ParaView: times, ids, places, columns.
Exit code 77 if there is no such reader."""
import importlib
import sys

COUNT = 150


def leaves(data):
    if not data.IsA("vtkCompositeDataSet"):
        return [data]
    found, iterator = [], data.NewIterator()
    iterator.InitTraversal()
    while not iterator.IsDoneWithTraversal():
        found.append(iterator.GetCurrentDataObject())
        iterator.GoToNextItem()
    return found


def check(reader, path, times, count):
    pipeline = importlib.import_module("vtkmodules.vtkCommonExecutionModel").vtkStreamingDemandDrivenPipeline
    reader.SetFileName(path)
    reader.UpdateInformation()
    info, key = reader.GetOutputInformation(0), pipeline.TIME_STEPS()
    assert [info.Get(key, i) for i in range(info.Length(key))] == times, "times"
    for time in times:
        reader.UpdateTimeStep(time)
        grids = leaves(reader.GetOutputDataObject(0))
        assert sum(grid.GetNumberOfPoints() for grid in grids) == count, "points"
        assert sum(grid.GetNumberOfCells() for grid in grids) == count, "vertices"
        for grid in grids if count else []:
            data = grid.GetPointData()
            for i in range(count):
                assert data.GetArray("id").GetTuple1(i) == 1000 + i, "ids"
                assert data.GetArray("velocity").GetTuple3(i)[1:] == (-float(i), 0.5), "velocities"
                assert data.GetArray("born").GetTuple1(i) <= 0, "born"
                assert grid.GetPoint(i)[2] == 0, "places"


def main(folder):
    found = 0
    for module, name, series in (
        ("vtkIOXdmf2", "vtkXdmfReader", None),
        ("vtkIOXdmf3", "vtkXdmf3Reader", False),
        ("vtkIOXdmf3", "vtkXdmf3Reader", True),
    ):
        try:
            importlib.import_module("vtkmodules.vtkCommonDataModel")
            make = getattr(importlib.import_module("vtkmodules." + module), name)
        except ImportError:
            continue
        for part, times, count in (("all", [0, 5, 10], COUNT), ("none", [0], 0)):
            reader = make()
            if series is not None:
                reader.SetFileSeriesAsTime(series)
            check(reader, f"{folder}/{part}/fields/dots.xdmf", times, count)
        found += 1
    sys.exit(0 if found else 77)


main(sys.argv[1])

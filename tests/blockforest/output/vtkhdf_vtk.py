# SPDX-License-Identifier: Apache-2.0
"""Reads VTKHDF files written by mpi_vtk_fields.c with VTK, compares values with h5py, and counts the free edges of isosurfaces
inside the domain: none. Arguments: a folder with fields/. Or files and NAME=VALUE of an isosurface: prints the counts. Exit
code 77: there is no such reader here."""
import importlib
import sys

try:
    import numpy
    import h5py

    hdf = importlib.import_module("vtkmodules.vtkIOHDF")
    core = importlib.import_module("vtkmodules.vtkFiltersCore")
    geometry = importlib.import_module("vtkmodules.vtkFiltersGeometry")
    support = importlib.import_module("vtkmodules.util.numpy_support")
except ImportError as reason:
    print(reason)
    sys.exit(77)


def read(path):
    reader = hdf.vtkHDFReader()
    reader.SetFileName(path)
    if not reader.CanReadFile(path):
        sys.exit(f"{path}: VTK does not take it")
    reader.Update()
    return reader.GetOutputDataObject(0)


def contour(data, name, value):
    maker = core.vtkContourFilter()
    maker.SetInputData(data)
    maker.SetInputArrayToProcess(0, 0, 0, 0, name)
    maker.SetValue(0, value)
    maker.ComputeNormalsOff()
    maker.Update()
    return maker.GetOutput()


def free_edges(surface):
    finder = core.vtkFeatureEdges()
    finder.SetInputData(surface)
    finder.BoundaryEdgesOn()
    finder.FeatureEdgesOff()
    finder.NonManifoldEdgesOff()
    finder.ManifoldEdgesOff()
    finder.Update()
    return segments(finder.GetOutput())


def segments(lines):
    """Pairs of ends, rounded, without those of no length."""
    if lines.GetNumberOfLines() == 0:
        return set()
    points = numpy.round(support.vtk_to_numpy(lines.GetPoints().GetData()).astype(float), 5)
    ends = support.vtk_to_numpy(lines.GetLines().GetConnectivityArray()).reshape(-1, 2)
    pairs = (sorted((tuple(points[a]), tuple(points[b]))) for a, b in ends)
    return {(a, b) for a, b in pairs if a != b}


def on_box(edge, bounds):
    return any(
        abs(edge[0][k // 2] - bounds[k]) < 1e-4 and abs(edge[1][k // 2] - bounds[k]) < 1e-4 for k in range(6)
    )


def count(data, name, value):
    """Triangles of an isosurface, its free edges, and those inside: neither on the outer faces of the mesh nor of the box."""
    surface = contour(data, name, value)
    skin = geometry.vtkDataSetSurfaceFilter()
    skin.SetInputData(data)
    skin.Update()
    free = free_edges(surface)
    outside = segments(contour(skin.GetOutput(), name, value))
    inside = [edge for edge in free - outside if not on_box(edge, data.GetBounds())]
    return surface.GetNumberOfPolys(), len(free), len(inside)


def compare_values(path, data):
    with h5py.File(path) as file:
        for name, values in file["VTKHDF/PointData"].items():
            theirs = support.vtk_to_numpy(data.GetPointData().GetArray(name))
            if not numpy.array_equal(theirs, values[()].reshape(theirs.shape), equal_nan=True):
                sys.exit(f"{path}: VTK and h5py read other values of {name}")


def check(folder):
    kinds = {"levels": "vtkUnstructuredGrid", "holes": "vtkUnstructuredGrid", "image": "vtkImageData"}
    for name, kind in kinds.items():
        path = f"{folder}/fields/{name}_0000000004.vtkhdf"
        data = read(path)
        if data.GetClassName() != kind:
            sys.exit(f"{path}: {data.GetClassName()}, expected {kind}")
        compare_values(path, data)
        for value in (0.1, 0.5, 0.8):
            triangles, free, inside = count(data, "noise", value)
            print(f"{name}, isosurface {value}: {triangles} triangles, {free} free edges, {inside} inside")
            if triangles < 500 or inside > 0:
                sys.exit(f"{path}: the isosurface {value} is torn")


def main(arguments):
    surfaces = [argument.split("=") for argument in arguments if "=" in argument]
    if not surfaces:
        check(arguments[0])
    for path in arguments if surfaces else []:
        for name, value in surfaces if "=" not in path else []:
            triangles, free, inside = count(read(path), name, float(value))
            print(f"{path}, {name} = {value}: {triangles} triangles, {free} free edges, {inside} inside")


main(sys.argv[1:])

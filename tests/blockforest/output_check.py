"""Checks XDMF files with the standard library alone: well formed, every step of the series is there, and
prints what they say about the data: "file:/dataset precision extent...", for a program that has HDF5."""
import os
import sys
import xml.etree.ElementTree as xml

INCLUDE = "{http://www.w3.org/2001/XInclude}include"


def expect(condition, what):
    if not condition:
        sys.exit(f"{sys.argv[1]}: {what}")


def numbers(text):
    return [int(word) for word in text.split()]


def check_step(path):
    folder = os.path.dirname(path)
    collection = xml.parse(path).getroot().find("Domain/Grid")
    expect(collection.get("CollectionType") == "Spatial", "a step is a spatial collection")
    expect(float(collection.find("Time").get("Value")) >= 0, "a step has a time")
    grids = collection.findall("Grid")
    expect(len({grid.get("Name") for grid in grids}) == len(grids) > 0, "blocks have names of their own")
    for grid in grids:
        nodes = numbers(grid.find("Topology").get("Dimensions"))
        expect(len(nodes) == 3, "a block has three dimensions")
        for item in grid.findall("Geometry/DataItem"):
            expect(len(item.text.split()) == 3, "origin and spacing have three numbers")
        attributes = grid.findall("Attribute")
        expect(len(attributes) > 0, "a block has data")
        for attribute in attributes:
            expect(attribute.get("Center") == "Cell", "data belong to cells")
            item = attribute.find("DataItem")
            extent = numbers(item.get("Dimensions"))
            vector = [3] if attribute.get("AttributeType") == "Vector" else []
            expect(extent == [n - 1 for n in nodes] + vector, "as many values as cells")
            print(os.path.join(folder, item.text.strip()), item.get("Precision"), *extent)


def main(index):
    series = xml.parse(index).getroot().find("Domain/Grid")
    expect(series.get("CollectionType") == "Temporal", "the index is a series in time")
    steps = [include.get("href") for include in series.findall(INCLUDE)]
    expect(steps == sorted(set(steps)) and steps, "steps stand in order, each once")
    for step in steps:
        check_step(os.path.join(os.path.dirname(index), step))


main(sys.argv[1])

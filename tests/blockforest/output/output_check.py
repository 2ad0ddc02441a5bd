# SPDX-License-Identifier: Apache-2.0
"""Checks XDMF files with the standard library alone: well formed, every step of the series is there, what is said
for XDMF 2 and for XDMF 3 is the same, every block of a dataset is shown once; and prints what they say about the
data: "file:/dataset precision extent...", for a program that has HDF5."""
import os
import sys
import xml.etree.ElementTree as xml

INCLUDE = "{http://www.w3.org/2001/XInclude}include"


def expect(condition, what):
    if not condition:
        sys.exit(f"{sys.argv[1]}: {what}")


def numbers(text):
    return [int(word) for word in text.split()]


def check_selection(item, extent, rows):
    """The block that an item selects, said twice (blockforest/output/fields/xdmf.c). Its dataset and the extent of that."""
    expect(item.get("ItemType") == "Hyperslab" and item.get("Format") == "HDF", "a selection of HDF5 data")
    name, selection = item.text.strip().split("|")
    start, stride, count, whole = (numbers(part) for part in selection.split(":"))
    chosen, source = item.findall("DataItem")
    expect(chosen.get("Format") == "XML" and source.get("Format") == "HDF", "a selection, and from what")
    expect(numbers(chosen.get("Dimensions")) == [3, len(whole)], "start, stride and count")
    expect(numbers(chosen.text) == start + stride + count, "XDMF 2 and 3 select the same")
    expect(numbers(source.get("Dimensions")) == whole and source.text.strip() == name, "from the same data")
    expect(source.get("Precision") == item.get("Precision"), "of the same precision")
    expect(count == [1] + extent and whole[1:] == extent, "one block of many")
    expect(set(start[1:]) == {0} and set(stride) == {1} and 0 <= start[0] < whole[0], "and all of it")
    rows.setdefault(name, set(range(whole[0])))
    expect(start[0] in rows[name], f"block {start[0]} of {name} is shown once")
    rows[name].discard(start[0])
    return name, whole


def check_step(path):
    folder, rows = os.path.dirname(path), {}
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
            name, whole = check_selection(item, extent, rows)
            print(os.path.join(folder, name), item.get("Precision"), *whole)
    for name, left in rows.items():
        expect(not left, f"blocks {sorted(left)} of {name} are not shown")


def main(index):
    series = xml.parse(index).getroot().find("Domain/Grid")
    expect(series.get("CollectionType") == "Temporal", "the index is a series in time")
    steps = [include.get("href") for include in series.findall(INCLUDE)]
    expect(steps == sorted(set(steps)) and steps, "steps stand in order, each once")
    for step in steps:
        check_step(os.path.join(os.path.dirname(index), step))


main(sys.argv[1])

# SPDX-License-Identifier: Apache-2.0
"""Series: CSV tables with a row for each step that was asked for."""
import csv

import numpy


class Table:
    """A table of a run: columns by name, rows in the order of steps.

    A column is a numpy array of float64, that of the steps of int64. Columns of text stay text.
    """

    def __init__(self, columns):
        self._columns = dict(columns)

    @classmethod
    def read(cls, path):
        """Reads a CSV file of a run, also of one that still writes it: a last row that is cut off is left out."""
        with open(path, newline="", encoding="utf-8") as file:
            text = file.read()
        rows = list(csv.reader(text.splitlines()))
        if not rows:
            raise ValueError(f"{path}: no head of a table")
        names, rows = rows[0], rows[1:]
        if rows and (len(rows[-1]) < len(names) or not text.endswith("\n")):
            rows.pop()
        return cls((name, _numbers([row[i] for row in rows], name)) for i, name in enumerate(names))

    @property
    def columns(self):
        """Names of the columns."""
        return list(self._columns)

    def __getitem__(self, name):
        try:
            return self._columns[name]
        except KeyError:
            raise KeyError(f"no column '{name}'; columns: {', '.join(self._columns)}") from None

    def __contains__(self, name):
        return name in self._columns

    def __iter__(self):
        return iter(self._columns)

    def __len__(self):
        """Number of rows."""
        return len(next(iter(self._columns.values()), ()))

    def between(self, start, end):
        """The rows with start <= time <= end."""
        chosen = (self["time"] >= start) & (self["time"] <= end)
        return Table((name, values[chosen]) for name, values in self._columns.items())

    def to_pandas(self):
        """A pandas.DataFrame."""
        import pandas

        return pandas.DataFrame(self._columns)

    def __repr__(self):
        return f"<gabion.Table: {len(self)} rows of {', '.join(self._columns)}>"


def _numbers(words, name):
    try:
        return numpy.array(words, dtype=numpy.int64 if name == "step" else numpy.float64)
    except ValueError:
        return numpy.array(words)

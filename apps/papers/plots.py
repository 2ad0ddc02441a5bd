# SPDX-License-Identifier: Apache-2.0
"""Plots of the papers' scripts: panels of series, drawn by matplotlib if it is there, else by gnuplot, else not at all."""
import shutil, subprocess, sys


def is_binary(panel):
    """Whether what is along x comes in powers of two."""
    return panel.x in ("processes", "clusters")


class Panel:
    def __init__(self, title, x, y, log="xy"):
        self.title, self.x, self.y, self.log, self.series = title, x, y, log, []

    def add(self, label, points, style="o-"):
        """A label that begins with _ is not shown."""
        points = [(x, y) for x, y in points if y is not None]
        if points:
            self.series.append((label, points, style))


def draw_matplotlib(plt, path, heading, panels):
    columns = min(2, len(panels))
    rows = (len(panels) + columns - 1) // columns
    figure, axes = plt.subplots(rows, columns, figsize=(6.4 * columns, 4.6 * rows), squeeze=False)
    for axis in axes.flat[len(panels):]:
        axis.set_visible(False)
    for axis, panel in zip(axes.flat, panels):
        for label, points, style in panel.series:
            axis.plot([p[0] for p in points], [p[1] for p in points], style, label=label, markersize=4)
        if "x" in panel.log:
            axis.set_xscale("log", base=2 if is_binary(panel) else 10)
        if "x" in panel.log and is_binary(panel):  # 16, not 2 to the 4th
            axis.xaxis.set_major_formatter(lambda value, _: "%g" % value)
        if "y" in panel.log:
            axis.set_yscale("log")
        else:
            axis.set_ylim(0, 1.05 * max(axis.get_ylim()[1], 0))
        axis.set_title(panel.title, fontsize=10)
        axis.set_xlabel(panel.x)
        axis.set_ylabel(panel.y)
        axis.grid(True, which="both", alpha=0.25)
        if any(label[0] != "_" for label, _, _ in panel.series):
            axis.legend(fontsize=7)
    figure.suptitle(heading, fontsize=11)
    figure.tight_layout()
    figure.savefig(path, dpi=110)
    plt.close(figure)


def gnuplot_style(style):
    return "linespoints" if "o" in style else "points" if "x" in style else "lines"


def draw_gnuplot(path, heading, panels):
    columns = min(2, len(panels))
    rows = (len(panels) + columns - 1) // columns
    text = ["set terminal pngcairo size %d,%d font ',9'" % (700 * columns, 500 * rows), "set output '%s'" % path,
            "set multiplot layout %d,%d title '%s'" % (rows, columns, heading.replace("'", "")), "set grid"]
    for panel in panels:
        text += ["unset logscale"]
        if "x" in panel.log:
            text += ["set logscale x %d" % (2 if is_binary(panel) else 10)]
        if "y" in panel.log:
            text += ["set logscale y", "set yrange [*:*]"]
        else:
            text += ["set yrange [0:*]"]
        text += ["set title '%s'" % panel.title.replace("'", ""), "set xlabel '%s'" % panel.x, "set ylabel '%s'" % panel.y]
        text += ["plot " + ", ".join("'-' with %s %s" % (gnuplot_style(style), "notitle" if label[0] == "_" else "title '%s'" % label)
                                     for label, _, style in panel.series)]
        for _, points, _ in panel.series:
            text += ["%g %g" % p for p in points] + ["e"]
    subprocess.run(["gnuplot"], input="\n".join(text + ["unset multiplot"]), text=True, check=True)


def plotter():
    try:
        import matplotlib
        matplotlib.use("Agg")
        import matplotlib.pyplot as plt
        return lambda *what: draw_matplotlib(plt, *what)
    except ImportError:
        if shutil.which("gnuplot"):
            return draw_gnuplot
    print("neither matplotlib nor gnuplot: no plots (scripts/setup.sh installs python3-matplotlib as root)", file=sys.stderr)
    return lambda *what: None

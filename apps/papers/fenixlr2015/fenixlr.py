#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Report and plots with axes of apps/papers/fenixlr2015/fenixlr.sh, from the JSON and CSV files in a folder.

  fenixlr.py --out DIR

Needs nothing but Python 3; plots are made by matplotlib if it is there, else by gnuplot, else not at all.
"""
import argparse, csv, json, os, sys

sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
from plots import Panel, plotter

PRINTED = "as printed"
CAUSAL = "with T(i-1,j)"
FORMS = (("printed", PRINTED), ("causal", CAUSAL))


def load(out, name):
    with open(os.path.join(out, name + ".json")) as file:
        return json.load(file)


def times_of(out, form):
    with open(os.path.join(out, "figure3_times_%s.csv" % form)) as file:
        return [{key: float(value) for key, value in row.items()} for row in csv.DictReader(file)]


def percent(late, undisturbed):
    return 100 * late / undisturbed


def figure_3(draw, out):
    late = Panel("Late, mean over the processes", "failures per process and step, %", "% of the undisturbed run", log="x")
    for form, label in FORMS:
        rows = load(out, "figure3_" + form)["rows"]
        late.add("local, " + label, [(100 * r["rate"], percent(r["local"]["mean"], r["undisturbed"])) for r in rows])
    late.add("global", [(100 * r["rate"], percent(r["global"]["mean"], r["undisturbed"])) for r in rows], "s--")
    panels = [late]
    panel = Panel("Time of each process at the end, 0.01 %", "process", "time, mean of the runs", log="")
    for form, label in FORMS:
        panel.add("local, " + label, [(r["process"], r["local"]) for r in times_of(out, form)], "-")
    rows = times_of(out, "causal")
    panel.add("global", [(r["process"], r["global"]) for r in rows], "-")
    panel.add("undisturbed", [(r["process"], r["undisturbed"]) for r in rows], "-")
    draw(os.path.join(out, "figure3.png"), "Model: 16 x 16 x 16 processes, 100 steps, t1 = 1, t2 = 5, noise below 0.1",
         panels + [panel])


def figure_6(draw, out):
    document = load(out, "figure6")
    panel = Panel("Overhead, no two delays forced apart", "mean time between failures of the run, steps",
                  "% of the undisturbed run")
    for way in ("local", "global"):
        panel.add(way, [(r["mtbf"], percent(r[way]["end"], r["undisturbed"])) for r in document["rows"]])
    draw(os.path.join(out, "figure6_model.png"), "Model: %d processes, %d steps, t2 = 5 t1" %
         (document["processes"], document["steps"]), [panel])


# What is expected of the mean over the processes; the paper prints the last one alone ("down to 22 %").
EXPECTED_3 = {"printed": (0.335, 0.21, 0.17), "causal": (0.56, 0.295, 0.22)}
# Section 4.3 of the paper: percent of the processes after so many exchanges.
PAPER_REACH = {50: 17.18, 75: 50.75, 150: 100.0}
# Seconds until half of them are late, with an exchange every so many steps of 0.5, 1, 5 s.
PAPER_HALF = {10: (375, 750, 3750), 20: (750, 1500, 7500)}


def table_3(out):
    lines = ["## Figure 3: late with local recovery, as a part of late with global", "",
             "| failures per process and step | recurrence | failures per run | mean over the processes | expected | end of the run |",
             "|---|---|---:|---:|---:|---:|"]
    for form, label in FORMS:
        for row, expected in zip(load(out, "figure3_" + form)["rows"], EXPECTED_3[form]):
            lines.append("| %g %% | %s | %.1f | %.3f | %.3g | %.3f |" %
                         (100 * row["rate"], label, row["failures"], row["ratio_mean"], expected, row["ratio_end"]))
    return lines


def table_reach(out):
    lines = ["", "## Section 4.3: whom the delay of one failure in the middle reaches", "",
             "| exchange every | steps after | seconds at 0.5, 1, 5 s a step | paper | late, % | paper |", "|---:|---:|---|---|---:|---:|"]
    for depth in (1, 10, 20):
        document = load(out, "reach_%d" % depth)
        edge_is_paper = document["processes"] == 1000000
        for at in document["reach"]:
            hops = at["steps"] // depth if edge_is_paper else 0
            half = ", ".join("%g" % s for s in PAPER_HALF[depth]) if hops == 75 and depth in PAPER_HALF else ""
            lines.append("| %d | %d | %s | %s | %.2f | %s |" %
                         (depth, at["steps"], ", ".join("%g" % (at["steps"] * s) for s in (0.5, 1, 5)), half,
                          100 * at["share"], "%.2f" % PAPER_REACH[hops] if hops in PAPER_REACH else ""))
    return lines


def line_million(out):
    document = load(out, "million")
    with open(os.path.join(out, "million.time")) as file:
        processor = sum(float(word) for word in file.read().split())
    return ["", "## Speed", "", "%d processes and %d steps, undisturbed, local and global in one: %.1f s, %.1f s of processors "
            "(asked: less than 60)." % (document["processes"], document["steps"], document["playing_seconds"], processor)]


def table_rows(out):
    lines = ["", "## Processes in a row: late at the end of the run, as a part of one failure's", "",
             "| picture | failures of processes | local | global |", "|---|---:|---:|---:|"]
    for figure, names in (("figure7", ("1", "2", "3", "4", "nested")), ("figure8", ("1", "4", "10"))):
        one = load(out, figure + "_1")["rows"][0]["local"]["end"]
        for name in names:
            row = load(out, "%s_%s" % (figure, name))["rows"][0]
            lines.append("| %s_%s | %d | %.3f | %.3f |" % (figure, name, row["failures"], row["local"]["end"] / one,
                                                           row["global"]["end"] / one))
    return lines


def table_6(out):
    lines = ["", "## Figure 6, model: % that a run takes longer", "", "| failures every so many steps | local | global |",
             "|---:|---:|---:|"]
    for row in load(out, "figure6")["rows"]:
        lines.append("| %g | %.1f | %.1f |" % (row["mtbf"], percent(row["local"]["end"], row["undisturbed"]),
                                               percent(row["global"]["end"], row["undisturbed"])))
    return lines


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--out", required=True)
    out = parser.parse_args().out
    draw = plotter()
    figure_3(draw, out)
    figure_6(draw, out)
    lines = ["# Gamell et al. 2015, the model of section 4", ""] + table_3(out) + table_reach(out) + table_rows(out) + table_6(out) + line_million(out)
    with open(os.path.join(out, "report.md"), "w") as file:
        file.write("\n".join(lines) + "\n")


if __name__ == "__main__":
    main()

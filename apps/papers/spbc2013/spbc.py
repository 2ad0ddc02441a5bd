#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Report and plot of apps/papers/spbc2013/spbc.sh.

  spbc.py --out DIR

DIR has runs.jsonl (what was run) and runs/NAME/times/process-S.csv, events.jsonl and summary.json of each. Needs nothing but
Python 3; the plot is made by matplotlib if it is there, else by gnuplot, else not at all.

Rework: the steps that all ranks of the cluster had ended before the death and have ended again. The time of the cluster for them is from where
all its ranks have begun the first of them to where all have ended the last; the first time, and again. So restoring is not in it, nor in
what the paper calls rework (section 6.4).
"""
import argparse, json, os, statistics, sys

PAPERS = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
sys.path[:0] = [PAPERS, os.path.join(PAPERS, "fenixlr2015")]
from fenixlr_runs import Run
from plots import Panel, plotter


def cluster_of(run, rank):
    return rank * run.about["clusters"] // run.about["ranks"]


def lives(run):
    """Of each rank of the cluster of the dead: step -> rows, in the order of time."""
    dead = run.about["deaths"][0][1]
    found = {}
    for row in sorted(run.rows, key=lambda row: row["ended"]):
        rank = int(row["rank"])
        if cluster_of(run, rank) == cluster_of(run, dead):
            found.setdefault(rank, {}).setdefault(int(row["step"]), []).append(row)
    return found


def rework(run):
    """(steps, seconds the first time, seconds again), or None if the cluster did not go back as one."""
    ranks = lives(run)
    if len(ranks) != run.about["ranks"] // run.about["clusters"]:
        return None
    again = set.intersection(*({step for step, rows in steps.items() if len(rows) > 1} for steps in ranks.values()))
    # Neighbouring ones from the step to which all went back.
    steps = sorted(again)
    if not steps or steps != list(range(steps[0], steps[-1] + 1)):
        return None
    # Once more than once where a member heard of a later line on the way: the last time counts.
    span = lambda which: (max(of[steps[-1]][which]["ended"] for of in ranks.values()) -
                          max(of[steps[0]][which]["began"] for of in ranks.values()))
    return len(steps), span(0), span(-1)


def check(runs):
    wrong, checksum = [], runs[0].summary["checksum"]
    for run in runs:
        about, local = run.about, run.summary.get("local", {"meetings": 0})
        if run.summary["checksum"] != checksum:
            wrong.append("%s: another checksum" % about["run"])
        if run.summary["largest_error"] > 1e-12:
            wrong.append("%s: differs from the answer by %g" % (about["run"], run.summary["largest_error"]))
        if len(run.deaths()) != len(about["deaths"]):
            wrong.append("%s: %d deaths instead of %d" % (about["run"], len(run.deaths()), len(about["deaths"])))
        if about["deaths"] and (run.summary["survivor_steps_computed_again"] or local["meetings"] or
                                sum(fault["strategy"] == "local" for fault in run.summary.get("faults", [])) != 1):
            wrong.append("%s: not by local recovery alone" % about["run"])
        if about["deaths"] and rework(run) is None:
            wrong.append("%s: no steps that the whole cluster has computed twice" % about["run"])
    return wrong


def part_rework(draw, out, runs):
    runs = [run for run in runs if run.about["part"] == "rework" and rework(run)]
    if not runs:
        return []
    ranks = runs[0].about["ranks"]
    lines = ["## Figure 5: rework against first execution", "",
             "%d processes; steps sleep %g s. Median, least and most of the repetitions." % (ranks, runs[0].about["step_time"]), "",
             "| clusters | go back | steps again | first time, s | again, s | again / first | least to most | logged, byte per step and process | replayed | runs |",
             "|---:|---:|---:|---:|---:|---:|---|---:|---:|---:|"]
    panel = Panel("time again / first time", "clusters", "", log="x")
    points, each = [], []
    for clusters in sorted({run.about["clusters"] for run in runs}):
        group = [run for run in runs if run.about["clusters"] == clusters]
        found = [rework(run) for run in group]
        ratios = sorted(again / first for _, first, again in found)
        local = group[-1].summary["local"]
        points.append((clusters, statistics.median(ratios)))
        each += [(clusters, ratio) for ratio in ratios]
        lines.append("| %d | %d | %d | %.3f | %.3f | **%.4f** | %.4f to %.4f | %.1f | %d | %d |" %
                     (clusters, ranks // clusters, statistics.median(steps for steps, _, _ in found),
                      statistics.median(first for _, first, _ in found), statistics.median(again for _, _, again in found),
                      statistics.median(ratios), ratios[0], ratios[-1],
                      local["logged_bytes"] / group[-1].about["steps"] / ranks, local["replayed"], len(group)))
    panel.add("median", points)
    panel.add("each run", each, "C0x")
    panel.add("as long as the first time", [(1, 1.0), (ranks, 1.0)], "k--")
    draw(os.path.join(out, "figure5_measured.png"), "Rework of a cluster; its dead killed by SIGKILL, the others alive", [panel])
    return lines + [""]


def part_overhead(runs):
    total = {(run.about["repeat"], run.about["strategy"]): run.total for run in runs if run.about["part"] == "overhead"}
    pairs = sorted(total[repeat, "local"] / total[repeat, "none"] for repeat, strategy in total
                   if strategy == "local" and (repeat, "none") in total)
    if not pairs:
        return []
    # The interval that holds the median of all such pairs with 95 %: a fair coin shows fewer than k in 2.5 % of all cases.
    p = total_p = 0.5 ** len(pairs)
    k = 0
    while total_p <= 0.025:
        k += 1
        p *= (len(pairs) - k + 1) / k
        total_p += p
    return ["## Table 2: without a death, each process a cluster", "",
            "Time of the run with strategy `local`, as a part of that with `spare` (the same checkpoints, nothing logged), in %d pair%s: median %.4f, %.4f to %.4f%s." %
            (len(pairs), "" if len(pairs) == 1 else "s", statistics.median(pairs), pairs[0], pairs[-1],
             "; 95 %% of medians: %.4f to %.4f" % (pairs[k - 1], pairs[-k]) if k else ""), ""]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--out", required=True)
    out = parser.parse_args().out
    with open(os.path.join(out, "runs.jsonl")) as file:
        runs = [Run(out, json.loads(line)) for line in file]
    if not runs:
        sys.exit("no run in %s" % out)
    wrong = check(runs)
    lines = ["# Ropars et al. 2013, section 6, on this machine", "",
             "%d runs, %d processes killed; load of the machine %.1f to %.1f." %
             (len(runs), sum(len(run.about["deaths"]) for run in runs), min(run.about["load"] for run in runs),
              max(run.about["load"] for run in runs)), ""]
    lines += part_rework(plotter(), out, runs) + part_overhead(runs)
    lines += ["## What did not end as it has to", ""] + (["- " + text for text in wrong] or ["Nothing."])
    with open(os.path.join(out, "report.md"), "w") as file:
        file.write("\n".join(lines) + "\n")
    sys.exit(1 if wrong else 0)


if __name__ == "__main__":
    main()

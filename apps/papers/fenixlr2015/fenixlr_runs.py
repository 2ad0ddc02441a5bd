#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Report and plots of apps/papers/fenixlr2015/fenixlr-runs.sh: what was measured, beside the model of `gabion plan --delays`.

  fenixlr_runs.py --out DIR --gabion PROGRAM

DIR has runs.jsonl (what was run) and runs/NAME/times/process-S.csv, events.jsonl and summary.json of each. Needs nothing but
Python 3; plots are made by matplotlib if it is there, else by gnuplot, else not at all.

The model is given three numbers of the runs of the same figure and number of processes, and none of how delays spread or add up:
  t1      time of a step of the undisturbed run (median)
  pause   from the death of a process to its successor's first step, of all deaths; the steps that are computed again come on top
  rework  what a step computed again takes, in t1
In the model a checkpoint counts once it is taken; in a run that goes back alone, once it is known to be committed, some steps later.
So for figure 6, where there is a checkpoint every few steps, the pause has the steps in it that were really computed again.
"""
import argparse, csv, glob, json, os, statistics, subprocess, sys

sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
from plots import Panel, plotter


def median(values):
    return statistics.median(values)


class Run:
    """One run: when each rank had ended each step, from the begin of the first."""

    def __init__(self, out, about):
        folder = os.path.join(out, "runs", about["run"])
        self.about = about
        self.rows = []
        for path in glob.glob(os.path.join(folder, "times", "process-*.csv")):
            with open(path) as file:
                # A process may be killed as it writes: no row without its end.
                self.rows += [{key: float(value) for key, value in row.items()} for row in csv.DictReader(file) if row["ended"]]
        with open(os.path.join(folder, "summary.json")) as file:
            self.summary = json.load(file)
        with open(os.path.join(folder, "events.jsonl")) as file:
            self.events = [json.loads(line) for line in file]
        self.begin = min(row["began"] for row in self.rows)
        self.ended = {}  # a step that is computed again has been there before: the first time counts
        for row in self.rows:
            key = (int(row["rank"]), int(row["step"]))
            self.ended[key] = min(self.ended.get(key, row["ended"]), row["ended"])
        last = self.about["steps"] - 1
        self.total = max(end for (_, step), end in self.ended.items() if step == last) - self.begin

    def deaths(self):
        """(time, rank) of each process that killed itself."""
        return [(event["time"], event["rank"]) for event in self.events if event["event"] == "fault injection"]

    def pauses(self):
        """From a death to the first step of who took over (local recovery)."""
        for time, rank in self.deaths():
            later = [row["began"] for row in self.rows if row["rank"] == rank and row["incarnation"] > 0 and row["began"] > time]
            if later:
                yield min(later) - time

    def local_delays(self, again):
        """The same and the steps up to that of the death, each in `again` seconds."""
        took = {event["rank"]: event["of_step"] for event in self.events if event["event"] == "took over"}
        steps = {rank: step for step, rank in self.about["deaths"]}
        for time, rank in self.deaths():
            later = [row["began"] for row in self.rows if row["rank"] == rank and row["incarnation"] > 0 and row["began"] > time]
            if later and rank in took:
                yield min(later) - time + again * (steps[rank] - took[rank])

    def global_delays(self):
        """From a death until the last process begins the step of the death again."""
        steps = {rank: step for step, rank in self.about["deaths"]}
        for time, rank in self.deaths():
            first = {}
            for row in self.rows:
                if row["began"] > time and row["step"] == steps[rank]:
                    first[row["rank"]] = min(first.get(row["rank"], row["began"]), row["began"])
            if first:
                yield max(first.values()) - time

    def again(self):
        """What steps took that were computed again."""
        seen = {}
        for row in sorted(self.rows, key=lambda row: row["ended"]):
            key = (row["rank"], row["step"])
            if key in seen:
                yield row["ended"] - row["began"]
            seen[key] = True


def check(runs):
    """Nothing counts whose result is not that of the others, or that was not what it was to be."""
    wrong, checksums = [], {}
    for run in runs:
        about = run.about
        same = checksums.setdefault((about["ranks"], about["steps"]), run.summary["checksum"])
        faults = sum(fault["strategy"] == "local" for fault in run.summary.get("faults", []))
        if run.summary["checksum"] != same:
            wrong.append("%s: another checksum" % about["run"])
        if run.summary["largest_error"] > 1e-12:
            wrong.append("%s: differs from the answer by %g" % (about["run"], run.summary["largest_error"]))
        if len(run.deaths()) != len(about["deaths"]):
            wrong.append("%s: %d deaths instead of %d" % (about["run"], len(run.deaths()), len(about["deaths"])))
        if about["strategy"] == "local" and about["deaths"] and about["figure"] != 6:
            if faults != len(about["deaths"]) or run.summary["survivor_steps_computed_again"] or run.summary["local"]["meetings"]:
                wrong.append("%s: not by local recovery alone" % about["run"])
    return wrong


class Model:
    """The parameters of a set of runs, and gabion's model with them."""

    def __init__(self, gabion, out, undisturbed, disturbed, recovery="local", whole=False):
        self.gabion, self.out, self.recovery = gabion, out, recovery
        self.t1 = median([run.total / run.about["steps"] for run in undisturbed])
        again = [time for run in disturbed for time in run.again()]
        again = statistics.mean(again) if again else self.t1
        if recovery == "global":
            pauses = [delay for run in disturbed for delay in run.global_delays()]
        elif whole:
            pauses = [delay for run in disturbed for delay in run.local_delays(again)]
        else:
            pauses = [pause for run in disturbed for pause in run.pauses()]
        self.pause = statistics.mean(pauses) if pauses else 0.0
        self.rework = 0.0 if whole else again / self.t1
        self.count = len(pauses)

    def play(self, about, waits=False):
        """(undisturbed, late) at the end, in seconds, and the times of the processes; `waits`: all for all at checkpoints."""
        command = [self.gabion, "plan", "--delays", "--json", "--runs", "1", "--grid", str(about["ranks"]), "--steps", str(about["steps"]),
                   "--t1", "%.9g" % self.t1, "--t2", "%.9g" % (self.t1 + self.pause), "--rework", "%.9g" % self.rework]
        if about["every"] and self.rework > 0:
            command += ["--checkpoint-every", str(about["every"])]
        if about["every"] and waits:
            command += ["--reduce-every", str(about["every"])]
        for step, rank in about["deaths"]:
            command += ["--fail", "%d:%d" % (step + 1, rank)]
        path = os.path.join(self.out, "model.csv")
        row = json.loads(subprocess.run(command + ["--csv", path], check=True, stdout=subprocess.PIPE).stdout)["rows"][0]
        with open(path) as file:
            ends = [float(line[self.recovery]) for line in csv.DictReader(file)]
        os.remove(path)
        return row["undisturbed"], row[self.recovery]["end"], ends


def late_of(runs, undisturbed):
    """Medians over the repetitions, each beside the undisturbed run of its turn."""
    by_turn = {run.about["repeat"]: run.total for run in undisturbed}
    base = median(list(by_turn.values()))
    return median([run.total for run in runs]), median([run.total - by_turn.get(run.about["repeat"], base) for run in runs])


# ---------------------------------------------------------------- figure 7

def panel_of(run, model, title):
    panel = Panel(title, "process", "time, s", log="")
    for step in range(0, run.about["steps"], 2):
        points = [(rank, run.ended[rank, step] - run.begin) for rank in range(run.about["ranks"]) if (rank, step) in run.ended]
        panel.add("_step", points, ("y-", "g-", "c-", "b-", "m-")[5 * step // run.about["steps"]])
    if run.about["deaths"]:
        panel.add("deaths", [(rank, time - run.begin) for time, rank in run.deaths()], "rx")
        panel.add("the model, end", list(enumerate(model.play(run.about)[2])), "k--")
    return panel


def figure_7(draw, out, gabion, runs):
    of = lambda name: [run for run in runs if run.about["name"] == name]
    undisturbed = of("undisturbed")
    if not undisturbed or not of("1"):
        return []
    model = Model(gabion, out, undisturbed, [run for run in runs if run.about["deaths"]])
    one_total, one_late = late_of(of("1"), undisturbed)
    lines = ["## Figure 7: 32 + 4 processes, 80 steps, a checkpoint every 40", "",
             "Steps that sleep %g s; t1 = %.4f s, pause %.3f s (mean of %d deaths), rework %.3f t1. Medians of %d runs each." %
             (runs[0].about["step_time"], model.t1, model.pause, model.count, model.rework, len(of("1"))), "",
             "| deaths (step: rank) | total, s | of one death's | late, s | of one death's | model total, s | off, % | model late, s | off, % |",
             "|---|---:|---:|---:|---:|---:|---:|---:|---:|"]
    panels, late = [], {}
    for name in ("undisturbed", "1", "2", "3", "4", "nested_first", "nested_second", "nested", "intervals"):
        group = of(name)
        if not group:
            continue
        total, late[name] = late_of(group, undisturbed)
        about = group[0].about
        base, model_late, _ = model.play(about) if about["deaths"] else (model.t1 * about["steps"], 0, None)
        lines.append("| %s: %s | %.2f | %.3f | %.2f | %.3f | %.2f | %+.1f | %.2f | %s |" %
                     (name, ", ".join("%d: %d" % tuple(death) for death in about["deaths"]) or "none", total, total / one_total,
                      late[name], late[name] / one_late, base + model_late, 100 * (total / (base + model_late) - 1), model_late,
                      "%+.1f" % (100 * (late[name] / model_late - 1)) if model_late else ""))
        if not name.startswith("nested_"):
            panels.append(panel_of(group[-1], model, {"undisturbed": "undisturbed", "nested": "two, nested", "intervals": "a checkpoint in between"}.get(name, name + " separated")))
    if "nested" in late and "nested_first" in late and "nested_second" in late:
        both = late["nested_first"] + late["nested_second"]
        lines += ["", "Nested: late by %.2f s; the two by themselves are late by %.2f s together (%+.1f %%)." %
                  (late["nested"], both, 100 * (late["nested"] / both - 1))]
    if "intervals" in late:
        lines += ["", "A checkpoint between two deaths (intervals): late by %.2f s; if all waited for all at checkpoints, by the model %.2f s." %
                  (late["intervals"], model.play(of("intervals")[0].about, waits=True)[1])]
    draw(os.path.join(out, "figure7_measured.png"), "Measured: every second step of 32 processes; deaths by SIGKILL", panels)
    return lines


# ---------------------------------------------------------------- figures 10 and 6

def figure_10(out, gabion, runs, seven):
    lines = ["", "## Figure 10: late by several separated deaths, as a part of late by one", "",
             "| processes | deaths | late, s | of one death's | model | runs |", "|---:|---:|---:|---:|---:|---:|"]
    found = False
    for ranks in (8, 16, 32):
        group = [run for run in runs if run.about["ranks"] == ranks]
        undisturbed = ([run for run in group if not run.about["deaths"]] or
                       [run for run in seven if run.about["ranks"] == ranks and not run.about["deaths"]])
        disturbed = [run for run in group if run.about["deaths"]]
        if not undisturbed or not disturbed:
            continue
        found = True
        model = Model(gabion, out, undisturbed, disturbed)
        one = one_model = None
        for count in sorted({len(run.about["deaths"]) for run in disturbed}):
            some = [run for run in disturbed if len(run.about["deaths"]) == count]
            late, model_late = late_of(some, undisturbed)[1], model.play(some[0].about)[1]
            one, one_model = one or late, one_model or model_late
            lines.append("| %d | %d | %.2f | %.3f | %.3f | %d |" % (ranks, count, late, late / one, model_late / one_model, len(some)))
    return lines if found else []


def figure_6(draw, out, gabion, runs):
    base = {run.about["steps"]: run for run in runs if run.about["strategy"] == "none"}
    lines = ["", "## Figure 6: overhead against the distance of deaths in steps, 16 + 16 processes, a checkpoint every 8 steps", "",
             "Over a run of as many steps without protection. On average a death every so many steps of progress, on another rank each time; "
             "what is computed again has none. Delay: from a death to where it had been, mean of the run, in steps; the model is given it.", "",
             "| a death every so many steps | deaths | local, % | model, % | delay | by local recovery | spare (global), % | model, % | delay |",
             "|---:|---:|---:|---:|---:|---:|---:|---:|---:|"]
    panel = Panel("Overhead of deaths", "a death every so many steps", "% of the run without protection", log="")
    series = {key: [] for key in ("local", "spare", "model of local", "model of global")}
    ways = {way: [run for run in runs if run.about["strategy"] == way] for way in ("local", "spare")}
    for mtbf in sorted({int(run.about["name"]) for run in ways["local"]}):
        cells = []
        for way, recovery in (("local", "local"), ("spare", "global")):
            run = next((run for run in ways[way] if run.about["name"] == str(mtbf)), None)
            if run is None or run.about["steps"] not in base:
                break
            model = Model(gabion, out, [base[run.about["steps"]]], [run], recovery, whole=True)
            undisturbed, late, _ = model.play(run.about)
            whole = base[run.about["steps"]].total
            series[way].append((mtbf, 100 * (run.total / whole - 1)))
            series["model of " + recovery].append((mtbf, 100 * late / undisturbed))
            cells.append("%.1f | %.1f | %.1f" % (series[way][-1][1], series["model of " + recovery][-1][1], model.pause / model.t1))
            if way == "local":
                alone = sum(fault["strategy"] == "local" for fault in run.summary.get("faults", []))
                cells[-1] += " | %d of %d" % (alone, len(run.about["deaths"]))
        if len(cells) == 2:
            lines.append("| %d | %d | %s |" % (mtbf, len(run.about["deaths"]), " | ".join(cells)))
    if not series["local"]:
        return []
    for key, points in series.items():
        panel.add(key, points, "--" if "model" in key else "o-")
    draw(os.path.join(out, "figure6_measured.png"), "Measured: 16 + 16 processes", [panel])
    return lines


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--out", required=True)
    parser.add_argument("--gabion", required=True)
    arguments = parser.parse_args()
    out, gabion = arguments.out, arguments.gabion
    with open(os.path.join(out, "runs.jsonl")) as file:
        runs = [Run(out, json.loads(line)) for line in file]
    if not runs:
        sys.exit("no run in %s" % out)
    draw = plotter()
    of = {figure: [run for run in runs if run.about["figure"] == figure] for figure in (6, 7, 10)}
    wrong = check(runs)
    lines = ["# Gamell et al. 2015, section 6, on this machine", "",
             "%d runs, %d processes killed; load of the machine %.1f to %.1f." %
             (len(runs), sum(len(run.about["deaths"]) for run in runs), min(run.about["load"] for run in runs),
              max(run.about["load"] for run in runs)), ""]
    lines += figure_7(draw, out, gabion, of[7])
    lines += figure_10(out, gabion, of[10], of[7])
    lines += figure_6(draw, out, gabion, of[6])
    lines += ["", "## What did not end as it has to", ""] + (["- " + text for text in wrong] or ["Nothing."])
    with open(os.path.join(out, "report.md"), "w") as file:
        file.write("\n".join(lines) + "\n")
    sys.exit(1 if wrong else 0)


if __name__ == "__main__":
    main()

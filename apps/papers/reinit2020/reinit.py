#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What apps/papers/reinit2020/reinit.sh measures, and its tables and plots. Plots need matplotlib; without it there are none.

  reinit.py measure --build DIR --mpirun PATH --out DIR [--short] [--more] --np N... --runs N --programs NAME...
  reinit.py report --out DIR

A run is one line of DIR/runs.jsonl. Its times, in seconds, are those of the process that prints (rank 0 of the program's
communicator), from the first call of the program to the end of its main loop:
  total        that
  recovery     of MPI: from the death (the victim says when, on the same clock) to the next call of the program
  save, read   in gab_state_save() and gab_state_load(), of the process with the most; of a job that is restarted, save is
               that of rank 0, from its log
  application  the rest: set-up, iterations, those that are done again
With fewer processes (`shrink`) only conjugate gradients can go on; its reading then includes no sharing out of the planes, which is
part of the application.
"""
import argparse, json, math, os, random, re, shutil, statistics, subprocess, sys, time

STEPS = 20                                           # as CoMD -N 20 and LULESH -i 20
SIZES = {"cg": 64, "md": 10, "sedov": 32}            # 64^3 rows, 4000 atoms, 32^3 cells a process
SHORT = {"cg": 32, "md": 6, "sedov": 16}
NAMES = {"cg": "conjugate gradients", "md": "molecular dynamics", "sedov": "blast wave"}
PARTS = ("application", "save", "recovery", "read")
PLAIN = ["--oversubscribe", "--bind-to", "none", "--mca", "mpi_yield_when_idle", "1"]
TOLERANT = ["--with-ft", "ulfm", "--mca", "coll", "^han", "--mca", "async_mpi_finalize", "1",
            "--mca", "mpi_add_procs_cutoff", "1024"]
# Student's t, two-sided 95 %, by degrees of freedom
T95 = [12.706, 4.303, 3.182, 2.776, 2.571, 2.447, 2.365, 2.306, 2.262, 2.228, 2.201, 2.179, 2.160, 2.145, 2.131, 2.120,
       2.110, 2.101, 2.093, 2.086, 2.080, 2.074, 2.069, 2.064, 2.060, 2.056, 2.052, 2.048, 2.045, 2.042]


# ---------------------------------------------------------------- one run

class Job:
    """What a job printed."""

    def __init__(self, command, environment):
        started = time.monotonic()
        done = subprocess.run(["timeout", "-k", "5", "300"] + command, env={**os.environ, **environment}, text=True,
                              stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
        self.seconds = time.monotonic() - started
        self.code, self.text = done.returncode, done.stdout
        self.called = [float(x) for x in re.findall(r"called at ([\d.]+) s", self.text)]
        self.leaves = [float(x) for x in re.findall(r"leaves iteration \d+ at ([\d.]+) s", self.text)]
        self.deaths = [float(x) for x in re.findall(r"dies in iteration \d+ at ([\d.]+) s", self.text)]
        self.checksums = re.findall(r"checksum ([0-9a-f]+)", self.text)
        cost = re.findall(r"saves ([\d.]+) s .*loading ([\d.]+) s", self.text)
        self.save, self.read = (float(cost[-1][0]), float(cost[-1][1])) if cost else (0.0, 0.0)


def split(total, recovery, save, read):
    return {"total": total, "recovery": recovery, "save": save, "read": read,
            "application": total - recovery - save - read}


class Bench:
    def __init__(self, options):
        self.options, self.sizes = options, SHORT if options.short else SIZES
        self.launch = [os.path.join(options.build, "bin", "gabion-launch"), "--retries", "0", "--start-retries", "0",
                       "--stall", "120", "-t", "1"]
        self.files = os.path.join(options.out, "files")
        self.expected = {}  # checksum of the undisturbed program

    def program(self, name, version="", die=""):
        path = os.path.join(self.options.build, "bin", "proxy-" + name + version)
        return [path, "--size", str(self.sizes[name]), "--steps", str(STEPS)] + (["--die", die] if die else [])

    def on_nodes(self, per_node, command):
        """The command under the name of an emulated node, so that copies of images lie on another one."""
        return ["bash", "-c", 'export GABION_NODE=node$((OMPI_COMM_WORLD_RANK / %d)); exec "$@"' % per_node, "-"] + command

    def undisturbed(self, name, np, tolerant):
        """The ordinary program, with and without the fault tolerance of the MPI library."""
        job = Job([self.options.mpirun] + (TOLERANT if tolerant else []) + PLAIN + ["-n", str(np)] + self.program(name), {})
        if job.code or not job.called or len(job.leaves) != 1 or not job.checksums:
            return job, None
        self.expected.setdefault((name, np), job.checksums[0])
        return job, split(job.leaves[0] - job.called[0], 0, 0, 0)

    def restart(self, name, np, die, per_node):
        """CR: the job ends with the death of a process, and is started again; from files."""
        shutil.rmtree(self.files, ignore_errors=True)
        os.makedirs(self.files)
        log = os.path.join(self.files, "log.txt")
        environment = {"GABION_STATE_FOLDER": os.path.join(self.files, "checkpoints"), "GABION_STATE_WAIT": "1",
                       "GABION_STATE_SCHEME": "none", "GABION_STATE_LOG": log}
        start = [self.options.mpirun] + PLAIN + ["-n", str(np)]
        first = Job(start + self.program(name, "-reinit", die), environment)
        second = Job(start + self.program(name, "-reinit"), environment)
        with open(log) as saves: # what loading saves is not among them
            save = sum(float(x) for x in re.findall(r"saved step \d+ in ([\d.]+) s", saves.read()))
        shutil.rmtree(self.files, ignore_errors=True)
        if not first.called or not first.deaths or first.leaves or second.code or not second.called or not second.leaves:
            return second, None
        return second, split(second.leaves[-1] - first.called[0], second.called[0] - first.deaths[0], save, second.read)

    def stay(self, name, np, die, per_node, environment={}, version="-reinit"):
        """gab_reinit(): the job goes on."""
        spares = 0 if environment else len(die.split(","))
        command = self.program(name, version, die)
        if per_node:
            command = self.on_nodes(per_node, command)
        job = Job(self.launch + ["-n", str(np), "--spares", str(spares), "--"] + command, environment)
        if job.code or not job.deaths or len(job.called) < 2 or not job.leaves:
            return job, None
        return job, split(job.leaves[-1] - job.called[0], job.called[-1] - min(job.deaths), job.save, job.read)

    def respawn(self, name, np, die, per_node):
        return self.stay(name, np, die, per_node, {"GABION_STATE_RESPAWN": "1"})

    def shrink(self, name, np, die, per_node):
        return self.stay(name, np, die, per_node, {"GABION_STATE_SHRINK": "1"}, "-shrink")

    def can_shrink(self, name):
        return os.path.exists(self.program(name, "-shrink")[0])

    def has(self, strategy):
        known = subprocess.run([os.path.join(self.options.build, "bin", "gabion"), "info"], text=True, stdout=subprocess.PIPE)
        return re.search(r"strategies .*\b%s\b" % strategy, known.stdout) is not None


def runs_in(out):
    """How many runs were begun in DIR: what goes on there begins behind them, with victims of its own."""
    path = os.path.join(out, "runs.jsonl")
    if not os.path.exists(path):
        return 0
    with open(path) as lines:
        return 1 + max((json.loads(line)["run"] for line in lines if line.strip()), default=-1)


def measure(options):
    bench = Bench(options)
    ways = {"restart": bench.restart, "shrink": bench.shrink, "spare": bench.stay}
    if bench.has("respawn"):
        ways["respawn"] = bench.respawn
    failed, first = 0, runs_in(options.out) if options.more else 0
    with open(os.path.join(options.out, "runs.jsonl"), "a" if first else "w") as lines:

        def note(name, np, way, failure, run, job, parts, **more):
            nonlocal failed
            right = parts is not None and job.checksums[-1:] == [bench.expected.get((name, np))]
            failed += not right
            if not right:
                with open(os.path.join(options.out, "failed.txt"), "a") as kept:
                    kept.write("%s %s on %d, run %d %s: code %d\n%s\n" % (name, way, np, run, more, job.code, job.text))
            lines.write(json.dumps({"program": name, "np": np, "way": way, "failure": failure, "run": run, "short": options.short,
                                    "right": right, "load": os.getloadavg()[0], **more, **(parts or {})}) + "\n")
            lines.flush()

        for run in range(first, first + options.runs):
            for np in options.np:
                print("run %d of %d on %d processes, load %.1f" % (run + 1, first + options.runs, np, os.getloadavg()[0]),
                      flush=True)
                for name in options.programs:
                    one(bench, ways, note, name, np, run)
    print("%d runs did not end, or not with the bits of the undisturbed one: %s" %
          (failed, os.path.join(options.out, "failed.txt") if failed else "none is kept"))
    return failed


def one(bench, ways, note, name, np, run):
    for tolerant in (False, True) if run % 2 else (True, False):
        job, parts = bench.undisturbed(name, np, tolerant)
        note(name, np, "tolerant MPI" if tolerant else "plain MPI", "none", run, job, parts)
    chance = random.Random("%s %d %d" % (name, np, run))  # the same for each way, and each time
    victim, iteration = chance.randrange(np), chance.randrange(1, STEPS)
    per_node = max(2, np // 4)
    node = victim // per_node
    dead = {"process": [victim], "node": range(node * per_node, min((node + 1) * per_node, np))}
    for failure in ("process", "node") if np >= 4 else ("process",):
        die = ",".join("%d@%d" % (rank, iteration) for rank in dead[failure])
        for way in ways:
            if way == "shrink" and not bench.can_shrink(name):
                continue
            job, parts = ways[way](name, np, die, per_node if failure == "node" else 0)
            note(name, np, way, failure, run, job, parts, iteration=iteration, victims=len(dead[failure]))


# ---------------------------------------------------------------- tables

def interval(values):
    """Mean, and half of the interval that holds the true one with 95 %; None of a single run."""
    if len(values) < 2:
        return statistics.mean(values), None
    half = student(len(values) - 1) * statistics.stdev(values) / math.sqrt(len(values))
    return statistics.mean(values), half


def student(degrees):
    return T95[degrees - 1] if degrees <= len(T95) else 1.96 + 2.4 / degrees


def interval_of_groups(groups):
    """The same of the mean of the groups' means, each group with a mean of its own and all with one variance: what differs
    between the groups does not widen it. None if each is a single run."""
    mean = statistics.mean(statistics.mean(values) for values in groups)
    degrees = sum(len(values) - 1 for values in groups)
    if degrees == 0:
        return mean, None
    squares = sum((value - statistics.mean(values)) ** 2 for values in groups for value in values)
    error = math.sqrt(squares / degrees * sum(1 / len(values) for values in groups)) / len(groups)
    return mean, student(degrees) * error


def text_of(values, unit=1e3):
    return text_of_interval(*interval(values), unit)


def text_of_interval(mean, half, unit=1e3):
    return "%.0f" % (unit * mean) + (" ± %.0f" % (unit * half) if half is not None else "")


class Results:
    def __init__(self, lines):
        self.all = lines
        self.right = [line for line in lines if line["right"]]
        self.programs = [name for name in NAMES if any(line["program"] == name for line in lines)]
        self.np = sorted({line["np"] for line in lines})
        self.ways = [way for way in ("restart", "shrink", "spare", "respawn") if any(line["way"] == way for line in lines)]

    def groups(self, what, **wanted):
        """The values of each program, of those that have any."""
        found = [self.values(what, program=name, **wanted) for name in self.programs]
        return [values for values in found if values]

    def values(self, what, **wanted):
        return [line[what] for line in self.right if all(line[key] == value for key, value in wanted.items())]


def table(head, rows):
    yield "| " + " | ".join(head) + " |"
    yield "|" + "---|" * len(head)
    for row in rows:
        yield "| " + " | ".join(row) + " |"
    yield ""


def report_lines(results):
    loads = [line["load"] for line in results.all]
    programs = [line["right"] for line in results.all]
    yield "%d runs, %d of them ended with the bits of the undisturbed one; load %.1f to %.1f (mean %.1f)%s.\n" % (
        len(programs), sum(programs), min(loads), max(loads), statistics.mean(loads),
        "; short form" if results.all[0]["short"] else "")
    yield "Milliseconds, mean and 95 % confidence by Student's t.\n"
    yield "Figure 4: a process dies. In all, and thereof\n"
    yield from table(["program", "processes", "way", "runs", "total"] + list(PARTS), (
        [name, str(np), way, str(len(total)), text_of(total)] +
        [text_of(results.values(part, program=name, np=np, way=way, failure="process")) for part in PARTS]
        for name in results.programs for np in results.np for way in results.ways
        for total in [results.values("total", program=name, np=np, way=way, failure="process")] if total))
    yield "Figure 5: the application alone, without checkpoints, recovery and reading; the first two: nobody dies\n"
    ways = ["plain MPI", "tolerant MPI"] + results.ways
    yield from table(["program", "processes"] + ways, (
        [name, str(np)] + [text_of(found) if found else "" for way in ways for found in [
            results.values("application", program=name, np=np, way=way, failure="process" if way in results.ways else "none")]]
        for name in results.programs for np in results.np))
    for figure, failure in ((6, "process"), (7, "node")):
        yield "Figure %d: recovery of MPI, mean of the programs' means, a %s dies; shrink: %s\n" % (
            figure, failure, NAMES["cg"])
        yield from table(["processes"] + results.ways, (
            [str(np)] + [text_of_interval(*interval_of_groups(found)) if found else "" for way in results.ways
                         for found in [results.groups("recovery", np=np, way=way, failure=failure)]]
            for np in results.np if results.values("recovery", np=np, failure=failure)))


# ---------------------------------------------------------------- plots

def draw_bars(plt, results, path):
    """Figure 4: stacked parts of the total, ways side by side."""
    figure, axes = plt.subplots(1, len(results.programs), figsize=(5.2 * len(results.programs), 4.4), squeeze=False)
    colours = {"application": "#4c72b0", "save": "#dd8452", "recovery": "#c44e52", "read": "#8172b3"}
    width = 0.8 / len(results.ways)
    for axis, name in zip(axes.flat, results.programs):
        for k, way in enumerate(results.ways):
            for i, np in enumerate(results.np):
                at, below = i + (k - (len(results.ways) - 1) / 2) * width, 0
                total = results.values("total", program=name, np=np, way=way, failure="process")
                if not total:
                    continue
                for part in PARTS:
                    mean = statistics.mean(results.values(part, program=name, np=np, way=way, failure="process"))
                    axis.bar(at, mean, 0.92 * width, bottom=below, color=colours[part], label=part if i == k == 0 else None)
                    below += mean
                mean, half = interval(total)
                axis.errorbar(at, mean, yerr=half or 0, color="black", capsize=2, linewidth=1)
                axis.annotate(way, (at, mean + (half or 0)), rotation=90, ha="center", va="bottom", fontsize=7,
                              xytext=(0, 3), textcoords="offset points")
        axis.set_xticks(range(len(results.np)), [str(np) for np in results.np])
        axis.set(title=NAMES[name], xlabel="processes", ylabel="seconds")
        axis.margins(y=0.25)
        axis.set_ylim(bottom=0)
        axis.grid(True, axis="y", alpha=0.25)
    axes.flat[0].legend(fontsize=7, loc="upper left")
    finish(plt, figure, path, "A process dies: total time, a checkpoint in each of %d iterations" % STEPS)


def draw_lines(plt, results, path, heading, what, failures, panels):
    """panels: (title, conditions); failures: way -> failure."""
    figure, axes = plt.subplots(1, len(panels), figsize=(5.2 * len(panels), 4), squeeze=False)
    for axis, (title, conditions) in zip(axes.flat, panels):
        for number, (way, failure) in enumerate(failures.items()):  # a way has one colour in all panels
            points = [(np,) + interval(found) for np in results.np
                      for found in [results.values(what, np=np, way=way, failure=failure, **conditions)] if found]
            if points:
                axis.errorbar([p[0] for p in points], [p[1] for p in points], yerr=[p[2] or 0 for p in points], fmt="o-",
                              capsize=3, markersize=4, label=way, color="C%d" % number)
        axis.set_xscale("log", base=2)
        axis.set_xticks(results.np, [str(np) for np in results.np])
        axis.set_ylim(bottom=0)
        axis.set(title=title, xlabel="processes", ylabel="seconds")
        axis.grid(True, alpha=0.25)
        if axis.get_legend_handles_labels()[0]:
            axis.legend(fontsize=7)
    finish(plt, figure, path, heading)


def finish(plt, figure, path, heading):
    figure.suptitle(heading, fontsize=11)
    figure.tight_layout()
    figure.savefig(path, dpi=110)
    plt.close(figure)
    print("  " + path)


def draw(results, out):
    try:
        import matplotlib
        matplotlib.use("Agg")
        import matplotlib.pyplot as plt
    except ImportError:
        print("no matplotlib: no plots (scripts/setup.sh installs python3-matplotlib as root)", file=sys.stderr)
        return
    each = [(NAMES[name], {"program": name}) for name in results.programs]
    dying = {way: "process" for way in results.ways}
    nodes = {way: "node" for way in results.ways}
    draw_bars(plt, results, os.path.join(out, "figure4.png"))
    draw_lines(plt, results, os.path.join(out, "figure5.png"), "The application alone", "application",
               {"plain MPI": "none", "tolerant MPI": "none", **dying}, each)
    draw_lines(plt, results, os.path.join(out, "figure6.png"), "Recovery of MPI when a process dies", "recovery",
               dying, each)
    if results.values("recovery", failure="node"):
        draw_lines(plt, results, os.path.join(out, "figure7.png"), "Recovery of MPI when all processes of a node die", "recovery",
                   nodes, each)


def report(options):
    with open(os.path.join(options.out, "runs.jsonl")) as lines:
        results = Results([json.loads(line) for line in lines])
    text = "\n".join(report_lines(results))
    with open(os.path.join(options.out, "report.md"), "w") as file:
        file.write(text)
    print(text)
    draw(results, options.out)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("task", choices=("measure", "report"))
    parser.add_argument("--build")
    parser.add_argument("--mpirun")
    parser.add_argument("--out", required=True)
    parser.add_argument("--short", action="store_true")
    parser.add_argument("--more", action="store_true")
    parser.add_argument("--np", type=int, nargs="+")
    parser.add_argument("--runs", type=int)
    parser.add_argument("--programs", nargs="+")
    options = parser.parse_args()
    if options.task == "measure":
        measure(options)
    else:
        report(options)


main()

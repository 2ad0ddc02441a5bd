#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The wide part of the fault matrix: designed and random combinations; scripts/fault-matrix.sh calls it.

Every run is one row of a design over the factors below. *Cover*: rows are chosen such that each pair of values of two
compatible factors occurs in at least one row. *Random*: a number of rows drawn at random. The expected end of a run is
derived here, from the deaths and the documented properties of the scheme, not from the program:

done   checksum and CSV series are those of the undisturbed run, and the number of lost ranks is that of the kills
lost   exit 3, and the ranks in the message are exactly those without any copy
disk   the same victims, but with a checkpoint on disk: the run restores the newest one and ends as `done`
early  exit 76, to be restarted: a death before the first checkpoint is complete

Spares run the ranks of dead processes as long as there are any. The run then ends with that many ranks more, and the holders of
copies depend on the nodes of the spares (known from events). With `respawn` processes are started for ranks without a spare: the
run ends at full size, and a new process is on the node of the dead one.

Simultaneous victims may die a step apart, or one during the recovery from another death; then the end depends on the order.
events.jsonl contains it: for each victim the epoch of the world and the phase of its death, for each survivor the phase of
detection, for each recovery the lost ranks. The end is then derived from these groups of deaths in their order (judge()), equally
strictly: a survivor that was still exchanging images does not have the new snapshot, one after that has it. Each case has one
correct end, and the table has the number of runs whose end differs from the planned one. There may be two correct ends only if a
donor dies before the next snapshot, since no event shows whether the replacement process had received its image.
"""
import argparse
import collections
import concurrent.futures
import filecmp
import glob
import itertools
import json
import os
import random
import re
import shutil
import subprocess
import sys
import time

# ---------------------------------------------------------------- tolerance of a scheme


def lost_ranks(run, members, dead):
    """Members of a snapshot whose image cannot be restored after the deaths."""
    lost = set()
    if run["scheme"] in ("pairwise", "ring"):
        for rank in dead:
            if all(holder in dead for holder in holders(run, members, rank)):
                lost.add(rank)
        return lost
    for group, parities in groups(run, members):
        gone = [rank for rank in group if rank in dead]
        if len(gone) > parities:
            lost.update(gone)
    return lost


SETTINGS = {  # of each scheme: parameters of the case, copies, group, losses
    "pairwise": ([], 1, 0, 0),
    "ring": (["resilience.copies=2"], 2, 0, 0),
    "parity": (["resilience.group=4"], 0, 4, 1),
    "reed-solomon": (["resilience.group=8", "resilience.losses=2"], 0, 8, 2),
}


def places(run, members):
    """The members in the order of their nodes; size of the largest node, and its first place. A member is a rank, its process, and
    the node of that process: the place of the process counts."""
    if not run["node_of"]:
        return [rank for rank, _, _ in sorted(members, key=lambda m: m[1])], 1, 0
    at = {rank: node for rank, _, node in members}
    order = [rank for rank, _, _ in sorted(members, key=lambda m: (m[2], m[1]))]
    count = collections.Counter(at.values())
    largest = max(count.values())
    first = next(i for i, rank in enumerate(order) if count[at[rank]] == largest)
    return order, largest, first


def at_start(run):
    nodes = run["node_of"] or [0] * run["np"]
    return frozenset((rank, rank, nodes[rank]) for rank in range(run["np"]))


def new_member(run, old, process):
    """Replacement of `old`: a spare, which no file places and so counts as a separate node, or a process started on the node of
    `old`."""
    return old[0], process, 1000 + process if process < run["np"] + run["spares"] else old[2]


def holders(run, members, rank):
    """Holders of copies. Those of `pairwise` are evenly spread around the circle of places, those of `ring` consecutive; with
    nodes at least a largest node apart, if the circle permits. Members of a node with more than half of all distribute their
    copies over the others."""
    order, largest, first = places(run, members)
    n, at = len(order), order.index(rank)
    copies = min(SETTINGS[run["scheme"]][1], n - 1)
    if largest == n:
        largest = 1
    if largest > n - largest:
        others = [p for p in range(n) if not first <= p < first + largest]
        target = others[(at - first) % len(others)] if at not in others else first + others.index(at)
        found = [target]
        for k in range(1, copies):
            found.append((at + k + ((target - at) % n <= k)) % n)
    else:
        fits = (copies + 1) * largest <= n
        if run["scheme"] == "pairwise":
            shifts = [(k + 1) * n // (copies + 1) if fits else n // 2 + k for k in range(copies)]
        else:
            shifts = [(k + 1) * largest if fits else largest + k for k in range(copies)]
        found = [(at + (s if s < n else s - n + 1)) % n for s in shifts]
    return {order[p] for p in found if p != at}


def groups(run, members):
    """Coded groups: every g-th place; their number follows from the size of a group, with more groups to keep nodes apart."""
    order, largest, _ = places(run, members)
    _, _, size, losses = SETTINGS[run["scheme"]]
    n, most = len(order), len(order) // (losses + 1)
    number = -(-n // size)
    if run["node_of"] and -(-largest // number) > losses and -(-largest // losses) <= most:
        number = -(-largest // losses)
    number = max(1, min(number, most))
    for j in range(number):
        group = order[j::number]
        yield group, min(losses, len(group) - 1)


# ---------------------------------------------------------------- factors

STEADY = ["compute", "exchange", "reduction", "snapshot", "commit", "swap", "output"]
ADAPTING = ["adapt-mark", "adapt-balance", "adapt-migrate", "adapt-rebuild"]
WRITING = ["disk-write", "disk-commit"]
HEALING = ["repair", "recovery", "snapshot", "commit", "swap", "migration", "respawn"]
FLOWS = {"flow": (60, 12, 32), "adaptive": (60, 12, 44), "tracers": (60, 12, 32), "phase": (120, 24, 80), "waves": (60, 12, 32),
         "maxwell": (60, 12, 32), "engineering": (60, 12, 44), "fluid": (60, 12, 44)}  # steps; first and last step of a death
KERNELS = {"flow": ["auto", "in_place", "sparse", "vector", "reference"], "adaptive": ["auto", "in_place", "sparse", "vector", "reference"],
           "tracers": ["auto", "in_place", "sparse", "vector", "reference"], "phase": ["auto", "fast", "reference"],
           "engineering": ["auto", "in_place", "sparse", "vector", "reference"], "fluid": ["auto", "in_place", "sparse", "reference"], "waves": ["auto"], "maxwell": ["auto"]}  # tutorials have one kernel
CASES = {"flow": "flow.yaml", "adaptive": "flow_adaptive.yaml", "tracers": "flow_tracers.yaml", "phase": "phase.yaml", "waves": "waves.yaml",
         "maxwell": "maxwell.yaml", "engineering": "flow_engineering.yaml", "fluid": "flow_fluid.yaml"}
PROGRAMS = {"waves": "waves", "maxwell": "maxwell"}  # of the others: gabion
AT_ONCE = ["single", "neighbours", "two", "three", "half", "node", "beyond"]
FACTORS = collections.OrderedDict(
    flow=list(FLOWS),
    np=[2, 3, 4, 5, 7, 8, 12, 16],
    scheme=list(SETTINGS),
    nodes=["one", "of two", "of four", "uneven", "dealt"],
    pattern=AT_ONCE + ["series", "three in a row", "early"],
    phase=STEADY + ADAPTING + WRITING + ["repair", "recovery", "migration", "respawn"],
    kernel=["auto", "in_place", "sparse", "vector", "fast", "reference"],
    strategy=["hilbert", "morton", "diffusion", "graph"],
    every=[7, 10],
    overlap=[False, True],
    compression=["none", "auto", "lz4", "zstd"],
    buffers=[2, 1],
    disk=[False, True],
    store=["heap", "node memory"],
    scrub=[False, True],
    threads=[1, 2],
    spares=[0, 1, 4],
    respawn=[False, True],
    within=["copy", "share", "send"],
)
NAMES = list(FACTORS)


def nodes_of(kind, np):
    """Node of each rank; None: one machine, nothing to keep apart."""
    if kind == "of two":
        return [s // 2 for s in range(np)]
    if kind == "of four":
        return [s // 4 for s in range(np)]
    if kind == "uneven":  # one node with nearly half of all ranks, the others small
        big = max(1, (np + 1) // 2 - 1)
        return [0 if s < big else 1 + (s - big) // 2 for s in range(np)]
    if kind == "dealt":
        return [s % max(2, (np + 3) // 4) for s in range(np)]
    return None


def is_possible(row):
    """Whether the given values are compatible."""
    has = row.get
    flow, np, pattern, phase = has("flow"), has("np"), has("pattern"), has("phase")
    if flow and has("kernel") and row["kernel"] not in KERNELS[flow]:
        return False
    if phase in ADAPTING and flow not in (None, "adaptive"):
        return False
    if phase in WRITING and has("disk") is False:
        return False
    if phase in HEALING and phase not in STEADY and pattern not in (None, "series"):
        return False
    if phase and pattern == "series" and phase not in HEALING + ADAPTING:
        return False
    if phase and pattern == "three in a row" and phase not in ("compute", "exchange", "snapshot"):
        return False
    if phase and pattern == "early" and phase != "snapshot":
        return False
    if pattern == "series" and phase in ("snapshot", "commit", "swap") and has("overlap"):
        return False  # a victim could meet a pending checkpoint
    if phase == "migration" and (has("spares") or has("respawn")):
        return False  # replacements leave no blocks to rebalance
    if phase == "respawn" and (has("spares") or has("respawn") is False):
        return False  # no process is started
    if pattern == "early" and (has("store") == "node memory" or has("scrub")):
        return False
    least = {"series": 3, "three in a row": 5, "three": 4, "half": 4, "two": 3, "neighbours": 3, "node": 3, "beyond": 3}
    if np and np < least.get(pattern, 2):
        return False
    if np and np < 3 and phase in HEALING and phase not in STEADY:
        return False
    if pattern == "node" and has("nodes") == "one":
        return False
    if np and has("nodes") not in (None, "one") and len(set(nodes_of(row["nodes"], np))) < 2:
        return False
    if np and np > 5 and has("threads") == 2:
        return False  # no new case, at a much higher cost
    if pattern == "beyond" and np and has("scheme") and minimal_loss(np, row["scheme"]) >= np:
        return False
    return True


def minimal_loss(np, scheme):
    """Smallest number of deaths that np ranks without nodes do not tolerate."""
    return {"pairwise": 2, "ring": min(3, np), "parity": 2, "reed-solomon": 3}[scheme]


def complete_row(rng, fixed):
    """A possible row with these values; None if none is found."""
    for _ in range(400):
        row = dict(fixed)
        names = [n for n in NAMES if n not in fixed]
        rng.shuffle(names)
        for name in names:
            values = [v for v in FACTORS[name] if is_possible({**row, name: v})]
            if not values:
                break
            if name == "np":  # small ones more often: they are faster and equally useful
                values = [v for v in values for _ in range(max(1, 12 // v))]
            row[name] = rng.choice(values)
        else:
            if detail(rng, row):
                return row
    return None


# ---------------------------------------------------------------- details of a row


def draw_victims(rng, row):
    np, pattern = row["np"], row["pattern"]
    everybody = list(range(np))
    if pattern in ("single", "early"):
        return [rng.choice([0, np // 2, np - 1, rng.randrange(np)])]
    if pattern == "neighbours":
        a = rng.randrange(np)
        return sorted([a, (a + 1) % np])
    if pattern == "node":
        node = rng.choice(row["node_of"])
        victims = [s for s in everybody if row["node_of"][s] == node]
        return victims if len(victims) < np else None
    if pattern == "beyond":
        for count in range(2, min(np, 8)):
            for _ in range(60):
                victims = sorted(rng.sample(everybody, count))
                if lost_ranks(row, at_start(row), set(victims)):
                    return victims
        return None
    return sorted(rng.sample(everybody, {"two": 2, "three": 3, "half": np // 2, "series": 2, "three in a row": 3}[pattern]))


VISITS = {"snapshot": 3, "commit": 2, "swap": 2, "output": 2, "disk-write": 1, "disk-commit": 1}


def detail(rng, row):
    """Victims, steps, injections and expected end of a row. @return False if the row is impossible"""
    steps, first, last = FLOWS[row["flow"]]
    row["node_of"] = nodes_of(row["nodes"], row["np"])
    victims = draw_victims(rng, row)
    if not victims or len(victims) >= row["np"]:
        return False
    rng_step = rng.randint(first, last)
    pattern, phase = row["pattern"], row["phase"]
    visit = rng.randint(1, VISITS.get(phase, 3))
    if phase in WRITING:
        rng_step = rng.randint(first, 30)
    if phase in ("commit", "swap") and visit > 1:  # no such phase at the end of the run
        rng_step = min(rng_step, steps - 1 - 2 * row["every"])
    if pattern == "early":
        injections = [(victims, 0, "snapshot", rng.randint(1, 2), [])]
    elif pattern == "series":
        rng.shuffle(victims)
        # The second victim counts phases from some steps before the first death, since it may lag; no checkpoint may
        # lie between, so that it meets those of the recovery.
        quiet = [s for s in range(first, last) if not any(t % row["every"] == 0 or (row["disk"] and t % disk_interval(row) == 0)
                                                               for t in range(s - 3, s + 2))]
        step = rng.choice(quiet)
        work = ["compute", "exchange"] + (ADAPTING if row["flow"] == "adaptive" else [])
        visit = 1 if phase in ("repair", "respawn", "snapshot") else rng.randint(1, 2)
        if phase == "snapshot":
            visit = rng.randint(1, 3)
        injections = [([victims[0]], step, rng.choice(work), 1, []), ([victims[1]], step - 3, phase, visit, [])]
    elif pattern == "three in a row":
        rng.shuffle(victims)
        injections = [([v], rng_step + 5 * i, phase if i == 1 else rng.choice(["compute", "exchange"]), 1, []) for i, v in enumerate(victims)]
    else:
        injections = [(victims, rng_step, phase, visit, [])]
    row["injections"] = [d[:4] for d in injections]
    row["victims"] = victims
    row["planned"] = planned_end(row)
    return True


def disk_interval(row):
    return 20 if row["phase"] in WRITING else 10


def planned_end(row):
    """Planned end: simultaneous victims die simultaneously."""
    if row["pattern"] == "early":
        return "early"
    members, dead, spares, started = at_start(row), set(), row["spares"], 0
    if row["buffers"] == 1 and any(phase == "snapshot" and visit < 3 for _, _, phase, visit in row["injections"]):
        return "disk" if row["disk"] else "lost"
    for i, (victims, _, phase, visit) in enumerate(row["injections"]):
        if i and not (row["pattern"] == "series" and (phase in ("repair", "recovery", "respawn") or (phase == "snapshot" and visit < 3))):
            processes = {}
            for rank in sorted(dead):
                if spares:
                    processes[rank] = row["np"] + row["spares"] - spares
                    spares -= 1
                elif row["respawn"]:
                    processes[rank] = row["np"] + row["spares"] + started
                    started += 1
            members, dead = replaced(row, processes, members, dead), set()
        dead |= set(victims)
        if lost_ranks(row, members, dead):
            return "disk" if row["disk"] else "lost"
    return "done"


# ---------------------------------------------------------------- the designs


def covering(rng):
    """Rows that contain each possible pair of values of two factors."""
    missing = set()
    for a, b in itertools.combinations(NAMES, 2):
        missing.update(((a, x), (b, y)) for x in FACTORS[a] for y in FACTORS[b])
    impossible, rows = set(), []

    def pairs(row):
        return {((a, row[a]), (b, row[b])) for a, b in itertools.combinations(NAMES, 2)}

    while missing:
        target = rng.choice(sorted(missing, key=repr))
        best = None
        for _ in range(25):
            row = complete_row(rng, dict(target)) if is_possible(dict(target)) else None
            if row is None:
                break
            gain = len(pairs(row) & missing)
            if best is None or gain > best[0]:
                best = (gain, row)
        if best is None:
            impossible.add(target)
            missing.discard(target)
            continue
        rows.append(best[1])
        missing -= pairs(best[1])
    return rows, len(impossible)


# ---------------------------------------------------------------- running


class Matrix:
    def __init__(self, options):
        self.options = options
        self.launch = os.path.join(options.build, "bin", "gabion-launch")
        self.program = os.path.join(options.build, "bin", "gabion")
        self.good = {}
        self.slow = 0

    def arguments(self, row, folder):
        scheme = SETTINGS[row["scheme"]][0]
        program = os.path.join(self.options.build, "bin", PROGRAMS.get(row["flow"], "gabion"))
        words = [program, "run", os.path.join(self.options.root, "tests", "faults", "runs", CASES[row["flow"]]), "--out", folder]
        strategies = (["spare"] if row["spares"] else []) + (["respawn"] if row["respawn"] else []) + ["shrink"] + (["disk"] if row["disk"] else [])
        section = "phasefield" if row["flow"] == "phase" else "lbm"
        settings = ["resilience.scheme=" + row["scheme"], *scheme, "resilience.memory.every=%d" % row["every"],
                    "balance.strategy=" + row["strategy"],
                    "resilience.memory.overlap=" + ("true" if row["overlap"] else "false"),
                    "resilience.memory.compression=" + row["compression"], "resilience.memory.buffers=%d" % row["buffers"],
                    "resilience.memory.within_node=" + row["within"]]
        if row["flow"] not in PROGRAMS:
            settings.append("%s.kernel=%s" % (section, row["kernel"]))
        if row["respawn"]:  # otherwise the default
            settings.append("resilience.strategies=[%s]" % ",".join(strategies))
        if row["disk"]:
            settings += ["resilience.disk.every=%d" % disk_interval(row), "resilience.disk.group=2"]
        if row["scrub"]:
            settings.append("resilience.scrub=5")
        if row["node_of"]:
            with open(folder + ".nodes", "w") as file:
                for node in sorted(set(row["node_of"])):
                    file.write("node%02d: %s\n" % (node, " ".join(str(s) for s, n in enumerate(row["node_of"]) if n == node)))
            settings += ["resilience.separate=node", "resilience.domains=" + folder + ".nodes"]
        for setting in settings:
            words += ["--set", setting]
        for victims, step, phase, visit in row["injections"]:
            words += ["--inject", "rank=%s,step=%d,phase=%s,visit=%d" % ("+".join(map(str, victims)), step, phase, visit)]
        return words

    def run(self, row, number, deadline):
        folder = os.path.join(self.options.out, "run-%d" % number)
        for old in glob.glob(folder + "*"):
            shutil.rmtree(old) if os.path.isdir(old) else os.unlink(old)
        command = [self.launch, "-n", str(row["np"]), "--spares", str(row["spares"]), "-t", str(row["threads"]), "--pin", "never", "--stall", str(self.options.stall),
                   "--start-retries", "0",
                   "--traces", self.options.out]
        if row["store"] == "node memory":
            command += ["--relaunch", "1"]
        command += ["--"] + self.arguments(row, folder)
        environment = dict(os.environ, GABION_RESCUE_LOG=folder + ".rescues")
        start = time.monotonic()
        with open(folder + ".log", "wb") as log:
            log.write((" ".join(command) + "\n").encode())
            log.flush()
            process = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=log, stderr=subprocess.STDOUT, env=environment,
                                       start_new_session=True)
            try:
                code = process.wait(deadline)
            except subprocess.TimeoutExpired:
                code = None
                process.terminate()  # the launcher ends its job; at a second signal at once
                try:
                    process.wait(20)
                except subprocess.TimeoutExpired:
                    process.terminate()
                    process.wait()
        return folder, code, time.monotonic() - start

    def undisturbed(self, row):
        """Folder of the undisturbed run on one process; for a phase field one per kernel, since kernels differ by rounding."""
        key = row["flow"] + ("-" + row["kernel"] if row["flow"] == "phase" else "")
        if key not in self.good:
            plain = dict(row, np=1, scheme="pairwise", nodes="one", node_of=None, injections=[], every=10, overlap=False, compression="none",
                         buffers=2, disk=False, store="heap", scrub=False, threads=1, spares=0, respawn=False, strategy="hilbert", within="copy")
            if row["flow"] != "phase":
                plain["kernel"] = "auto"
            folder, code, _ = self.run(plain, len(self.good), 600)
            if code != 0:
                sys.exit("the undisturbed run failed: %s.log" % folder)
            kept = os.path.join(self.options.out, "undisturbed-" + key)
            shutil.rmtree(kept, ignore_errors=True)
            os.rename(folder, kept)
            self.good[key] = kept
        return self.good[key]

    def prepare(self):
        for flow in FACTORS["flow"]:
            for kernel in KERNELS[flow] if flow == "phase" else ["auto"]:
                self.undisturbed({"flow": flow, "kernel": kernel, "phase": "compute"})

    def one(self, number, row):
        folder, code, seconds = self.run(row, number, self.options.deadline)
        slow = code is None and not has_given_up(folder)
        if slow:  # the launcher would have detected a hang much earlier: the machine is busy
            folder, code, seconds = self.run(row, number, 3 * self.options.deadline)
        result = judge(row, folder, code, self.undisturbed(row))
        result.update(seconds=seconds, slow=slow, folder=folder)
        return result


# ---------------------------------------------------------------- judging


def has_given_up(folder):
    try:
        with open(folder + ".rescues") as file:
            return "gave-up" in file.read()
    except OSError:
        return False


def read_events(folder):
    events = []
    try:
        with open(os.path.join(folder, "events.jsonl"), errors="replace") as file:
            for line in file:
                try:
                    events.append(json.loads(line))
                except ValueError:
                    events.append({"event": "torn"})
    except OSError:
        pass
    return events


def is_new_snapshot_there(events, epoch, group, visit):
    """Whether survivors of deaths during a recovery have the first of its two snapshots. From the phase of a death, and from the
    phases of detection by the others. None: no event shows it."""
    phase, victims = group[0]["phase"], {e["rank"] for e in group}
    if phase in ("repair", "recovery", "hand-over", "respawn") or (phase == "snapshot" and visit < 3):
        return False  # the victim has not yet sent its image
    if phase in ("migration", "swap") or phase in ADAPTING or (phase == "commit" and visit > 1):
        return True
    noticed = {e["phase"] for e in events if e["event"] == "fault noticed" and e["epoch"] == epoch and e["rank"] not in victims}
    if phase in ("snapshot", "commit"):
        return bool(noticed) and "snapshot" not in noticed
    if noticed & {"repair", "recovery", "hand-over", "respawn"}:
        return False
    return True if noticed & {"swap", "migration", *ADAPTING} else None


def judge(row, folder, code, good):
    """The end of the run, and the expected end for the actual deaths."""
    events = read_events(folder)
    with open(folder + ".log", errors="replace") as file:
        log = file.read()
    result = {"planned": row["planned"], "rescued": 0, "apart": False}
    if os.path.exists(folder + ".rescues"):
        with open(folder + ".rescues") as file:
            result["rescued"] = sum(1 for _ in file)
    starts = [i for i, e in enumerate(events) if e["event"] == "start"]
    if len(starts) > 1:  # restarted by the launcher: only the last attempt counts
        events = events[starts[-1]:]
    deaths = [e for e in events if e["event"] == "fault injection"]
    result["end"] = observed_end(row, events, log, folder, code, good, deaths)
    ends = expected_end(row, events, deaths)
    if len(starts) - 1 > result["rescued"]:
        result["end"] = "started again without a stall"
    result["open"] = len(ends) > 1
    result["expected"] = result["end"] if result["end"] in ends else ends[0]
    result["apart"] = len({e["epoch"] for e in deaths}) > len(row["injections"]) or result["expected"].split()[0] != row["planned"]
    wanted = {s for d in row["injections"] for s in d[0]}
    killed = collections.Counter(e["rank"] for e in deaths)
    if result["end"] == result["expected"]:
        if any(n > 1 for n in killed.values()) or not set(killed) <= wanted:
            result["end"] = "killed were %s" % sorted(killed.elements())
        elif result["expected"].split()[0] in ("done", "disk") and set(killed) != wanted and not result["rescued"]:
            result["end"] = "killed were only %s" % sorted(killed)
    result["deaths"] = " ".join("%d@%d:%s" % (e["rank"], e["epoch"], e["phase"]) for e in deaths)
    return result


def expected_end(row, events, deaths):
    """Possible ends of the deaths, in groups between the same two repairs. One, except for deaths of which no event shows whether
    the next snapshot was complete; then two if the ends differ."""
    if row["pattern"] == "early":
        return ["early"]
    visits = {v: d[3] for d in row["injections"] for v in d[0]}
    by_epoch = itertools.groupby(sorted(deaths, key=lambda e: e["epoch"]), key=lambda e: e["epoch"])
    states = [(at_start(row), frozenset(), "done")]  # members of the snapshot, dead since then, end so far
    for number, (epoch, group) in enumerate(by_epoch):
        group = list(group)
        fresh = number > 0 and any(e["event"] == "recovery" and e["epoch"] == epoch for e in events)
        if number > 0 and not fresh:
            fresh = is_new_snapshot_there(events, epoch, group, visits.get(group[0]["rank"], 1))
        after = []
        for members, dead, end in states:
            for renewed in [True, False] if fresh is None else [fresh]:
                processes = {e["rank"]: e["process"] for e in events if e["event"] == "called" and e["epoch"] <= epoch}
                state = (replaced(row, processes, members, dead), frozenset(), end) if renewed else (members, dead, end)
                ranks = {e["rank"] for e in group}
                after.append(die(row, events, epoch, ranks, state))
                # Replacement processes that had their image count as holders of it; no event shows whether they had
                # it.
                handed = frozenset(state[1] & set(processes)) - ranks
                if handed and row["scheme"] in ("pairwise", "ring"):
                    after.append(die(row, events, epoch, ranks, state, handed))
        states = after
    return sorted({end for _, _, end in states})


def replaced(row, processes, members, dead):
    """Members of the first snapshot after some deaths: without the dead, but with lost ranks that other processes run now."""
    return frozenset([m for m in members if m[0] not in dead] +
                     [new_member(row, m, processes[m[0]]) for m in members if m[0] in dead and m[0] in processes])


def die(row, events, epoch, ranks, state, handed=frozenset()):
    """State after the deaths of some ranks in one epoch, if replacement processes of others hold their images."""
    members, dead, end = state
    dead = dead | ranks
    root_died = min(rank for rank, _, _ in members) in dead
    lost = lost_ranks(row, members, dead) - handed
    single = end == "lost single" or (row["buffers"] == 1 and is_single_torn(events, epoch, ranks))  # it stays torn
    if not lost and not single:
        return members, dead, end
    step = newest_on_disk(row, events, epoch, root_died)
    if step is not None:
        return members, dead, "disk %d" % step
    return members, dead, "lost single" if single else "lost " + ",".join(map(str, sorted(lost)))


def is_single_torn(events, epoch, victims):
    """With one buffer: some survivor had begun to overwrite the only snapshot and was not through; or some survivors are through
    and others have not begun."""
    noticed = {e["phase"] for e in events if e["event"] == "fault noticed" and e["epoch"] == epoch and e["rank"] not in victims}
    return "snapshot" in noticed or ("commit" in noticed and bool(noticed - {"commit", "swap"}))


def newest_on_disk(row, events, epoch, root_died):
    """Step of the newest complete checkpoint on disk at the start of the recovery in an epoch. The root writes the manifest and
    then the event: if it died in between, the recovery is believed if such a checkpoint was due."""
    newest, taken = None, set()
    for event in events:
        if event["event"] == "disk checkpoint":
            newest = max(newest or 0, event["of_step"])
        if event["event"] == "checkpoint":
            taken.add(event["of_step"])
        if event["event"] == "restored from disk" and event["epoch"] > epoch:
            step = event["of_step"]
            if root_died and step in taken and step % disk_interval(row) == 0 and step > (newest or -1):
                newest = step
            break
        if event["event"] == "recovery" and event["epoch"] > epoch:
            break
    return newest


def observed_end(row, events, log, folder, code, good, deaths):
    if code is None:
        return "deadline"
    if code == 76 and "died before the first checkpoint was complete" in log:
        return "early"
    if code == 3:
        if "memory holds one only: the one before is overwritten" in log:
            return "lost single"
        named = re.findall(r"ranks? ([0-9, ]+) died and so did all holders.*(?:0x[0-9a-f]+|neighbours: none)", log)
        return "lost " + named[-1].replace(" ", "") if named else "exit 3 without the names"
    if code != 0:
        return "exit %d" % code
    return done_end(row, events, folder, good, deaths)


def done_end(row, events, folder, good, deaths):
    try:
        with open(os.path.join(folder, "summary.json")) as file:
            summary = json.load(file)
        with open(os.path.join(good, "summary.json")) as file:
            whole = json.load(file)
    except (OSError, ValueError) as error:
        return "no summary: %s" % error
    if find(summary, "checksum") != find(whole, "checksum"):
        return "wrong checksum %s" % find(summary, "checksum")
    full = find(summary, "ranks") - (0 if row["respawn"] else max(0, len(deaths) - find(summary, "spares")))
    if find(summary, "living") != full:
        return "%s ranks are run at the end instead of %s" % (find(summary, "living"), full)
    if find(summary, "lost_ranks") != len(deaths):
        return "%s ranks lost, %d killed" % (find(summary, "lost_ranks"), len(deaths))
    for series in glob.glob(os.path.join(good, "*.csv")) + glob.glob(os.path.join(good, "means_*.png")) + glob.glob(os.path.join(good, "*.h5")):
        other = os.path.join(folder, os.path.basename(series))
        if not os.path.exists(other) or not filecmp.cmp(series, other, shallow=False):
            return "another " + os.path.basename(series)
    back = [e["of_step"] for e in events if e["event"] == "restored from disk"]
    return "disk %d" % back[-1] if back else "done"


def find(tree, key):
    if isinstance(tree, dict):
        if key in tree:
            return tree[key]
        for value in tree.values():
            found = find(value, key)
            if found is not None:
                return found
    return None


# ---------------------------------------------------------------- tables


def table(rows, results, key, title):
    """One line per value: runs, as expected, and by end."""
    lines = ["| %s | runs | as expected | undisturbed checksum | of these from disk | exit 3 (named) or 76 |" % title, "|---|--:|--:|--:|--:|--:|"]
    count = collections.defaultdict(collections.Counter)
    for row, result in zip(rows, results):
        line = count[key(row)]
        line["runs"] += 1
        line["good"] += result["end"] == result["expected"]
        line[result["end"].split()[0]] += 1
    for name, c in count.items():
        lines.append("| %s | %d | %d | %d | %d | %d |" % (name, c["runs"], c["good"], c["done"] + c["disk"], c["disk"], c["lost"] + c["early"]))
    return "\n".join(lines)


def in_order(name):
    return lambda pair: FACTORS[name].index(pair[0][name])


def write_tables(path, kinds, rows, results, note):
    pairs = list(zip(rows, results))
    parts = []
    for name, title in (("pattern", "who dies"), ("phase", "in phase"), ("flow", "flow"), ("scheme", "scheme"), ("np", "processes"), ("spares", "spare processes"), ("respawn", "new processes"), ("nodes", "nodes")):
        ordered = sorted(pairs, key=in_order(name))
        parts.append(table([p[0] for p in ordered], [p[1] for p in ordered], lambda row, name=name: row[name], title))
    modes = []
    for name in ("kernel", "strategy", "overlap", "compression", "buffers", "disk", "store", "scrub", "threads", "every", "within"):
        for value in FACTORS[name]:
            of = [r for row, r in pairs if row[name] == value]
            modes.append("%s %s: %d of %d" % (name, {True: "on", False: "off"}.get(value, value) if isinstance(value, bool) else value,
                                             sum(r["end"] == r["expected"] for r in of), len(of)))
    parts.append("As expected by mode: " + "; ".join(modes) + ".")
    parts.append(note)
    with open(path, "w") as file:
        file.write("\n\n".join(parts) + "\n")


def main():
    parser = argparse.ArgumentParser(description="designed and random runs of the fault matrix")
    parser.add_argument("--build", required=True)
    parser.add_argument("--root", required=True)
    parser.add_argument("--out", required=True)
    parser.add_argument("--cover", action="store_true", help="rows in which all pairs of values occur")
    parser.add_argument("--runs", type=int, default=0, help="rows that are drawn")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--jobs", type=int, default=1)
    parser.add_argument("--np", default="2 3 4 5 7 8 12 16", help="numbers of processes")
    parser.add_argument("--fix", nargs="*", default=[], metavar="FACTOR=VALUES", help="only these values of a factor, e.g. spares=1,4")
    parser.add_argument("--stall", type=float, default=120, help="seconds without progress that are a hang")
    parser.add_argument("--deadline", type=float, default=400, help="seconds of a run")
    parser.add_argument("--list", action="store_true", help="print the rows, run nothing")
    parser.add_argument("--again", type=int, nargs="*", help="only the rows of these numbers; their folders are kept")
    options = parser.parse_args()
    FACTORS["np"] = [int(np) for np in options.np.split()]
    for fixed in options.fix:
        name, _, values = fixed.partition("=")
        FACTORS[name] = [value for value in FACTORS[name] if str(value) in values.split(",")]
    os.makedirs(options.out, exist_ok=True)
    matrix = Matrix(options)
    info = subprocess.run([matrix.program, "info"], capture_output=True, text=True).stdout
    if not re.search(r"^ *balancing.*graph", info, re.M):
        FACTORS["strategy"].remove("graph")
    rng = random.Random(options.seed)
    rows, impossible = covering(rng) if options.cover else ([], 0)
    kinds = ["cover"] * len(rows)
    rows += [complete_row(rng, {}) for _ in range(options.runs)]
    kinds += ["random"] * options.runs
    if options.list:
        for number, row in enumerate(rows):
            print(number, json.dumps(row))
        return 0
    print("gabion: %d designed rows (all pairs but %d that cannot go together) and %d drawn ones" % (kinds.count("cover"), impossible, options.runs), flush=True)
    matrix.prepare()
    chosen = list(range(len(rows))) if options.again is None else options.again
    results, wrong = {}, 0
    tsv = open(os.path.join(options.out, "wide.tsv"), "a" if options.again is not None else "w")
    print("number\tkind", *NAMES, "injections", "planned", "expected", "end", "deaths", "apart", "open", "rescued", "slow", "seconds", sep="\t", file=tsv)
    with concurrent.futures.ThreadPoolExecutor(options.jobs) as pool:
        futures = {pool.submit(matrix.one, number, rows[number]): number for number in chosen}
        for future in concurrent.futures.as_completed(futures):
            number, result = futures[future], future.result()
            row = rows[number]
            results[number] = result
            injections = " ".join("%s:%d:%s:%d" % ("+".join(map(str, d[0])), *d[1:]) for d in row["injections"])
            print(number, kinds[number], *(row[n] for n in NAMES), injections, result["planned"], result["expected"], result["end"], result["deaths"],
                  int(result["apart"]), int(result["open"]), result["rescued"], int(result["slow"]), "%.1f" % result["seconds"], sep="\t", file=tsv, flush=True)
            if result["end"] != result["expected"]:
                wrong += 1
                print("gabion: not as expected: run %d (%s, np=%d, %s): %s instead of %s (log: %s.log)" %
                      (number, row["flow"], row["np"], injections, result["end"], result["expected"], result["folder"]), flush=True)
            elif options.again is None:
                for path in glob.glob(result["folder"] + "*"):
                    if re.fullmatch(re.escape(result["folder"]) + r"(\..*)?", path):
                        shutil.rmtree(path) if os.path.isdir(path) else os.unlink(path)
            if len(results) % 50 == 0:
                print("gabion: %d of %d runs, %d not as expected" % (len(results), len(chosen), wrong), flush=True)
    order = sorted(results)
    apart, unclear, rescued, slow = (sum(int(results[n][k]) for n in order) for k in ("apart", "open", "rescued", "slow"))
    note = ("%d runs, %d as expected; of %d the victims died apart from one another or at another moment than planned, and the end was judged by "
            "that; of %d no event tells which of two ends was right. Stalls inside the MPI library rescued by the launcher: %d. Repeated because the machine was busy: %d." %
            (len(order), len(order) - wrong, apart, unclear, rescued, slow))
    write_tables(os.path.join(options.out, "wide.md"), kinds, [rows[n] for n in order], [results[n] for n in order], note)
    print(note)
    return wrong > 0


if __name__ == "__main__":
    sys.exit(main())

#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Kills processes from outside during the hand-over of images, and checks that no run is lost while a copy exists.

    scripts/faults/hand_over_kills.py [--kills N] [--modes spare,respawn,...] [--ways copy,share,send] [--out DIR]

Each run first loses one process at a random time. The next kills aim at the following hand-over, by mode:

spare      each called spare process, at a random moment after its call, or when its memory has grown by a random part of an
           image; also the last ones, so the run shrinks
respawn    each process that is started for a dead one, likewise
shrink     a survivor while the others adopt and rebalance; not the donor, whose death would be the second of a pair
rebalance  a process of a flow on an adaptive grid, whose blocks move frequently; one at a time
relaunch   all processes; then one process of the next job, which reads the images from the memory of the node

A run passes if it ends with 0 and the checksum of the undisturbed run; a relaunched one must have read images from the memory of
the node. A kill is in the window, by events.jsonl, if

spare, respawn  the donor detected it in the phase `hand-over', with the image in transit
shrink          it was detected between the repair and the end of the recovery
rebalance       it was detected while blocks moved, or while images were sent to their holders
relaunch        it occurred before the first checkpoint of the next job

The counts go to DIR/kills.json, each kill to DIR/kills.log. Exit 0 only if no run was lost.
"""
import argparse
import collections
import json
import os
import random
import re
import shutil
import signal
import subprocess
import sys
import time

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
BUILD = os.environ.get("GABION_BUILD", os.path.join(ROOT, "build"))
GABION, LAUNCH = (os.path.join(BUILD, "bin", name) for name in ("gabion", "gabion-launch"))
DEADLINE = 240  # seconds of a run

BOX = """run: {steps: %d}
domain: {cells: [%d, %d, %d], block: [16, 16, 16]}
fluid: {omega: 1.6}
boundaries:
  z_min: {type: wall}
  z_max: {type: velocity, velocity: [0.05, 0, 0]}
resilience: {tries: 1000, memory: {every: 5}}
"""
MOVING = {"migration", "adapt-balance", "adapt-migrate", "adapt-rebuild", "snapshot"}


def events(folder):
    try:
        with open(os.path.join(folder, "events.jsonl")) as file:
            lines = file.read().split("\n")
    except OSError:
        return []
    found = []
    for line in lines:
        try:
            found.append(json.loads(line))
        except ValueError:
            pass
    return found


def named(folder, name):
    return [event for event in events(folder) if event.get("event") == name]


def resident(pid):
    """Bytes; 0 if the process is gone."""
    try:
        with open("/proc/%d/statm" % pid) as file:
            return 4096 * int(file.read().split()[1])
    except (OSError, IndexError):
        return 0


def checksum(folder):
    try:
        with open(os.path.join(folder, "summary.json")) as file:
            found = re.search(r'"checksum": "([0-9a-f]+)"', file.read())
    except OSError:
        return None
    return found.group(1) if found else None


class Run:
    """One start of the launcher."""

    def __init__(self, folder, processes, spares, case, settings, launcher=()):
        self.folder, self.processes, self.seen = folder, processes, set()
        shutil.rmtree(folder, ignore_errors=True)
        command = [LAUNCH, "-n", str(processes), "--spares", str(spares), "-t", "1", "--stall", "60", *launcher, "--",
                   GABION, "run", case, "--out", folder, "--quiet"]
        for setting in settings:
            command += ["--set", setting]
        self.log = open(folder + ".log", "w")
        self.job = subprocess.Popen(command, stdout=self.log, stderr=subprocess.STDOUT, stdin=subprocess.DEVNULL,
                                    start_new_session=True)
        self.deadline = time.time() + DEADLINE

    def over(self):
        if time.time() > self.deadline:
            os.killpg(self.job.pid, signal.SIGKILL)
            for pid in self.pids():
                os.kill(pid, signal.SIGKILL)
            raise RuntimeError("no end within %d s" % DEADLINE)
        return self.job.poll() is not None

    def pids(self):
        """Processes of the programs, without launcher and mpirun: number in their job -> process; respawned ones by their pid."""
        found = {}
        for name in os.listdir("/proc"):
            if not name.isdigit():
                continue
            try:
                if os.readlink("/proc/%s/exe" % name) != GABION:
                    continue
                with open("/proc/%s/cmdline" % name, "rb") as file:
                    if self.folder.encode() not in file.read().split(b"\0"):
                        continue
                with open("/proc/%s/environ" % name, "rb") as file:
                    rank = re.search(rb"(?:^|\0)PMIX_RANK=(\d+)", file.read())
            except OSError:
                continue
            found[int(name)] = int(rank.group(1)) if rank else -1
        return found

    def wait(self, holds, pause=0.002):
        while not self.over():
            if holds():
                return True
            time.sleep(pause)
        return False

    def kill(self, pid):
        try:
            os.kill(pid, signal.SIGKILL)
        except ProcessLookupError:
            return None
        self.seen.add(pid)
        return time.time()

    def end(self):
        while not self.over():
            time.sleep(0.02)
        self.log.close()
        return self.job.returncode


class Kills:
    def __init__(self, options):
        self.options, self.counts, self.lost, self.whole = options, collections.Counter(), [], {}
        self.random = random.Random(options.seed)
        self.delays = collections.defaultdict(list)  # by mode: delays inside the window
        self.number = 0
        self.image = 19 * 8 * options.cells**3 / 4  # bytes of one of four processes
        self.file = open(os.path.join(options.out, "kills.log"), "w")

    def note(self, text):
        print(time.strftime("%H:%M:%S"), text, file=self.file, flush=True)

    def case(self, mode):
        """File and settings of a mode."""
        if mode == "rebalance":
            return os.path.join(ROOT, "tests/faults/runs/flow_adaptive.yaml"), [
                "run.steps=90", "resilience.memory.every=3", "resilience.tries=1000"]
        path = os.path.join(self.options.out, "box.yaml")
        with open(path, "w") as file:
            file.write(BOX % (self.options.steps, *3 * [self.options.cells]))
        return path, []

    def undisturbed(self, mode):
        name = "rebalance" if mode == "rebalance" else "box"
        if name not in self.whole:
            case, settings = self.case(mode)
            folder = os.path.join(self.options.out, "undisturbed-" + name)
            if Run(folder, 2, 0, case, settings).end() != 0 or not checksum(folder):
                sys.exit("the undisturbed run failed: see %s.log" % folder)
            self.whole[name] = checksum(folder)
        return self.whole[name]

    def delay(self, mode, most):
        """Seconds to wait: half of the times drawn from the whole range, half near a delay inside the window."""
        if self.delays[mode] and self.random.random() < 0.5:
            return max(0, self.random.choice(self.delays[mode]) + self.random.uniform(-0.1, 0.1) * most)
        return self.random.uniform(0, most)

    def count(self, mode, run, when, delay):
        """One kill at the hand-over, and the phase of its detection."""
        time.sleep(0.01)
        phases = {e["phase"] for e in named(run.folder, "fault noticed") if e["time"] >= when}
        earlier = [e["event"] for e in events(run.folder) if e.get("time", when) < when]
        if mode in ("spare", "respawn"):
            hit = "hand-over" in phases
        elif mode == "shrink":
            hit = bool(phases) and "recovery" not in earlier
        elif mode == "rebalance":
            hit = bool(phases & MOVING)
        else:
            hit = "checkpoint" not in earlier[len(earlier) - earlier[::-1].index("start"):]
        self.counts[mode, "killed"] += 1
        self.counts[mode, "in the window"] += hit
        if hit and delay is not None:
            self.delays[mode].append(delay)
        self.note("  %s, noticed in %s" % ("hit" if hit else "missed", ", ".join(sorted(phases)) or "no phase"))

    @staticmethod
    def noticed(run, when):
        """Waits for an event of the survivors. A death within a repair is part of it and has no event."""
        return run.wait(lambda: any(e["time"] >= when for e in named(run.folder, "fault noticed") + named(run.folder, "recovery")))

    # ------------------------------------------------------------ modes: the kills of one run

    def first(self, run, of=None):
        """The first death, which needs a replacement. @return the rank, None if the run was over before"""
        if not run.wait(lambda: len(named(run.folder, "checkpoint")) > 1):
            return None
        time.sleep(self.random.uniform(0, 0.2))
        pids = {rank: pid for pid, rank in run.pids().items()}
        rank = self.random.randrange(run.processes) if of is None else of
        run.known = set(pids.values())
        return rank if rank in pids and run.kill(pids[rank]) else None

    def replacements(self, mode, run, most, target):
        """Kills called processes, one after another."""
        if self.first(run) is None:
            return
        for done in range(most):
            if not run.wait(lambda: len(named(run.folder, "called")) > done, 0.0005):
                break
            process = named(run.folder, "called")[done]["process"]
            pids = run.pids()
            pid = target(run, pids, process)
            if pid is None:
                break
            words, wait = self.receive(mode, pid)
            when = run.kill(pid)
            if when is None:
                break
            self.note("  process %d killed %s" % (process, words))
            self.noticed(run, when)
            self.count(mode, run, when, wait)

    def spare(self, run):
        def target(run, pids, process):
            return next((pid for pid, rank in pids.items() if rank == process), None)
        self.replacements("spare", run, 4, target)

    def receive(self, mode, pid):
        """Waits for a moment of the transfer. @return its description, and the delay; None if the memory determined the moment"""
        began, part = time.time(), self.random.uniform(0.02, 1)
        if self.random.random() < 0.3:
            wait = self.delay(mode, self.options.within / 1000)
            time.sleep(wait)
            return "%.1f ms after its call" % (1000 * wait), wait
        before = resident(pid)
        while 0 < resident(pid) < before + part * self.image and time.time() < began + 2:
            pass
        return "with %d %% of an image after %.1f ms" % (100 * part, 1000 * (time.time() - began)), None

    def respawn(self, run):
        def target(run, pids, process):
            fresh = [pid for pid in pids if pid not in run.known and pid not in run.seen]
            return max(fresh, default=None)
        self.replacements("respawn", run, 2, target)

    def shrink(self, run):
        rank = self.first(run)
        if rank is None or not run.wait(lambda: named(run.folder, "fault noticed"), 0.0005):
            return
        wait = self.delay("shrink", 12 * self.options.within / 1000)
        time.sleep(wait)
        other = (rank + self.random.choice((1, -1))) % run.processes
        pid = next((pid for pid, rank in run.pids().items() if rank == other), None)
        when = pid and run.kill(pid)
        if when:
            self.noticed(run, when)
            self.count("shrink", run, when, wait)

    def rebalance(self, run):
        for done in range(3):
            if not run.wait(lambda: len(named(run.folder, "recovery")) >= done and len(named(run.folder, "checkpoint")) > 1):
                return
            wait = self.random.uniform(0.05, 0.6)
            time.sleep(wait)
            pids = list(run.pids())
            when = pids and not run.over() and run.kill(self.random.choice(pids))
            if not when or not self.noticed(run, when):
                return
            self.count("rebalance", run, when, wait)

    def relaunch(self, run):
        if not run.wait(lambda: len(named(run.folder, "checkpoint")) > 1):
            return
        time.sleep(self.random.uniform(0, 0.2))
        pids = list(run.pids())
        for pid in pids:
            os.kill(pid, signal.SIGSTOP)
        for pid in pids:
            run.kill(pid)
        if not run.wait(lambda: len(named(run.folder, "start")) > 1, 0.0005):
            return
        wait = self.delay("relaunch", 8 * self.options.within / 1000)
        time.sleep(wait)
        fresh = [pid for pid in run.pids() if pid not in pids]
        when = fresh and run.kill(self.random.choice(fresh))
        if not when:
            return
        run.wait(lambda: any(e["time"] >= when for e in named(run.folder, "fault noticed")) or len(named(run.folder, "start")) > 2)
        self.count("relaunch", run, when, wait)

    def run(self, mode, way):
        expected = self.undisturbed(mode)
        case, settings = self.case(mode)
        processes, spares, strategies, launcher = {
            "spare": (4, 4, "[spare,shrink]", ()), "respawn": (4, 0, "[respawn,shrink]", ()),
            "shrink": (5, 0, "[shrink]", ()), "rebalance": (5, 0, "[shrink]", ()),
            "relaunch": (4, 0, "[shrink]", ("--relaunch", "5", "--retries", "5"))}[mode]
        settings = settings + ["resilience.strategies=" + strategies, "resilience.memory.within_node=" + way]
        self.number += 1
        folder = os.path.join(self.options.out, "run-%d" % self.number)
        self.note("run %d: %s, %s" % (self.number, mode, way))
        run = Run(folder, processes, spares, case, settings, launcher)
        try:
            getattr(self, mode)(run)
            code = run.end()
        except RuntimeError as error:
            code = str(error)
        self.counts[mode, "runs"] += 1
        if code == 0 and checksum(folder) == expected:
            if mode != "relaunch" or "in the memory of the nodes" in open(os.path.join(folder, "events.jsonl")).read():
                shutil.rmtree(folder)
                os.remove(folder + ".log")
                return
            code = "0, from the beginning"
        self.lost.append("run %d, %s, %s: exit %s, checksum %s" % (self.number, mode, way, code, checksum(folder)))
        self.note("  LOST: " + self.lost[-1])
        print(self.lost[-1], flush=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--kills", type=int, default=300, help="at hand-overs, over all modes and ways")
    parser.add_argument("--modes", default="spare,respawn,shrink,rebalance,relaunch")
    parser.add_argument("--ways", default="copy,share,send")
    parser.add_argument("--within", type=float, default=40, help="ms from the call of a replacement to its death at most")
    parser.add_argument("--cells", type=int, default=64, help="of the box, in each direction: a multiple of 16")
    parser.add_argument("--steps", type=int, default=40)
    parser.add_argument("--seed", type=int, default=int(time.time()))
    parser.add_argument("--out", default=os.path.join(BUILD, "hand-over-kills"))
    options = parser.parse_args()
    options.out = os.path.abspath(options.out)
    shutil.rmtree(options.out, ignore_errors=True)
    os.makedirs(options.out)
    os.environ["OMP_NUM_THREADS"] = "1"
    kills = Kills(options)
    rows = [(mode, way) for mode in options.modes.split(",") for way in options.ways.split(",")]
    turn = 0
    while sum(n for (_, what), n in kills.counts.items() if what == "killed") < options.kills and len(kills.lost) < 5:
        kills.run(*rows[turn % len(rows)])
        turn += 1
        if turn > 10 * options.kills:
            break
    table = {mode: {what: kills.counts[mode, what] for what in ("runs", "killed", "in the window")}
             for mode in options.modes.split(",")}
    with open(os.path.join(options.out, "kills.json"), "w") as file:
        json.dump({"seed": options.seed, "modes": table, "lost": kills.lost}, file, indent=1)
    for mode, row in table.items():
        print("%-10s %s" % (mode, ", ".join("%s %d" % pair for pair in row.items())))
    print("runs lost: %d" % len(kills.lost))
    sys.exit(1 if kills.lost else 0)


if __name__ == "__main__":
    main()

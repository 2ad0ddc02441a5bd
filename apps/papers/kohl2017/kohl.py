#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Numbers, plots and the model of apps/papers/kohl2017/kohl.sh. Needs nothing but Python 3; plots are made by matplotlib if it
is there, else by gnuplot, else not at all.

  kohl.py --measured FILE.jsonl --out DIR [--recovery FILE.jsonl] [--with FILE.jsonl --without FILE.jsonl]
                [--network FILE.json]

--measured   lines of `gabion-bench --only paper`, of several runs; of equal name and processes the median counts
--recovery   lines of `gabion-bench --only recovery`
--with, --without   lines of `paper` and `transport` with and without the fault tolerance of the MPI library
--network    what the model assumes of the machine (default: networks/supermuc.json beside this file)

Writes DIR/numbers.csv, DIR/numbers.json, DIR/report.md and DIR/*.png. What is computed and not measured has `model'
in its file name, its title and its caption.

The model of a snapshot
  A process packs its image; sends it to its partner while it receives another's; all agree. It knows four costs that
  were measured on this machine (at the smallest number of processes, where each has a core; the best of all samples,
  which is what a machine that others use too is capable of):
    pack      s per byte, of which each process of a node has at most its share of the node's memory bandwidth: three
              bytes are moved per byte packed (read, fetched to be written, written)
    exchange  s per byte of a process that sends and receives through MPI within a node: it is never faster than that
    restore   s per byte unpacked into new blocks, hashes verified
    commit    of two processes: two messages one after another; half of it is the price of a message without network
  and a network: nodes that share a link each way, islands that share an uplink each way which carries 1/pruning of
  what their nodes can. Events: a process has packed (with a random delay, `jitter' of the packing time); each link then
  serves images in the order in which they were ready; an image has arrived when the slowest of the links on its way
  has served it, and the partner's own limit. The agreement begins when the last image is there and takes
  2 ceil(log2 P) messages one after another. Processes are numbered node by node, island by island.
    pairwise       partner P/2 further: with two islands or more, every image crosses between islands
    within-island  partner half an island further: none does, and the loss of an island is not survived
  Restoring needs no message but the agreement (Kohl et al. 2017, figure 1, section 7.4).
  Not in it: contention inside an island, routing, system noise, other jobs. It shows shapes, not seconds.

The model of overhead
  A checkpoint costs C, failures come at a mean distance mu, exponentially distributed; interval T.
    creation  C/T; at T = sqrt(2 mu C) (Young 1974) that is C/sqrt(2 mu C), Kohl et al. 2017, eq. 7
    in all    C/T + (T/2 + R)/mu to first order, R the time of a recovery; Daly's optimum (2006) beside it
    played    the same with random failures, steps lost and done again
  figure 7: C/sqrt(2 mu C) over mu and C, with (a) and (b) at 2^13 and 2^15 processes and the largest load

How delays of failures spread is the subject of apps/papers/fenixlr2015/fenixlr.sh.
"""
import argparse, csv, json, math, os, random, statistics, sys

sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
from plots import Panel, plotter

PARTS = ("create", "pack", "exchange", "commit", "restore", "verify", "memcpy", "mpi", "step")


# ---------------------------------------------------------------- what was measured

def read_lines(path):
    with open(path) as file:
        return [json.loads(line) for line in file if line.startswith("{")]


def medians(lines):
    """{(name, processes): (median of the runs' medians, least, most, unit, samples)}"""
    groups = {}
    for line in lines:
        groups.setdefault((line["name"], line["processes"]), []).append(line)
    return {key: (statistics.median(l["value"] for l in group), min(l["min"] for l in group),
                  max(l["max"] for l in group), group[0]["unit"], sum(l["samples"] for l in group))
            for key, group in groups.items()}


class Case:
    """A block size with a number of blocks per process: its parts in seconds by number of processes."""

    def __init__(self, size, blocks):
        self.size, self.blocks = size, blocks
        self.seconds = {part: {} for part in PARTS}  # medians
        self.best = {part: {} for part in PARTS}
        self.bytes = 0

    @property
    def label(self):
        return "%s%d block%s of %s per process, %.3g MB" % ("phase field, " if self.is_phase else "", self.blocks,
                                                            "" if self.blocks == 1 else "s",
                                                            self.cells.replace("x", "×"), self.bytes / 1e6)

    @property
    def is_phase(self):
        return self.size.startswith("phase-")

    @property
    def cells(self):
        return self.size[len("phase-"):] if self.is_phase else self.size


def cases_of(numbers):
    cases = {}
    for (name, processes), value in numbers.items():
        word = name.split(".")
        if word[0] != "paper":
            continue
        case = cases.setdefault((word[1], int(word[2][len("blocks-"):])), Case(word[1], int(word[2][len("blocks-"):])))
        if word[3] == "image":
            case.bytes = max(case.bytes, value[0] * 1e6)
        else:
            case.seconds[word[3]][processes] = value[0] / 1e3
            case.best[word[3]][processes] = value[1] / 1e3
    return sorted(cases.values(), key=lambda c: (c.size.startswith("1"), c.size, c.blocks))


# ---------------------------------------------------------------- the model of a snapshot

class Costs:
    """Seconds per byte, and per message, from the largest image at the smallest number of processes."""

    def __init__(self, cases):
        case = max(cases, key=lambda c: c.bytes)
        processes = min(case.seconds["create"])
        per_byte = lambda part: case.best[part][processes] / case.bytes
        self.pack, self.exchange, self.restore = per_byte("pack"), per_byte("exchange"), per_byte("restore")
        self.memcpy = per_byte("memcpy")
        self.message = min(c.best["commit"][processes] for c in cases if processes in c.best["commit"]) / 2
        self.processes, self.bytes = processes, case.bytes


class Link:
    """Serves in the order in which it is asked; to be asked in the order of readiness."""
    __slots__ = ("free",)

    def __init__(self):
        self.free = 0.0

    def serve(self, ready, seconds):
        self.free = max(self.free, ready) + seconds
        return self.free


def agreement(costs, net, processes, islands):
    latency = 1e-6 * (net["latency_between_islands_us"] if islands > 1 else net["latency_us"])
    return 2 * math.ceil(math.log2(max(processes, 2))) * (costs.message + latency)


def local_rate(costs, net, seconds_per_byte):
    """Seconds per byte of a process that has its share of the node's memory bandwidth, three bytes moved for one."""
    return max(seconds_per_byte, 3e-9 * net["processes_per_node"] / net["node_memory_GBps"])


def model_create(costs, net, processes, image, within, seed=1):
    """Seconds of a snapshot: (packed, exchanged, agreed), each since the beginning."""
    chance = random.Random(seed)
    per_node, island = net["processes_per_node"], net["processes_per_node"] * net["nodes_per_island"]
    islands = -(-processes // island)
    span = island if within and islands > 1 else processes
    link = image / (net["node_bandwidth_GBps"] * 1e9)
    uplink = link * net["pruning"] / net["nodes_per_island"]
    own = costs.exchange * image
    packing = local_rate(costs, net, costs.pack) * image
    out, into = {}, {}
    up, down = [Link() for _ in range(islands)], [Link() for _ in range(islands)]
    packed = sorted((packing * (1 + net["jitter"] * chance.random()), p) for p in range(processes))
    last = 0.0
    for ready, p in packed:
        base = p - p % span
        size = min(span, processes - base)
        partner = base + (p - base + size // 2) % size
        arrived = ready + own
        if partner // per_node != p // per_node:
            arrived = max(arrived, out.setdefault(p // per_node, Link()).serve(ready, link),
                          into.setdefault(partner // per_node, Link()).serve(ready, link)) + 1e-6 * net["latency_us"]
        if partner // island != p // island:
            arrived = max(arrived, up[p // island].serve(ready, uplink), down[partner // island].serve(ready, uplink))
            arrived += 1e-6 * net["latency_between_islands_us"]
        last = max(last, arrived)
    return packed[-1][0], last, last + agreement(costs, net, processes, islands)


def model_restore(costs, net, processes, image):
    islands = -(-processes // (net["processes_per_node"] * net["nodes_per_island"]))
    return local_rate(costs, net, costs.restore) * image * (1 + net["jitter"]) + agreement(costs, net, processes, islands)


# ---------------------------------------------------------------- the model of overhead

def young(mu, cost):
    return math.sqrt(2 * mu * cost)


def daly(mu, cost):
    """Daly 2006, the higher-order estimate of the interval between the end of one checkpoint and the next."""
    if cost >= 2 * mu:
        return mu
    ratio = math.sqrt(cost / (2 * mu))
    return math.sqrt(2 * cost * mu) * (1 + ratio / 3 + cost / (9 * 2 * mu)) - cost


def expected_overhead(interval, cost, recovery, mu):
    return cost / interval + (interval / 2 + recovery) / mu


def played_overhead(interval, cost, recovery, mu, work, chance):
    """Time beyond `work` of a run with random failures, in parts of `work`."""
    now = done = 0.0
    failure = chance.expovariate(1 / mu)
    while done < work:
        part = min(interval, work - done)
        if now + part + cost <= failure:
            now, done = now + part + cost, done + part
            continue
        now = failure + recovery
        failure = now + chance.expovariate(1 / mu)
    return now / work - 1


# ---------------------------------------------------------------- figures

def phase_figures(draw, out, cases):
    """Their phase field and loads: figure 4 (Emmy), 5 (SuperMUC, about six blocks a process), 6 (JUQUEEN, one)."""
    wanted = (("figure 4", [("100x100x20", 1), ("100x100x40", 1)]), ("figure 5", [("100x100x20", 6)]),
              ("figure 6", [("20x20x20", 1), ("40x40x20", 1)]))
    panels = []
    for name, loads in wanted:
        panel = Panel(name + ", 12 values a cell", "processes", "creation of a snapshot, s", log="x")
        for case in cases:
            if (case.cells, case.blocks) in loads:
                panel.add(case.label, sorted(case.seconds["create"].items()))
        if panel.series:
            panels.append(panel)
    if panels:
        draw(os.path.join(out, "figures4to6_phase_field.png"),
             "Creation of a snapshot of the phase field, measured (after Kohl et al. 2017, figures 4 to 6)", panels)


def measured_figures(draw, out, cases):
    phase_figures(draw, out, [c for c in cases if c.is_phase])
    by_size = {}
    for case in [c for c in cases if not c.is_phase]:
        by_size.setdefault(case.size, []).append(case)
    panels = []
    for size, group in by_size.items():
        panel = Panel("blocks of " + size.replace("x", "×"), "processes", "creation of a snapshot, s", log="x")
        for case in group:
            panel.add("%d per process, %.3g MB" % (case.blocks, case.bytes / 1e6), sorted(case.seconds["create"].items()))
        panels.append(panel)
    draw(os.path.join(out, "figures4to6_flow.png"), "Creation of a snapshot of a flow (D3Q19), measured (after Kohl et al. 2017, figures 4 to 6)",
         panels)
    data = Panel("against data", "MB per process", "s", log="")
    for processes in sorted(set(p for c in cases for p in c.seconds["create"])):
        data.add("%d processes" % processes, sorted((c.bytes / 1e6, c.seconds["create"].get(processes)) for c in cases), "o-")
    parts = Panel("parts, largest image", "processes", "s", log="x")
    largest = max(cases, key=lambda c: c.bytes)
    for part in ("create", "pack", "exchange", "commit", "memcpy", "mpi"):
        parts.add({"mpi": "MPI alone", "memcpy": "memcpy alone"}.get(part, part), sorted(largest.seconds[part].items()))
    draw(os.path.join(out, "creation_data_and_parts.png"), "Creation of a snapshot, measured", [data, parts])
    restore = Panel("all drop their data and restore their partner's", "processes", "restore, s", log="x")
    for case in cases:
        restore.add(case.label, sorted(case.seconds["restore"].items()))
    draw(os.path.join(out, "figure8_restore.png"), "Restoring, measured (after Kohl et al. 2017, figure 8)", [restore])


def model_figures(draw, out, cases, net):
    costs = Costs(cases)
    counts = [2 ** k for k in range(4, 19)]
    create = Panel("creation (model)", "processes", "s", log="x")
    restore = Panel("restoring (model)", "processes", "s", log="x")
    table = []
    sizes = {round(c.bytes / 2e5): c for c in sorted(cases, key=lambda c: c.bytes)} # blocks do not matter here
    for case in sorted(sizes.values(), key=lambda c: -c.bytes)[:3]:
        far, near, back = [], [], []
        for processes in counts:
            far.append((processes, model_create(costs, net, processes, case.bytes, False)[2]))
            near.append((processes, model_create(costs, net, processes, case.bytes, True)[2]))
            back.append((processes, model_restore(costs, net, processes, case.bytes)))
            table.append((case.bytes, processes, far[-1][1], near[-1][1], back[-1][1]))
        size = "%.3g MB" % (case.bytes / 1e6)
        create.add("pairwise, P/2 further, " + size, far)
        create.add("within the island, " + size, near, "--")
        restore.add(size, back)
    heading = "MODEL, not measured: local costs of this machine on a network %s" % net["name"]
    draw(os.path.join(out, "model_islands.png"), heading, [create, restore])
    with open(os.path.join(out, "model_islands.csv"), "w", newline="") as file:
        rows = csv.writer(file)
        rows.writerow(["bytes_per_process", "processes", "model_create_pairwise_s", "model_create_within_island_s",
                       "model_restore_s"])
        rows.writerows(table)
    return costs, table


def overhead_figure(draw, out, cost, recovery):
    mu, chance = 3600.0, random.Random(4)
    panel = Panel("MTBF one hour, checkpoint %.2g s, recovery %.2g s (model)" % (cost, recovery), "interval, s", "overhead, %", log="xy")
    intervals = [young(mu, cost) * 2 ** (k / 2) for k in range(-8, 9)]
    panel.add("creation alone, C/T", [(t, 100 * cost / t) for t in intervals], "-")
    panel.add("first order, C/T + (T/2 + R)/mu", [(t, 100 * expected_overhead(t, cost, recovery, mu)) for t in intervals], "-")
    panel.add("played, a thousand hours each", [(t, 100 * played_overhead(t, cost, recovery, mu, 3.6e6, chance)) for t in intervals], "o")
    best = young(mu, cost)
    panel.add("Young %.3g s: creation %.2g %% (eq. 7)" % (best, 100 * cost / best), [(best, 100 * cost / best)], "s")
    better = daly(mu, cost)
    panel.add("Daly %.3g s" % better, [(better, 100 * expected_overhead(better, cost, recovery, mu))], "s")
    draw(os.path.join(out, "model_overhead.png"), "MODEL, not measured: overhead", [panel])
    return best, cost / best


def equal_overhead(share, mu):
    """The cost C at which C/sqrt(2 mu C) is that share (eq. 7)."""
    return 2 * mu * share ** 2


def figure_7(draw, out, costs_of):
    """costs_of: (label, seconds) of checkpoints."""
    hours = [2 ** (k / 2) / 8 for k in range(0, 22)]
    plane = Panel("equal overhead C/sqrt(2 mu C), eq. 7", "mean time between failures, h", "checkpoint, s")
    for share in (0.003, 0.01, 0.02, 0.03, 0.05, 0.1):
        plane.add("%g %%" % (100 * share), [(h, equal_overhead(share, 3600 * h)) for h in hours], "-")
    curves = Panel("the same at these costs", "mean time between failures, h", "overhead, %")
    for label, cost in costs_of:
        plane.add("%s: %.2g s" % (label, cost), [(hours[0], cost), (hours[-1], cost)], "--")
        curves.add("%s: %.2g s" % (label, cost), [(h, 100 * cost / young(3600 * h, cost)) for h in hours], "-")
    draw(os.path.join(out, "figure7_overhead.png"), "Overhead against failure rate and cost (after Kohl et al. 2017, figure 7)",
         [plane, curves])
    return [(label, cost, [100 * cost / young(3600 * h, cost) for h in (1, 6, 24)]) for label, cost in costs_of]


def costs_of_figure_7(cases, costs, table):
    at = lambda processes: [row[2] for row in table if row[0] == costs.bytes and row[1] == processes][0]
    largest = max(cases, key=lambda c: c.bytes)
    most = max(largest.seconds["create"])
    return [("(a) model, 2^13 processes", at(2 ** 13)), ("(b) model, 2^15 processes", at(2 ** 15)),
            ("measured here, %d processes" % most, largest.seconds["create"][most]), ("(b) as published, at most", 7.0)]


# ---------------------------------------------------------------- what it says

def ratios(cases):
    """(part, what, processes, ratio of the medians, ratio of the best) wherever there is twice the data."""
    rows = []
    for one in cases:
        for two in cases:
            if one.size[:6] == two.size[:6] and abs(two.bytes / one.bytes - 2) < 0.05:
                for part in ("create", "restore"):
                    for processes in sorted(one.seconds[part]):
                        if processes in two.seconds[part]:
                            rows.append((part, "%s -> %s" % (one.label, two.label), processes,
                                         two.seconds[part][processes] / one.seconds[part][processes],
                                         two.best[part][processes] / one.best[part][processes]))
    return rows


def flag_rows(with_ft, without_ft):
    a, b = medians(read_lines(with_ft)), medians(read_lines(without_ft))
    best = lambda value: value[2] if value[3] == "GB/s" else value[1]  # others' work only ever makes it slower
    wanted = lambda name: name.startswith("mpi.") or name.split(".")[-1] in ("step", "create", "exchange")
    return [(key[0], key[1], best(b[key]), best(a[key]), a[key][3], (best(a[key]) / best(b[key]) - 1) * 100)
            for key in a if key in b and wanted(key[0]) and best(b[key]) > 0]


def write_report(out, cases, recovery, flags, costs, table, net, optimum, seventh):
    lines = ["# Kohl et al. 2017, figures 4 to 8, at this machine's size", ""]
    lines += ["## Measured", "", "| what | " + " | ".join("np %d" % p for p in counts_of(cases)) + " |",
              "|---|" + "---:|" * len(counts_of(cases))]
    for part in ("create", "restore"):
        for case in cases:
            lines.append("| %s, %s, ms | " % (part, case.label) +
                         " | ".join("%.3g" % (1e3 * case.seconds[part][p]) if p in case.seconds[part] else ""
                                    for p in counts_of(cases)) + " |")
    lines += ["", "## Twice the data", "", "| part | from → to | np | time × (medians) | × (best) |", "|---|---|---:|---:|---:|"]
    for part, what, processes, ratio, best in ratios(cases):
        lines.append("| %s | %s | %d | %.2f | %.2f |" % (part, what.replace("->", "→"), processes, ratio, best))
    for part in ("create", "restore"):
        rows = [r for r in ratios(cases) if r[0] == part]
        if rows:
            lines += ["", "Twice the data: %s takes %.2f times as long by medians, %.2f by the best of each (median of %d ratios)." %
                      (part, statistics.median(r[3] for r in rows), statistics.median(r[4] for r in rows), len(rows))]
    if recovery:
        numbers = medians(read_lines(recovery))
        counts = sorted(set(p for _, p in numbers))
        names = list(dict.fromkeys(name for name, _ in numbers))
        lines += ["", "## Recovery from a real death, by part, ms", "", "| part | " + " | ".join("np %d" % p for p in counts) + " |",
                  "|---|" + "---:|" * len(counts)]
        for name in names:
            lines.append("| %s | " % name.split(".", 1)[1] +
                         " | ".join("%.3g" % numbers[name, p][0] if (name, p) in numbers else "" for p in counts) + " |")
    if flags:
        lines += ["", "## Undisturbed cost of `--with-ft ulfm`, best of each", "", "| what | np | without | with | unit | change, % |",
                  "|---|---:|---:|---:|---|---:|"]
        lines += ["| %s | %d | %.4g | %.4g | %s | %+.1f |" % row for row in flags]
        for part in ("step", "create"):
            values = [row[5] for row in flags if row[0].endswith("." + part)]
            if values:
                lines += ["", "Fault tolerance of the MPI library, nobody dying: `%s` takes %+.1f %% (median of %d)." %
                          (part, statistics.median(values), len(values))]
    lines += ["", "## Model (not measured)", "",
              "Costs per byte of an image of %.3g MB on %d processes here: pack %.3g ns, exchange %.3g ns, restore %.3g ns; a message of the "
              "agreement %.3g us. Network: %s." % (costs.bytes / 1e6, costs.processes, 1e9 * costs.pack, 1e9 * costs.exchange,
                                                  1e9 * costs.restore, 1e6 * costs.message, net["name"]), "",
              "| MB per process | processes | pairwise, s | within the island, s | restore, s |", "|---:|---:|---:|---:|---:|"]
    lines += ["| %.3g | %d | %.3g | %.3g | %.3g |" % (row[0] / 1e6, row[1], row[2], row[3], row[4]) for row in table]
    lines += ["", "One failure per hour: best interval %.3g s (Young), creation %.2g %% of the time (eq. 7)." % (optimum[0], 100 * optimum[1])]
    lines += ["", "## Figure 7: creation at the best interval, % of the time (eq. 7)", "",
              "| checkpoint | s | failure every hour | 6 h | 24 h |", "|---|---:|---:|---:|---:|"]
    lines += ["| %s | %.3g | %.2g | %.2g | %.2g |" % ((label, cost) + tuple(shares)) for label, cost, shares in seventh]
    with open(os.path.join(out, "report.md"), "w") as file:
        file.write("\n".join(lines) + "\n")


def counts_of(cases):
    return sorted(set(p for c in cases for p in c.seconds["create"]))


def write_numbers(out, numbers):
    rows = [dict(name=name, processes=processes, median=v[0], min=v[1], max=v[2], unit=v[3], samples=v[4])
            for (name, processes), v in sorted(numbers.items())]
    with open(os.path.join(out, "numbers.json"), "w") as file:
        json.dump(rows, file, indent=1)
    with open(os.path.join(out, "numbers.csv"), "w", newline="") as file:
        table = csv.DictWriter(file, fieldnames=list(rows[0]))
        table.writeheader()
        table.writerows(rows)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--measured", required=True)
    parser.add_argument("--out", required=True)
    parser.add_argument("--recovery")
    parser.add_argument("--with", dest="with_ft")
    parser.add_argument("--without", dest="without_ft")
    parser.add_argument("--network", default=os.path.join(os.path.dirname(os.path.abspath(__file__)), "networks", "supermuc.json"))
    given = parser.parse_args()
    os.makedirs(given.out, exist_ok=True)
    with open(given.network) as file:
        net = json.load(file)
    numbers = medians(read_lines(given.measured))
    cases = cases_of(numbers)
    if not cases:
        sys.exit("kohl.py: no results of `paper' in " + given.measured)
    draw = plotter()
    write_numbers(given.out, numbers)
    measured_figures(draw, given.out, cases)
    costs, table = model_figures(draw, given.out, cases, net)
    largest = [row for row in table if row[0] == costs.bytes and row[1] == 2 ** 15][0]
    optimum = overhead_figure(draw, given.out, largest[2], largest[4])
    flags = flag_rows(given.with_ft, given.without_ft) if given.with_ft and given.without_ft else []
    seventh = figure_7(draw, given.out, costs_of_figure_7(cases, costs, table))
    write_report(given.out, cases, given.recovery, flags, costs, table, net, optimum, seventh)


if __name__ == "__main__":
    main()

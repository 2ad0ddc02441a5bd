#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Table and picture of scripts/measure/scaling.sh.

  scaling.py LINES --edge N [--table FILE] [--png FILE]

LINES   lines of `gabion-bench --only blocks --json`, of any number of rounds
--edge  cells along the box

Rates are medians of the rounds' medians, in million cell updates per second; shares are relative to one block per process,
measured in turn. Without matplotlib there is no picture.
"""
import argparse
import json
import re
import statistics
import sys

WHERE = {(1, 1): "one core", (1, 2): "two threads", (2, 1): "two processes"}
COLOURS = {(1, 1): "#444444", (1, 2): "#c8641e", (2, 1): "#1e64c8"}


def read(path, edge):
    """{(processes, threads): {(blocks, alone): [(rate, of one block, share)]}}"""
    found = {}
    with open(path) as lines:
        for line in lines:
            it = json.loads(line)
            name = re.fullmatch(r"blocks\.in_place\..*\.blocks-of-(\d+)(\.alone)?", it["name"])
            where = (it["processes"], it["threads"])
            if not name or where not in WHERE:
                continue
            blocks = (edge // int(name[1])) ** 3
            found.setdefault(where, {}).setdefault((blocks, bool(name[2])), []).append(
                (it["value"], it["ceiling"], it["percent"]))
    return found


def middle(rows, column):
    return statistics.median(row[column] for row in rows)


def one_block(of):
    return statistics.median(row[1] for rows in of.values() for row in rows)


def table(found):
    sizes = sorted({blocks for of in found.values() for blocks, _ in of})
    text = ["| blocks | " + " | ".join(f"{WHERE[w]}, MLUPS | % | alone, % " for w in found) + " |",
            "|---:|" + "---:|---:|---:|" * len(found),
            "| one each | " + " | ".join(f"{one_block(of):.0f} | 100 | " for of in found.values()) + " |"]
    for blocks in sizes:
        cells = []
        for of in found.values():
            rows, alone = of.get((blocks, False)), of.get((blocks, True))
            cells.append((f"{middle(rows, 0):.0f} | {middle(rows, 2):.0f}" if rows else " | ")
                         + (f" | {middle(alone, 2):.0f}" if alone else " | "))
        text.append(f"| {blocks} | " + " | ".join(cells) + " |")
    return "\n".join(text) + "\n"


def draw(found, edge, path):
    try:
        import matplotlib
    except ImportError:
        print("no picture: Python has no matplotlib", file=sys.stderr)
        return
    matplotlib.use("Agg")
    import matplotlib.pyplot as plt
    figure, (rates, shares) = plt.subplots(1, 2, figsize=(11, 4.2))
    for where, of in found.items():
        colour = COLOURS[where]
        for alone, line in ((False, "o-"), (True, "x:")):
            sizes = sorted(blocks for blocks, is_alone in of if is_alone == alone)
            if not sizes:
                continue
            # One block per process: the box is cut in two for two processes.
            whole = where[0]
            rates.plot([whole] + sizes, [one_block(of)] + [middle(of[s, alone], 0) for s in sizes], line, color=colour,
                       label=WHERE[where] + (", a field for each block" if alone else ""))
            shares.plot([whole] + sizes, [100] + [middle(of[s, alone], 2) for s in sizes], line, color=colour)
    for axes in (rates, shares):
        axes.set_xscale("log", base=2)
        sizes = sorted({blocks for of in found.values() for blocks, _ in of})
        axes.set_xticks([1] + sizes, ["1"] + [str(s) for s in sizes])
        axes.set_xlabel(f"blocks that {edge}³ cells are cut into")
        axes.set_ylim(bottom=0)
        axes.grid(alpha=0.3)
    rates.set_ylabel("million cell updates per second")
    rates.legend(fontsize=8)
    shares.set_ylabel("% of one block for each process, measured in turn")
    figure.tight_layout()
    figure.savefig(path, dpi=110)
    print(path)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("lines")
    parser.add_argument("--edge", type=int, required=True)
    parser.add_argument("--table")
    parser.add_argument("--png")
    options = parser.parse_args()
    found = read(options.lines, options.edge)
    if not found:
        sys.exit(f"error: {options.lines} has no line of small blocks")
    text = table(found)
    print(text, end="")
    if options.table:
        with open(options.table, "w") as out:
            out.write(text)
    if options.png:
        draw(found, options.edge, options.png)


if __name__ == "__main__":
    main()

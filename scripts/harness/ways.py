#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Lengths of the ways through the code: files, and lines of these files, that a reader of a call chain opens.

    ways.py [LIST]             a table: one row for each way of LIST (ways.txt next to this script)
    ways.py [LIST] --files     the files of each way, with their lines, in the order of the chain

LIST has the form that its head describes. A file counts once per way, with all of its lines. Headers with declarations do
not count, since a reader finds the contract of a function there and need not follow it further.

The exit code is 1 if a function of LIST is not defined any more, if several files define it and LIST does not choose one,
or if no earlier file of its way names it; each is reported with its line in LIST.
"""
import argparse
import collections
import os
import re
import sys

import circles


class Way:
    def __init__(self, name, title):
        self.name, self.title = name, title
        self.functions = []  # (line of the list, function, path or None, whether it is called through a table)


def read_list(path):
    """@return the ways of a list"""
    ways = []
    with open(path) as file:
        for number, line in enumerate(file, 1):
            words = line.split("#")[0].split()
            head = re.match(r"\[(\w+)\]\s*(\S.*)$", line)
            if head:
                ways.append(Way(head.group(1), head.group(2).strip()))
            elif words:
                is_indirect = words[0] == "~"
                words = words[is_indirect:]
                if not ways or len(words) not in (1, 2):
                    raise circles.Failure("%s:%d: expected `[NAME] TITLE' or `[~] FUNCTION [PATH]'" % (path, number))
                ways[-1].functions.append((number, words[0], words[1] if len(words) == 2 else None, is_indirect))
    if not ways or not all(way.functions for way in ways):
        raise circles.Failure("%s: no way, or a way without functions" % path)
    return ways


def definitions(texts):
    """@return function, or variable with an initialiser -> files that define it; path -> all words of its code"""
    found, words = collections.defaultdict(set), {}
    for path, text in texts.items():
        plain = circles.without_comments(text)
        words[path] = set(circles.WORD.findall(plain))
        for head, body in circles.top_level(re.sub(r"^[ \t]*#[^\n]*", "", plain, flags=re.M)):
            head = circles.SKIPPED.sub(" ", head)
            if not body or "typedef" in head:
                continue
            name = re.search(r"(\w+)\s*(?:\[.*\])?\s*=\s*$", head, re.S) or re.search(r"(\w+)\s*\(", head)
            if name:
                found[name.group(1)].add(path)
    return found, words


def files_of(way, list_path, found, words, complaints):
    """@return the files of a way in the order of its functions"""
    files = []
    for number, function, path, is_indirect in way.functions:
        where, homes = "%s:%d: %s" % (list_path, number, function), set(found.get(function, ()))
        if path:
            homes = homes & {path}
        if not homes:
            complaints.append("%s: not defined in %s; name its successor" % (where, path or "any source file"))
            continue
        if len(homes) > 1:
            complaints.append("%s: several files define it; add one of %s" % (where, ", ".join(sorted(homes))))
            continue
        home = homes.pop()
        if files and not is_indirect and home not in files and not any(function in words[other] for other in files):
            complaints.append("%s: no earlier file of the way names it; list the functions in between" % where)
        if home not in files:
            files.append(home)
    return files


def main():
    here = os.path.dirname(os.path.abspath(__file__))
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("list", nargs="?", default=os.path.join(here, "ways.txt"))
    parser.add_argument("--root", default=os.path.join(here, "..", ".."), help="root of the sources (default: of this script)")
    parser.add_argument("--files", action="store_true", help="list the files of each way")
    options = parser.parse_args()
    texts = circles.sources(options.root)
    found, words = definitions(texts)
    complaints, rows = [], []
    for way in read_list(options.list):
        files = files_of(way, options.list, found, words, complaints)
        rows.append((way, files, sum(texts[path].count("\n") for path in files)))
    print("%-8s %5s %6s  %s" % ("way", "files", "lines", "from -> to"))
    for way, files, lines in rows:
        print("%-8s %5d %6d  %s" % (way.name, len(files), lines, way.title))
        if options.files:
            print("".join("  %6d  %s\n" % (texts[path].count("\n"), path) for path in files), end="")
    for complaint in complaints:
        print(complaint, file=sys.stderr)
    return 1 if complaints else 0


if __name__ == "__main__":
    try:
        sys.exit(main())
    except (circles.Failure, OSError) as failure:
        sys.exit("ways.py: %s" % failure)

#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Cycles of sources: files that include each other and sources that call each other, over any number of steps.

circles.py                 a line for each cycle: `includes' or `calls', and its files
circles.py --edges         and below it the includes and names that cause it
circles.py --check LIST    compares with a list of such lines, each with `# reason' after it; 1 if they differ

X.c, X.h, X_impl.h and X.inc are one node. Only the text is read, nothing has to be built.
includes  #include "..." of one node in another
calls     a function body, an initialiser or a macro of one node names a definition of another one: a function or a variable with
          external linkage. Inline functions and macros with arguments of a header count as text of the file that names them.
          A text that a source includes (X.inc) counts as a part of it. Of a name with several definitions the one in the same
          folder counts, otherwise none.
Cycles of top-level folders are an error and cannot be listed.
"""
import argparse
import collections
import os
import re
import sys

FOLDERS = ("core", "field", "blockforest", "loadbalance", "lbm", "phasefield", "resilience", "apps")
MADE = {"gabion_commit.h"}  # headers that the build makes
TAKEN_OVER = "MPI"  # names that resilience/persist defines, too; in other modules they mean those of MPI
HOME_OF_TAKEN_OVER = "resilience/persist"


UMBRELLAS = {}  # gabion/X.h -> its includes, which count as includes of each file with that umbrella


class Failure(Exception):
    pass


# ---------------------------------------------------------------- the text


def sources(root):
    """@return path from root -> text, of all sources of the product"""
    texts = {}
    for top in FOLDERS:
        if not os.path.isdir(os.path.join(root, top)):
            raise Failure("%s has no folder %s" % (root, top))
        for folder, _, names in os.walk(os.path.join(root, top)):
            for name in names:
                if name.endswith((".c", ".h", ".inc")):
                    path = os.path.join(folder, name)
                    with open(path, errors="replace") as file:
                        texts[os.path.relpath(path, root)] = file.read()
    folder = os.path.join(root, "gabion")
    for name in sorted(os.listdir(folder)) if os.path.isdir(folder) else []:
        with open(os.path.join(folder, name), errors="replace") as file:
            UMBRELLAS["gabion/" + name] = re.findall(r'#[ \t]*include[ \t]+"([^"]+)"', file.read())
    return texts


def node_of(path):
    return re.sub(r"_impl$", "", re.sub(r"\.(c|h|inc)$", "", path))


def without_comments(text):
    """Comments, strings and characters become spaces, lines continued with a backslash one line."""
    token = re.compile(r'//[^\n]*|/\*.*?\*/|"(?:\\.|[^"\\\n])*"|\'(?:\\.|[^\'\\\n])*\'', re.S)
    plain = token.sub(" ", text.replace("\\\n", " "))
    return re.sub(r"#[ \t]*ifdef[ \t]+__cplusplus.*?#[ \t]*endif", " ", plain, flags=re.S)  # extern "C" { opens no body


def includes_of(path, texts):
    """@return paths of its includes with quotation marks, from the root or its own folder"""
    found = []
    names = re.findall(r'^[ \t]*#[ \t]*include[ \t]+"([^"]+)"', texts[path], re.M)
    for name in names:
        if name in UMBRELLAS:
            names.extend(UMBRELLAS[name])
            continue
        here = os.path.normpath(os.path.join(os.path.dirname(path), name))
        if name in texts or here in texts:
            found.append(name if name in texts else here)
        elif name not in MADE:
            raise Failure('%s: #include "%s": there is no such file' % (path, name))
    return found


def with_included_texts(path, texts, seen=()):
    """The text of a source and of the .inc files that it includes."""
    text = [texts[path]]
    for other in includes_of(path, texts):
        if other.endswith(".inc") and other not in seen:
            text.append(with_included_texts(other, texts, seen + (path, other)))
    return "\n".join(text)


# ---------------------------------------------------------------- definitions and names

WORD = re.compile(r"(?<![\w.])(?<!->)[A-Za-z_]\w*")
SKIPPED = re.compile(r"\b__attribute__\s*\(\(.*?\)\)|\b_Static_assert\s*\(.*")


def top_level(text):
    """@return (head, body) of each declaration at the level of the file; the body is the text in braces or behind `='"""
    found, head, body, depth = [], [], [], 0
    for part in re.findall(r"[{}();=]|[^{}();=]+", text):
        inside = depth > 0 or (head and head[-1] == "=")
        if part == "{":
            depth += 1
        elif part == "}":
            depth -= 1
        if part == ";" and depth == 0:
            found.append(("".join(head), "".join(body)))
            head, body = [], []
        elif inside or part == "{":
            body.append(part)
        else:
            head.append(part)
        if part == "}" and depth == 0 and "(" in head and "=" not in head:
            found.append(("".join(head), "".join(body)))  # a function has no semicolon
            head, body = [], []
    return found


def defined_name(head, body, is_header):
    """@return the name that a declaration gives to other files, or None"""
    head = SKIPPED.sub(" ", head)
    words = re.findall(r"\w+", head)
    is_function = "(" in head and "=" not in head
    if not words or "typedef" in words or "extern" in words and not body:
        return None
    if "static" in words and not (is_header and is_function and body):
        return None
    if is_function:
        name = re.search(r"(\w+)\s*\(", head)
        return name.group(1) if name and body else None
    if is_header or words[0] in ("struct", "enum", "union") and "=" not in head:
        return None
    name = re.search(r"(\w+)\s*(?:\[.*\])?\s*=?\s*$", head, re.S)
    return name.group(1) if name and len(words) > 1 else None


def reading(path, texts):
    """Definitions and names of a file.

    @return name -> names in its body, for definitions visible to other files: inline functions and macros with arguments of a
    header, external linkage of a source; names for this file alone; all names in bodies
    """
    text = without_comments(with_included_texts(path, texts) if path.endswith(".c") else texts[path])
    is_header = path.endswith(".h")
    defined, own, named = {}, set(), set()
    for name, arguments, body in re.findall(r"^[ \t]*#[ \t]*define[ \t]+(\w+)(\([^)\n]*\))?([^\n]*)", text, re.M):
        words = set(WORD.findall(body))
        named |= words
        if is_header and arguments:
            defined.setdefault(name, set()).update(words)
        else:
            own.add(name)
    for head, body in top_level(re.sub(r"^[ \t]*#[^\n]*", "", text, flags=re.M)):
        words = set(WORD.findall(body))
        named |= words
        name = defined_name(head, body, is_header)
        if name:
            defined.setdefault(name, set()).update(words)
        elif body and "static" in head:
            own.update(re.findall(r"(\w+)\s*[(\[=]", head)[:1])
    return defined, own, named


# ---------------------------------------------------------------- the graphs


def graph_of_includes(texts):
    """@return node -> node -> set of `file: what'"""
    graph = collections.defaultdict(lambda: collections.defaultdict(set))
    for path in texts:
        for other in includes_of(path, texts):
            if node_of(path) != node_of(other):
                graph[node_of(path)][node_of(other)].add("%s includes %s" % (path, other))
    return graph


def seen_files(path, texts, seen):
    """All files that a file includes, over any number of steps."""
    for other in includes_of(path, texts):
        if other not in seen:
            seen.add(other)
            seen_files(other, texts, seen)
    return seen


def with_inline(names, headers):
    """The names; inline functions and macros of headers are replaced by the names in them, over any number of steps."""
    known, meant, todo = set(), set(), list(names)
    while todo:
        name = todo.pop()
        if name in known:
            continue
        known.add(name)
        bodies = [header[name] for header in headers if name in header]
        for body in bodies:
            todo.extend(body)
        if not bodies:
            meant.add(name)
    return meant


def definer(name, path, definers):
    """@return the source that defines a name of another one, or None"""
    found, folder = definers.get(name, ()), os.path.dirname(path)
    if path in found or name.startswith(TAKEN_OVER) and not folder.startswith(HOME_OF_TAKEN_OVER):
        return None
    near = [other for other in found if os.path.dirname(other) == folder]
    for choice in (near, list(found)):
        if len(choice) == 1:
            return choice[0]
    return None


def graph_of_calls(texts):
    definers, uses, inline = collections.defaultdict(set), {}, {}
    for path in texts:
        if path.endswith(".h"):
            inline[path] = reading(path, texts)[0]
        elif path.endswith(".c"):
            defined, own, named = reading(path, texts)
            uses[path] = named - own
            for name in defined:
                definers[name].add(path)
    graph = collections.defaultdict(lambda: collections.defaultdict(set))
    for path, names in uses.items():
        headers = [inline[other] for other in seen_files(path, texts, set()) if other in inline]
        for name in with_inline(names, headers):
            other = definer(name, path, definers)
            if other:
                graph[node_of(path)][node_of(other)].add(name)
    return graph


def circles(graph):
    """@return lists of nodes that reach each other (Tarjan 1972, without recursion)"""
    index, low, stack, on_stack, found = {}, {}, [], set(), []
    for start in sorted(graph):
        if start in index:
            continue
        work = [(start, iter(sorted(graph[start])))]
        index[start] = low[start] = len(index)
        stack.append(start)
        on_stack.add(start)
        while work:
            node, rest = work[-1]
            following = next(rest, None)
            if following is not None:
                if following not in index:
                    index[following] = low[following] = len(index)
                    stack.append(following)
                    on_stack.add(following)
                    work.append((following, iter(sorted(graph.get(following, ())))))
                elif following in on_stack:
                    low[node] = min(low[node], index[following])
                continue
            work.pop()
            if work:
                low[work[-1][0]] = min(low[work[-1][0]], low[node])
            if low[node] == index[node]:
                circle = []
                while not circle or circle[-1] != node:
                    circle.append(stack.pop())
                    on_stack.discard(circle[-1])
                if len(circle) > 1:
                    found.append(sorted(circle))
    return sorted(found)


def of_modules(graph):
    lifted = collections.defaultdict(lambda: collections.defaultdict(set))
    for node, others in graph.items():
        for other, why in others.items():
            here, there = node.split("/")[0], other.split("/")[0]
            if here != there:
                lifted[here][there].add("%s -> %s (%s)" % (node, other, ", ".join(sorted(why)[:3])))
    return lifted


# ---------------------------------------------------------------- output


def edges(graph, circle):
    for node in circle:
        for other in sorted(graph[node]):
            if other in circle:
                yield "    %s -> %s: %s" % (node, other, ", ".join(sorted(graph[node][other])[:6]))


def read_list(path):
    """@return line of a cycle -> its reason"""
    listed = {}
    with open(path) as file:
        for number, line in enumerate(file, 1):
            words, _, reason = line.partition("#")
            words = words.split()
            if not words:
                continue
            if not reason.strip() or words[0] not in ("includes", "calls") or len(words) < 3:
                raise Failure("%s:%d: `includes' or `calls', the files of a circle, `# why' expected" % (path, number))
            listed[" ".join([words[0]] + sorted(words[1:]))] = reason.strip()
    return listed


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--root", default=os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", ".."), help="the sources (here: this script's)")
    parser.add_argument("--edges", action="store_true", help="say why each is a circle")
    parser.add_argument("--check", metavar="LIST", help="compare with the list of circles that may be")
    options = parser.parse_args()
    texts = sources(options.root)
    graphs = {"includes": graph_of_includes(texts), "calls": graph_of_calls(texts)}
    bad = 0
    for kind, graph in sorted(graphs.items()):
        lifted = of_modules(graph)
        for circle in circles(lifted):
            bad = 1
            print("%s: a circle of top-level folders: %s" % (kind, " ".join(circle)))
            print("\n".join(edges(lifted, circle)))
    found = {}
    for kind, graph in graphs.items():
        for circle in circles(graph):
            found[" ".join([kind] + circle)] = (graph, circle)
    order = sorted(found, key=lambda line: (line.split()[1], line))
    listed = read_list(options.check) if options.check else {}
    for line in order:
        if line in listed:
            continue
        bad = bad or bool(options.check)
        print(("a circle that is not in %s:\n" % options.check if options.check else "") + line)
        if options.edges or options.check:
            print("\n".join(edges(*found[line])))
    for line in sorted(set(listed) - set(found)):
        bad = 1
        print("%s has a circle that is none (any more); take the line away, or write down what is left of it:\n%s" % (options.check, line))
    return int(bad)


if __name__ == "__main__":
    try:
        sys.exit(main())
    except Failure as failure:
        sys.exit("circles.py: %s" % failure)

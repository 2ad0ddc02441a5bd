#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The public surface: functions of installed headers, their stability, and their callers.

    surface.py                counts: headers and functions of each level, and their users
    surface.py --list LEVEL   the functions of a level: stable or extender
    surface.py --users CLASS  the functions of a class of users, as the counts name it: own, tests, ...
    surface.py --check        1 if a rule below is broken
    surface.py --write        brings doc/stable-api.txt and gabion/stable_only.h up to date

The head of a header has `Stability: stable', `extender' or `internal'. GAB_STABLE and GAB_EXTENDER before a declaration mark an
exception. Internal headers, and *_impl.h, are not installed.

Rules:
  - Each header has a level, and an installed header includes only installed headers.
  - Each public function has a caller, at least a test.
  - The umbrellas in gabion/ reach each stable function. gabion/stable_only.h poisons the names of all others.
- doc/stable-api.txt lists stable functions and the types in their declarations, as far as a stable header has them, each with the
  version since which it is stable. An entry changes or vanishes only if the section of this version in CHANGELOG.md names it,
  `gab_x()' or `gab_x'. A function of an earlier minor version vanishes only if it was GAB_DEPRECATED("since M.N: ...") in an
  earlier minor version. --write refuses other changes.
"""
import argparse
import collections
import os
import re
import sys

MODULES = ("core", "field", "blockforest", "loadbalance", "lbm", "phasefield", "resilience")
SEEN = MODULES + ("apps", "tests", "gabion")
LIST, POISON = "doc/stable-api.txt", "gabion/stable_only.h"
ROOTS = ("gabion/app.h", "gabion/persist.h")  # umbrellas that together include all others
MARKS = {"GAB_STABLE": "stable", "GAB_EXTENDER": "extender"}
LEVELS = ("stable", "extender", "internal")
TOKEN = re.compile(r'"(?:\\.|[^"\\\n])*"|\w+|\.\.\.|[^\w\s]')


class Failure(Exception):
    pass


def read(root, path):
    with open(os.path.join(root, path), encoding="utf-8", errors="replace") as file:
        return file.read()


def sources(root):
    """@return path -> text of all C files of the product and its tests"""
    found = {}
    for top in SEEN:
        for folder, _, names in os.walk(os.path.join(root, top)):
            for name in names:
                if name.endswith((".c", ".h", ".inc")):
                    path = os.path.relpath(os.path.join(folder, name), root)
                    found[path] = "" if path == POISON else read(root, path)  # no calls
    return found


def without_comments(text):
    token = re.compile(r'("(?:\\.|[^"\\\n])*"|\'(?:\\.|[^\'\\\n])*\')|//[^\n]*|/\*.*?\*/', re.S)
    return token.sub(lambda m: m.group(1) or " ", text.replace("\\\n", " "))


def words_of(text):
    """@return number of occurrences of each word outside of comments, strings, includes and #undef"""
    text = re.sub(r'^[ \t]*#[ \t]*(?:include|undef)\b.*$', "", without_comments(text), flags=re.M)
    return collections.Counter(re.findall(r"[A-Za-z_]\w*", re.sub(r'"(?:\\.|[^"\\\n])*"', " ", text)))


def level_of(path, text):
    """@return level in the head of a header, or None"""
    found = re.search(r"Stability: (\w+)[.;]", text)
    return found.group(1) if found and found.group(1) in LEVELS else None


def declarations(text):
    """@return the declarations at the level of the file, as lists of tokens; without bodies of functions"""
    text = without_comments(text)
    text = re.sub(r"#[ \t]*ifdef[ \t]+__cplusplus.*?#[ \t]*endif", " ", text, flags=re.S)
    text = re.sub(r"^[ \t]*#.*$", "", text, flags=re.M)
    found, head, depth, is_body = [], [], 0, False
    for token in TOKEN.findall(text):
        if token == "{" and depth == 0:
            is_body = bool(head) and head[-1] == ")" and head[0] != "typedef"
        depth += (token == "{") - (token == "}")
        if not is_body or depth == 0 and token != "}":
            head.append(token)
        if depth == 0 and (token == ";" or is_body and token == "}"):
            found.append([word for word in head if word != ";" or depth] if is_body else head[:-1])
            head, is_body = [], False
    return found


def line_of(tokens):
    """@return the tokens as one line with the blanks of C"""
    text = " ".join(tokens)
    text = re.sub(r" ([,;)\]])", r"\1", re.sub(r"([(\[*]) ", r"\1", text))
    return re.sub(r"([\w)]) (\((?!\*)|\[)", r"\1\2", text)


def function_name(tokens):
    if tokens and tokens[0] == "static" and "inline" not in tokens:
        return None
    if "(" not in tokens or tokens[0] in ("typedef", "extern", "_Static_assert") or "{" in tokens:
        return None
    for word, after in zip(tokens, tokens[1:]):
        if after == "(" and re.match(r"(gab|MPIX?)_", word):
            return word
    return None


def type_name(tokens):
    """@return the name of a type that a declaration completes, or None"""
    if not tokens or "{" not in tokens and tokens[0] != "typedef":
        return None
    if tokens[0] == "typedef":
        if "{" in tokens:
            return tokens[-1]
        if tokens[1] in ("struct", "union", "enum") and len(tokens) == 4 and tokens[2] == tokens[3]:
            return None  # opaque
        pointer = re.search(r"\(\*(\w+)\)", line_of(tokens))
        if pointer:
            return pointer.group(1)
        if "(" in tokens:
            return tokens[tokens.index("(") - 1]
        return tokens[-1] if re.match(r"\w+$", tokens[-1]) else None
    if tokens[0] in ("struct", "enum", "union") and tokens[1] != "{" and tokens[-1] == "}":
        return tokens[1]
    return None


class Function:
    def __init__(self, name, header, level, line):
        self.name, self.header, self.level, self.line = name, header, level, line
        self.users = set()


class Surface:
    def __init__(self, root):
        self.root, self.wrong = root, []
        self.texts = sources(root)
        self.levels, self.functions, self.types = {}, {}, {}
        for path in sorted(self.texts):
            if not path.endswith(".h") or path.endswith("_impl.h"):
                continue
            if path.split("/")[0] in MODULES + ("gabion",) and path != POISON or path.startswith("apps/driver/"):
                self.levels[path] = level_of(path, self.texts[path])
        for path, level in self.levels.items():
            if level in ("stable", "extender"):
                self.read_header(path, level)
        self.find_users()

    def read_header(self, path, level):
        for tokens in declarations(self.texts[path]):
            marks = [word for word in tokens if word in MARKS]
            tokens = [word for word in tokens if word not in MARKS]
            name, kind = function_name(tokens), type_name(tokens)
            if name:
                if marks and MARKS[marks[0]] == level:
                    self.wrong.append("%s: %s(): %s says what the head of the header says" % (path, name, marks[0]))
                shown = [word for word in tokens if word not in ("static", "inline")]
                self.functions[name] = Function(name, path, MARKS[marks[0]] if marks else level, line_of(shown))
            elif kind and level == "stable":
                self.types[kind] = (path, line_of(tokens))
            if marks and not name:
                self.wrong.append("%s: %s before something that is not a function" % (path, marks[0]))

    def find_users(self):
        for path, text in self.texts.items():
            words = words_of(text)
            plain = None
            for name in words.keys() & self.functions.keys():
                count = words[name]
                if path == self.functions[name].header:
                    count -= 1
                elif path.endswith((".c", ".inc")):
                    plain = plain or re.sub(r"[ \t]*\n[ \t]*", " ", without_comments(text))
                    count -= bool(re.search(r"[\w*] \**%s ?\([^;{}]*\) ?\{" % name, plain))
                if count > 0:
                    self.functions[name].users.add(path)

    def users_class(self, function):
        own = function.header.split("/")[0]
        tops = {path.split("/")[0] for path in function.users}
        if not tops:
            return "nobody"
        if tops == {"tests"}:
            return "tests"
        if tops <= {own, "tests"}:
            return "own"
        if tops & set(MODULES) - {own}:
            return "modules"
        return "driver" if any(path.startswith("apps/driver/") for path in function.users) else "programs"

    def stable(self):
        return {name: it for name, it in self.functions.items() if it.level == "stable"}

    def stable_types(self):
        """@return the types in stable declarations, and types in their definitions"""
        found, todo = set(), [it.line for it in self.stable().values()]
        while todo:
            for word in re.findall(r"\w+", todo.pop()):
                if word in self.types and word not in found:
                    found.add(word)
                    todo.append(self.types[word][1])
        return found

    def includes(self, path):
        return [name for name in re.findall(r'^#include "([^"]+)"', self.texts[path], re.M)]

    def closure(self, starts):
        found, todo = set(), list(starts)
        while todo:
            path = todo.pop()
            if path in self.texts and path not in found:
                found.add(path)
                todo.extend(self.includes(path))
        return found

    def entries(self):
        """@return name -> (section, declaration) of the entries of the list"""
        made = {name: (it.header, it.line) for name, it in self.stable().items()}
        made.update({name: ("types", self.types[name][1]) for name in self.stable_types()})
        return made


# ---------------------------------------------------------------- the list


def version_of(root):
    text = read(root, "core/base/version.h")
    return tuple(int(re.search(r"#define GABION_VERSION_%s (\d+)" % part, text).group(1)) for part in ("MAJOR", "MINOR"))


def read_list(root):
    """@return name -> (since, declaration)"""
    found = {}
    if not os.path.exists(os.path.join(root, LIST)):
        return found
    for number, line in enumerate(read(root, LIST).splitlines(), 1):
        if not line or line[0] in "#[":
            continue
        entry = re.match(r"(\d+)\.(\d+)  (\w+)  (.*)$", line)
        if not entry:
            raise Failure("%s:%d: expected `MAJOR.MINOR  NAME  DECLARATION'" % (LIST, number))
        found[entry.group(3)] = ((int(entry.group(1)), int(entry.group(2))), entry.group(4))
    return found


def text_of_list(entries, old, version):
    lines = ["# Stable functions and types of Gabion: since which version, name, declaration.",
             "# Made by `scripts/harness/surface.py --write'; what stable means: CONTRIBUTING.md."]
    sections = sorted({section for section, _ in entries.values()} - {"types"}) + ["types"]
    for section in sections:
        lines += ["", "[%s]" % section]
        for name in sorted(name for name, it in entries.items() if it[0] == section):
            since = old[name][0] if name in old else version
            lines.append("%d.%d  %s  %s" % (since + (name, entries[name][1])))
    return "\n".join(lines) + "\n"


def text_of_poison(surface):
    lines = ["/* SPDX-License-Identifier: Apache-2.0 */",
             "/** @file gabion/stable_only.h",
             " *  @brief Makes the use of functions that are not stable an error. Include it after all other headers of Gabion.",
             " *",
             " *  Made by scripts/harness/surface.py --write.",
             " *",
             " *  Stability: stable.",
             " */",
             "#ifndef GABION_STABLE_ONLY_H", "#define GABION_STABLE_ONLY_H", "", "#if defined(__GNUC__)"]
    for name, it in sorted(surface.functions.items()):
        if it.level != "stable":
            if re.search(r"#[ \t]*define %s\b" % name, surface.texts[it.header]):
                lines.append("#undef %s" % name)  # compilers warn of a poisoned macro
            lines.append("#pragma GCC poison %s" % name)
    return "\n".join(lines + ["#endif", "", "#endif"]) + "\n"


def changes(root, entries, old, version):
    """@return messages about entries that changed or vanished against the rules"""
    log = re.search(r"^## .*?(?=^## |\Z)", read(root, "CHANGELOG.md"), re.M | re.S)
    section = log.group(0) if log else ""
    if not section.startswith("## %d.%d." % version):
        return ["CHANGELOG.md: its first section must be that of version %d.%d" % version]
    wrong = []
    for name, (since, line) in sorted(old.items()):
        if name in entries and entries[name][1] == line:
            continue
        what = "changed" if name in entries else "no longer stable"
        if not re.search(r"`[^`]*\b%s\b[^`]*`" % name, section):
            wrong.append("%s: %s, and the section of this version in CHANGELOG.md does not name it\n    was: %s%s" %
                         (name, what, line, "\n    is:  %s" % entries[name][1] if name in entries else ""))
        deprecated = re.search(r'GAB_DEPRECATED\("since (\d+)\.(\d+)', line)
        was = (int(deprecated.group(1)), int(deprecated.group(2))) if deprecated else version
        if name not in entries and since < version and not was < version:
            wrong.append('%s: no longer stable, but was not GAB_DEPRECATED("since M.N: ...") in a minor version before %d.%d' %
                         ((name,) + version))
    return wrong


# ---------------------------------------------------------------- commands


def check(surface):
    wrong = list(surface.wrong)
    for path, level in sorted(surface.levels.items()):
        if level is None and not path.startswith("apps/"):
            wrong.append("%s: its head lacks `Stability: stable.', `extender.' or `internal.'" % path)
        if level in ("stable", "extender"):
            for name in surface.includes(path):
                if name.endswith("_impl.h") or surface.levels.get(name) not in ("stable", "extender"):
                    wrong.append("%s: is installed, but includes %s, which is not" % (path, name))
    for name, it in sorted(surface.functions.items()):
        if not it.users:
            wrong.append("%s: %s() has no caller, not even a test: remove it, or make it static" % (it.header, name))
    reached = surface.closure(ROOTS)
    for name, it in sorted(surface.stable().items()):
        if it.header not in reached:
            wrong.append("%s: %s() is stable, but no header in gabion/ includes its header" % (it.header, name))
    for path in sorted(path for path in surface.levels if path.startswith("gabion/")):
        if path not in surface.closure(ROOTS + ("gabion/extend.h",)):
            wrong.append("%s: neither %s includes it" % (path, " nor ".join(ROOTS)))
    entries, old, version = surface.entries(), read_list(surface.root), version_of(surface.root)
    wrong += changes(surface.root, entries, old, version)
    if not wrong:
        for path, text in ((LIST, text_of_list(entries, old, version)), (POISON, text_of_poison(surface))):
            exists = os.path.exists(os.path.join(surface.root, path))
            if not exists or read(surface.root, path) != text:
                wrong.append("%s is not up to date: run scripts/harness/surface.py --write" % path)
    return wrong


def write(surface):
    entries, old, version = surface.entries(), read_list(surface.root), version_of(surface.root)
    wrong = changes(surface.root, entries, old, version)
    if wrong:
        return wrong
    for path, text in ((LIST, text_of_list(entries, old, version)), (POISON, text_of_poison(surface))):
        with open(os.path.join(surface.root, path), "w", encoding="utf-8") as file:
            file.write(text)
    return []


def counts(surface):
    levels = collections.Counter(level for path, level in surface.levels.items() if level)
    by = collections.Counter(it.level for it in surface.functions.values())
    print("headers    %s" % ", ".join("%d %s" % (levels[level], level) for level in LEVELS))
    print("functions  %d: %d stable, %d extender" % (len(surface.functions), by["stable"], by["extender"]))
    print("types      %d in stable declarations" % len(surface.stable_types()))
    users = collections.Counter(surface.users_class(it) for it in surface.functions.values())
    for word, text in (("modules", "other modules"), ("driver", "apps/driver"), ("programs", "other programs"),
                       ("own", "their own module, and tests"), ("tests", "tests alone"), ("nobody", "nobody")):
        print("  %4d used by %s (%s)" % (users[word], text, word))


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--root", default=os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", ".."))
    parser.add_argument("--list", choices=LEVELS[:2])
    parser.add_argument("--users")
    parser.add_argument("--check", action="store_true")
    parser.add_argument("--write", action="store_true")
    options = parser.parse_args()
    try:
        surface = Surface(os.path.realpath(options.root))
        if options.check or options.write:
            wrong = write(surface) if options.write else check(surface)
            print("\n".join(wrong), end="\n" if wrong else "")
            return 1 if wrong else 0
        if options.list or options.users:
            for name, it in sorted(surface.functions.items(), key=lambda at: (at[1].header, at[0])):
                if it.level == options.list or surface.users_class(it) == options.users:
                    print("%s: %s" % (it.header, it.line))
            return 0
        counts(surface)
    except Failure as failure:
        print("surface.py: %s" % failure, file=sys.stderr)
        return 2
    return 0


if __name__ == "__main__":
    sys.exit(main())

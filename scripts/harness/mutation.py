# SPDX-License-Identifier: Apache-2.0
"""Inserts one defect after another into a copy of the sources and finds the tests that detect it (see scripts/harness/mutation.sh).

The table, scripts/harness/mutations.txt, is a list of

    defect NAME: its effect
    tests TEST TEST ...             names of ctest; NAME-np4, or NAME for all numbers of processes
    alone WHY                       reason why one program is enough
    file PATH                       once or more; below it once or more:
    - a line of the source          consecutive lines that occur exactly once, and
    + a line instead of them        their replacement

Empty lines separate; a line that begins with # is a remark.
"""
import argparse
import glob
import json
import os
import re
import shutil
import signal
import subprocess
import sys
import time

LEAST_SECONDS, PATIENCE = 20, 10  # a test hangs if it takes that many times as long as without a defect
WANTED = 2  # programs or scripts that must detect a defect
PROGRAMS = {"judge": "gabion_test_judge"}  # programs with another name of their target


class Failure(Exception):
    pass


# ---------------------------------------------------------------- the table


def read_table(path):
    defects = []
    with open(path) as file:
        lines = file.read().split("\n")
    for number, line in enumerate(lines, 1):
        where = "%s:%d" % (path, number)
        if not line.strip() or line.startswith("#"):
            if defects and defects[-1]["hunks"]:
                defects[-1]["open"] = False
            continue
        word, _, rest = line.partition(" ")
        if word == "defect":
            name, colon, says = rest.partition(": ")
            if not colon or not re.fullmatch(r"[a-z0-9-]+", name):
                raise Failure("%s: `defect NAME: what it does' expected" % where)
            if any(d["name"] == name for d in defects):
                raise Failure("%s: there is a defect %s already" % (where, name))
            defects.append({"name": name, "says": says, "tests": [], "wanted": WANTED, "hunks": [], "file": None, "open": False, "where": where})
        elif not defects or word not in ("tests", "alone", "file", "-", "+"):
            raise Failure("%s: expected `defect', `tests', `alone', `file', `-' or `+'" % where)
        elif word == "tests":
            defects[-1]["tests"] += rest.split()
        elif word == "alone":
            if not rest.strip():
                raise Failure("%s: `alone WHY' expected" % where)
            defects[-1]["wanted"] = 1
        elif word == "file":
            defects[-1].update(file=rest.strip(), open=False)
        else:
            add_line(defects[-1], word, rest, where)
    for defect in defects:
        programs = len(set(map(program_of, defect["tests"])))
        if programs < defect["wanted"] or not defect["hunks"]:
            raise Failure("%s: defect %s needs %d programs that test and lines to replace" % (defect["where"], defect["name"], WANTED))
        if programs > 1 and defect["wanted"] < WANTED:
            raise Failure("%s: defect %s says that there is one program alone, and names %d" % (defect["where"], defect["name"], programs))
    return defects


def program_of(test):
    """A test without the number of its processes and the variant: both are the same claims."""
    return re.sub(r"-np\d+(-.*)?$", "", test)


def add_line(defect, sign, text, where):
    if not defect["file"]:
        raise Failure("%s: `file' is missing before it" % where)
    hunks = defect["hunks"]
    if sign == "-" and (not defect["open"] or hunks[-1]["new"]):
        hunks.append({"file": defect["file"], "old": [], "new": [], "where": where})
        defect["open"] = True
    if not defect["open"]:
        raise Failure("%s: `+' without a `-' before it" % where)
    hunks[-1]["old" if sign == "-" else "new"].append(text)


def replace(source, defect):
    """@return of each file of the defect its path, the text before and the text after it"""
    before, after = {}, {}
    for hunk in defect["hunks"]:
        path = os.path.join(source, hunk["file"])
        if not os.path.exists(path):
            raise Failure("%s: there is no file %s" % (hunk["where"], hunk["file"]))
        if path not in before:
            with open(path) as file:
                before[path] = after[path] = file.read()
        lines, size = after[path].split("\n"), len(hunk["old"])
        found = [i for i in range(len(lines)) if lines[i:i + size] == hunk["old"]]
        if len(found) != 1:
            raise Failure("%s: the source has moved on: these lines stand %d times in %s, not once:\n%s" %
                          (hunk["where"], len(found), hunk["file"], "\n".join(hunk["old"])))
        lines[found[0]:found[0] + size] = hunk["new"]
        after[path] = "\n".join(lines)
    return before, after


def write_all(texts):
    for path, text in texts.items():
        with open(path, "w") as file:
            file.write(text)


# ---------------------------------------------------------------- check of the table


def numbers_of(text):
    """The np= of gabion-test lines of an MPI program, each with the ending that the names of its tests get."""
    usual, variants = ["1"], []
    for line in re.findall(r"^[ \t]*(?:/\*|//|\*)[ \t*]*gabion-test:(.*)", text, re.MULTILINE):
        keys = dict(re.findall(r"\b(np|env)=([^ \t*]+)", line))
        numbers = keys.get("np", "").split(",") if "np" in keys else usual
        if "env" in keys:
            variants += ["%s-%s" % (n, re.sub("^gabion_", "", keys["env"].lower())) for n in numbers]
        else:
            usual = numbers
    return usual + variants


def files_of(top, folder):
    """In a folder of tests and in its subfolders."""
    return [path for depth in ("*", "*/*") for path in glob.glob(os.path.join(glob.escape(os.path.join(top, folder)), depth)) if os.path.isfile(path)]


def tests_of(root):
    """Names of the tests that tests/CMakeLists.txt finds in a source tree."""
    found = []
    top = os.path.join(root, "tests")
    for folder in sorted(os.listdir(top)) if os.path.isdir(top) else []:
        for path in sorted(files_of(top, folder)):
            kind, _, name = os.path.basename(path).partition("_")
            if kind == "test" and name.endswith(".c"):
                found.append("%s/%s" % (folder, name[:-2]))
            elif kind == "script" and name.endswith(".sh"):
                found.append("%s/%s" % (folder, name))
            elif kind == "mpi" and name.endswith(".c"):
                with open(path) as source:
                    found += ["%s/%s-np%s" % (folder, name[:-2], n) for n in numbers_of(source.read())]
    return found


def check(root, defects):
    """Prints all inconsistencies. @return their number"""
    tests, wrong = tests_of(root), []
    for defect in defects:
        for word in defect["tests"]:
            try:
                named(tests, word)
            except Failure as failure:
                wrong.append("%s: %s" % (defect["where"], failure))
        try:
            replace(root, defect)
        except Failure as failure:
            wrong.append(str(failure))
    for line in wrong:
        print("gabion: error: %s" % line, file=sys.stderr)
    return len(wrong)


# ---------------------------------------------------------------- sources and build


def copy_sources(root, source):
    """Tracked and untracked files of the present tree. Unchanged files keep their times."""
    listed = subprocess.run(["git", "-C", root, "ls-files", "-coz", "--exclude-standard"], stdout=subprocess.PIPE, check=True)
    names = {n for n in listed.stdout.decode().split("\0") if n and os.path.isfile(os.path.join(root, n))}
    for folder, _, files in os.walk(source):
        for name in files:
            if os.path.relpath(os.path.join(folder, name), source) not in names:
                os.remove(os.path.join(folder, name))
    for name in names:
        there, here = os.path.join(root, name), os.path.join(source, name)
        with open(there, "rb") as file:
            content = file.read()
        if os.path.exists(here):
            with open(here, "rb") as file:
                if file.read() == content:
                    continue
        os.makedirs(os.path.dirname(here), exist_ok=True)
        shutil.copy(there, here)


def call(command, log, **more):
    with open(log, "w") as file:
        return subprocess.run(command, stdout=file, stderr=subprocess.STDOUT, **more).returncode


def configure(options):
    log = os.path.join(options.out, "configure.log")
    command = ["cmake", "-S", options.source, "-B", options.build, "-DGABION_MPI=" + options.mpi]
    if call(command, log):
        raise Failure("configuring failed: %s" % log)


def build(options, targets):
    log = os.path.join(options.out, "build.log")
    if call(["cmake", "--build", options.build, "-j", str(os.cpu_count()), "--target"] + targets, log):
        raise Failure("building failed: %s" % log)


def list_tests(options):
    """Tests by name, as ctest would run them: command, environment, folder and pass criterion."""
    shown = subprocess.run(["ctest", "--test-dir", options.build, "-C", "long", "--show-only=json-v1"], stdout=subprocess.PIPE, check=True)
    tests = {}
    for test in json.loads(shown.stdout)["tests"]:
        properties = {p["name"]: p["value"] for p in test.get("properties", [])}
        tests[test["name"]] = {"command": test.get("command"), "properties": properties, "seconds": properties.get("TIMEOUT", 1500)}
    return tests


def named(tests, wanted):
    """The tests of a word of the table."""
    found = [t for t in tests if t == wanted or re.sub(r"-np\d+$", "", t) == wanted]
    if not found:
        raise Failure("there is no test %s" % wanted)
    return found


def programs_of_scripts(folder, source):
    """Targets for the shell tests of a folder: the programs, helpers of the folder and helpers that a script names, proxies of a
    paper."""
    paths = files_of(os.path.join(source, "tests"), folder)
    helpers = [f for f in map(os.path.basename, paths) if re.fullmatch(r"helper_\w+\.c", f)]
    targets = ["gabion-run", "gabion-launch"] + ["%s_%s" % (folder, f[:-2]) for f in helpers]
    for path in paths:
        if os.path.basename(path).startswith("script_"):
            with open(path) as file:
                targets += ["%s_%s" % found for found in re.findall(r"/tests/(\w+)/(helper_\w+)(?![\w.])", file.read())]
    if folder == "proxy":
        plain = [f[:-len("_plain.c")] for f in os.listdir(os.path.join(source, "apps/papers/reinit2020")) if f.endswith("_plain.c")]
        targets += ["proxy-" + f for f in plain] + ["proxy-%s-reinit" % f for f in plain]
    return targets


def targets_of(tests, names, options):
    """Targets for tests: their programs; for scripts all programs that scripts use. ctest does not list the command of a
    missing program."""
    targets = set()
    for name in names:
        command = tests[name]["command"]
        if not command:
            program = re.sub(r"-np\d+$", "", name)
            targets.add(("test_" if program == name else "mpi_") + program.replace("/", "_"))
            targets.update(PROGRAMS.values())
            continue
        programs = [PROGRAMS.get(os.path.basename(w), os.path.basename(w)) for w in command if w.startswith(options.build + "/tests/")]
        targets.update(programs or programs_of_scripts(name.split("/")[0], options.source))
    return sorted(targets)


# ---------------------------------------------------------------- tests


def processes_of(session):
    """Living processes of a session; each test has its own."""
    found = []
    for pid in filter(str.isdigit, os.listdir("/proc")):
        try:
            with open("/proc/%s/stat" % pid) as file:
                fields = file.read().rpartition(")")[2].split()
        except OSError:
            continue
        if int(fields[3]) == session and fields[0] not in "ZX":
            found.append(int(pid))
    return found


def end(process):
    process.terminate()
    try:
        process.wait(5)
    except subprocess.TimeoutExpired:
        pass
    for _ in range(50):
        for pid in processes_of(process.pid):
            try:
                os.kill(pid, signal.SIGKILL)
            except OSError:
                pass
        if process.poll() is not None and not processes_of(process.pid):
            return
        time.sleep(0.1)


def run_test(test, seconds):
    """@return whether it passed, and its time"""
    properties = test["properties"]
    environment = dict(os.environ, **dict(v.split("=", 1) for v in properties.get("ENVIRONMENT", [])))
    start = time.time()
    process = subprocess.Popen(test["command"], cwd=properties.get("WORKING_DIRECTORY"), env=environment, stdin=subprocess.DEVNULL,
                               stdout=subprocess.PIPE, stderr=subprocess.STDOUT, start_new_session=True)
    try:
        output = process.communicate(timeout=seconds)[0].decode(errors="replace")
    except subprocess.TimeoutExpired:
        end(process)
        return False, time.time() - start
    except BaseException:  # on interruption: ends the test, which has its own session
        end(process)
        raise
    taken = time.time() - start
    if process.returncode == properties.get("SKIP_RETURN_CODE", -1):
        raise Failure("%s is skipped on this machine" % " ".join(test["command"]))
    if any(re.search(e, output) for e in properties.get("FAIL_REGULAR_EXPRESSION", [])):
        return False, taken
    wanted = properties.get("PASS_REGULAR_EXPRESSION")
    return any(re.search(e, output) for e in wanted) if wanted else process.returncode == 0, taken


def check_whole(tests, names):
    """Requires that all tests pass without a defect."""
    for name in names:
        for _ in range(2):  # at first programs and libraries are read from the disk
            passed, taken = run_test(tests[name], tests[name]["seconds"])
            if passed:
                break
        if not passed:
            raise Failure("%s fails without a defect, twice" % name)
        tests[name]["seconds"] = max(LEAST_SECONDS, PATIENCE * taken)


def catchers(tests, defect):
    caught = []
    for word in defect["tests"]:
        for name in named(tests, word):
            if not run_test(tests[name], tests[name]["seconds"])[0]:
                caught.append(word)
                break
    return caught


# ---------------------------------------------------------------- main


def examine(options, tests, defect):
    targets = targets_of(tests, [name for word in defect["tests"] for name in named(tests, word)], options)
    before, after = replace(options.source, defect)
    try:
        write_all(after)
        build(options, targets)
        return catchers(tests, defect)
    finally:
        write_all(before)


def work(options, defects):
    copy_sources(options.root, options.source)
    for defect in defects:  # before expensive work
        replace(options.source, defect)
    configure(options)
    tests = list_tests(options)
    names = sorted({name for d in defects for word in d["tests"] for name in named(tests, word)})
    print("gabion: %d defects, %d tests; building" % (len(defects), len(names)), flush=True)
    build(options, targets_of(tests, names, options))
    tests = list_tests(options)
    check_whole(tests, names)
    few, start = [], time.time()
    width = max(len(d["name"]) for d in defects)
    for defect in defects:
        caught = examine(options, tests, defect)
        distinct = set(map(program_of, caught))
        if len(distinct) < defect["wanted"]:
            few.append(defect["name"])
        print("%-*s  %d of %d  %s%s" % (width, defect["name"], len(distinct), len(set(map(program_of, defect["tests"]))), " ".join(caught) or "nobody",
                                        "" if len(distinct) >= defect["wanted"] else "   <- too few"), flush=True)
    print("gabion: %d defects in %.0f s; caught by too few: %s" % (len(defects), time.time() - start, ", ".join(few) or "none"))
    return 1 if few else 0


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--root", default=os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__)))), help="of the sources")
    parser.add_argument("--out")
    parser.add_argument("--mpi")
    parser.add_argument("--list", action="store_true")
    parser.add_argument("--check", action="store_true", help="only whether tests and lines to replace are in --root; tells of all that are not")
    parser.add_argument("table")
    parser.add_argument("names", nargs="*")
    options = parser.parse_args()
    try:
        defects = read_table(options.table)
        if options.list:
            for defect in defects:
                print("%-24s %s" % (defect["name"], defect["says"]))
            return 0
        if options.check:
            return 2 if check(options.root, defects) else 0
        for name in options.names:
            if not any(d["name"] == name for d in defects):
                raise Failure("there is no defect %s (try --list)" % name)
        options.source, options.build = os.path.join(options.out, "source"), os.path.join(options.out, "build")
        return work(options, [d for d in defects if not options.names or d["name"] in options.names])
    except Failure as failure:
        print("gabion: error: %s" % failure, file=sys.stderr)
        return 2


if __name__ == "__main__":
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(2))
    sys.exit(main())

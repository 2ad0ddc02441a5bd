# SPDX-License-Identifier: Apache-2.0
"""Starts the programs `gabion` and `gabion-launch`."""
import itertools
import os
import re
import shutil
import subprocess

from .run_folder import Run

_HERE = os.path.dirname(os.path.abspath(__file__))


class Failed(RuntimeError):
    """A program that ended with another code than 0. `code`: its exit code; `output`: what it printed."""

    def __init__(self, command, code, output):
        self.command, self.code, self.output = command, code, output
        super().__init__(f"exit code {code}: {' '.join(command)}\n{output.strip()[-2000:]}")


def program(name="gabion"):
    """Path of a program: in the folder $GABION_BIN, on $PATH, of the installation or the build folder that this package belongs to."""
    folders = [os.environ.get("GABION_BIN", ""), *os.environ.get("PATH", "").split(os.pathsep)]
    up = _HERE
    for _ in range(5):
        up = os.path.dirname(up)
        folders += [os.path.join(up, "bin"), os.path.join(up, "build", "bin")]
    found = shutil.which(name, path=os.pathsep.join(folder for folder in folders if folder))
    if not found:
        raise FileNotFoundError(f"no program {name} on PATH; set GABION_BIN to the folder with gabion and gabion-launch")
    return found


def _word(value):
    """A value as --set takes it: a YAML flow value."""
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, dict):
        return "{" + ", ".join(f"{key}: {_word(item)}" for key, item in value.items()) + "}"
    if isinstance(value, (list, tuple)):
        return "[" + ", ".join(_word(item) for item in value) + "]"
    return repr(float(value)) if isinstance(value, float) else str(value)


def _call(command, environment=None, quiet=True):
    result = subprocess.run(command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE if quiet else None,
                            stderr=subprocess.STDOUT if quiet else None, text=True, env=environment, check=False)
    if result.returncode != 0:
        raise Failed(command, result.returncode, result.stdout or "")
    return result.stdout or ""


def _options(settings, inject=()):
    words = []
    for key, value in (settings or {}).items():
        words += ["--set", f"{key}={_word(value)}"]
    for fault in inject:
        words += ["--inject", fault]
    return words


def check(case, settings=None):
    """`gabion check`: what the case is, as text. Raises Failed with the message if it is refused."""
    return _call([program(), "check", os.fspath(case), *_options(settings)])


def run(case, out=None, settings=None, processes=None, fresh=False, inject=(), launcher_options=(), quiet=True):
    """Computes a case and opens its output folder.

    settings   {"run.steps": 1000, "fluid.velocity": [1, 0]}, as with --set
    processes  number of MPI processes; None or 1: without the launcher
    fresh      replace results that are there
    inject     faults, as with --inject
    Raises Failed if the run ends with another code than 0: 2 invalid input, 3 data lost, 4 diverged, 75 to be continued.
    """
    command = [program(), "run", os.fspath(case), *_options(settings, inject)]
    folder = os.fspath(out) if out else os.path.join("out", os.path.splitext(os.path.basename(case))[0])
    command += ["--out", folder] + (["--fresh"] if fresh else [])
    if processes and processes > 1 or launcher_options:
        command = [program("gabion-launch"), "-n", str(processes or 1), *launcher_options, "--", *command]
    _call(command, quiet=quiet)
    return Run(folder)


def _legal(value):
    """A value in the name of a folder, as `gabion sweep` writes it: [64, 64] is 64x64."""
    word = "".join(letter for letter in _word(value) if letter not in " []{}'\"")
    return re.sub(r"[^A-Za-z0-9+._-]", "_", word.replace(",", "x"))


def sweep(case, values, out, settings=None, **options):
    """Computes a case for each combination of values, one after the other; yields (combination, run).

    values     {"fluid.reynolds": [20, 40], "domain.cells": [[64, 64], [128, 128]]}
    out        folder; a run goes to OUT/reynolds_20-cells_64x64 or the like, as with `gabion sweep`. Finished runs are opened, not
               computed again
    A run that fails does not end the sweep: its place is taken by the Failed exception.
    """
    for combination in itertools.product(*values.values()):
        chosen = dict(zip(values, combination))
        words = [f"{key.rsplit('.', 1)[-1]}_{_legal(value)}" for key, value in chosen.items()]
        folder = os.path.join(os.fspath(out), "-".join(words))
        try:
            yield chosen, run(case, folder, {**(settings or {}), **chosen}, **options)
        except Failed as failure:
            yield chosen, failure

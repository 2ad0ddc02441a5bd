# SPDX-License-Identifier: Apache-2.0
# gabion-test: timeout=20 labels=quick
# Lines of the tutorials in doc/tutorials.md are those of the files: all lines in the first table, lines of code in "Which interface do I need?".
set -euo pipefail
command -v python3 >/dev/null || exit 77
cd "$GABION_SOURCE"
python3 - <<'PY'
import os
import re
import sys

wrong, seen = [], set()


def lines(name):
    with open(os.path.join("apps/tutorial", name)) as file:
        text = file.read()
    code = re.sub(r"/\*.*?\*/", "", text, flags=re.S)
    return len(text.splitlines()), sum(1 for line in code.splitlines() if line.split())


for row in open("doc/tutorials.md"):
    all_lines = re.match(r"\| \[`(\w+\.c)`\]\(\S+\) \| (\d+) \|", row)
    code = re.match(r"\|.*\| (?:Gabion, )?((?:`\w+\.c`(?:, )?)+) \| (\d+)(?: to (\d+))? \|", row) or re.match(r"\| Gabion, (`\w+\.c`)() \| (\d+) \|", row)
    if all_lines:
        seen.add(all_lines[1])
        if lines(all_lines[1])[0] != int(all_lines[2]):
            wrong.append("%s has %d lines, not %s" % (all_lines[1], lines(all_lines[1])[0], all_lines[2]))
    elif code:
        names = re.findall(r"\w+\.c", code[1])
        found = sorted(lines(name)[1] for name in names)
        seen.update("code " + name for name in names)
        numbers = [int(n) for n in code.groups()[1:] if n]
        if numbers != [1] and [found[0], found[-1]] != [numbers[0], numbers[-1]]:  # 1: of a program with other parts
            wrong.append("%s: %d to %d lines of code, not %s" % (", ".join(names), found[0], found[-1], numbers))
for name in sorted(os.listdir("apps/tutorial")):
    if name.endswith(".c") and not {name, "code " + name} <= seen:
        wrong.append("%s is not in both tables" % name)
print("\n".join(wrong))
sys.exit(1 if wrong else 0)
PY

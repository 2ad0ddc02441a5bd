# SPDX-License-Identifier: Apache-2.0
# Words that the project has dropped (vocabulary.txt, with what takes their place) are in no tracked file: as a word, as a part of an
# identifier, or in the name of a file. Its exceptions have reasons, and one that nothing needs any more fails, too.
# gabion-test: timeout=60 labels=quick
set -u
: "${GABION_SOURCE:?}"
cd "$GABION_SOURCE" || exit 1
command -v python3 >/dev/null || { echo "no python3 here: not checked"; exit 77; }
top=$(git rev-parse --show-toplevel 2>/dev/null) && [ "$top" = "$PWD" ] || exit 77
python3 - tests/harness/vocabulary.txt <<'PYTHON'
import fnmatch, re, subprocess, sys

LIST = sys.argv[1]
OWN = {LIST, "tests/harness/script_vocabulary.sh", "CHANGELOG.md", "doc/renamed.md"}  # the last two name what was renamed
DATA = "tests/apps/restart/format_"  # checkpoints of earlier versions, with the names of their time

class Exception_:
    def __init__(self, line, word, files, regex):
        self.line, self.word, self.files, self.regex, self.used = line, word, files, re.compile(regex), False

def regex_of(word):  # the parts of identifiers, in three cases, and their plural
    forms = [word, word[0].upper() + word[1:], word.upper()]
    return re.compile("(?<![A-Za-z])(?:%s)(?![A-Za-z])" % "|".join("%s(?:%s)?" % (f, "S" if f.isupper() else "s|es") for f in forms))

words, exceptions, wrong = [], [], []
for number, line in enumerate(open(LIST, encoding="utf-8"), 1):
    line = line.rstrip("\n")
    if not line or line.startswith("#"):
        continue
    kind, _, rest = line.partition(" ")
    rest, _, reason = rest.partition(" # ")
    if kind in ("word", "idiom"):
        word, arrow, new = rest.partition(" -> ")
        if not arrow or not new:
            wrong.append("%s:%d: expected '%s OLD -> NEW'" % (LIST, number, kind))
            continue
        words.append((word, new, regex_of(word) if kind == "word" else re.compile(r"\b(?:%s)\b" % word)))
    elif kind == "allow":
        parts = rest.split(" ", 2)
        if len(parts) != 3 or not reason:
            wrong.append("%s:%d: expected 'allow WORD FILES REGEX # reason'" % (LIST, number))
            continue
        exceptions.append(Exception_(number, *parts))
    else:
        wrong.append("%s:%d: '%s' is neither word, idiom nor allow" % (LIST, number, kind))
for e in exceptions:
    if e.word not in [w for w, _, _ in words]:
        wrong.append("%s:%d: no word or idiom '%s' is in this list" % (LIST, e.line, e.word))

def excused(word, name, text):
    found = [e for e in exceptions if e.word == word and fnmatch.fnmatchcase(name, e.files) and e.regex.search(text)]
    for e in found:
        e.used = True
    return found

names = [n for n in subprocess.run(["git", "ls-files", "-z"], capture_output=True, text=True, check=True).stdout.split("\0") if n and n not in OWN and not n.startswith(DATA)]
looked = 0
for name in names:
    try:
        lines = open(name, encoding="utf-8").read().split("\n")
    except (UnicodeDecodeError, OSError):
        continue
    looked += 1
    for word, new, regex in words:
        if regex.search(name) and not excused(word, name, name):
            wrong.append("%s: '%s' in the name of a file: now %s" % (name, word, new))
        for number, line in enumerate(lines, 1):
            if regex.search(re.sub(r"\\[nt]", "  ", line)) and not excused(word, name, line):
                wrong.append("%s:%d: '%s' is now %s: %s" % (name, number, word, new, line.strip()[:100]))
wrong += ["%s:%d: this exception is not needed any more" % (LIST, e.line) for e in exceptions if not e.used]
for line in wrong[:60]:
    print(line)
if len(wrong) > 60:
    print("and %d more" % (len(wrong) - 60))
if looked < 1000:
    sys.exit("only %d files were read" % looked)
if not words:
    sys.exit("no words in " + LIST)
sys.exit(1 if wrong else 0)
PYTHON

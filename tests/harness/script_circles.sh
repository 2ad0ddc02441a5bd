# SPDX-License-Identifier: Apache-2.0
# Files that include each other, or call each other, over any number of steps: none but those of circles.txt, each of which says why.
# One that is listed there and is none any more fails, too.
# gabion-test: timeout=60 labels=quick
set -u
: "${GABION_SOURCE:?}"
command -v python3 >/dev/null || { echo "no python3 here: not looked at"; exit 77; }
python3 "$GABION_SOURCE/scripts/harness/circles.py" --root "$GABION_SOURCE" --check "$GABION_SOURCE/tests/harness/circles.txt"

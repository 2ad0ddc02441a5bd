# SPDX-License-Identifier: Apache-2.0
# Shared by the repairs of Open MPI in this folder; to be sourced by bash, not run.
# A repair is called with the folder of Open MPI's sources. It changes them and ends with 0, or, where they are not as it
# expects, leaves them as they are and ends with 1. setup.sh applies all of them in the order of their numbers.
set -euo pipefail

src=${1:?the folder of the sources of Open MPI}

# expect FILE COUNT PATTERN...: ends the repair unless each pattern is on COUNT lines of the file
expect() {
  local file=$1 count=$2 pattern; shift 2
  for pattern; do
    [ "$(grep -c -e "$pattern" "$file" 2>/dev/null)" = "$count" ] && continue
    echo "$file: expected $count lines that match '$pattern'" >&2
    exit 1
  done
}

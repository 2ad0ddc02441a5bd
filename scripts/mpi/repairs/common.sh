# SPDX-License-Identifier: Apache-2.0
# Shared by the repairs of Open MPI in this folder; to be sourced by bash, not run.
# A repair is called with the source folder of Open MPI. It changes the sources and ends with 0. If they are not as
# expected, it leaves them unchanged and ends with 1. setup.sh applies all repairs in the order of their numbers.
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

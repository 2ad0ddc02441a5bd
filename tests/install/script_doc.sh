# SPDX-License-Identifier: Apache-2.0
# The reference of the public headers is made without a warning: every parameter that is described exists, every link
# leads somewhere. Skipped where there is no doxygen; GABION_DOXYGEN: one that is not on the path.
# gabion-test: timeout=300
set -eu
doxygen=${GABION_DOXYGEN:-doxygen}
command -v "$doxygen" >/dev/null || { echo "no doxygen here: not checked"; exit 77; }
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
cd "$GABION_SOURCE"
GABION_DOC_OUTPUT=$dir GABION_VERSION=0 "$doxygen" Doxyfile >"$dir/log" 2>&1 || { cat "$dir/log"; exit 1; }
[ ! -s "$dir/log" ] || { cat "$dir/log"; exit 1; }
[ -s "$dir/html/index.html" ] || { echo "doxygen has written no reference"; exit 1; }

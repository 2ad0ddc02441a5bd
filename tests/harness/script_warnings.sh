# SPDX-License-Identifier: Apache-2.0
# gabion-test: timeout=60 labels=quick
# What the compiler said when it built what is tested: no warnings. A first build says it of all files, a later one of those that
# had changed.
set -u
: "${GABION_BUILD:?}"
log=$GABION_BUILD/build.log
[ -s "$log" ] || { echo "not built by scripts/test.sh: there is no $log"; exit 77; }
! grep -A 3 'warning: ' "$log"

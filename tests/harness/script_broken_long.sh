# SPDX-License-Identifier: Apache-2.0
# gabion-test: timeout=7200 labels=long
# Each MPI test, at each number of processes, notices what is broken on its last rank.
set -eu
exec "$GABION_SOURCE/scripts/harness/test-of-tests.sh" --long

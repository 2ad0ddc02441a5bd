# SPDX-License-Identifier: Apache-2.0
# gabion-test: timeout=6000 labels=long
# Local recovery under 120 000 random schedules without clusters, as many with, and as many with checkpoints of clusters; the quick tests
# run 6000 others of each.
set -u
: "${GABION_BUILD:?}"
"$GABION_BUILD/tests/resilience/test_resilience_local_schedules" --schedules 120000 --seed 1000000 || exit
"$GABION_BUILD/tests/resilience/test_resilience_local_schedules" --schedules 120000 --seed 1000000 --clusters || exit
exec "$GABION_BUILD/tests/resilience/test_resilience_local_schedules" --schedules 120000 --seed 1000000 --own

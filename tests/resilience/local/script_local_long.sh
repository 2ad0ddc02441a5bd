# SPDX-License-Identifier: Apache-2.0
# gabion-test: timeout=6000 labels=long
# Local recovery under 120 000 random schedules without clusters, as many with, and as many with checkpoints of clusters; the quick tests
# run 6000 others of each. And the programs of single situations with all of their cases, of which the full tier takes every third to fifth.
set -u
: "${GABION_BUILD:?}"
"$GABION_BUILD/tests/resilience/test_resilience_local_schedules" --schedules 120000 --seed 1000000 || exit
"$GABION_BUILD/tests/resilience/test_resilience_local_schedules" --schedules 120000 --seed 1000000 --clusters || exit
"$GABION_BUILD/tests/resilience/test_resilience_local_schedules" --schedules 120000 --seed 1000000 --own || exit
for name in deaths clusters own_times regrids; do
  GABION_TEST_EVERY_CASE=1 "$GABION_BUILD/tests/resilience/test_resilience_local_$name" || exit
done

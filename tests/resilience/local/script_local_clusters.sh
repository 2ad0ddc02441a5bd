# SPDX-License-Identifier: Apache-2.0
# gabion-test: timeout=300
# Clusters of ranks under 6000 random schedules (test_local_schedules.c), and under the one that stood still as long as the duplicate of
# a message that asks for an answer was dropped without one; script_local_long.sh runs 120 000 others.
set -u
: "${GABION_BUILD:?}"
"$GABION_BUILD/tests/resilience/test_resilience_local_schedules" --schedules 1 --seed 21131595 --clusters || exit
# Without clusters: a holder hears from somebody else that the spare runs, before it hears that it accepts.
"$GABION_BUILD/tests/resilience/test_resilience_local_schedules" --schedules 1 --seed 61118411 || exit
exec "$GABION_BUILD/tests/resilience/test_resilience_local_schedules" --schedules 6000 --clusters

# SPDX-License-Identifier: Apache-2.0
# gabion-test: timeout=300
# Clusters of ranks that take checkpoints of their own, under 6000 random schedules (test_local_schedules.c).
set -u
: "${GABION_BUILD:?}"
exec "$GABION_BUILD/tests/resilience/test_resilience_local_schedules" --schedules 6000 --own

# gabion-test: timeout=300 labels=quick
# Clusters of slots under 6000 random schedules (test_local_schedules.c); script_local_long.sh runs 120 000 others.
set -u
: "${GABION_BUILD:?}"
exec "$GABION_BUILD/tests/resilience/test_resilience_local_schedules" --schedules 6000 --clusters

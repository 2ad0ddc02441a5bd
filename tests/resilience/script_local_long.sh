#gabion - test : timeout = 3000 labels = long
#Local recovery under 120 000 random schedules, of which the quick tests run 6000 others.
set - u : "${GABION_BUILD:?}" exec
          "$GABION_BUILD/tests/resilience/test_resilience_local_schedules" --schedules 120000 --seed 1000000

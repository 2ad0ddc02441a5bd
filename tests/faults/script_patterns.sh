# gabion-test: timeout=1200 labels=long needs=ulfm
# A hundred forced schedules of mpi_patterns.c, each with a real death: with ids no receive takes a message of another round,
# without them one does in every schedule; with ids
# they may also overlap.
set -u
failures=0
program=$GABION_BUILD/tests/faults/mpi_faults_patterns
[ -x "$program" ] || { echo "there is no $program"; exit 1; }
for kind in ids no-ids overlap; do
  ids=1 overlap=0
  [ $kind != no-ids ] || ids=0
  [ $kind != overlap ] || overlap=1
  as_expected=0
  for schedule in $(seq 1 "${GABION_SCHEDULES:-100}"); do
    # shellcheck disable=SC2086 # words on purpose
    if GABION_SCHEDULE=$schedule GABION_PATTERN_IDS=$ids GABION_ROUNDS_OVERLAP=$overlap timeout 60 "$GABION_JUDGE" 4 "$GABION_MPIRUN" $GABION_MPI_FLAGS \
      -n 4 "$GABION_JUDGE" --watch "$program" >said.txt 2>&1; then
      as_expected=$((as_expected + 1))
    else
      echo "$kind, schedule $schedule: $(grep -v '^\[' said.txt)"
      failures=$((failures + 1))
    fi
  done
  [ -z "${GABION_SCHEDULES_SHOW:-}" ] || echo "$kind: $as_expected as expected"
done
rm -f said.txt
exit $((failures > 0))

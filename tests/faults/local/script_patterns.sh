# SPDX-License-Identifier: Apache-2.0
# gabion-test: timeout=2400 labels=long needs=ulfm
# A hundred forced schedules of mpi_patterns.c, each with a real death, and of mpi_patterns_clusters.c: with ids no
# receive takes a message of another round, without them every schedule has one; with ids they may also overlap.
# GABION_KINDS: these only.
# message of another round, without them one does in every schedule; with ids they may also overlap. GABION_KINDS: these only.
set -u
failures=0
tests=$GABION_BUILD/tests/faults
for kind in ${GABION_KINDS:-ids no-ids overlap clusters clusters-no-ids clusters-two}; do
  ids=1 overlap=0 second=0 count=4 program=$tests/mpi_faults_patterns
  case $kind in *no-ids) ids=0 ;; overlap) overlap=1 ;; *-two) second=2 ;; esac
  case $kind in clusters*) count=8 program=$tests/mpi_faults_patterns_clusters ;; esac
  [ -x "$program" ] || { echo "there is no $program"; exit 1; }
  as_expected=0
  for schedule in $(seq 1 "${GABION_SCHEDULES:-100}"); do
    # shellcheck disable=SC2086 # words on purpose
    if GABION_SCHEDULE=$schedule GABION_PATTERN_IDS=$ids GABION_ROUNDS_OVERLAP=$overlap GABION_SECOND=$second timeout 60 "$GABION_JUDGE" $count "$GABION_MPIRUN" $GABION_MPI_FLAGS \
      -n $count "$GABION_JUDGE" --watch "$program" >said.txt 2>&1; then
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

# SPDX-License-Identifier: Apache-2.0
# gabion-test: timeout=300 waits=1 needs=ulfm
# A death before the run computes costs only a start: inside MPI_Init, where the others would wait without end, while
# MPI_COMM_WORLD is duplicated, while the case is read and broadcast, while the folder is read, at every message up to
# the first checkpoint. The launcher restarts the run once, and it ends with the undisturbed result; all such events
# have one message.
. "$GABION_SOURCE/tests/launch/common.sh"
gabion=$GABION_BUILD/bin/gabion
"$GABION_MPICC" $ulfm -shared -fPIC -o "$dir/dies.so" "$GABION_SOURCE/tests/launch/dies.c" -ldl || exit 1
cat >case.yaml <<'YAML'
run: {steps: 30}
domain: {cells: [16, 16], block: [8, 8]}
fluid: {omega: 1.5}
boundaries: {y_min: {type: wall}, y_max: {type: velocity, velocity: [0.05, 0]}}
resilience: {memory: {every: 10}}
YAML
cat >dies.sh <<SH
#!/bin/bash
# dies.sh AT RANK PROGRAM ARGUMENTS...
export DIES_AT=\$1 DIES_RANK=\$2 LD_PRELOAD=$dir/dies.so
shift 2
exec "\$@"
SH
cat >early.sh <<'SH'
#!/bin/bash
# early.sh ATTEMPTS SIGNAL SECONDS PROGRAM ARGUMENTS...: rank 1 gets a signal before its program starts, in that
# number of attempts
if [ "$OMPI_COMM_WORLD_RANK" = 1 ] && [ "$GABION_ATTEMPT" -lt "$1" ]; then sleep "$3"; kill "-$2" $$; fi
shift 3
exec "$@"
SH
chmod +x dies.sh early.sh
checksum() { sed -n 's/.*"checksum": "\([0-9a-f]*\)".*/\1/p' "$1/summary.json" 2>/dev/null; }

# Others wait in MPI_Init: the launcher sees that one is missing, and waits for no limit, be it that it has never seen it.
export GABION_RESCUE_LOG=$dir/rescues
launch 0 -n 3 --start-within 600 --stall 600 "$dir/early.sh" 1 KILL 2 "$dir/ranks" code 0
said 'of 3 processes that were started 1 had ended before the first sign of life'
said 'nothing is lost: starting the run again (start 2 of at most 2)'
grep -q ' rescued attempt=0 .*progress=""' rescues || complain "wrong rescue log: $(cat rescues)"
launch 76 -n 3 --start-within 600 --stall 600 --start-retries 0 "$dir/early.sh" 9 KILL 0 "$dir/ranks" code 0
said 'of 3 processes that were started 1 had ended before the first sign of life'
said 'giving up after 1 start that failed'
# No process is missing, but one does not continue: the limit of the start ends that, not the one of stalls.
launch 1 -n 3 --start-within 2 --traces "$dir" "$dir/early.sh" 9 STOP 0 "$dir/ranks" code 0
said 'no sign of life within 2 s of the start (--start-within): ending it'
said 'nothing is lost: starting the run again (start 2 of at most 2)'
said 'giving up after 2 starts that failed'
# Once there was a sign of life, a silent start is no more than a stall.
launch 1 -n 2 --start-within 1 --stall 3 --retries 0 --traces "$dir" "$dir/ranks" hang
said 'no progress for 3 s (last: 7 nearly there)'

launch 0 -n 3 -t 1 "$gabion" run case.yaml --out whole
[ -n "$(checksum whole)" ] || complain 'the undisturbed run has no checksum'
# CALL.RANK of each death (-1: all of them: MPI may crash the others, and mpirun ends with 0 then). After the first checkpoint it is survived in the job.
died=0
for death in ${GABION_DEATHS:-1.1 1.-1 2.1 2.0 3.2 4.1 5.0 7.1 9.2 12.1 16.0 22.2 30.1 45.1}; do
  "$GABION_LAUNCH" -n 3 -t 1 --start-within 8 --stall 30 "$dir/dies.sh" "${death%.*}" "${death#*.}" \
    "$gabion" run case.yaml --out result >log 2>&1; code=$?
  [ $code = 0 ] || complain "death $death: exit code $code; it said: $(tr -d '\0' <log)"
  grep -q 'dies: rank' log || complain "death $death: nobody died: $(tr -d '\0' <log)"
  [ "$(checksum result)" = "$(checksum whole)" ] || complain "death $death: $(checksum result), expected $(checksum whole)"
  grep -q 'must be rebuilt\|data lost' log && complain "death $death: $(tr -d '\0' <log)"
  if grep -qF 'starting the run again (start' log; then died=$((died + 1)); fi
  rm -rf result
done
if [ -z "${GABION_DEATHS:-}" ]; then
  [ $died -ge 5 ] || complain "only $died deaths were before the first checkpoint"
fi
# Processes that die so early cannot be replaced: messages of the set-up cannot be repeated.
for death in ${GABION_DEATHS:-3.2 7.1 16.0 22.2}; do
  "$GABION_LAUNCH" -n 3 -t 1 --start-within 8 --stall 30 "$dir/dies.sh" "${death%.*}" "${death#*.}" \
    "$gabion" run case.yaml --out result --set 'resilience.strategies=[respawn]' >log 2>&1; code=$?
  [ $code = 0 ] || complain "death $death, respawn: exit code $code; it said: $(tr -d '\0' <log)"
  grep -q 'dies: rank' log || complain "death $death, respawn: nobody died: $(tr -d '\0' <log)"
  [ "$(checksum result)" = "$(checksum whole)" ] || complain "death $death, respawn: $(checksum result), expected $(checksum whole)"
  rm -rf result
done
# Without another try the code says that one is worth it.
launch 76 -n 3 -t 1 --start-retries 0 "$dir/dies.sh" 4 1 "$gabion" run case.yaml --out result
said 'to be started again: a process died while'
finish

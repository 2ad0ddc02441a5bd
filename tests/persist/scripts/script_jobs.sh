# SPDX-License-Identifier: Apache-2.0
# gabion-test: timeout=120 labels=quick
# Two jobs and one key: the second is refused while the first one runs; with another number of processes it is refused; what a
# job of 10 000 messages that was killed (SIGKILL, all of it) had committed, the next one receives.
. "$GABION_SOURCE/tests/persist/scripts/common.sh"
helper=$GABION_BUILD/tests/persist/helper_jobs
run() { local n=$1; shift; timeout 60 "$GABION_MPIRUN" "${several[@]}" -n "$n" "$helper" store "$@" >said.txt 2>&1; }

run 2 hold held & # it commits, says so, and waits
holder=$!
for _ in $(seq 600); do [ -e held.0 ] && [ -e held.1 ] && break; sleep 0.05; done
[ -e held.0 ] && [ -e held.1 ] || complain "the first job has not come so far: $(cat said.txt)"
cp said.txt first.txt
timeout 60 "$GABION_MPIRUN" "${several[@]}" -n 2 "$helper" store read >second.txt 2>&1 && complain "the second job was let in"
grep -q 'in use' second.txt || complain "the second job says: $(cat second.txt)"
kill -KILL $(cat held.0 held.1)
wait $holder
run 3 read && complain "three processes were let in"
grep -q 'is of 2 processes, these are 3' said.txt || complain "three processes are told: $(cat said.txt)"
run 1 read && complain "one process was let in"
grep -q 'is of 2 processes, these are 1' said.txt || complain "one process is told: $(cat said.txt)"
run 2 read || complain "the next job cannot read: $(cat said.txt)"
[ "$(grep -c 'read 10000 messages' said.txt)" = 2 ] || complain "the next job says: $(cat said.txt)"
exit $failures

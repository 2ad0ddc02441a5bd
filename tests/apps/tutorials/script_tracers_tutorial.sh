# SPDX-License-Identifier: Apache-2.0
# gabion-test: timeout=200 labels=quick needs=ulfm
# The tutorial of tracers leaves the same files, byte by byte, on 1 and 3 processes, and when one of them is killed from outside.
. "$GABION_SOURCE/tests/apps/common.sh"
cp "$GABION_BUILD/bin/tracers" "$work/tracers" # a name that no other process has

files() { (cd "$1/fields" && cksum ./*) || complain "no files: $(ls -R "$1")"; }
tracers() { # tracers PROCESSES, into out/tracers
  rm -rf out
  timeout 100 "$GABION_LAUNCH" -n "$1" -- "$work/tracers" >said.txt 2>&1 || complain "$1 processes: $(cat said.txt)"
}
tracers 1
files out/tracers >expected.txt
[ "$(grep -c '\.h5$' expected.txt)" = 21 ] || complain "not its files: $(cat expected.txt)"
grep -q 'NumberOfElements="1000"' out/tracers/fields/tracers_0000002000.xdmf || complain "tracers were lost: $(cat out/tracers/fields/*2000.xdmf)"
[ "$(cut -d' ' -f1 expected.txt | sort -u | wc -l)" -ge 42 ] || complain "tracers did not move: $(cat expected.txt)"
tracers 3
files out/tracers | diff expected.txt - || complain "3 processes: other files"

# A failure: its message and exit code, on all processes.
: >file
code=0
timeout 100 "$GABION_LAUNCH" -n 2 -- "$work/tracers" file/below >said.txt 2>&1 || code=$?
[ "$code" = 2 ] || complain "a folder that cannot be made: exit code $code: $(cat said.txt)"
said 'error: bad input: cannot make the output folder file: '

# A process is killed once files of step 500 are there.
rm -rf out
timeout 100 "$GABION_LAUNCH" -n 4 -- "$work/tracers" >said.txt 2>&1 &
job=$!
until [ -e out/tracers/fields/tracers_0000000500.xdmf ] || ! kill -0 $job 2>/dev/null; do sleep 0.02; done
victim=$(pgrep -f "^$work/tracers" | tail -n 1)
kill -KILL "$victim" || complain "nobody was killed: '$victim'"
wait $job || complain "the run did not survive: $(cat said.txt)"
said 'died'
files out/tracers | diff expected.txt - || complain "a process was killed: other files"
finish

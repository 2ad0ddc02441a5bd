# SPDX-License-Identifier: Apache-2.0
# gabion-test: timeout=60
# gabion clean removes the checkpoints of finished runs and unfinished files of their lists, with the bytes that it says, and
# nothing else; runs that compute, or could resume, are left alone. gabion status shows a tree of runs, one in a line.
. "$GABION_SOURCE/tests/apps/common.sh"

disk=(--set resilience.disk.every=10 -q)
"$gabion" run good.yaml --out tree/a "${disk[@]}" || complain "run a: exit code $?"
"$gabion" run good.yaml --out tree/deep/b "${disk[@]}" --set fluid.omega=1.2 || complain "run b: exit code $?"
"$gabion" run good.yaml --out tree/c "${disk[@]}" --set run.steps=900000000 --walltime 1 >said.txt 2>&1
[ -d tree/c/checkpoints ] || complain "run c has no checkpoint: $(cat said.txt)"
echo 1234567890 >tree/a/fields/fields_0000000040.xdmf.tmp
echo mine >tree/a/mine.tmp
echo mine >tree/a/checkpoints/mine.txt

calls() { # calls CODE WORDS...
  local expected=$1 code=0
  shift
  "$gabion" "$@" >said.txt 2>&1 || code=$?
  [ $code = "$expected" ] || complain "gabion $*: exit code $code, expected $expected; it said: $(cat said.txt)"
}
calls 0 status tree
said 'tree/a: done  step 20 of 20  integrals: time 20, mass 1, momentum.x '
said 'tree/c: to be continued  step '
said '3 runs: 2 done, 0 running, 1 ended before, 0 dead'
[ "$(sed -n 's/:.*//p' said.txt | head -n 3)" = $'tree/a\ntree/c\ntree/deep/b' ] || complain "the order: $(cat said.txt)"
calls 0 status tree/a tree/deep --json
[ "$(grep -c '"state": "done"' said.txt)" = 2 ] || complain "lines of JSON: $(cat said.txt)"
calls 0 status tree/a
said 'tree/a: done since'
calls 2 status tree/a tree/none
said 'no run in tree/none'

list() { find tree -type f | sort | xargs cksum; }
list >before.txt
calls 2 clean tree --dry-run
said 'tree/c: left alone: to be continued, and it needs its checkpoints to resume'
list | cmp -s - before.txt || complain '--dry-run changed something'
# What it says is what goes: files and bytes.
grep -E ' tree/(a|deep/b)/(checkpoints/step_.*|fields/fields_0000000040.xdmf.tmp)$' before.txt >going.txt
count=$(wc -l <going.txt)
[ "$count" -ge 4 ] || complain "too few checkpoints: $(cat before.txt)"
bytes=$(awk '{ sum += $2 } END { print sum }' going.txt)
own=$((count + 1)) # with the user's file in checkpoints/, which only --dry-run counts
said "would remove $own files"
calls 2 clean tree
said "removed $count files, $(awk -v b="$bytes" 'BEGIN { if (b < 1000) printf "%d bytes", b; else if (b < 1e6) printf "%.3g kB", b / 1e3; else printf "%.3g MB", b / 1e6 }')"
list >after.txt
sort going.txt after.txt | cmp -s - <(sort before.txt) || complain "other files are gone: $(diff before.txt after.txt)"
[ ! -e tree/deep/b/checkpoints ] || complain 'an empty folder stays'
# Results are still known as finished.
calls 0 run good.yaml --out tree/deep/b --set resilience.disk.every=10 --set fluid.omega=1.2
said 'finished: tree/deep/b has the results of this case'

# A run that computes is left alone, also with --all.
rm -r tree/c/checkpoints tree/c/progress.json
"$gabion" run good.yaml --out tree/c --set resilience.disk.every=10000 --set run.steps=900000000 --fresh -q >run.txt 2>&1 &
pid=$!
for _ in $(seq 2000); do
  compgen -G 'tree/c/checkpoints/step_*/manifest.json' >/dev/null && [ -e tree/c/progress.json ] && break
  sleep 0.005
done
[ -s tree/c/run.lock ] || complain 'run c has no lock'
calls 2 clean tree/c --all
said 'tree/c: left alone: run '
calls 0 status tree
said 'tree/c: running  step '
said ' left'
kill -KILL $pid
wait $pid 2>/dev/null
[ -d tree/c/checkpoints ] || complain 'the checkpoints of a run that computed are gone'
calls 2 clean tree/c
said 'left alone: '
calls 0 clean tree/c --all
[ ! -e tree/c/checkpoints ] || complain 'the checkpoints are there'
[ ! -e tree/c/run.lock ] || complain 'a lock is left'
calls 2 clean nothing
said 'no run in nothing'
calls 2 clean
said 'no folder given'
finish

# SPDX-License-Identifier: Apache-2.0
# MPI leaves nothing behind: no segment of shared memory, no session folder. After runs without mpirun that end or are
# killed; after an mpirun that was killed with its processes, as soon as another run of this user starts. Files in use
# are kept.
# gabion-test: timeout=120 labels=quick
. "$GABION_SOURCE/tests/launch/common.sh"
gabion=$GABION_BUILD/bin/gabion
cat >case.yaml <<YAML
run: {steps: 20}
domain: {cells: [32, 32], block: [16, 16]}
fluid: {omega: 1.5}
boundaries: {y_max: {type: velocity, velocity: [0.05, 0]}, y_min: {type: wall}}
YAML
segments() { ls /dev/shm | grep '^sm_segment\.'; }
left() { find "$dir/tmp" -mindepth 1 ! -path "$dir/tmp"/'tmux*'; }
computes() {
  for _ in $(seq 600); do grep -qs '"step": [1-9]' "$1/progress.json" && return; sleep 0.05; done
  complain "$1: no step within half a minute: $(cat "$dir/out")"
}
mapped_by() { grep -ho '/dev/shm/sm_segment\.[^ ]*' "/proc/$1/maps" | sort -u; }

# A single process, which has no segment at all.
"$gabion" run case.yaml --out ended >"$dir/out" 2>&1 || complain "a single process: $(cat "$dir/out")"
[ -z "$(left)" ] || complain "a single process has left: $(left)"
"$gabion" run case.yaml --out killed --set run.steps=4000000 >"$dir/out" 2>&1 &
pid=$!
computes killed
[ -z "$(mapped_by $pid)" ] || complain "a single process has a segment: $(mapped_by $pid)"
kill -KILL $pid
wait $pid 2>/dev/null
[ -z "$(left)" ] || complain "a single process that was killed has left: $(left)"

# Segments and session folders below are those of Open MPI; MPICH removes the name of its segment when all have it, and has no folder.
[ -n "${GABION_TEST_OPEN_MPI:-}" ] || finish

# mpirun and all its processes are killed: the next run removes their files, and keeps those of living runs.
start() { # start NAME: two processes under mpirun; their numbers in $ranks, their segments in $files
  # shellcheck disable=SC2086
  "$GABION_MPIRUN" $GABION_MPI_FLAGS -n 2 "$gabion" run case.yaml --out $1 --set run.steps=4000000 >"$dir/out" 2>&1 &
  pid=$!
  computes $1
  ranks=$(pgrep -f "^$gabion run case.yaml --out $1 ")
  files=$(for rank in $ranks; do mapped_by $rank; done | sort -u)
}
start living
living=$pid lives=$files
start dead
[ "$(wc -w <<<"$files")" = 2 ] && [ "$(wc -w <<<"$lives")" = 2 ] || complain "not two segments each: $files; $lives"
# shellcheck disable=SC2086
kill -KILL $pid $ranks
wait $pid 2>/dev/null
[ -n "$(left)" ] || complain "an mpirun that was killed leaves no session folder: this test looks for nothing"
"$GABION_LAUNCH" -n 1 -t 1 "$gabion" run case.yaml --out next >"$dir/out" 2>&1 || complain "the next run: $(cat "$dir/out")"
for each in $files; do [ ! -e "$each" ] || complain "left behind: $each"; done
for each in $lives; do [ -e "$each" ] || complain "of a run that lives, removed: $each"; done

[ "$(ls "$dir/tmp")" = "$(basename "$dir"/tmp/prterun.*.$living.*)" ] || complain "not the session of the living run alone: $(ls "$dir/tmp")"

# The same by a run without the launcher.
start dead_too
# shellcheck disable=SC2086
kill -KILL $pid $ranks
wait $pid 2>/dev/null
"$gabion" run case.yaml --out after >"$dir/out" 2>&1 || complain "a single run after it: $(cat "$dir/out")"
for each in $files; do [ ! -e "$each" ] || complain "left behind by a single run: $each"; done
for each in $lives; do [ -e "$each" ] || complain "of a run that lives, removed by a single run: $each"; done
kill -TERM $living
wait $living
for each in $lives; do [ ! -e "$each" ] || complain "left behind by mpirun that was told to end: $each"; done
finish

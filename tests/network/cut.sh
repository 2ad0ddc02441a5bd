# SPDX-License-Identifier: Apache-2.0
# Shared by the tests that cut the network of a run; to be sourced after nodes.sh. Required remains of a run, for any
# cut: the result of the undisturbed run, or one report of lost data; one set of files; no process.

cat >case.yaml <<'YAML'
run: {steps: 600}
domain: {cells: [64, 64], block: [16, 16]}
fluid: {omega: 1.6}
boundaries:
  x_min: {type: wall}
  x_max: {type: wall}
  y_min: {type: wall}
  y_max: {type: velocity, velocity: [0.05, 0]}
resilience: {memory: {every: 50}}
output: {integrals: {every: 100}}
YAML

# names FOLDER: of the files there that are part of the result, whichever ranks have written them
names() {
  (cd "$1" && find . -type f ! -path './fencing/*' ! -path './checkpoints/*' | sed 's/\.s[0-9]*\.h5$/.rank.h5/' | sort -u)
}

# make_reference HOSTS PROCESSES [ARGUMENT OF THE PROGRAM...]: the undisturbed run, in the folder $reference
reference=ref
make_reference() {
  local hosts=$1 processes=$2
  run_args="${*:3}" launch $reference "$hosts" "$processes"
  wait $job || complain "the undisturbed run ended with $?: $(tail -5 $reference.txt)"
  none_left $reference
  ls $reference/*.csv >/dev/null || complain "the undisturbed run has no series"
}

# none_left OUT: processes that were cut off detect it by themselves; limit: ten times the detection time of a death
none_left() {
  for _ in $(seq 1000); do
    [ -z "$(processes_left)" ] && return
    sleep 0.1
  done
  complain "$1: processes left: $(pgrep -fa "^$gabion run|prted" | cut -c1-200)"
  pkill -9 -f "^$gabion run|prted" # of this test: it sees no others
}

# has_event OUT PATTERN
has_event() { grep -qs -e "$2" "$1/events.jsonl"; }

# show_stalls: where the processes stood when the launcher gave up, which the folder of the test takes with it
show_stalls() {
  local traces
  for traces in gabion-stall-*.txt; do
    [ -e "$traces" ] && { echo "$traces:"; grep -E '^(====|kernel|Thread|#)' "$traces" | cut -c1-160 | head -120; }
  done
}

# judge OUT CODE...: waits for the launcher; the run may end with one of these codes only. Sets $code.
judge() {
  local out=$1 ends series
  shift
  wait $job
  code=$?
  none_left "$out"
  case " $* " in *" $code "*) ;; *) complain "$out: ended with $code, expected $*: $(tail -5 "$out.txt")"; show_stalls ;; esac
  ends=$(grep -c '"event": "end"' "$out/events.jsonl")
  [ "$ends" = 1 ] || complain "$out: the run says $ends times how it ended"
  [ -e "$out/run.lock" ] && complain "$out: the lock is left"
  if [ $code = 0 ]; then
    [ "$(checksum "$out")" = "$(checksum $reference)" ] || complain "$out: another checksum than the undisturbed run"
    for series in "$reference"/*.csv; do
      cmp -s "$series" "$out/${series##*/}" || complain "$out: another ${series##*/} than the undisturbed run"
    done
    [ "$(names "$out")" = "$(names $reference)" ] || complain "$out: other files than the undisturbed run: $(names "$out" | tr '\n' ' ')"
    grep -q 'data lost' "$out/log.txt" "$out/events.jsonl" && complain "$out: completed, and says that data is lost"
  else
    has_event "$out" '"status": "data lost"' || complain "$out: ended with $code without saying why"
    [ "$(checksum "$out" | cut -c1-4)" = none ] || complain "$out: data lost, and a checksum"
  fi
  return 0
}

# Maximum time of a stop of a rank, with unique digits: no other program of the machine sleeps for as long, so it can
# be identified.
hold=$(printf '%g' "3.0$((1000 + $$ % 9000))")
# A stopped rank continues at once; no effect if its time is over.
go_on() {
  for _ in $(seq 100); do
    pkill -f "^sleep $hold\$" && return
    sleep 0.02
  done
}

# cut_at OUT HOSTS PROCESSES STEP PHASE RANK NODE...: a run in which that rank stops in that phase until these nodes
# have lost their cables (or for a time that does not count as death). More options of the launcher: launch_options;
# arguments of the program: case_args
cut_at() {
  local out=$1 hosts=$2 processes=$3 injection="rank=$6,step=$4,phase=$5,stopped=$hold"
  run_args="--inject $injection ${case_args:-}" launch "$out" "$hosts" "$processes" ${launch_options:-}
  shift 6
  wait_until "$out: $injection" has_event "$out" '"event": "fault injection"' || return
  pull "$@"
  go_on
}

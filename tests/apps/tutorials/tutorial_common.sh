# SPDX-License-Identifier: Apache-2.0
# Shared by the tests of tutorials; to be sourced instead of common.sh. A run gives the same on any number of
# processes, when one of them is killed from outside, and when one rolls back alone.
#
#   program NAME          the program is $gabion, under a name that no other process has
#   run 0 1 case.yaml
#   keep FILE ...         of this run: checksum, grid, and these files of its folder
#   alike WHAT            the last run gave the same
#   alike_on_processes    on 2 processes
#   alike_killed STEP     on 4 processes up to this step, in which one is killed, and on 3 from the last checkpoint on
#   alike_replaced RANK STEP STRATEGIES   a rank dies, and a spare process takes it
. "$GABION_SOURCE/tests/apps/common.sh"

program() {
  cp "$GABION_BUILD/bin/$1" "$work/$1"
  gabion=$work/$1
}

blocks() { tr -d '\n ' <out/summary.json | sed -n 's/.*"blocks_of_levels":\[\([0-9,]*\)\].*/\1/p'; }

keep() {
  local file
  expected=$(checksum) grid=$(blocks) kept=("$@")
  rm -rf kept && mkdir kept
  for file in "$@"; do cp "out/$file" "kept/$file" || complain "no $file: $(ls out)"; done
}

alike() {
  local file
  [ "$(checksum)" = "$expected" ] || complain "$1: another checksum"
  [ "$(blocks)" = "$grid" ] || complain "$1: another grid, $(blocks)"
  for file in "${kept[@]}"; do cmp "out/$file" "kept/$file" || complain "$1: another $file"; done
}

alike_on_processes() {
  run 0 2 case.yaml
  alike "2 processes"
}

# Killed while a fault injection has it stopped, so that the run cannot be over before. (mpirun ends a job with a
# stopped process ten seconds late, when the launcher ends it.)
stopped() { ps -o pid=,stat= -p "$(pgrep -d, -f "^$gabion run case.yaml")" 2>/dev/null | awk '$2 ~ /^T/ { print $1 }'; }
alike_killed() {
  rm -rf out
  timeout 100 "$GABION_LAUNCH" -n 4 -- "$gabion" run case.yaml --inject rank=3,step="$1",phase=exchange,stopped=600 --out out >said.txt 2>&1 &
  local job=$!
  until [ -n "$(stopped)" ] || ! kill -0 $job 2>/dev/null; do sleep 0.02; done
  kill -KILL "$(stopped)" || complain "nobody was stopped: $(cat said.txt)"
  wait $job || complain "the run did not survive: $(cat said.txt)"
  said 'rank 3 died'
  alike "a process was killed"
}

alike_replaced() {
  rm -rf out
  timeout 100 "$GABION_LAUNCH" -n 4 --spares 1 -- "$gabion" run case.yaml --set "resilience.strategies=[$3]" \
    --inject rank="$1",step="$2",phase=exchange --out out >said.txt 2>&1 || complain "strategies $3 failed: $(cat said.txt)"
  said "rank $1 died"
  alike "a spare process took a rank, strategies $3"
}

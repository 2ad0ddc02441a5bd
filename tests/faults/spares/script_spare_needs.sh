# SPDX-License-Identifier: Apache-2.0
# gabion-test: timeout=120 labels=quick needs=ulfm
# A spare that could not pack an entity before it ran a rank continues, unless the run rolls back to a checkpoint of
# fewer ranks, of which it gets no part: then all end with the reason.
. "$GABION_SOURCE/tests/apps/common.sh"

goes() { # goes CODE WHAT LAUNCHER_WORDS...
  local expected=$1 what=$2 code=0
  shift 2
  timeout 60 "$GABION_LAUNCH" "$@" -t 1 --stall 30 --retries 0 -- "$GABION_BUILD/tests/faults/helper_spare_needs" "$what" >said.txt 2>&1 || code=$?
  [ $code = "$expected" ] || complain "$what: exit code $code, expected $expected; it said: $(cat said.txt)"
  kept_going "$what"
}
goes 0 write -n 1
cp -r checkpoints first
goes 0 packs -n 4 --spares 1
said 'back from step 40 to step 20'
said right
rm -rf checkpoints && cp -r first checkpoints
goes 1 lacks -n 4 --spares 1
said 'rank 3 died, spare took over'
said 'no image falls to rank 3, and what it had before the first step is not known'
not_said right
finish

# SPDX-License-Identifier: Apache-2.0
# gabion-test: timeout=240 waits=1 needs=ulfm
# A stopped process counts as dead with --dead-after: the others end with the undisturbed checksum and series, and the
# process ends itself when it wakes up, also if it is the root during its output. Without --dead-after the others wait
# for it. A step that is long for the given time causes a warning.
. "$GABION_SOURCE/tests/apps/common.sh"
case=$GABION_SOURCE/tests/faults/runs/flow.yaml

# stopped NAME PROCESSES [options of the launcher] -- [options of the run]
stopped() {
  local name=$1 processes=$2 launcher=() code; shift 2
  while [ "$1" != -- ]; do launcher+=("$1"); shift; done
  shift
  timeout 100 "$GABION_LAUNCH" -n "$processes" "${launcher[@]}" -- "$gabion" run "$case" --out "$name" "$@" \
    >said.txt 2>&1
  code=$?
  [ $code = 0 ] || complain "$name: exit code $code; it said: $(cat said.txt)"
}
same() { # same NAME: as if nothing had happened
  [ "$(checksum "$1")" = "$(checksum still)" ] || complain "$1: $(checksum "$1") instead of $(checksum still)"
  for file in probes.csv forces.csv; do
    cmp "$1/$file" "still/$file" || complain "$1/$file differs"
  done
  [ -z "$(find "$1" -name '*.new' -o -name '*.tmp')" ] || complain "left behind: $(find "$1" -name '*.new' -o -name '*.tmp')"
}

stopped still 2 -- && said 'done: 60 steps'
stopped one 4 --dead-after 3 -- --inject rank=2,step=23,phase=exchange,stopped=6
said 'rank 2 died'
said_once 'this process was stopped for so long'
same one
stopped root 4 --dead-after 3 -- --inject rank=0,step=40,phase=output,stopped=6 --set resilience.disk.every=20
said 'rank 0 died'
said_once 'this process was stopped for so long'
same root
stopped moment 4 -- --inject rank=1,step=30,stopped=1
not_said 'died'
not_said 'warning: a step took'
same moment
stopped short 4 --dead-after 9 -- --inject rank=1,step=30,stopped=1.2
not_said 'died'
said_once 'warning: a step took'
same short
"$GABION_LAUNCH" -n 1 --dead-after 0.1 -- true >said.txt 2>&1 && complain 'a time that no machine keeps was taken'
said '--dead-after 0.1: less than'
finish

# SPDX-License-Identifier: Apache-2.0
# gabion-test: timeout=200
# A file system without locks of files (ENOLCK; 524 as Lustre answers): checkpoints are written and read there. One that cannot be read
# is not renamed, and no run begins at step 0 over it.
. "$GABION_SOURCE/tests/apps/common.sh"
[ -n "${GABION_BAD_DISK:-}" ] || exit 77

cat >small.yaml <<'YAML'
run: {steps: 40}
domain: {cells: [16, 16], block: [8, 8], length: 0.5}
fluid: {viscosity: 0.01, velocity: 0.1, length: 0.5}
units: {lattice_velocity: 0.05}
boundaries:
  x_min: {type: wall}
  x_max: {type: wall}
  y_min: {type: wall}
  y_max: {type: velocity, velocity: [0.1, 0]}
output:
  integrals: {every: 10}
  fields: {every: 20, quantities: [velocity, pressure]}
resilience: {disk: {every: 20}}
YAML
# bad ERRNO_OF_LOCKS ERRNO_OF_READS COMMAND...
bad() {
  local lock=$1 read=$2
  shift 2
  BAD_DISK=$work/out BAD_DISK_LOCK=$lock BAD_DISK_READ=$read LD_PRELOAD=$GABION_BAD_DISK timeout 60 "$@" >said.txt 2>&1
}
# ended CODE WHAT: checks the last command.
ended() { [ "$code" = "$1" ] || complain "$2: exit code $code, expected $1; it said: $(cat said.txt)"; }
again() { bad "$1" "$2" "$gabion" run small.yaml --out out; code=$?; } # the same command in the folder that is there
names() { (cd out/checkpoints && find . | sort); }

run 0 1 small.yaml
mv out whole
for errno in 37 524; do
  rm -rf out
  bad $errno 0 "$gabion" run small.yaml --out out --set run.steps=30
  code=$?
  ended 0 "locks give $errno"
  not_said 'could not be written'
  [ -f out/checkpoints/step_000000000030/manifest.json ] || complain "locks give $errno: $(ls out/checkpoints)"
  again $errno 0
  ended 0 "locks give $errno, again"
  said 'resuming from step 30'
  [ "$(checksum out)" = "$(checksum whole)" ] || complain "locks give $errno: another checksum"
  cmp -s whole/integrals.csv out/integrals.csv || complain "locks give $errno: another integrals.csv"
  bad $errno 0 "$gabion" checkpoint verify out || complain "verify where locks give $errno: $(cat said.txt)"
done

# ---- temporarily unreadable checkpoints stay, and the run does not begin at step 0
rm -rf out
run 0 1 small.yaml --set run.steps=30
cp -r out half
names >before.txt
again 0 5
ended 1 'a disk with read errors'
said 'group_000000.h5'
said 'Input/output error'
said 'run the same command again'
names | cmp -s - before.txt || complain "a file that could not be read was renamed: $(names)"
cmp -s half/integrals.csv out/integrals.csv || complain 'a run that could not begin changed integrals.csv'
again 0 0
ended 0 'the disk can be read again'
said 'resuming from step 30'
[ "$(checksum out)" = "$(checksum whole)" ] || complain 'read again: another checksum'

# ---- all damaged: they are set aside, and a run begins at step 0 only on request
rm -rf out; cp -r half out
for file in out/checkpoints/*/group_000000.h5; do
  dd if=/dev/zero of="$file" bs=1 count=4096 conv=notrunc status=none
done
again 0 0
ended 1 'damaged files'
said 'Remove that folder to begin at step 0'
[ -d out/checkpoints/unusable_000000000030 ] || complain "not set aside: $(names)"
again 0 0
ended 1 'damaged files, a second time'
said 'Nothing is started over'
cmp -s half/integrals.csv out/integrals.csv || complain 'damaged files: integrals.csv has changed'
rm -rf out; cp -r half out
for file in out/checkpoints/*/group_000000.h5; do truncate -s 5000 "$file"; done
again 0 0
ended 1 'cut files'
said 'has 5000 bytes'
said 'Nothing is started over'
cmp -s half/integrals.csv out/integrals.csv || complain 'cut files: integrals.csv has changed'
bad 0 0 "$gabion" run small.yaml --out out --fresh
code=$?
ended 0 'fresh'
[ "$(checksum out)" = "$(checksum whole)" ] || complain 'fresh: another checksum'
finish

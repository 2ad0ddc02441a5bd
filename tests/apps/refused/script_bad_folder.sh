# SPDX-License-Identifier: Apache-2.0
# gabion-test: timeout=200
# An output folder without write access is detected before the first step, a disk that fills up ends the run with a
# message; no process hangs, and no incomplete file is left.
. "$GABION_SOURCE/tests/apps/common.sh"

launch() { # launch CODE FOLDER [options]
  local expected=$1 folder=$2 code
  shift 2
  timeout 100 "$GABION_LAUNCH" -n 3 -- "$gabion" run good.yaml --out "$folder" "$@" >said.txt 2>&1
  code=$?
  [ $code = "$expected" ] || complain "into $folder: exit code $code, expected $expected; it said: $(cat said.txt)"
}

# A file in place of the folder; also works for root, who has all permissions.
echo occupied >file
launch 2 file
said_once 'output folder file'
launch 2 file/below
said 'output folder'
[ "$(cat file)" = occupied ] || complain "the file in the way was changed"
launch 2 /proc/gabion
said '/proc/gabion'

if [ "$(id -u)" != 0 ]; then
  mkdir locked
  chmod 555 locked
  launch 2 locked
  said 'locked'
fi

# A full disk needs a separate file system.
mkdir small
if [ "$(id -u)" = 0 ] && mount -t tmpfs -o size=32k tmpfs small 2>/dev/null; then
  trap 'umount "$work/small"; rm -rf "$work"' EXIT
  launch 2 small/out # not even space for a try
  said 'No space left'
  umount small
  mount -t tmpfs -o size=400k tmpfs small || exit 1
  # Fits at the start; the fields of every step do not.
  launch 1 small/out --set output.fields.every=1 --set run.steps=200 --set output.fields.precision=double --set output.retry=1
  said 'No space left'
  leftovers=$(find small -name '*.tmp' -o -name '*.new' -o -name '*.part*')
  [ -z "$leftovers" ] || complain "half-written files: $leftovers"
else
  echo "no tmpfs can be mounted here: the full disk is not tried"
fi
finish

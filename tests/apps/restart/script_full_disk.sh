# SPDX-License-Identifier: Apache-2.0
# gabion-test: timeout=300 needs=ulfm waits=1
# A disk that is full for a time while series, fields or pictures are due: the run waits and ends with the files of an
# undisturbed one. One that stays full ends the run: the file and the error are named, and with --relaunch it resumes
# from node memory.
. "$GABION_SOURCE/tests/apps/common.sh"
[ -n "${GABION_BAD_DISK:-}" ] || exit 77

cat >small.yaml <<'YAML'
run: {steps: 40, processes: 2}
domain: {cells: [16, 16], block: [8, 8], length: 0.5}
fluid: {viscosity: 0.01, velocity: 0.1, length: 0.5}
units: {lattice_velocity: 0.05}
boundaries:
  x_min: {type: wall}
  x_max: {type: wall}
  y_min: {type: wall}
  y_max: {type: velocity, velocity: [0.1, 0]}
output:
  integrals: {every: 5}
  fields: {every: 20, quantities: [velocity, pressure]}
  slices: [{quantity: speed, every: 20}]
resilience: {memory: {every: 10}}
YAML
# bad FILE SECONDS COMMAND...: the disk is full from the first write into FILE on.
bad() {
  local file=$1 seconds=$2
  shift 2
  BAD_DISK=$work/out BAD_DISK_FULL=$file BAD_DISK_SECONDS=$seconds LD_PRELOAD=$GABION_BAD_DISK timeout 100 "$@" >said.txt 2>&1
}
same() { # same WHAT: `out' has the content of `whole'
  local file
  [ "$(checksum out)" = "$(checksum whole)" ] || complain "$1: another checksum"
  [ "$(cd whole && find . -name '*.csv' -o -name '*.png' -o -path './fields/*' | sort)" = \
    "$(cd out && find . -name '*.csv' -o -name '*.png' -o -path './fields/*' | sort)" ] || complain "$1: other files: $(find out)"
  for file in integrals.csv speed_z_0000000020.png fields/fields_0000000020.s0000.h5 fields/fields_0000000020.s0001.h5 \
              fields/fields_0000000020.xdmf fields/fields.xdmf; do
    [ ! -e "whole/$file" ] || cmp -s "whole/$file" "out/$file" || complain "$1: another $file"
  done
}
start=("$GABION_LAUNCH" -n 2 -- "$gabion" run small.yaml --out out)
run 0 2 small.yaml
mv out whole
[ -s whole/integrals.csv ] && [ -s whole/fields/fields_0000000020.s0001.h5 ] || complain "files are missing: $(find whole)"

picture=
[ ! -e whole/speed_z_0000000020.png ] || picture=speed_z_0000000020.png
for file in integrals.csv fields_0000000020.s0001.h5 fields_0000000020.xdmf fields.xdmf $picture summary.json; do
  rm -rf out
  bad $file 1 "${start[@]}" || complain "full at $file: exit code $?, it said: $(cat said.txt)"
  said 'No space left on device; trying again'
  said 'is written, after'
  same "full at $file"
done

# ---- permanently full: named, with whole rows in existing files
for file in fields_0000000020.s0001.h5 integrals.csv; do
  rm -rf out
  bad $file 1000 "${start[@]}" --set output.retry=0.5
  code=$?
  [ $code = 1 ] || complain "full for good at $file: exit code $code, it said: $(cat said.txt)"
  said "$file: No space left on device (errno 28)"
  [ ! -s out/integrals.csv ] || [ "$(tail -c 1 out/integrals.csv | od -An -tx1)" = ' 0a' ] || complain "half a row: $(tail -n 1 out/integrals.csv)"
  not_said 'memory of the nodes'
done

# ---- with the memory of the nodes: nothing is lost
rm -rf out
touch sign
{ # somebody frees space when the first job has given up
  for ((i = 0; i < 900; i++)); do
    grep -q 'relaunching' said.txt 2>/dev/null && break
    sleep 0.1
  done
  rm -f sign
} &
BAD_DISK=$work/out BAD_DISK_FULL=fields_0000000020.s0001.h5 BAD_DISK_SIGN=$work/sign LD_PRELOAD=$GABION_BAD_DISK timeout 100 \
  "$GABION_LAUNCH" -n 2 --relaunch 1 -- "$gabion" run small.yaml --out out --set output.retry=2 >said.txt 2>&1 ||
  complain "relaunched: exit code $?, it said: $(cat said.txt)"
wait
said 'lies in the memory of the nodes'
said 'resuming from step 20, a checkpoint in the memory of the nodes'
same 'relaunched'

# ---- no relaunch helps: the state stays there, and the same command resumes from it
rm -rf out
touch sign
launch=("$GABION_LAUNCH" -n 2 --relaunch 1 -- "$gabion" run small.yaml --out out --set output.retry=0.5)
BAD_DISK=$work/out BAD_DISK_FULL=fields_0000000020.s0001.h5 BAD_DISK_SIGN=$work/sign LD_PRELOAD=$GABION_BAD_DISK timeout 100 \
  "${launch[@]}" >said.txt 2>&1
code=$?
[ $code = 76 ] || complain "no relaunch helps: exit code $code, it said: $(cat said.txt)"
said 'the state stays in the memory of the nodes'
rm -f sign
# Launchers of other commands leave it alone, whether they use the memory of nodes or not.
for other in '' '--relaunch 1'; do
  # shellcheck disable=SC2086 # none or two words
  timeout 100 "$GABION_LAUNCH" -n 1 $other -- "$gabion" run small.yaml --out other --fresh >other.txt 2>&1 || complain "another command: $(cat other.txt)"
done
timeout 100 "${launch[@]}" >said.txt 2>&1 || complain "the same command again: exit code $?, it said: $(cat said.txt)"
said 'resuming from step 20, a checkpoint in the memory of the nodes'
same 'the same command again'
finish

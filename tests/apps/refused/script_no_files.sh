# SPDX-License-Identifier: Apache-2.0
# gabion-test: timeout=150 labels=quick
# Pipes and devices as input are refused at once: no process waits for a writer.
. "$GABION_SOURCE/tests/apps/common.sh"
mkfifo pipe

# told SECONDS CODE COMMAND...: ends by itself in that time, with that code.
told() {
  local expected=$1 code
  shift
  timeout 60 "$@" >said.txt 2>&1
  code=$?
  [ $code = "$expected" ] || complain "$*: exit code $code, expected $expected
it said: $(cat said.txt)"
}

for file in pipe /dev/zero .; do
  told 2 "$gabion" check $file
  said 'not a file'
  run 2 2 good.yaml --set "resilience.domains=$file"
  said_once 'not a file'
done
refused 2 pipe
said_once 'pipe: cannot be read: it is a pipe, not a file'

cat >mask.yaml <<'YAML'
run: {steps: 1}
domain: {cells: [16, 16], block: [8, 8]}
fluid: {omega: 1.5}
bodies: [{type: mask, file: pipe, lo: [0, 0], hi: [8, 8]}]
YAML
check 2 mask.yaml
said 'not a file'
refused 2 mask.yaml

# Files of a run: manifest, group file, events, state of a phase field.
run 0 2 good.yaml --set resilience.disk.every=10
manifest=$(find out/checkpoints -name manifest.json | sort | tail -1)
group=$(find "$(dirname "$manifest")" -name '*.h5' | head -1)
[ -n "$group" ] || complain "no group file beside $manifest"
mv "$manifest" kept && mkfifo "$manifest"
told 0 "$gabion" checkpoint list out
told 1 "$gabion" checkpoint verify out
rm "$manifest" && mv kept "$manifest"
mv "$group" kept && mkfifo "$group"
told 1 "$gabion" checkpoint verify out
said 'is not a file'
rm "$group" && mv kept "$group"
for file in events.jsonl summary.json progress.json; do
  rm -f out/$file
  mkfifo out/$file
  timeout 60 "$gabion" status out >said.txt 2>&1
  [ $? != 124 ] || complain "gabion status waits for the pipe $file"
done
finish

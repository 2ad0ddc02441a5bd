# SPDX-License-Identifier: Apache-2.0
# gabion-test: timeout=120 needs=png
# The content of the files that a case names is part of the case: a run refuses to continue with other content under the
# same name, whichever process would notice, and continues with the same content from another place.
. "$GABION_SOURCE/tests/apps/common.sh"

picture mask.png '8 <= x < 16 and 4 <= y < 12'
sed 's/^output:/bodies:\n  - {name: step, type: mask, file: mask.png, lo: [0, 0], hi: [32, 16]}\noutput:/
     s/memory: {every: 10}/memory: {every: 10}, disk: {every: 10}/' good.yaml >case.yaml
# again CODE PROCESSES CASE [options]: in the folder that is there.
again() {
  local expected=$1 processes=$2 code
  shift 2
  timeout 100 "$GABION_LAUNCH" -n "$processes" -- "$gabion" run "$@" --out out >said.txt 2>&1
  code=$?
  [ $code = "$expected" ] || complain "gabion run $*: exit code $code, expected $expected; it said: $(cat said.txt)"
}
run 0 2 case.yaml
cp -r out first
content=$(sed -n 's/^# bodies.0.file has content \([0-9a-f]\{16\}\).*/\1/p' out/case.yaml)
[ -n "$content" ] || complain "case.yaml does not say what the picture held: $(cat out/case.yaml)"
grep -q "\"content\": \"$content\"" out/summary.json || complain "summary.json has another content than $content"

picture mask.png '8 <= x < 16 and 4 <= y < 13' # eight pixels more
for processes in 1 2; do
  again 2 $processes case.yaml --set run.steps=30
  said_once 'has a checkpoint (step 20) of another case'
  said "bodies.0.file: content $content in the checkpoint, content "
  said 'bodies.0.file: the file is mask.png'
done
diff -r first out >/dev/null || complain "the refused start changed: $(diff -rq first out)"

# ---- the same content elsewhere is the same case
picture mask.png '8 <= x < 16 and 4 <= y < 12'
again 0 1 case.yaml --set run.steps=30
continued=$(checksum)
rm -rf out && cp -r first out
mkdir elsewhere && mv mask.png elsewhere/other.png
sed 's/mask.png/elsewhere\/other.png/' case.yaml >moved.yaml
again 0 2 moved.yaml --set run.steps=30
[ "$(checksum)" = "$continued" ] || complain "moved picture: $(checksum), not $continued"

# ---- a file that is not there says where it was named
again 2 2 case.yaml --set run.steps=40
said 'mask.png'
finish

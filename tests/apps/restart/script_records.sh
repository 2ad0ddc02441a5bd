# SPDX-License-Identifier: Apache-2.0
# gabion-test: timeout=250 needs=ulfm
# Records of a run: case.yaml is the computed case and computes it again, summary.json describes it and its end, for
# any end; all records are strict JSON, for any title.
. "$GABION_SOURCE/tests/apps/common.sh"
command -v python3 >/dev/null || { echo 'no python3 to read JSON with'; exit 77; }

checksum() { sed -n 's/.*"checksum": "\([0-9a-f]*\)".*/\1/p' "$1/summary.json" 2>/dev/null; }
# value FILE PATH: a member such as parameters/fluid.omega, as Python writes it; "strict: no NaN, no Infinity"
cat >value.py <<'PY'
import json, sys
def no(word): raise ValueError("%s is no JSON" % word)
text = open(sys.argv[1], encoding="utf-8").read()
for part in text.splitlines() if sys.argv[1].endswith(".jsonl") else [text]:
    found = json.loads(part, parse_constant=no)
if len(sys.argv) > 2:
    for key in sys.argv[2].split("/"):
        found = found[key]
    print(found if isinstance(found, str) else json.dumps(found, ensure_ascii=False, sort_keys=True))
PY
value() { python3 value.py "$@" 2>&1; }
is() { [ "$(value "$1" "$2")" = "$3" ] || complain "$1: $2 is $(value "$1" "$2"), expected $3"; }
strict() { for file; do python3 value.py "$file" 2>why.txt || complain "$file is no JSON: $(tail -n 1 why.txt)"; done; }

# ---- the effective case
title='a "quoted" \ title: größer, #1 {x}'
run 0 2 good.yaml --set "run.title='$title'" --set fluid.omega=1.3 --set run.steps=15 --set output.integrals.every=5 \
  --set 'output.points=[{name: a, at: [5, 5]}]' --set 'output.probes={every: 5, quantities: [density]}'
first=$(checksum out)
[ -n "$first" ] || complain "no checksum: $(cat said.txt)"
rm -rf set && mv out set
cp set/case.yaml alone.yaml
timeout 100 "$GABION_LAUNCH" -n 1 -- "$gabion" run alone.yaml --out again >said.txt 2>&1 || complain "alone: $(cat said.txt)"
[ "$(checksum again)" = "$first" ] || complain "case.yaml alone: another checksum; it is: $(cat alone.yaml)"
cmp -s set/probes.csv again/probes.csv || complain "case.yaml alone: other probes; it is: $(cat alone.yaml)"
cmp -s set/case.yaml again/case.yaml || complain 'the case of a case is another one'
run 0 1 good.yaml
cmp -s good.yaml out/case.yaml || complain 'without --set case.yaml is not the file as it was written'

# ---- a file that the case names is found from wherever case.yaml lies
mkdir -p deep/er
picture deep/er/obstacle.png '8 <= x < 16 and 4 <= y < 12'
sed 's/^output:/bodies:\n  - {name: step, type: mask, file: er\/obstacle.png, lo: [0, 0], hi: [32, 16]}\noutput:/' good.yaml >deep/mask.yaml
if check 0 deep/mask.yaml && ! grep -qi 'libpng' said.txt; then
  run 0 1 deep/mask.yaml
  masked=$(checksum out)
  cp out/case.yaml elsewhere.yaml
  run 0 1 elsewhere.yaml
  [ "$(checksum out)" = "$masked" ] || complain "a case with a picture, alone: $(cat elsewhere.yaml)"
fi

# ---- content of the summary
is set/summary.json title "$title"
is set/summary.json parameters/fluid.omega 1.3
is set/summary.json parameters/domain.cells '[32, 16]'
is set/summary.json settings '["run.title='"'"'a \"quoted\" \\ title: größer, #1 {x}'"'"'", "fluid.omega=1.3", "run.steps=15", "output.integrals.every=5", "output.points=[{name: a, at: [5, 5]}]", "output.probes={every: 5, quantities: [density]}"]'
is set/summary.json dt 1
is set/summary.json time 15
is set/summary.json version "$("$gabion" --version | cut -d' ' -f2)"
is set/summary.json host "$(hostname)"
is set/summary.json status ok
is set/summary.json exit_code 0
is set/summary.json reason 'all steps are done'
value set/summary.json commit | grep -qE '^([0-9a-f]{12}\+?|null)$' || complain "commit: $(value set/summary.json commit)"
for when in start end; do
  seconds=$(date -d "$(value set/summary.json $when)" +%s) && [ $(($(date +%s) - seconds)) -lt 200 ] ||
    complain "$when: $(value set/summary.json $when)"
done
# A parameter that is written down as it is by default does not differ.
run 0 1 good.yaml --set resilience.scheme=pairwise --set lbm.collision=trt
value out/summary.json parameters | grep -q 'lbm.collision' && complain "parameters: $(value out/summary.json parameters)"

# ---- all records are JSON
"$gabion" plan good.yaml -n 4 --json --set "run.title='$title'" >plan.json || complain 'no plan'
is plan.json processes 4
run 0 2 good.yaml --inject rank=1,step=12 --set resilience.disk.every=10 --set "run.title='$title'"
strict out/summary.json out/progress.json out/events.jsonl out/checkpoints/*/manifest.json set/*.json set/*.jsonl plan.json
is out/progress.json state done
is out/progress.json step 20
is out/progress.json seconds_left 0
is out/progress.json living 1

"$gabion" status set --json >status.json || complain "status --json: $(cat status.json)"
is status.json state done
is status.json step 15
is status.json checksum "$first"

# ---- other ends
run 75 2 good.yaml --set run.steps=900000000 --set resilience.disk.every=100000 --walltime 1
not_said 'error'
said 'to be continued: stopped at step'
said 'run the same command to resume'
is out/summary.json exit_code 75
is out/summary.json status 'to be continued'
is out/progress.json state 'to be continued'
is out/progress.json step "$(value out/summary.json steps)"
"$gabion" status out --json >status.json
is status.json state 'to be continued'
value out/summary.json reason | grep -q 'stopped at step .* because the wall time is used up' ||
  complain "reason: $(value out/summary.json reason)"
grep -q 'error' out/log.txt && complain "log.txt: $(grep error out/log.txt)"
run 3 4 good.yaml --inject rank=0+2,step=12
is out/summary.json exit_code 3
is out/summary.json checksum null
is out/progress.json state 'data lost'
value out/summary.json reason | grep -q 'and so did all holders' || complain "reason: $(value out/summary.json reason)"
strict out/summary.json out/progress.json out/events.jsonl
finish

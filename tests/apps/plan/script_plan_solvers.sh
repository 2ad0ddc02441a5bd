# SPDX-License-Identifier: Apache-2.0
# gabion-test: timeout=300
# plan supports every solver: a flow, next to bodies, in fused fields and on levels, a phase field, uniform, with a
# window and adaptive, stencils, also adaptive, and a flow with a temperature. Its memory, bytes and messages equal
# the counts of a run: fields and snapshots to 5 %, one large case with all other memory of a process; bytes and
# messages of a step to 1 % on one level, where only sums over all processes are extra.
. "$GABION_SOURCE/tests/apps/common.sh"
. "$GABION_SOURCE/tests/apps/phase/phase_common.sh"
command -v python3 >/dev/null || exit 77

cat >compare.py <<'PYTHON'
import json, sys
processes, wanted = int(sys.argv[1]), sys.argv[2:]
plan, memory = json.load(open("plan.json")), json.load(open("out/summary.json"))["memory"]
rows = open("traffic.csv").read().split("\n")
steps = int(rows[0].split()[2].rstrip(","))
rows = [[int(word) for word in row.split(",")] for row in rows[2:] if row]
messages, size = sum(row[2] for row in rows) / steps, sum(row[3] for row in rows) / steps
held = memory["fields_of_all"] + memory["snapshots_of_all"]
envelope, sums = 128, 2 * (processes - 1)  # once in a step at most: up a tree of processes and down again
balance = 0
if "balance" in wanted:  # walls of bodies that conserve mass have an additional sum of two numbers in each step
    balance = 16 * sums
    sums *= 2
planned = {name: plan[name]["mean"] * processes for name in ("state_bytes", "memory_bytes", "sent_bytes_per_step", "messages_per_step")}
def check(what, is_so, *numbers):
    if not is_so: print("%s: planned and counted %s" % (what, numbers))
check("fields", abs(planned["state_bytes"] / memory["fields_of_all"] - 1) < 0.05, planned["state_bytes"], memory["fields_of_all"])
check("memory", abs(planned["memory_bytes"] / held - 1) < 0.05, planned["memory_bytes"], held)
if "all" in wanted:
    most = plan["memory_bytes"]["most"]
    check("all memory of a process", abs(most / memory["most_per_rank"] - 1) < 0.05, most, memory["most_per_rank"])
if "traffic" in wanted:
    extra = messages - planned["messages_per_step"]
    check("messages", -0.01 <= extra <= sums, planned["messages_per_step"], messages)
    crossing = size - envelope * messages - balance
    check("bytes", planned["sent_bytes_per_step"] > 0 and abs(crossing / planned["sent_bytes_per_step"] - 1) < 0.01,
          planned["sent_bytes_per_step"], crossing)
if "levels" in wanted:
    check("levels", len(plan["levels"]) > 1, len(plan["levels"]), 2)
PYTHON

# compare WHAT PROCESSES PROGRAM CASE [options]: WHAT are words for compare.py
compare() {
  local what=$1 processes=$2 program=$3 wrong
  shift 3
  rm -rf out traffic.csv
  "$GABION_BUILD/bin/$program" plan "$@" -n "$processes" --json --bandwidth 1e9 >plan.json 2>said.txt ||
    complain "$program plan $*: $(cat said.txt)"
  timeout 100 "$GABION_LAUNCH" -n "$processes" -- "$GABION_BUILD/bin/$program" run "$@" --out out --traffic traffic.csv >said.txt 2>&1 ||
    complain "$program run $*: $(cat said.txt)"
  # shellcheck disable=SC2086
  wrong=$(python3 compare.py "$processes" $what 2>&1)
  [ -z "$wrong" ] || complain "$program $*: $wrong"
}

# solves WHAT PROCESSES PROGRAM CASE [options]: the same for a program with implicit fields, with the cycles that the run needed
solves() {
  local what=$1 processes=$2 program=$3 wrong cycles
  shift 3
  rm -rf out traffic.csv
  timeout 100 "$GABION_LAUNCH" -n "$processes" -- "$GABION_BUILD/bin/$program" run "$@" --out out --traffic traffic.csv >said.txt 2>&1 ||
    complain "$program run $*: $(cat said.txt)"
  cycles=$(sed -n 's/.*implicit fields: \([0-9]*\) cycles of the solver in \([0-9]*\) solves.*/\1 \2/p' said.txt | awk '{ printf "%.9f", $1 / $2 }')
  "$GABION_BUILD/bin/$program" plan "$@" -n "$processes" --cycles "$cycles" --json --bandwidth 1e9 >plan.json 2>said.txt ||
    complain "$program plan $*, $cycles cycles: $(cat said.txt)"
  # shellcheck disable=SC2086
  wrong=$(python3 compare.py "$processes" $what 2>&1)
  [ -z "$wrong" ] || complain "$program $*, $cycles cycles: $wrong"
}

# Messages logged by local recovery: sent ones, each with its head; sums over all processes are extra.
logs() { # logs CASE [options]: 4 processes and a spare
  local wrong
  rm -rf out
  "$GABION_BUILD/bin/gabion" plan "$@" -n 4 --json --bandwidth 1e9 >plan.json 2>said.txt || complain "plan $*: $(cat said.txt)"
  timeout 100 "$GABION_LAUNCH" -n 4 --spares 1 -- "$GABION_BUILD/bin/gabion" run "$@" --out out >said.txt 2>&1 ||
    complain "run $*: $(cat said.txt)"
  wrong=$(python3 - <<'PYTHON' 2>&1
import json
plan, summary = json.load(open("plan.json")), json.load(open("out/summary.json"))
logged = summary["local"]["logged_bytes"] / summary["steps"] / 4
sent, messages = plan["sent_bytes_per_step"]["mean"], plan["messages_per_step"]["mean"]
if not 0 <= logged - sent <= 128 * (messages + 4): print("planned %g in %g messages, logged %g a step" % (sent, messages, logged))
PYTHON
  )
  [ -z "$wrong" ] || complain "log of $*: $wrong"
}
tutorial=$GABION_SOURCE/apps/tutorial
often=(--set resilience.memory.every=5 --set run.steps=20)

logs "$GABION_SOURCE/tests/faults/local_runs/local.yaml" --set run.steps=200 --set output={} --set run.check_every=200
logs "$GABION_SOURCE/tests/faults/local_runs/local_phase.yaml" --set run.steps=60 --set output={}

# A flow: a field for each block, two of them, fused blocks; bodies; levels.
box=(good.yaml --set 'domain.cells=[256, 256]' --set run.check_every=20 --set output={} "${often[@]}")
compare traffic 4 gabion "${box[@]}" --set 'domain.block=[32, 32]' --set lbm.fused_blocks=1
compare traffic 4 gabion "${box[@]}" --set 'domain.block=[32, 32]' --set lbm.kernel=vector
compare traffic 4 gabion "${box[@]}" --set 'domain.block=[16, 16]' # fused fields of a width that 4 processes fill
compare traffic 2 gabion "${box[@]}" --set 'domain.block=[32, 32]' --set resilience.memory.buffers=1
compare "traffic balance" 4 gabion "${box[@]}" --set 'domain.block=[32, 32]' --set 'bodies=[{type: box, lo: [64, -1], hi: [257, 257]}]'
compare '' 3 gabion "${box[@]}" --set 'domain.block=[32, 32]' --set 'output={slices: [{quantity: vorticity, every: 20}]}'
compare all 2 gabion "${box[@]}" --set 'domain.cells=[1024, 768]' --set 'domain.block=[64, 64]' --set run.steps=6
compare levels 4 gabion "$GABION_SOURCE/apps/cases/flow/cylinder_2d1_refined.yaml" --set output={} "${often[@]}"

# A phase field. Its ghosts are rebuilt behind each checkpoint: here there is one; sums are written once.
phases=(grow.yaml --set 'domain.cells=[96, 144]' --set 'domain.block=[24, 24]' --set phasefield.series_every=1000 --set run.steps=200 \
  --set resilience.memory.every=150)
sed '/window:/d' grow.yaml >fixed.yaml
compare traffic 3 gabion fixed.yaml "${phases[@]:1}"
compare '' 3 gabion "${phases[@]}"
compare levels 2 gabion "$GABION_SOURCE/apps/cases/phasefield/eutectic_adaptive.yaml" --set output={} --set run.steps=3 --set resilience.memory.every=1

# Stencils, and both solvers at once.
compare traffic 4 heat "$tutorial/heat.yaml" "${often[@]}"
compare traffic 3 gray_scott "$tutorial/gray_scott.yaml" --set output={} --set run.steps=8 --set resilience.memory.every=3
compare levels 4 gray_scott "$tutorial/gray_scott_adaptive.yaml" --set output={} --set run.steps=19 --set resilience.memory.every=5
solves traffic 4 heat_implicit "$tutorial/heat_implicit.yaml" "${often[@]}" --set output={} --set 'faults=[]' --set 'domain.cells=[128, 128]' --set 'domain.block=[16, 16]'
solves traffic 3 projection "$tutorial/projection.yaml" "${often[@]}" --set output={} --set 'faults=[]'
compare traffic 4 convection "$tutorial/convection.yaml" "${often[@]}"

# Levels that all take the same step: nothing of a finer one crosses twice, and a block counts its cells once. Blocks of
# level l of a flow are computed 2^l times.
updates() { python3 -c 'import json; d = json.load(open("plan.json")); print(d["updates_per_step"] / d["all"]["blocks"])'; }
gray=("$tutorial/gray_scott_adaptive.yaml" -n 1 --json --bandwidth 1e9)
"$GABION_BUILD/bin/gray_scott" plan "${gray[@]}" >plan.json 2>said.txt || complain "$(cat said.txt)"
[ "$(updates)" = 512.0 ] || complain "blocks of 8 x 8 x 8 cells have $(updates) updates in a step"
"$gabion" plan "$GABION_SOURCE/apps/cases/flow/cylinder_2d1_refined.yaml" -n 1 --json --bandwidth 1e9 >plan.json 2>said.txt ||
  complain "$(cat said.txt)"
python3 - <<'PYTHON' >wrong.txt 2>&1 || complain "$(cat wrong.txt)"
import json
d = json.load(open("plan.json"))
assert d["updates_per_step"] == sum(level["weight"] for level in d["levels"]), d
PYTHON
finish

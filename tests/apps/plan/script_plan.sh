# SPDX-License-Identifier: Apache-2.0
# gabion-test: timeout=200
# plan reports for any number of processes, from one, the grid of a run of a case: blocks, imbalance, partners; memory
# and costs follow from them. Invalid arguments are refused.
. "$GABION_SOURCE/tests/apps/common.sh"

value() { # value EXPRESSION: of the plan in said.txt as d
  python3 -c 'import json, sys; d = json.load(open("said.txt")); print(eval(sys.argv[1]))' "$1" 2>&1
}
is() { # is EXPRESSION VALUE; without Python only the exit codes are checked
  local found
  command -v python3 >/dev/null || return 0
  found=$(value "$1")
  [ "$found" = "$2" ] || complain "$1 is $found, expected $2, in $(cat said.txt)"
}

# 8 blocks of 8 x 8 cells, 4 x 2, on 2 processes: 4 each, two sides of each half exchange over the border.
plan 0 good.yaml -n 2 --json --bandwidth 1e6 --mtbf 1000 --rate 1e6
is 'd["processes"]' 2
is 'd["all"]["blocks"], d["all"]["imbalance"]' '(8, 1)'
is 'd["levels"][0]["blocks_per_process"]["least"]' 4
# Fields have whole cache lines: of 10 x 10 cells 15, of 8 values, for each of 9 populations, and the description of
# the field.
is '0 <= d["state_bytes"]["most"] - 4 * 9 * 15 * 64 < 4 * 256' True
is 'd["updates_per_step"]' 256
is 'd["messages_per_step"]["most"]' 1
is 'd["checkpoint_bytes"] == 4 * 8 * 8 * 9 * 8' True
is 'd["memory_bytes"]["mean"] == d["state_bytes"]["mean"] + 4 * d["checkpoint_bytes"]' True
is 'd["recovery_peak_bytes"] == d["memory_bytes"]["most"] + d["state_bytes"]["most"] + d["checkpoint_bytes"]' True
is 'd["partners"]["most"]' 1
is 'abs(d["checkpoint_seconds"] - 3e-6 * d["checkpoint_bytes"]) < 1e-9' True
is 'abs(d["interval_seconds"] - (2000 * d["checkpoint_seconds"]) ** 0.5) < 1e-9' True
is 'abs(d["step_seconds"] - 256e-6) < 1e-12' True
# Halves of 2 x 2 blocks meet in x: at the inner border and, the case being periodic, at the outer one. Over each,
# 16 cells send 3 populations, and at corners inside of a side single ones.
is 'd["sent_bytes_per_step"]["least"] >= 2 * 16 * 3 * 8' True

is 'd.get("steps_to_log_the_state", "no log")' 'no log'
log=(--set 'resilience.strategies=[local, shrink]' --set resilience.memory.overlap=false --set resilience.local.log_limit=6)
plan 0 good.yaml -n 2 --json "${log[@]}"
is 'abs(d["steps_to_log_the_state"] - d["checkpoint_bytes"] / d["sent_bytes_per_step"]["most"]) < 1e-9' True
is 'd["log_limit"] == 6' True
steps=$(command -v python3 >/dev/null && value 'max(1, int(2 * d["steps_to_log_the_state"]))')
plan 0 good.yaml -n 2 "${log[@]}"
grep -q "a checkpoint comes every ${steps:-[0-9]*} steps at the latest (log_limit 6)" said.txt || complain "the log in the plan: $(cat said.txt)"

plan 0 good.yaml -n 8 --json --scheme none
is 'd["recovery_peak_bytes"], d["copies"]' '(None, 0)'
is 'd["memory_bytes"]["most"] == d["state_bytes"]["most"] + d["checkpoint_bytes"]' True
plan 0 good.yaml -n 8 --json --scheme none --set resilience.memory.buffers=2
is 'd["memory_bytes"]["most"] == d["state_bytes"]["most"] + 2 * d["checkpoint_bytes"]' True
plan 0 good.yaml -n 8 --json --scheme none --set 'resilience.monitors=[recompute]'
is 'd["memory_bytes"]["most"] == d["state_bytes"]["most"] + 2 * d["checkpoint_bytes"]' True
plan 0 good.yaml -n 1 --json
is 'd["memory_bytes"]["most"] == d["state_bytes"]["most"] + d["checkpoint_bytes"]' True
plan 0 good.yaml -n 8 --json --scheme=ring --copies=3
is 'd["scheme"], d["copies"]' "('ring', 3)"
is 'd["memory_bytes"]["most"] == d["state_bytes"]["most"] + 8 * d["checkpoint_bytes"]' True
# Groups of 4 on 8 processes keep a third of an image in addition to the own one and send a whole one; groups of 8
# with two losses keep two sixths and send two. Tolerated losses, and the minimum number of processes.
plan 0 good.yaml -n 8 --json --scheme parity --group 4
is 'd["copies"], d["any_losses"]' '(0, 1)'
is 'abs(d["redundant_bytes"]["most"] - d["checkpoint_bytes"] / 3) < 1' True
is 'd["sent_bytes_per_checkpoint"]["most"] == d["checkpoint_bytes"]' True
# While parities are made, each of the three others sends and gets a piece, and the next one is under way.
is 'abs(d["memory_bytes"]["most"] - d["state_bytes"]["most"] - 2 * d["checkpoint_bytes"] * 4 / 3 - 12 * (d["checkpoint_bytes"] // 3 + 128)) < 1' True
is 'abs(d["recovery_peak_bytes"] - d["memory_bytes"]["most"] - d["state_bytes"]["most"] - d["checkpoint_bytes"] * 4 / 3) < 1' True
plan 0 good.yaml -n 8 --json --scheme reed-solomon --losses 2 --per-node 2
is 'd["any_losses"], d["any_domain"]' '(2, True)'
is 'abs(d["redundant_bytes"]["most"] - d["checkpoint_bytes"] / 3) < 1' True
is 'd["sent_bytes_per_checkpoint"]["most"] == 2 * d["checkpoint_bytes"]' True
plan 0 good.yaml -n 8 --json --scheme parity --per-node 2
is 'd["any_losses"], d["any_domain"]' '(1, False)'
plan 0 good.yaml -n 8 --json --per-node 4
is 'd["any_losses"], d["any_domain"]' '(1, True)'
# Kernels with two fields; capacity for one snapshot only: as `check` says it, too.
plan 0 good.yaml -n 2 --json --set lbm.kernel=vector --set resilience.memory.buffers=1 --memory 81000
is '0 <= d["state_bytes"]["most"] - 2 * 4 * 9 * 15 * 64 < 4 * 512' True
is 'd["checkpoint_bytes"] == 4 * 8 * 8 * 9 * 8' True
is 'd["memory_bytes"]["mean"] == d["state_bytes"]["mean"] + 2 * d["checkpoint_bytes"]' True
is 'd["fewest_processes"], d["fewest_processes_at_peak"]' '(3, 8)'
plan 0 good.yaml -n 2 --set resilience.memory.buffers=1
said 'populations and a snapshot  '
big="--set domain.cells=[3200,1600] --set domain.block=[80,80] --set run.processes=4"
check 0 good.yaml $big
said 'on the recommended 4 processes: 92.2 MB of populations and 368.6 MB of checkpoints each'
check 0 good.yaml $big --set lbm.kernel=vector --set resilience.memory.buffers=1
said 'on the recommended 4 processes: 184.3 MB of populations and 184.3 MB of checkpoints each'
check 0 good.yaml $big --set resilience.scheme=none --set resilience.memory.buffers=1
said ': 92.2 MB of populations and 92.2 MB of checkpoints each'
# Populations of a block with ghosts and without: 8640 and 4608 byte, and some. Pair-wise a process with two has 2 x 27072.
plan 0 good.yaml -n 8 --json --memory 55000
is 'd["fewest_processes"], d["fewest_processes_at_peak"]' '(4, 8)'
plan 0 good.yaml -n 8 --json --memory 20000
is 'd["fewest_processes"], d["fewest_processes_at_peak"]' '(None, None)'
plan 0 good.yaml -n 8 --scheme parity --memory 1e6 --set resilience.separate=node --per-node 4
grep -q 'warning: nodes are so large' said.txt || complain "nothing about groups that were made smaller: $(cat said.txt)"
grep -q 'with 1 MB each: 1 process would hold it' said.txt || complain "nothing about memory: $(cat said.txt)"
plan 0 good.yaml --json
is 'd["processes"]' 4

# A grid of three levels on many processes: the bounds of every strategy, level by level.
cat >ball.yaml <<'YAML'
run: {steps: 1, processes: 50}
domain: {cells: [256, 128], block: [8, 8]}
fluid: {omega: 1.5}
boundaries:
  y_min: {type: wall}
  y_max: {type: wall}
bodies:
  - {name: ball, type: sphere, centre: [64, 64], radius: 20}
refinement:
  levels: 2
  criteria:
    - {type: bodies, level: 2, distance: 6}
YAML
for strategy in hilbert diffusion; do
  plan 0 ball.yaml --json --balance $strategy
  is 'len(d["levels"])' 3
  is 'all(l["blocks"] > 0 and l["imbalance"] <= 1 + 64 * 2 ** l["level"] * 50 / l["weight"] for l in d["levels"])' True
  is 'd["all"]["blocks_per_process"]["least"] > 0' True
  is 'sum(l["blocks"] for l in d["levels"]) == d["all"]["blocks"]' True
done
plan 0 ball.yaml -n 7
said 'blocks by hilbert, copies by pairwise'
not_said 'no death'

plan 2 good.yaml -n 9
said '8 blocks for 9 processes'
plan 2 good.yaml -n 0
said '-n 0'
plan 2 good.yaml --scheme pairwize
said "no redundancy scheme 'pairwize'"
plan 2 good.yaml --balance hilbertt
said "no balancing strategy 'hilbertt'"
plan 2 good.yaml --bandwidth
said '--bandwidth needs a value'
plan 2 good.yaml --bandwidth fast
said 'not a number'
# A process fails every 8000 s, a node every 4000: eight processes on two nodes every 1000 and every 2000 s.
plan 0 good.yaml -n 8 --json --mtbf-process 8000
is 'd["mtbf_seconds"] == 1000' True
plan 0 good.yaml -n 8 --json --per-node 4 --mtbf-node=4000
is 'd["mtbf_seconds"] == 2000' True
plan 2 good.yaml -n 8 --mtbf-node 4000
said 'which processes share a node'
plan 2 good.yaml -n 8 --mtbf-process 8000 --mtbf 5
said 'one of them says'
plan 2 good.yaml --jsom
said 'unknown option'
plan 2 missing.yaml

# The run has the planned numbers.
plan 0 good.yaml -n 3 --json
imbalance=1.125
is '"%.3f" % d["all"]["imbalance"]' $imbalance
run 0 3 good.yaml
said "imbalance $imbalance"
finish

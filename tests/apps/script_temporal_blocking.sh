# SPDX-License-Identifier: Apache-2.0
# gabion-test: timeout=300 needs=ulfm,png
# A run with temporal blocking has the output of one with single steps: the same state, series, fields and pictures,
# at any interval of outputs, monitors and checkpoints, after a death, and with bits that flip at the same fault
# points of the same steps. Where temporal blocking is impossible, steps are taken one by one.
. "$GABION_SOURCE/tests/apps/common.sh"

cat >flow.yaml <<'YAML'
run: {steps: 120, check_every: 10}
domain: {cells: [24, 20, 48], block: [12, 10, 24]}
fluid: {omega: 1.6, velocity: 0.05, length: 8}
boundaries:
  x_min: {type: velocity, velocity: [0.05, 0, 0], ramp_time: 90}
  x_max: {type: outflow}
  y_min: {type: wall}
  y_max: {type: free_slip}
  z_min: {type: wall}
  z_max: {type: wall}
bodies:
  - {name: ball, type: sphere, centre: [9, 9.5, 20], radius: 3, wall: interpolated}
resilience: {memory: {every: 25}}
output:
  forces: {every: 11}
  integrals: {every: 7}
  probes: {every: 13, quantities: [velocity, density]}
  points: [{name: behind, at: [15, 9, 20]}]
  slices: [{quantity: speed, axis: y, every: 40, final: true}]
  fields: {quantities: [velocity, density], every: 50}
YAML

# at_once: steps of the last run that were taken several in a temporal block
at_once() { sed -n 's/.*"temporally_blocked_steps": \([0-9]*\).*/\1/p' out/summary.json | grep . || echo none; }
computed() { sed -n 's/.*"steps_computed": \([0-9]*\).*/\1/p' out/summary.json | grep . || echo nothing; }
# fault injections: steps and fault points of those that fired
injections() { sed -n 's/.*"step": \([0-9]*\),.*"event": "fault injection", "phase": "\([a-z-]*\)".*/\1 \2/p' out/events.jsonl; }
# keep NAME: keeps the last run as reference
keep() { rm -rf "$1"; mv out "$1"; }
# equal NAME WHAT: the last run has the output of that one
equal() {
  local file count=0
  [ "$(checksum)" = "$(checksum "$1")" ] || complain "$2: another checksum"
  for file in "$1"/*.csv "$1"/*.png "$1"/fields/*.h5; do
    [ -e "$file" ] || continue
    count=$((count + 1))
    same_file "$file" "out${file#"$1"}" || complain "$2: another ${file#"$1"/}"
  done
  [ $count -ge "$3" ] || complain "$2: only $count files were compared"
}
# Files of fields as far as they do not tell when they were written.
same_file() {
  case $1 in
  *.h5) cmp -s "$1" "$2" || { command -v h5diff >/dev/null && h5diff "$1" "$2"; } ;;
  *) cmp -s "$1" "$2" ;;
  esac
}
# blocked THREADS LEAST [options]: as single steps, with at least that number of steps in temporal blocks
blocked() {
  local threads=$1 least=$2
  shift 2
  OMP_NUM_THREADS=$threads run 0 1 flow.yaml --set lbm.temporal_blocking=4 "$@"
  equal whole "$threads threads $*" 5
  [[ $(at_once) =~ ^[0-9]+$ ]] && [ "$(at_once)" -ge "$least" ] || complain "$threads threads $*: $(at_once) steps in temporal blocks"
  [ "$(computed)" = 120 ] || complain "$threads threads $*: $(computed) steps were computed"
}
# none PROCESSES CASE [options]: no temporal block, and the result of the last run
none() {
  local processes=$1 expected
  shift
  run 0 "$processes" "$@" --set lbm.temporal_blocking=1
  expected=$(checksum)
  [ "$(at_once)" = 0 ] || complain "$*: $(at_once) steps in temporal blocks, none is wanted"
  run 0 "$processes" "$@" --set lbm.temporal_blocking=4
  [ "$(checksum)" = "$expected" ] || complain "$*: another checksum where no temporal block can be"
  [ "$(at_once)" = 0 ] || complain "$*: $(at_once) steps in temporal blocks, where none can be"
}

OMP_NUM_THREADS=1 run 0 1 flow.yaml --set lbm.temporal_blocking=1
[ "$(at_once)" = 0 ] || complain "$(at_once) steps in temporal blocks, none is wanted"
not_said 'several at once'
keep whole

# ---- actions at odd intervals, checkpoints of every kind
blocked 1 60
said 'computed steps were taken several at once'
blocked 2 60
blocked 1 60 --set lbm.temporal_blocking=8
blocked 2 40 --set lbm.temporal_blocking=2 --set lbm.fused_blocks=1
blocked 1 60 --set 'resilience.monitors=[bounds, mass]'
blocked 2 40 --set 'resilience.monitors=[recompute]' --set resilience.recompute.share=1
for every in 7 never; do blocked 1 40 --set resilience.memory.every="$every"; done
# Where the clock says when, it says how many steps go together, too.
blocked 1 0 --set resilience.memory.every='0.002 s'
blocked 1 20 --set resilience.disk.every=40
blocked 1 0 --set resilience.disk.every='0.01 s' --set resilience.memory.every=5
OMP_NUM_THREADS=1 run 0 1 flow.yaml --set lbm.temporal_blocking=4 --set resilience.memory.every=1
[ "$(at_once)" = 0 ] || complain "$(at_once) steps in temporal blocks, with a checkpoint behind each"

# ---- a death, and going on from disk
options=(--set lbm.temporal_blocking=4 --set resilience.disk.every=1000)
go_on() { # go_on CODE [options]: the same command, in the folder that is there
  local expected=$1 code
  shift
  timeout 100 "$GABION_LAUNCH" -n 1 -t 2 -- "$gabion" run flow.yaml "${options[@]}" --out out "$@" >said.txt 2>&1
  code=$?
  [ $code = "$expected" ] || complain "going on $*: exit code $code, expected $expected; it said: $(cat said.txt)"
}
for phase in exchange output; do
  OMP_NUM_THREADS=2 run 0 1 flow.yaml "${options[@]}" --set run.steps=40
  go_on 1 --inject "rank=0,step=57,phase=$phase"
  at=57
  [ $phase != output ] || at=63 # the first output from there on
  [ "$(injections)" = "$at $phase" ] || complain "a death in phase $phase of step 57 came at $(injections)"
  go_on 0
  said 'resuming from step 40'
  equal whole "a death in phase $phase" 5
  [[ $(at_once) =~ ^[1-9] ]] || complain "a death in phase $phase: $(at_once) steps in temporal blocks"
done

# ---- bits that flip in the given step and fault point, with temporal blocking or without
flips=()
for injection in 13:compute:1 30:compute:3 42:exchange:1 61:output:1 66:snapshot:2 70:commit:1 90:swap:1 98:reduction:1; do
  IFS=: read -r step phase visit <<<"$injection"
  flips+=(--inject "rank=0,step=$step,phase=$phase,visit=$visit,flip=$((1000 * step * 64))")
done
for steps in 1 4; do
  OMP_NUM_THREADS=2 run 0 1 flow.yaml --set lbm.temporal_blocking=$steps "${flips[@]}"
  [ $steps = 4 ] || { injections >injections.txt; keep flipped; }
done
[ "$(wc -l <injections.txt)" -ge 7 ] || complain "these faults were injected: $(cat injections.txt)"
[ "$(checksum flipped)" != "$(checksum whole)" ] || complain 'bits flipped, and nothing has changed'
[ "$(injections)" = "$(cat injections.txt)" ] || complain "with temporal blocking other fault injections: $(injections), without $(cat injections.txt)"
equal flipped 'bits that flip' 5
[[ $(at_once) =~ ^[1-9] ]] || complain "bits that flip: $(at_once) steps in temporal blocks"

# ---- where no temporal block can be
none 2 flow.yaml
none 1 flow.yaml --set boundaries.y_min.type=periodic --set boundaries.y_max.type=periodic
none 1 flow.yaml --set output.forces.every=1
none 1 flow.yaml --set 'resilience.monitors=[recompute]' --set resilience.recompute.every=1
none 1 flow.yaml --set balance.work=measured --set balance.every=50
refused 1 flow.yaml --set lbm.kernel=vector --set lbm.temporal_blocking=4
said 'lbm.temporal_blocking'
none 1 "$GABION_SOURCE/tests/faults/runs/flow_adaptive.yaml" --set run.steps=30
finish

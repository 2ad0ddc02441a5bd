#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# The fault matrix: kills processes of small simulations at every phase and checks how each run ends.
#
#   scripts/fault-matrix.sh [--runs N] [--jobs J] [--seed N] [--out DIR] [--np LIST]
#                           [--only flow|adaptive|implicit|schemes|wide] [--subset]
#
# Simulations: a flow on static blocks; one with frequent splits and merges of blocks, partitioned by each balancing
# strategy in turn; an implicit equation on such blocks, solved by multigrid in each step; and (in the wide part) the
# growth of a eutectic with a moving window, a flow with tracers, and waves in stages, of sound and (on a staggered
# grid) of light. Every run must lose the intended ranks and end with the checksum of the undisturbed run; if all
# holders of a block were killed, with exit 3 and the blocks and ranks in the message. Two parts. The systematic one
# (flow, adaptive, implicit, schemes) has these kinds of runs:
#   single    one rank dies on entering a phase (first, middle, last rank; first to third entering)
#   double    two ranks that store no copies for each other die at the same time
#   series    a second rank dies while the first death is being recovered
#   lost      a rank dies together with the holder of its copy: expected: exit 3
#             (kinds of the second flow are called adaptive-single and so on, those of the implicit equation implicit-single)
#   scheme-S-single, -double, -series, -lost   the first flow, protected by scheme S: pairwise, ring with two copies,
#             parity groups of 4, Reed-Solomon groups of 8 with two losses; with tolerable and intolerable victims
#   disk      a rank, or two, die while the state is written to disk; or a rank dies together with the holder of
#             its copy, and the run restores from disk
#   outside   `kill -9` from outside at a random moment
# The wide one (scripts/faults/fault_matrix.py, with the derivation of the expected ends) combines numbers of
# processes, spares, schemes, nodes, victims, phases and all modes of checkpoints: rows that contain each pair of
# values, and N random rows (--runs, default 1000).
# --subset makes a few dozen runs of the systematic part (for scripts/test.sh). --jobs J: number of concurrent runs.
# Results go to DIR/matrix.tsv and DIR/wide.tsv and, summed up, to DIR/*.md. Exit 0 only if every run ended as expected.
# Hangs inside the MPI library are ended by the launcher; they are counted with their stack traces. A run that exceeds its
# time limit without a hang is repeated with three times the limit, since the machine may be slow.
set -euo pipefail
. "$(dirname "${BASH_SOURCE[0]}")/common.sh"

SUBSET= ONLY= OUT= SEED=1 NPS= JOBS=1 WIDE_RUNS=1000
while (($#)); do
  case $1 in
    -h|--help) print_head "${BASH_SOURCE[0]}"; exit 0 ;;
    --subset) SUBSET=1 ;;
    --only) ONLY=${2:?--only needs flow, adaptive, implicit, schemes or wide}; shift
            [[ $ONLY =~ ^(flow|adaptive|implicit|schemes|wide)$ ]] || fail "--only $ONLY: neither flow nor adaptive nor implicit nor schemes nor wide" ;;
    --runs) WIDE_RUNS=${2:?--runs needs a number}; shift ;;
    --jobs) JOBS=${2:?--jobs needs a number}; shift ;;
    --out) OUT=${2:?--out needs a folder}; shift ;;
    --seed) SEED=${2:?--seed needs a number}; shift ;;
    --np) NPS=${2:?--np needs numbers}; shift ;;
    *) fail "unknown option $1 (try --help)" ;;
  esac
  shift
done
WIDE_NPS=${NPS:-2 3 4 5 7 8 12 16} NPS=${NPS:-2 3 4 7 8}
for number in "$SEED" "$JOBS" "$WIDE_RUNS"; do [[ $number =~ ^[0-9]+$ ]] || fail "$number is no whole number"; done
((JOBS > 0)) || fail "--jobs 0: one at a time at least"
OUT=$(realpath -m "${OUT:-$GABION_BUILD/fault-matrix}")
LAUNCH=$GABION_BUILD/bin/gabion-launch GABION=$GABION_BUILD/bin/gabion
[ -x "$GABION" ] && [ -x "$LAUNCH" ] || fail "build first: scripts/test.sh or cmake --build $GABION_BUILD"
rm -rf "$OUT"; mkdir -p "$OUT"
export GABION_RESCUE_LOG=$OUT/rescues.log OMP_NUM_THREADS=1
RANDOM=$SEED
SCHEME=() # settings of the redundancy scheme
DEADLINE=120  # seconds; a run takes about one
STALL=30      # seconds without progress that count as a hang
PIN=auto
if ((JOBS > 1)); then PIN=never; fi

printf 'kind\tnp\tphase\tvictims\texpected\tend\tseconds\n' >"$OUT/matrix.tsv"
runs=0 EXTRA=()

checksum() { sed -n 's/.*"checksum": "\([0-9a-f]*\)".*/\1/p' "$1/summary.json" 2>/dev/null || true; }

# end_of DIR CODE DEATHS: the end of a run: done, lost, or the deviation
end_of() {
  local dir=$1 code=$2 deaths=$3 sum lost
  case $code in
    0) sum=$(checksum "$dir"); lost=$(sed -n 's/.*"lost_ranks": \([0-9]*\).*/\1/p' "$dir/summary.json" || true)
       if [ "$sum" != "$GOOD" ]; then echo "wrong checksum ${sum:-none}"
       elif ((${lost:-0} < deaths)); then echo "only ${lost:-0} deaths"
       else echo done; fi ;;
    3) if grep -qE 'ranks? [0-9, ]+ died and so did all holders.*0x[0-9a-f]+' "$dir.log"; then echo lost
       else echo "exit 3 without the names"; fi ;;
    124|137) echo "deadline" ;;
    *) echo "exit $code" ;;
  esac
}

# record KIND NP PHASE VICTIMS EXPECTED DIR CODE SECONDS DEATHS
record() {
  local end expected=$5; end=$(end_of "$6" "$7" "$9")
  # Simultaneous victims may die a step apart: after a recovery between their deaths nothing is lost.
  case $1:$5:$end in
    *lost:lost:done) if (($(grep -c '"event": "recovery"' "$6/events.jsonl") > 1)); then expected=done; fi ;;
  esac
  printf '%s\t%s\t%s\t%s\t%s\t%s\t%s\n' "$1" "$2" "$3" "$4" "$expected" "$end" "$8" >>"$OUT/matrix.tsv"
  if [ "$end" = "$expected" ]; then rm -rf "$6" "$6.log"
  else
    say "not as expected: $1 np=$2 phase=$3 victims=$4: $end instead of $expected (log: $6.log)"
  fi
}

launch() { # launch NP DIR ARGUMENTS...: runs the case, returns the launcher's code
  local np=$1 dir=$2 kernel=(--set lbm.kernel=auto); shift 2
  if ((runs % 3 == 2)); then kernel=(--set lbm.kernel=sparse); fi # sparse blocks: the same result
  if [ "${GABION##*/}" != gabion ]; then kernel=(); fi
  # streaming in place has two states: checkpoints at even and odd steps must restore both
  set -- "$LAUNCH" -n "$np" --pin "$PIN" --stall "$STALL" --traces "$OUT" -- "$GABION" run "$CASE" --out "$dir" \
    --set resilience.memory.every=$((runs % 2 ? 7 : 10)) ${kernel[@]+"${kernel[@]}"} \
    --set balance.strategy="${STRATEGIES[runs % ${#STRATEGIES[@]}]}" ${SCHEME[@]+"${SCHEME[@]}"} ${EXTRA[@]+"${EXTRA[@]}"} "$@"
  local code=0
  timeout -k 10 "$DEADLINE" "$@" >"$dir.log" 2>&1 </dev/null || code=$?
  if ((code == 124 || code == 137)) && ! grep -qs -- " gave-up .*--out $dir " "$GABION_RESCUE_LOG"; then
    say "not through in $DEADLINE s, and it did not hang: once more with thrice the time"
    code=0; rm -rf "$dir"
    timeout -k 10 $((3 * DEADLINE)) "$@" >"$dir.log" 2>&1 </dev/null || code=$?
  fi
  return $code
}

# several COMMAND...: in the background if --jobs allows several runs at a time; counts the run
several() {
  if ((JOBS == 1)); then "$@"
  else
    while (($(jobs -rp | wc -l) >= JOBS)); do wait -n || true; done
    "$@" &
  fi
  runs=$((runs + 1))
}

# try KIND NP PHASE VICTIMS EXPECTED FAULT...
try() { several try_one "$@"; }
try_one() {
  local kind=$PREFIX$1 np=$2 phase=$3 victims=$4 expected=$5 dir=$OUT/run-$runs code=0 t0=$EPOCHREALTIME injection deaths=0 args=(); shift 5
  for injection; do
    args+=(--inject "$injection"); deaths=$((deaths + 1))
    case $injection in rank=*+*) injection=${injection%%,*}; injection=${injection//[!+]/}; deaths=$((deaths + ${#injection})) ;; esac
  done
  launch "$np" "$dir" "${args[@]}" || code=$?
  record "$kind" "$np" "$phase" "$victims" "$expected" "$dir" "$code" \
         "$(awk -v a="$t0" -v b="$EPOCHREALTIME" 'BEGIN{printf "%.2f", b-a}')" "$deaths"
}

# With the scheme `pairwise` the copy of the i-th of n ranks is on rank (i + n/2) mod n.
keeps_for() { (( ($2 + $3 / 2) % $3 == $1 )); }                    # keeps_for HOLDER OF N
bound()     { keeps_for "$1" "$2" "$3" || keeps_for "$2" "$1" "$3"; } # one holds the copy of the other

# from_outside NP VICTIM DELAY: kills the process of that rank by SIGKILL during the run
from_outside() { several from_outside_one "$@"; }
from_outside_one() {
  local np=$1 victim=$2 delay=$3 dir=$OUT/run-$runs code=0 t0=$EPOCHREALTIME pid job tries=0
  # more steps, so that the kill falls into the run; the checksum is that of the same number of steps
  launch "$np" "$dir" --set run.steps="$LONG_STEPS" & job=$!
  until grep -q '"checkpoint"' "$dir/events.jsonl" 2>/dev/null || ! kill -0 $job 2>/dev/null || ((tries++ > 400)); do sleep 0.05; done
  sleep "$delay"
  for pid in $(pgrep -f "$GABION run $CASE --out $dir" || true); do
    if tr '\0' '\n' 2>/dev/null <"/proc/$pid/environ" | grep -qx "PMIX_RANK=$victim"; then kill -9 "$pid" 2>/dev/null || true; fi
  done
  wait $job || code=$?
  GOOD=$GOOD_LONG record "${PREFIX}outside" "$np" any "$victim" done "$dir" "$code" \
    "$(awk -v a="$t0" -v b="$EPOCHREALTIME" 'BEGIN{printf "%.2f", b-a}')" 0 # the kill may have been too late
}

# ---------------------------------------------------------------- the flows
# use flow|adaptive|implicit: selects the simulation of the following runs; computes the undisturbed results. STEP is
# the step of the first death: between checkpoints for any interval; for the second flow one with a change of the
# grid. BEFORE is the step from which victims of a recovery count phases: they may lag, and no checkpoint is in
# between
use() {
  CASE=$GABION_ROOT/tests/faults/runs/flow.yaml PREFIX= LONG_STEPS=1500 STRATEGIES=(hilbert) STEP=33
  GABION=$GABION_BUILD/bin/gabion
  if [ "$1" = implicit ]; then
    CASE=$GABION_ROOT/tests/faults/runs/implicit.yaml PREFIX=implicit- LONG_STEPS=150 STEP=45 GABION=$GABION_BUILD/bin/heat_implicit
    [ -x "$GABION" ] || fail "build first: $GABION is missing"
  fi
  if [ "$1" != flow ]; then
    if [ "$1" = adaptive ]; then CASE=$GABION_ROOT/tests/faults/runs/flow_adaptive.yaml PREFIX=adaptive- LONG_STEPS=300 STEP=45; fi
    STRATEGIES=(hilbert diffusion morton)
    if "$GABION" info | grep -q '^ *balancing.*graph'; then STRATEGIES+=(graph); fi
  fi
  BEFORE=$((STEP - 2))
  say "undisturbed runs of ${CASE##*/}"
  rm -rf "$OUT/$1" "$OUT/$1-long"
  launch 1 "$OUT/$1" || { cat "$OUT/$1.log" >&2; fail "the undisturbed run failed"; }
  launch 1 "$OUT/$1-long" --set run.steps=$LONG_STEPS || fail "the long undisturbed run failed"
  GOOD=$(checksum "$OUT/$1") GOOD_LONG=$(checksum "$OUT/$1-long")
  [ -n "$GOOD" ] && [ -n "$GOOD_LONG" ] && [ "$GOOD" != "$GOOD_LONG" ] || fail "no checksums to compare with"
  say "checksum $GOOD after the short run, $GOOD_LONG after the long one"
}

STEADY="compute exchange reduction snapshot commit swap output"
HEALING="repair recovery migration snapshot commit swap"
ADAPTING="adapt-mark adapt-balance adapt-migrate adapt-rebuild"

singles() { # singles NP
  local np=$1 phase victim seen
  for phase in $STEADY; do
    seen=" "
    for victim in 0 $((np / 2)) $((np - 1)); do
      case $seen in *" $victim "*) continue ;; esac
      seen="$seen$victim "
      try single "$np" "$phase" "$victim" done "rank=$victim,step=$STEP,phase=$phase"
    done
  done
  for phase in exchange snapshot output; do
    try single "$np" "$phase" "$((np - 1)) (2nd)" done "rank=$((np - 1)),step=$STEP,phase=$phase,visit=2"
    try single "$np" "$phase" "0 (3rd)" done "rank=0,step=$STEP,phase=$phase,visit=3"
  done
}
doubles() { # doubles NP
  local np=$1 phase a b
  for phase in $STEADY; do
    for a in 0 $((np - 2)); do
      b=$((a + 1))
      if bound $a $b "$np"; then continue; fi
      try double "$np" "$phase" "$a and $b" done "rank=$a+$b,step=$STEP,phase=$phase"
    done
  done
}
series() { # series NP: rank 1 dies in a step, another one during the recovery
  local np=$1 phase visit b expected
  for phase in $HEALING; do
    for visit in 1 2; do
      for b in 0 $((np - 1)); do
        if [ "$b" = 1 ]; then continue; fi
        expected=done
        # A repair is entered once unless a process dies in it. Until all ranks have a second copy again, the death of
        # the holder of the other copy is fatal; the images are sent before the first commit.
        if [ "$phase$visit" = repair2 ]; then continue; fi
        if bound 1 "$b" "$np"; then
          case $phase in repair|recovery|snapshot) expected=lost ;; esac
        fi
        try series "$np" "$phase" "1 then $b (entering $visit)" "$expected" \
            "rank=1,step=$STEP,phase=compute" "rank=$b,step=$BEFORE,phase=$phase,visit=$visit"
      done
    done
  done
}
losses() { # losses NP
  local np=$1 phase
  for phase in compute snapshot commit; do
    try lost "$np" "$phase" "0 and $((np / 2))" lost "rank=0+$((np / 2)),step=$STEP,phase=$phase"
  done
}
disks_few() {
  local EXTRA=(--set resilience.disk.every=20 --set resilience.disk.group=2)
  try disk 4 disk-write 2 done "rank=2,step=$STEP,phase=disk-write"
  try disk 4 disk-commit "0 and 1" done "rank=0+1,step=$STEP,phase=disk-commit"
}
disks() { # disks NP: files of two ranks each, so that there are several aggregators
  local np=$1 phase victim half=$(($1 / 2)) EXTRA=(--set resilience.disk.every=20 --set resilience.disk.group=2)
  for phase in disk-write disk-commit; do
    for victim in 0 1 $((np - 1)); do
      try disk "$np" "$phase" "$victim" done "rank=$victim,step=$STEP,phase=$phase"
    done
    if ((np > 3)); then try disk "$np" "$phase" "0 and 1" done "rank=0+1,step=$STEP,phase=$phase"; fi
  done
  if ((np < 3)); then return 0; fi
  EXTRA+=(--set run.steps="$LONG_STEPS" --set resilience.disk.every=$((LONG_STEPS / 10))) # late enough for a checkpoint on disk
  GOOD=$GOOD_LONG try disk "$np" compute "0 and $half" done "rank=0+$half,step=$((LONG_STEPS * 4 / 5)),phase=compute"
}
outsiders() { # outsiders NP COUNT
  local np=$1 i
  for ((i = 0; i < $2; i++)); do from_outside "$np" $((RANDOM % np)) "0.$((RANDOM % 60 + 10))"; done
}

# The grid changes at step 45 and several times after it: a phase of an adaptation is entered several times, and again
# when the steps since the checkpoint are repeated.
adaptive_singles() { # adaptive_singles NP
  local np=$1 phase
  for phase in $ADAPTING; do
    try single "$np" "$phase" 0 done "rank=0,step=$STEP,phase=$phase"
    try single "$np" "$phase" "$((np / 2)) (2nd)" done "rank=$((np / 2)),step=$STEP,phase=$phase,visit=2"
    try single "$np" "$phase" "$((np - 1)) (3rd)" done "rank=$((np - 1)),step=$STEP,phase=$phase,visit=3"
  done
  for phase in $STEADY; do try single "$np" "$phase" "$((np - 1))" done "rank=$((np - 1)),step=$STEP,phase=$phase"; done
}
adaptive_doubles() { # adaptive_doubles NP
  local np=$1 phase a
  for phase in $ADAPTING; do
    for a in 0 $((np - 2)); do
      if bound $a $((a + 1)) "$np"; then continue; fi
      try double "$np" "$phase" "$a and $((a + 1))" done "rank=$a+$((a + 1)),step=$STEP,phase=$phase"
    done
  done
}
adaptive_series() { # adaptive_series NP: deaths while a torn grid is restored, and in the next adaptation
  local np=$1 phase first b=$(($1 - 1)) expected
  for phase in $HEALING; do
    expected=done
    if bound 1 "$b" "$np"; then
      case $phase in repair|recovery|snapshot) expected=lost ;; esac
    fi
    for first in adapt-migrate adapt-rebuild; do
      try series "$np" "$phase" "1 in $first then $b" "$expected" \
          "rank=1,step=$STEP,phase=$first" "rank=$b,step=$BEFORE,phase=$phase"
    done
  done
  for phase in $ADAPTING; do # during rebalancing after the recovery, or in the next adaptation
    try series "$np" "$phase" "1 then $b" done "rank=1,step=$STEP,phase=compute" "rank=$b,step=$STEP,phase=$phase"
    if ((np == 3)) || bound 1 2 "$np"; then continue; fi
    try series "$np" "$phase" "1 in $phase then 2" done \
        "rank=1,step=$STEP,phase=$phase" "rank=2,step=$STEP,phase=$phase,visit=2"
  done
}
adaptive_losses() { # adaptive_losses NP
  local np=$1 phase
  for phase in $ADAPTING; do
    try lost "$np" "$phase" "0 and $((np / 2))" lost "rank=0+$((np / 2)),step=$STEP,phase=$phase"
  done
}

# ---------------------------------------------------------------- schemes
# with_scheme NAME: scheme of the following runs. LOSSES: tolerated number of simultaneous losses of any ranks. Of
# eight processes parity groups of 4 are 0 2 4 6 and 1 3 5 7; a Reed-Solomon group of 8 is all of them.
with_scheme() {
  PREFIX=scheme-$1- SCHEME=(--set resilience.scheme="$1") LOSSES=1
  case $1 in
    ring) SCHEME+=(--set resilience.copies=2) LOSSES=2 ;;
    parity) SCHEME+=(--set resilience.group=4) ;;
    reed-solomon) SCHEME+=(--set resilience.group=8 --set resilience.losses=2) LOSSES=2 ;;
  esac
}
SCHEMES="pairwise ring parity reed-solomon"

# Intolerable sets of victims of a scheme with eight ranks, from a place on; with ring consecutive ranks.
too_many() { # too_many SCHEME FIRST
  case $1 in
    pairwise) echo "$2+$((($2 + 4) % 8))" ;;
    ring) echo "$2+$((($2 + 1) % 8))+$((($2 + 2) % 8))" ;;
    parity) echo "$2+$((($2 + 2) % 8))" ;;
    reed-solomon) echo "$2+$((($2 + 3) % 8))+$((($2 + 5) % 8))" ;;
  esac
}
scheme_losses() { # scheme_losses NAME PHASE...
  local name=$1 phase victims; shift
  for phase; do
    victims=$(too_many "$name" $((RANDOM % 8)))
    try lost 8 "$phase" "${victims//+/ and }" lost "rank=$victims,step=$STEP,phase=$phase"
  done
}
scheme_whole() { # scheme_whole NAME: tolerable victims at any phase, in a step and during a recovery
  local phase first second victims
  with_scheme "$1"
  for phase in $STEADY; do
    for first in 0 $((RANDOM % 6 + 1)) 7; do
      try single 8 "$phase" "$first" done "rank=$first,step=$STEP,phase=$phase,visit=$((RANDOM % 2 + 1))"
    done
    first=$((RANDOM % 8)) second=$(((first + 1) % 8)) # neighbours: another pair, another group
    if [ "$1" = reed-solomon ]; then second=$(((first + RANDOM % 7 + 1) % 8)); fi
    try double 8 "$phase" "$first and $second" done "rank=$first+$second,step=$STEP,phase=$phase"
  done
  for phase in $HEALING; do # ranks 1 and 2 belong to different pairs and groups
    for visit in 1 2; do
      if [ "$phase$visit" = repair2 ]; then continue; fi
      try series 8 "$phase" "1 then 2 (entering $visit)" done "rank=1,step=$STEP,phase=compute" \
          "rank=2,step=$BEFORE,phase=$phase,visit=$visit"
    done
  done
  # one after another until three are left
  try series 8 compute "7 6 5 4 3" done "rank=7,step=$STEP,phase=compute" "rank=6,step=$((STEP + 4)),phase=exchange" \
      "rank=5,step=$((STEP + 9)),phase=snapshot" "rank=4,step=$((STEP + 12)),phase=compute" \
      "rank=3,step=$((STEP + 15)),phase=exchange"
  scheme_losses "$1" compute exchange snapshot commit
  for np in 2 3 5; do try single "$np" exchange $((np - 1)) done "rank=$((np - 1)),step=$STEP,phase=exchange"; done
}
schemes_subset() {
  with_scheme parity
  try double 8 exchange "2 and 5" done "rank=2+5,step=$STEP,phase=exchange"
  try series 8 recovery "1 then 2" done "rank=1,step=$STEP,phase=compute" "rank=2,step=$BEFORE,phase=recovery"
  scheme_losses parity compute
  with_scheme reed-solomon
  try double 8 snapshot "3 and 4" done "rank=3+4,step=$STEP,phase=snapshot,visit=2"
  scheme_losses reed-solomon exchange
  with_scheme ring
  try double 8 commit "0 and 1" done "rank=0+1,step=$STEP,phase=commit"
}
schemes_whole() {
  local name
  for name in $SCHEMES; do say "scheme $name ($runs runs so far)"; scheme_whole "$name"; done
}

flow_subset() {
  local phase
  for phase in $STEADY; do try single 4 "$phase" 2 done "rank=2,step=$STEP,phase=$phase"; done
  try single 2 exchange 0 done "rank=0,step=$STEP,phase=exchange"
  try single 7 snapshot 6 done "rank=6,step=$STEP,phase=snapshot,visit=2"
  try double 8 exchange "0 and 1" done "rank=0+1,step=$STEP,phase=exchange"
  for phase in $HEALING; do
    try series 4 "$phase" "1 then 2" done "rank=1,step=$STEP,phase=compute" "rank=2,step=$BEFORE,phase=$phase"
  done
  try lost 4 exchange "0 and 2" lost "rank=0+2,step=$STEP,phase=exchange"
  disks_few
  outsiders 3 1; outsiders 4 2
}
adaptive_subset() {
  local phase
  for phase in $ADAPTING; do try single 4 "$phase" 2 done "rank=2,step=$STEP,phase=$phase"; done
  try single 2 adapt-migrate 0 done "rank=0,step=$STEP,phase=adapt-migrate,visit=2"
  try double 7 adapt-rebuild "0 and 1" done "rank=0+1,step=$STEP,phase=adapt-rebuild"
  try series 4 recovery "1 in adapt-migrate then 2" done "rank=1,step=$STEP,phase=adapt-migrate" \
      "rank=2,step=$BEFORE,phase=recovery"
  try series 4 adapt-balance "1 then 2" done "rank=1,step=$STEP,phase=compute" "rank=2,step=$STEP,phase=adapt-balance"
  try lost 4 adapt-migrate "0 and 2" lost "rank=0+2,step=$STEP,phase=adapt-migrate"
  outsiders 3 1
}
# Within a solve: in exchanges of each level and between levels, and in the reductions between cycles.
implicit_visits() { # implicit_visits NP
  local np=$1 phase visit
  for visit in 2 9 40; do
    try single "$np" exchange "$((np - 1)) ($visit)" done "rank=$((np - 1)),step=$STEP,phase=exchange,visit=$visit"
    try single "$np" exchange "0 ($visit)" done "rank=0,step=$STEP,phase=exchange,visit=$visit"
  done
  for visit in 2 5; do
    try single "$np" reduction "0 ($visit)" done "rank=0,step=$STEP,phase=reduction,visit=$visit"
    try single "$np" reduction "$((np - 1)) ($visit)" done "rank=$((np - 1)),step=$STEP,phase=reduction,visit=$visit"
  done
}
implicit_subset() {
  implicit_visits 4
  try double 8 exchange "0 and 1" done "rank=0+1,step=$STEP,phase=exchange,visit=20"
  try series 4 recovery "1 then 2" done "rank=1,step=$STEP,phase=exchange,visit=20" "rank=2,step=$BEFORE,phase=recovery"
  try single 3 adapt-migrate 1 done "rank=1,step=$STEP,phase=adapt-migrate"
  try lost 4 exchange "0 and 2" lost "rank=0+2,step=$STEP,phase=exchange,visit=20"
}
implicit_whole() { # implicit_whole NP
  implicit_visits "$1"
  adaptive_whole "$1"
}
flow_whole() { # flow_whole NP
  local np=$1
  singles "$np"
  if ((np > 3)); then doubles "$np"; fi
  if ((np > 2)); then series "$np"; losses "$np"; fi
  disks "$np"
  outsiders "$np" 8
}
adaptive_whole() { # adaptive_whole NP
  local np=$1
  adaptive_singles "$np"
  if ((np > 3)); then adaptive_doubles "$np"; fi
  if ((np > 2)); then adaptive_series "$np"; adaptive_losses "$np"; fi
  disks "$np"
  outsiders "$np" 4
}

for which in flow adaptive implicit schemes; do
  wait
  if [ -n "$ONLY" ] && [ "$ONLY" != "$which" ]; then continue; fi
  SCHEME=()
  use "${which/schemes/flow}"
  if [ -n "$SUBSET" ]; then "${which}_subset"; continue; fi
  if [ "$which" = schemes ]; then schemes_whole; continue; fi
  for np in $NPS; do
    say "$which, np = $np ($runs runs so far)"
    "${which}_whole" "$np"
  done
done

wait

# ---------------------------------------------------------------- the tables
wrong=$(awk -F'\t' 'NR > 1 && $5 != $6 {n++} END {print n + 0}' "$OUT/matrix.tsv")
rescued=$( { cat "$GABION_RESCUE_LOG" 2>/dev/null || true; } | wc -l)
if [ "$(wc -l <"$OUT/matrix.tsv")" != $((runs + 1)) ]; then fail "$runs runs, but $(($(wc -l <"$OUT/matrix.tsv") - 1)) results"; fi
summed_up() { # of all processes
  echo "| kind | phase | runs | as expected | undisturbed checksum | exit 3, named |"
  echo "|---|---|---|---|---|---|"
  awk -F'\t' 'NR>1 {k=$1 "\t" $3; n[k]++; if ($5==$6) ok[k]++; if ($6=="done") d[k]++; if ($6=="lost") l[k]++}
       END {for (k in n) {split(k,p,"\t"); printf "| %s | %s | %d | %d | %d | %d |\n", p[1], p[2], n[k], ok[k], d[k], l[k]}}' \
      "$OUT/matrix.tsv" | sort
  echo
  echo "$runs runs, $((runs - wrong)) as expected; stalls inside the MPI library rescued by the launcher: $rescued."
}
if ((runs)); then summed_up >"$OUT/matrix.md"; cat "$OUT/matrix.md"; fi
wide=0
if [ -z "$SUBSET" ] && { [ -z "$ONLY" ] || [ "$ONLY" = wide ]; }; then
  command -v python3 >/dev/null || fail "the wide part of the matrix needs python3"
  python3 "$GABION_ROOT/scripts/faults/fault_matrix.py" --build "$GABION_BUILD" --root "$GABION_ROOT" --out "$OUT" --cover \
    --runs "$WIDE_RUNS" --seed "$SEED" --jobs "$JOBS" --np "$WIDE_NPS" || wide=$?
fi
echo "$((runs - wrong)) passed, $wrong failed"
((wrong == 0 && wide == 0))

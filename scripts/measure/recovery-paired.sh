#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Compares the recovery times of two builds: the same death in the same run, in alternating pairs.
#
#   scripts/measure/recovery-paired.sh --before BUILD --after BUILD [--pairs N] [--np N] [--out DIR]
#
#   --before BUILD  a build folder, e.g. of the commit before a change
#   --after BUILD   another one (default: the one of this tree)
#   --pairs N       of each kind (default 20)
#   --np N          processes, on two nodes (default 4)
#   --out DIR       default: BUILD/recovery-paired of the second; for the raw lines
#
# The nodes are emulated (separate host names on this machine), since only runs on several nodes use fencing tokens.
# Kinds: `one` rank of the second node dies, or `half`, all ranks there at once, whose copies are on the first node.
# The time is that of the event `recovery` of the run: from the detection of the death until the run continues, tokens
# on disk included. Both builds take turns, also in their order. Prints the medians, and the median and the quartiles
# of the differences.
set -euo pipefail
. "$(dirname "${BASH_SOURCE[0]}")/../common.sh"

BEFORE='' AFTER=$GABION_BUILD PAIRS=20 NP=4 OUT=''
while (($#)); do
  case $1 in
    -h|--help) print_head "${BASH_SOURCE[0]}"; exit 0 ;;
    --before) BEFORE=${2:?--before needs a folder}; shift ;;
    --after) AFTER=${2:?--after needs a folder}; shift ;;
    --pairs) PAIRS=${2:?--pairs needs a number}; shift ;;
    --np) NP=${2:?--np needs a number}; shift ;;
    --out) OUT=${2:?--out needs a folder}; shift ;;
    *) fail "unknown option $1 (try --help)" ;;
  esac
  shift
done
[[ $PAIRS =~ ^[1-9][0-9]*$ ]] || fail "--pairs $PAIRS: not a number of at least 1"
[[ $NP =~ ^[0-9]+$ ]] && ((NP >= 4 && NP % 2 == 0)) || fail "--np $NP: not an even number of at least 4"
for build in "$BEFORE" "$AFTER"; do [ -x "$build/bin/gabion-launch" ] || fail "--before, --after: no build in '$build'"; done
OUT=$(realpath -m "${OUT:-$AFTER/recovery-paired}")
rm -rf "$OUT"; mkdir -p "$OUT"
export OMP_NUM_THREADS=1
cat >"$OUT/agent.sh" <<'SH'
#!/bin/bash
node=$1; shift
exec unshare --uts bash -c "hostname $node; export GABION_NODE=$node; $*"
SH
chmod +x "$OUT/agent.sh"

recovery() { # recovery BUILD KIND: prints milliseconds
  local ranks=$((NP - 1)) rank
  if [ "$2" = half ]; then for ((rank = NP - 2; rank >= NP / 2; rank--)); do ranks=$rank+$ranks; done; fi
  rm -rf "$OUT/run"
  (cd "$OUT" && timeout -k 10 120 "$1/bin/gabion-launch" --agent "$OUT/agent.sh" --hosts "nodeA:$((NP / 2)),nodeB:$((NP / 2))" -n "$NP" -t 1 \
    --mpi-args "--oversubscribe --mca mpi_yield_when_idle 1" -- "$1/bin/gabion" run "$GABION_ROOT/tests/faults/runs/flow.yaml" --out run --quiet \
    --inject "rank=$ranks,step=25,phase=compute" >last.txt 2>&1 </dev/null) || fail "a run with a death did not end well: $(cat "$OUT/last.txt")"
  awk 'match($0, /"event": "recovery"/) && match($0, /"seconds": [0-9.e+-]*/) { printf "%.3f\n", 1e3 * substr($0, RSTART + 11, RLENGTH - 11); found++ }
       END { exit found != 1 }' "$OUT/run/events.jsonl" || fail "not one recovery in $OUT/run/events.jsonl"
}

for ((pair = 1; pair <= PAIRS; pair++)); do
  for kind in one half; do
    if ((pair % 2)); then before=$(recovery "$BEFORE" $kind); after=$(recovery "$AFTER" $kind)
    else after=$(recovery "$AFTER" $kind); before=$(recovery "$BEFORE" $kind); fi
    printf '%s\t%s\t%s\t%s\n' $kind "$before" "$after" "$(cut -d' ' -f1 /proc/loadavg)" >>"$OUT/pairs.tsv"
  done
done
# quantile COLUMN SHARE KIND
quantile() {
  awk -F'\t' -v c="$1" -v kind="$3" '$1 == kind { print c == 0 ? $3 - $2 : $c }' "$OUT/pairs.tsv" | sort -g |
    awk -v q="$2" '{ v[NR] = $1 } END { at = 1 + q * (NR - 1); low = int(at); high = low < NR ? low + 1 : low; printf "%.2f", v[low] + (at - low) * (v[high] - v[low]) }'
}
echo "| what dies | pairs | before (ms) | after (ms) | difference (ms) | quartiles of it | load |"; echo "|---|--:|--:|--:|--:|--:|--:|"
for kind in one half; do
  load=$(awk -F'\t' '{ sum += $4 } END { printf "%.1f", sum / NR }' "$OUT/pairs.tsv")
  echo "| $kind of $NP | $PAIRS | $(quantile 2 0.5 $kind) | $(quantile 3 0.5 $kind) | $(quantile 0 0.5 $kind) | $(quantile 0 0.25 $kind) … $(quantile 0 0.75 $kind) | $load |"
done

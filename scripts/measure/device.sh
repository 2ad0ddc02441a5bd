#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Measures an accelerator: equality of its bits with those of the processor, the speed of D3Q19 TRT in place relative
# to a copy of the same run, and whether a process that shares it survives the death of another. Needs a C compiler
# and CMake; no MPI, no HDF5.
#
#   scripts/measure/device.sh [--cells N] [--backend NAME] [--shared-steps N] [--quick] [--out DIR]
#
#   --cells N       along each axis of the timed box (default 256)
#   --backend NAME  cuda or opencl (default: the first with a device)
#   --shared-steps N  steps of the box of 64^3 cells that shares the device (default 20000)
#   --quick         no comparison at the timed size
#   --out DIR       for device.md and the program (default: a new folder in TMPDIR)
#
# It prints tables as Markdown. On one NVIDIA H100 with 16 cores it takes about two minutes.
set -euo pipefail
ROOT=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)
CELLS=256 BACKEND='' QUICK='' OUT='' SHARED=20000
while (($#)); do
  case $1 in
    -h|--help) sed -n '2,/^[^#]/{/^#/!d;/^# SPDX/d;s/^# \{0,1\}//;p;}' "${BASH_SOURCE[0]}"; exit 0 ;;
    --cells) CELLS=${2:?--cells needs a number}; shift ;;
    --backend) BACKEND=${2:?--backend needs a name}; shift ;;
    --shared-steps) SHARED=${2:?--shared-steps needs a number}; shift ;;
    --quick) QUICK=--quick ;;
    --out) OUT=${2:?--out needs a folder}; shift ;;
    *) echo "unknown option $1 (try --help)" >&2; exit 2 ;;
  esac
  shift
done
OUT=${OUT:-$(mktemp -d)}
mkdir -p "$OUT/made"
export GABION_CACHE=${GABION_CACHE:-$OUT/cache}
bench=$OUT/gabion-device-bench
which=()
[ -z "$BACKEND" ] || which=(--backend "$BACKEND")
run() { "$bench" ${which[@]+"${which[@]}"} "$@"; }

# ---- The program: only the required files of the library.
while read -r text name; do
  cmake -DROOT="$ROOT" -DTEXT="$text" -DNAME="$name" -DOUT="$OUT/made/$name.c" -P "$ROOT/cmake/text.cmake"
done <<'END'
core/device/head.inc gab_device_head_text
core/device/arithmetic_text.inc gab_device_arithmetic_text
lbm/device/device_sweep_text.inc gab_device_sweep_text
END
sources=("$OUT"/made/*.c "$ROOT"/apps/device/*.c "$ROOT"/lbm/device/*.c "$ROOT"/core/device/*.c)
for name in lbm/kernels/lattice lbm/kernels/lattice_check core/base/{status,buffer,hash,log} \
            core/memory/{memory,memory_pool,node_memory,shared_memory} core/system/{own_folder,process,file}; do
  sources+=("$ROOT/$name.c")
done
${CC:-gcc} -std=c11 -D_GNU_SOURCE -O3 -march=native -ffp-contract=off -fno-math-errno -fopenmp -I "$ROOT" "${sources[@]}" -o "$bench" -lm -ldl -lpthread

# ---- Bits and speeds.
{
  run --cells "$CELLS" $QUICK

  # ---- Two processes, one of which is killed while its kernels run. Not started by run(): a shell would be killed
  # instead.
  victim=
  trap '[ -z "$victim" ] || kill -9 "$victim" 2>/dev/null || true' EXIT
  alone=$(run --checksum --steps "$SHARED" | grep checksum)
  "$bench" ${which[@]+"${which[@]}"} --checksum --steps 50 --endless >"$OUT/victim.log" 2>&1 &
  victim=$!
  for ((i = 0; i < 300; i++)); do grep -q running "$OUT/victim.log" && break; sleep 0.1; done
  "$bench" ${which[@]+"${which[@]}"} --checksum --steps "$SHARED" >"$OUT/other.log" 2>&1 &
  other=$!
  for ((i = 0; i < 300; i++)); do grep -q running "$OUT/other.log" && break; sleep 0.01; done
  kill -9 "$victim" || true
  death=0
  wait "$victim" 2>/dev/null || death=$?
  victim=
  at_death=$(kill -0 "$other" 2>/dev/null && echo "still running" || echo "ended before")
  wait "$other" || true
  echo "Two processes share the device; one is killed by SIGKILL (its code: $death, expected 137), the other (then $at_death):"
  echo
  echo "- alone: $alone"
  echo "- beside the one that died: $(grep checksum "$OUT/other.log" || cat "$OUT/other.log")"
} | tee "$OUT/device.md"

#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Figures 4 to 7 of Georgakoudis et al. 2020 (Reinit++) at this machine's size: three proxy programs, a
# checkpoint in every iteration, one process (or all of an emulated node) killed in a random iteration, the same for each
# way to go on; how long that takes, split into writing checkpoints, recovery of MPI, reading, and the application.
#
#   apps/papers/reinit2020/reinit.sh [--short] [--np LIST] [--runs N] [--programs LIST] [--out DIR] [--more]
#                           [--built] [--plot]
#
#   --short          smaller problems, three runs of each on 2, 4 and 8 processes: some ten minutes
#   --np LIST        numbers of processes, default "2 4 8 16"
#   --runs N         of each, all ways in turn (default 10)
#   --programs LIST  default "cg md sedov"
#   --out DIR        default: out/paper-reinit
#   --more           adds runs to those in DIR, so that a quiet hour can be had in pieces
#   --built          takes what is in build/bin as it is
#   --plot           measures nothing: tables and plots from the lines of an earlier run in DIR
#
# Ways: `restart` of the job from files (CR); `spare`, gab_reinit() with memory checkpoints at the next process;
# `respawn`, the same with processes started anew, where this build has that strategy; `shrink`, the same with fewer
# processes, of conjugate gradients only. DIR gets runs.jsonl, report.md, figure4.png ... figure7.png.
set -euo pipefail
. "$(dirname "${BASH_SOURCE[0]}")/../../../scripts/common.sh"

OUT=out/paper-reinit SHORT= MORE= NPS= RUNS= PROGRAMS="cg md sedov" BUILT= PLOT=
while (($#)); do
  case $1 in
    -h|--help) print_head "${BASH_SOURCE[0]}"; exit 0 ;;
    --short) SHORT=--short ;;
    --np) NPS=${2:?--np needs numbers}; shift ;;
    --runs) RUNS=${2:?--runs needs a number}; shift ;;
    --programs) PROGRAMS=${2:?--programs needs names}; shift ;;
    --out) OUT=${2:?--out needs a folder}; shift ;;
    --more) MORE=--more ;;
    --built) BUILT=1 ;;
    --plot) PLOT=1 ;;
    *) fail "unknown option $1 (try --help)" ;;
  esac
  shift
done
if [ -n "$SHORT" ]; then NPS=${NPS:-2 4 8} RUNS=${RUNS:-3}; else NPS=${NPS:-2 4 8 16} RUNS=${RUNS:-10}; fi
[[ $RUNS =~ ^[1-9][0-9]*$ ]] || fail "--runs $RUNS: not a number of at least 1"
for np in $NPS; do [[ $np =~ ^[0-9]+$ ]] && ((np >= 2)) || fail "--np $NPS: numbers of at least 2"; done
for program in $PROGRAMS; do [[ $program =~ ^(cg|md|sedov)$ ]] || fail "--programs $PROGRAMS: of cg, md, sedov"; done

mkdir -p "$OUT"
if [ -z "$PLOT" ] && [ -z "$BUILT" ]; then
  gabion_setup
  gabion_build "$GABION_BUILD"
fi
python=$(gabion_python)
[ -n "$python" ] || fail "no python3"
here=$GABION_ROOT/apps/papers/reinit2020/reinit.py
if [ -z "$PLOT" ]; then
  export OMP_NUM_THREADS=1
  "$python" "$here" measure --build "$GABION_BUILD" --mpirun "$(gabion_mpi_prefix)/bin/mpirun" --out "$OUT" $SHORT $MORE \
    --np $NPS --runs "$RUNS" --programs $PROGRAMS
fi
[ -s "$OUT/runs.jsonl" ] || fail "no results in $OUT"
"$python" "$here" report --out "$OUT"

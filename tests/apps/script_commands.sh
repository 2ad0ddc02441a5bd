# SPDX-License-Identifier: Apache-2.0
# gabion-test: timeout=100 labels=quick
# check, plan, help and info answer at once and without mpirun; wrong words meet the closest right one.
. "$GABION_SOURCE/tests/apps/common.sh"

ask() { # ask CODE WORDS...
  local expected=$1 code
  shift
  "$gabion" "$@" >said.txt 2>&1
  code=$?
  [ $code = "$expected" ] || complain "gabion $*: exit code $code, expected $expected; it said: $(cat said.txt)"
}
# They do not start MPI: without a working MPI they give the same output, and leave nothing in its folders.
mkdir shared temporary
export OMPI_MCA_btl_sm_backing_directory=$PWD/shared TMPDIR=$PWD/temporary
if [ -n "${GABION_TEST_OPEN_MPI:-}" ]; then export OMPI_MCA_pml=missing; else export PMI_FD=77 PMI_RANK=0 PMI_SIZE=1; fi # no launcher reads there
for words in 'check good.yaml' 'plan good.yaml -n 7' 'plan good.yaml -n 7 --clusters 2' 'help faults' info 'info good.yaml'; do
  ask 0 $words
  [ -z "$(ls shared temporary | grep -v :)" ] || complain "gabion $words left: $(ls shared temporary)"
done
if [ -n "${GABION_TEST_OPEN_MPI:-}" ]; then
  ask 14 run good.yaml --out not_there # MPI really cannot start
elif "$gabion" run good.yaml --out not_there >said.txt 2>&1; then # MPICH ends the process itself, with its own code
  complain "MPI starts without a launcher: $(cat said.txt)"
fi
unset OMPI_MCA_btl_sm_backing_directory OMPI_MCA_pml PMI_FD PMI_RANK PMI_SIZE

unset TMPDIR

for command in run check plan help info; do
  ask 0 $command --help
  said "usage: gabion $command"
done
ask 0 --help
said 'gabion check'
ask 2
ask 2 rum good.yaml
said "did you mean 'run'"
ask 2 check --sett a=b good.yaml
said "did you mean '--set'"
ask 2 check
said 'no case file'
ask 2 check good.yaml bad.yaml
said 'unexpected argument'

ask 0 help faults
said 'ranks'
ask 0 help domain.cells
said 'required'
ask 0 help output.fields.quantities
said 'velocity (default): of a flow'
said 'phase (default): '
ask 0 help resilience.monitors
said_once 'recompute: ' # which both solvers have
ask 0 help stl
said 'bodies.file (type: mesh): '
ask 2 help fauls
said 'faults'
ask 0 help
said 'resilience.memory'

ask 0 info
said 'MPI'
said 'HDF5'
for list in kernels precisions lattices collisions boundaries bodies criteria balancing schemes strategies; do
  [ "$(grep -c "^ *$list [^ ]" <(tr -s ' ' <said.txt))" = 1 ] || complain "info lists $list not once: $(cat said.txt)"
done
ask 0 info good.yaml
said 'a box'
said 'in_place/D2Q9/double/free'
said 'two thirds of the memory traffic'
ask 0 info good.yaml --set lbm.precision=mixed --set lbm.kernel=vector
said 'vector/D2Q9/mixed/free'
said 'as the parameter file says; 72 bytes per cell'
ask 0 info --processes good.yaml
[ "$(cat said.txt)" = 4 ] || complain "info --processes said: $(cat said.txt)"
ask 0 info --processes good.yaml --set run.processes=7
[ "$(cat said.txt)" = 7 ] || complain "info --processes said: $(cat said.txt)"
ask 2 info --processes missing.yaml

# Accelerators: each backend has devices, or the missing part is named.
ask 0 info --devices
for backend in cuda opencl; do said "  $backend"; done

check 0 good.yaml
said '8 blocks'
said 'omega 1.5'
for case_file in "$GABION_SOURCE"/apps/cases/flow/*.yaml; do
  case $case_file in */wake.yaml) continue ;; esac # reads what a run of wake_precursor.yaml has written: plane_inflow.sh
  check 0 "$case_file"
done
finish

# SPDX-License-Identifier: Apache-2.0
# gabion-test: timeout=300 labels=long
# The XDMF readers of VTK and ParaView read every cell and every particle. Without such a reader (packages
# python3-paraview or a VTK built with XDMF) the test says so and passes. GABION_VTK_PYTHON: a Python with such a
# reader.
set -eu
programs=$GABION_BUILD/tests/blockforest
work=$(mktemp -d "${TMPDIR:-/tmp}/gabion-vtk-XXXXXX")
trap 'rm -rf -- "$work"' EXIT
# reads SCRIPT PATH: runs the script with a Python that has a reader
reads() {
  local python code
  for python in ${GABION_VTK_PYTHON:-python3 /usr/bin/python3 pvpython}; do
    command -v "$python" >/dev/null || continue
    code=0
    timeout 100 "$python" "$GABION_SOURCE/tests/blockforest/output/$1" "$2" >"$work/log" 2>&1 || code=$?
    case $code in
      0) return 0 ;;
      77) ;;
      *) cat "$work/log" >&2; exit 1 ;;
    esac
  done
  echo "no XDMF reader of VTK here: not checked"
  exit 77
}
for np in 1 3; do
  for program in output particle_output; do
    # shellcheck disable=SC2086 # words on purpose
    timeout 60 "$GABION_JUDGE" $np "$GABION_MPIRUN" $GABION_MPI_FLAGS -n $np "$GABION_JUDGE" --watch \
      "$programs/mpi_blockforest_$program" "$work/$np-$program" >"$work/log" 2>&1 || { cat "$work/log" >&2; exit 1; }
  done
  reads output_vtk.py "$work/$np-output/fields/fields.xdmf"
  reads particles_vtk.py "$work/$np-particle_output"
done

# SPDX-License-Identifier: Apache-2.0
# gabion-test: timeout=300 labels=long
# VTK reads VTKHDF files, and isosurfaces are closed. The XDMF readers of VTK and ParaView read every cell and every particle.
# Without a reader (package python3-vtk9 for VTKHDF; python3-paraview or a VTK built with XDMF) the test says so and passes. GABION_VTK_PYTHON: a Python with such a
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
  echo "no reader of VTK for $1 here: not checked"
  exit 77
}
# writes PROGRAM PROCESSES FOLDER
writes() {
  # shellcheck disable=SC2086 # words on purpose
  timeout 60 "$GABION_JUDGE" "$2" "$GABION_MPIRUN" $GABION_MPI_FLAGS -n "$2" "$GABION_JUDGE" --watch \
    "$programs/mpi_blockforest_$1" "$3" >"$work/log" 2>&1 || { cat "$work/log" >&2; exit 1; }
}
writes vtk_fields 3 "$work/vtkhdf"
reads vtkhdf_vtk.py "$work/vtkhdf"
for np in 1 3; do
  for program in output particle_output; do writes $program $np "$work/$np-$program"; done
  reads output_vtk.py "$work/$np-output/fields/fields.xdmf"
  reads particles_vtk.py "$work/$np-particle_output"
done

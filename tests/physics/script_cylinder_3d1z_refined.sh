# SPDX-License-Identifier: Apache-2.0
# gabion-test: timeout=3000 labels=long
# Schäfer & Turek 1996, case 3D-1Z (Re 20, steady), on three levels with 20 cells across the cylinder: drag inside
# the band of the reference.
. "$GABION_SOURCE/tests/physics/common.sh"

run_case cylinder 4 "$flow/cylinder_3d1z_refined.yaml"
within "c_D" "$(last_of cylinder/forces.csv cylinder.cx)" 6.05 6.25
exit $failed

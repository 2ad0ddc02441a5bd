# SPDX-License-Identifier: Apache-2.0
# gabion-test: timeout=600 labels=long
# The same with each collision model that bears such cells.
exec bash "$GABION_SOURCE/tests/physics/script_cylinder_3d_coarse.sh" rr smagorinsky trt

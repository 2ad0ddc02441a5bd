/* SPDX-License-Identifier: Apache-2.0 */
/* gabion-test: np=1 timeout=7200 labels=long args=long */
#include "tests/lbm/walls/mpi_open_sides.c"

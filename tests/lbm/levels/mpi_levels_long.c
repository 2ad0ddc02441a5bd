/* SPDX-License-Identifier: Apache-2.0 */
/* gabion-test: np=2 timeout=1800 labels=long args=long */
#include "tests/lbm/levels/mpi_levels.c"

/* SPDX-License-Identifier: Apache-2.0 */
/* gabion-test: np=1 timeout=3600 labels=long args=long */
#include "tests/lbm/levels/mpi_levels_bodies.c"

/* SPDX-License-Identifier: Apache-2.0 */
/* The same as mpi_steps_at_once.c with all cases on four ranks. */
/* gabion-test: np=4 timeout=600 labels=long needs=ulfm */
#define STEPS_AT_ONCE_STRIDE 1
#include "tests/resilience/temporal/mpi_steps_at_once.c"

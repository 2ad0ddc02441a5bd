/* SPDX-License-Identifier: Apache-2.0 */
/* Fifty recoveries by spares in one run. */
/* gabion-test: np=53 timeout=900 labels=long needs=ulfm args=50 */
#include "tests/faults/spares/mpi_many_spares.c"

/* SPDX-License-Identifier: Apache-2.0 */
/* gabion-test: np=6 timeout=60 needs=ulfm args=2 */
/* As mpi_holders.c, with two copies on the next ranks: nothing is lost. */
#include "mpi_holders.c"

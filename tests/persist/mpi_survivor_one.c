/* SPDX-License-Identifier: Apache-2.0 */
/* gabion-test: np=3 timeout=60 needs=ulfm args=depth=1 */
/* As mpi_survivor.c, with one message kept per signature. */
#include "mpi_survivor.c"

/* SPDX-License-Identifier: Apache-2.0 */
/* The same as mpi_proxies.c on more grids and processes. */
/* gabion-test: np=7,16 timeout=900 labels=long args=150 */
#include "tests/loadbalance/mpi_proxies.c"

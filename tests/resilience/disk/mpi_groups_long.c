/* SPDX-License-Identifier: Apache-2.0 */
/* Thousands of them. */
/* gabion-test: np=4,7,8,13,16 timeout=900 labels=long args=400 */
#include "tests/resilience/disk/mpi_groups.c"

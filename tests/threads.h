/* SPDX-License-Identifier: Apache-2.0 */
/* How many threads a test computes with, where it says so itself. */
#ifndef GABION_TESTS_THREADS_H
#define GABION_TESTS_THREADS_H

#ifdef _OPENMP
#include <omp.h>
#endif

static inline void use_threads(int threads)
{
#ifdef _OPENMP
  omp_set_num_threads(threads);
#else
  (void)threads;
#endif
}

#endif

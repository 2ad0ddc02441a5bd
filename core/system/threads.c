/* SPDX-License-Identifier: Apache-2.0 */
#include "core/system/threads.h"

#ifdef _OPENMP
#include <omp.h>

size_t gab_thread_count(void) { return (size_t)omp_get_max_threads(); }
size_t gab_thread_number(void) { return (size_t)omp_get_thread_num(); }
size_t gab_team_size(void) { return (size_t)omp_get_num_threads(); }
#else
size_t gab_thread_count(void) { return 1; }
size_t gab_thread_number(void) { return 0; }
size_t gab_team_size(void) { return 1; }
#endif

/* SPDX-License-Identifier: Apache-2.0 */
#include "blockforest/forest/tasks_impl.h"

#include <stdio.h>

#ifdef _OPENMP
#include <omp.h>
#endif

enum { MESSAGE_BYTES = 512 };

size_t gab_tasks_threads(void)
{
#ifdef _OPENMP
  return omp_in_parallel() ? 1 : (size_t)omp_get_max_threads();
#else
  return 1;
#endif
}

gab_status gab_tasks_run(size_t count, gab_task task, void *context)
{
  if (count == 1) return task(context, 0);
  gab_status failed = GAB_OK;
  char message[MESSAGE_BYTES] = "";
  /* In the order of a sweep, so that the memory of a block is first touched by the thread that will use it. */
#pragma omp parallel for schedule(static)
  for (size_t i = 0; i < count; i++) {
    gab_status before;
#pragma omp atomic read
    before = failed;
    if (before != GAB_OK) continue;
    gab_status status = task(context, i);
    if (status == GAB_OK) continue;
      /* Messages are stored per thread: copied to the calling thread. */
#pragma omp critical(gab_tasks_failure)
    if (failed == GAB_OK) {
      snprintf(message, sizeof message, "%s", gab_error_message());
#pragma omp atomic write
      failed = status;
    }
  }
  if (failed != GAB_OK) GAB_FAIL(failed, "%s", message);
  return GAB_OK;
}

#include "blockforest/forest/tasks_impl.h"

#include <stdio.h>

enum { MESSAGE_BYTES = 512 };

gab_status gab_tasks_run(size_t count, gab_task task, void *context)
{
  if (count == 1) return task(context, 0);
  gab_status failed = GAB_OK;
  char message[MESSAGE_BYTES] = "";
  /* In the order of a sweep, so that the memory of a block is first touched by the thread that will use it. */
#pragma omp parallel for schedule(static)
  for (size_t i = 0; i < count; ++i) {
    gab_status before;
#pragma omp atomic read
    before = failed;
    if (before != GAB_OK) continue;
    gab_status status = task(context, i);
    if (status == GAB_OK) continue;
      /* Messages are kept per thread, so this one has to be carried to the caller. */
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

/* SPDX-License-Identifier: Apache-2.0 */
/** @file tasks_impl.h
 *  @brief One task for many blocks, in threads.
 *
 *  Stability: internal, never installed.
 */
#ifndef GABION_BLOCKFOREST_TASKS_IMPL_H
#define GABION_BLOCKFOREST_TASKS_IMPL_H

#include "core/base/status.h"

typedef gab_status (*gab_task)(void *context, size_t index);

/** Runs task(context, 0 … count-1) in OpenMP threads, in any order. After a failure no more tasks start.
 *  @return GAB_OK, or the status of a task that failed, with its message in the calling thread */
gab_status gab_tasks_run(size_t count, gab_task task, void *context);

/** @return number of tasks that can run at once; 1 within a task */
size_t gab_tasks_threads(void);

#endif

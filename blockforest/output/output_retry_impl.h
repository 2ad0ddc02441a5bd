/* SPDX-License-Identifier: Apache-2.0 */
/* Internal: waiting while the disk refuses. Local: the other processes wait in their next collective call. */
#ifndef GABION_BLOCKFOREST_OUTPUT_RETRY_IMPL_H
#define GABION_BLOCKFOREST_OUTPUT_RETRY_IMPL_H

#include "core/base/status.h"

#include <stdbool.h>

/* After a system call for `path` failed with `error`: sleeps a moment and returns true if the call is to be repeated.
 * Returns false if the time is up (gab_output_set_retry()) or the error is permanent. The time counts from the first
 * failure after the last success, of any file. */
bool gab_output_may_retry(const char *path, int error);
/* A file is complete: the disk accepts data again. */
void gab_output_succeeded(const char *path);
/* Makes a ::GAB_ERR_IO with file, error and waiting time. */
gab_status gab_output_refused(const char *what, const char *path, int error);

#endif

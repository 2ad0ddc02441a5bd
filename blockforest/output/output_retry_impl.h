/* SPDX-License-Identifier: Apache-2.0 */
/* Internal: waiting for a disk that refuses for a time. Local: the other processes wait in their next collective call. */
#ifndef GABION_BLOCKFOREST_OUTPUT_RETRY_IMPL_H
#define GABION_BLOCKFOREST_OUTPUT_RETRY_IMPL_H

#include "core/base/status.h"

#include <stdbool.h>

/* After a call of the system failed with `error` while `path` was written: sleeps a moment and returns true if the call is
 * to be made again; false if the time is up (gab_output_set_retry()) or if such an error does not pass by itself. The time
 * counts from the first failure behind the last success, of whatever file. */
bool gab_output_may_retry(const char *path, int error);
/* A file is complete: the disk takes what it is given. */
void gab_output_succeeded(const char *path);
/* Makes a ::GAB_ERR_IO that names file, error and for how long it was tried. */
gab_status gab_output_refused(const char *what, const char *path, int error);

#endif

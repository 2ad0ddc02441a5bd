/* SPDX-License-Identifier: Apache-2.0 */
/** @file numbers.h
 *  @brief Numbers of a command line.
 *
 *  Stability: internal.
 */
#ifndef GABION_APPS_DRIVER_NUMBERS_H
#define GABION_APPS_DRIVER_NUMBERS_H

#include "core/base/status.h"

/** @return ::GAB_ERR_INPUT with the option unless the text is a number from `least` to 1e18 */
gab_status gab_app_real_read(const char *name, const char *text, double least, double *number);
/** @return ::GAB_ERR_INPUT with the option unless the text is an integer from `least` to `most` */
gab_status gab_app_count_read(const char *name, const char *text, int64_t least, int64_t most,
                              int64_t *count);

#endif

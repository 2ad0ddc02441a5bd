/* SPDX-License-Identifier: Apache-2.0 */
/** @file log.h
 *  @brief Log messages: levels, terminal and file, progress line.
 *
 *  gab_log() writes on the root rank only; gab_log_all() on every process, with its rank. Terminal and file (if open) have
 *  separate levels; lines in the file have the seconds since the start. When the root dies, the next root appends to the
 *  same file.
 *
 *  Stability: stable; extender where marked.
 */
#ifndef GABION_CORE_LOG_H
#define GABION_CORE_LOG_H

#include "core/base/status.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef enum gab_log_level { GAB_LOG_ERROR = 0, GAB_LOG_WARNING, GAB_LOG_INFO, GAB_LOG_DEBUG } gab_log_level;

/** Sets the identity of this process: called by the world at creation and after every repair. Before that, this process is
 * the root. */
GAB_EXTENDER void gab_log_set_identity(gab_rank rank, bool is_root);
void gab_log_set_level(gab_log_level terminal, gab_log_level file);
/** Appends to `path` from now on (opened by the first process that logs; NULL closes). */
gab_status gab_log_open(const char *path);

/** Root only. */
void gab_log(gab_log_level level, const char *format, ...) GAB_PRINTF(2, 3);
/** Every process that calls it. */
void gab_log_all(gab_log_level level, const char *format, ...) GAB_PRINTF(2, 3);

/** The progress line: on a terminal one line that is overwritten, elsewhere an ordinary line every few seconds at most.
 * Root only. */
GAB_EXTENDER void gab_log_progress(const char *format, ...) GAB_PRINTF(1, 2);

/** Seconds since the process started logging, from a monotonic clock. */
double gab_seconds(void);
/** Processor time of the calling thread, without time of others that share its core. Takes some 100 ns. */
GAB_EXTENDER double gab_thread_seconds(void);

#ifdef __cplusplus
}
#endif
#endif

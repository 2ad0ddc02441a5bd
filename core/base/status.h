/* SPDX-License-Identifier: Apache-2.0 */
/** @file status.h
 *  @brief Status codes and their message.
 *
 *  Every function that can fail returns a ::gab_status; #GAB_TRY passes it up, #GAB_FAIL creates one. The message (fault and
 *  place) is kept per thread until the next one replaces it, since a parameter file may be refused before a world exists.
 *  gab_world_raise() sends it to the other processes. The library never ends the process.
 *
 *  Stability: stable; extender where marked.
 */
#ifndef GABION_CORE_STATUS_H
#define GABION_CORE_STATUS_H

#include "core/base/types.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef enum gab_status {
  GAB_OK = 0,
  GAB_ERR_FAULT,   /**< the world is broken: a process died, or another one raised an abort request */
  GAB_ERR_SUSPECT, /**< numbers that cannot be right, perhaps by a fault of the hardware: worth another try */
  GAB_ERR_INPUT,   /**< bad input by the user: parameter file, geometry, output folder */
  GAB_ERR_LOST,    /**< data of dead processes that no copy holds any more */
  GAB_ERR_DIVERGED, /**< the simulation left the range where its numbers mean anything */
  GAB_ERR_REQUEUE,  /**< stopped in time, to be continued by the same command */
  GAB_ERR_AGAIN, /**< to be started again at once: from the memory of nodes, from disk, or at the beginning */
  GAB_ERR_ENDED, /**< ended before its last step, for the reason that the message names */
  GAB_ERR_MEMORY,   /**< out of memory */
  GAB_ERR_IO,       /**< a file could not be read or written while running */
  GAB_ERR_CORRUPT,  /**< packed data that does not unpack */
  GAB_ERR_MPI,      /**< MPI refused a call for another reason than a death */
  GAB_ERR_ARGUMENT, /**< a function was called with arguments that it documents as wrong */
  GAB_ERR_STATE,    /**< a function was called at the wrong time */
  GAB_STATUS_COUNT
} gab_status;

/** @return a fixed English name of the status, e.g. "bad input". Never NULL. */
const char *gab_status_name(gab_status status);

/** @return the exit code of a run that ends with this status: 0 done, 2 bad input, 3 lost data beyond the
 *  scheme, 4 diverged, 75 please requeue, 76 please start again at once, 1 anything else. */
int gab_status_exit_code(gab_status status);

/** Stores the message of a failure of this thread, with the place in the source; use #GAB_FAIL.
 *  @return status, so that it can be returned at once. */
gab_status gab_error_set(gab_status status, const char *file, int line, const char *format, ...)
    GAB_PRINTF(4, 5);

/** @return the last message of this thread, "" if none. Valid until the next gab_error_set(). */
const char *gab_error_message(void);
/** @return "file:line" of the source where the last message of this thread was made. */
GAB_EXTENDER const char *gab_error_where(void);
void gab_error_clear(void);

/** Returns from the calling function with the status and a printf-like message. */
#define GAB_FAIL(status, ...) return gab_error_set((status), __FILE__, __LINE__, __VA_ARGS__)

/** Returns from the calling function with the status of `call` unless it is ::GAB_OK. */
#define GAB_TRY(call)                                                                                        \
  do {                                                                                                       \
    gab_status gab_try_status_ = (call);                                                                     \
    if (gab_try_status_ != GAB_OK) return gab_try_status_;                                                   \
  } while (0)

/** Like #GAB_TRY, but jumps to a label, for functions that have to clean up; `status` must be a variable. */
#define GAB_TRY_GOTO(status, label, call)                                                                    \
  do {                                                                                                       \
    (status) = (call);                                                                                       \
    if ((status) != GAB_OK) goto label;                                                                      \
  } while (0)

#ifdef __cplusplus
}
#endif
#endif

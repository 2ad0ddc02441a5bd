/* SPDX-License-Identifier: Apache-2.0 */
/** @file status.h
 *  @brief Status codes and their message.
 *
 *  Every function that can fail returns a ::gab_status; #GAB_TRY returns it to the caller, #GAB_FAIL creates one. Each
 *  thread keeps its last message (fault and place), since a parameter file may be refused before a world exists.
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
  GAB_ERR_FAULT,    /**< the world is broken: a process died, or another one raised an abort request */
  GAB_ERR_SUSPECT,  /**< invalid numbers, possibly by a hardware fault: worth another attempt */
  GAB_ERR_INPUT,    /**< invalid input of the user: parameter file, geometry, output folder */
  GAB_ERR_LOST,     /**< data of dead processes without any remaining copy */
  GAB_ERR_DIVERGED, /**< the simulation left the valid range of its numbers */
  GAB_ERR_REQUEUE,  /**< stopped before the time limit; the same command resumes */
  GAB_ERR_AGAIN,    /**< restart at once: from node memory, from disk, or at the beginning */
  GAB_ERR_ENDED,    /**< ended before its last step, for the reason in the message */
  GAB_ERR_MEMORY,   /**< out of memory */
  GAB_ERR_IO,       /**< a file could not be read or written while running */
  GAB_ERR_CORRUPT,  /**< packed data that cannot be unpacked */
  GAB_ERR_MPI,      /**< an MPI error other than a death */
  GAB_ERR_ARGUMENT, /**< arguments documented as invalid */
  GAB_ERR_STATE,    /**< call at the wrong time */
  GAB_STATUS_COUNT
} gab_status;

/** @return a fixed English name of the status, e.g. "bad input". Never NULL. */
const char *gab_status_name(gab_status status);

/** @return the exit code of a run that ends with this status: 0 done, 2 invalid input, 3 lost data beyond the scheme, 4
 *   diverged, 75 requeue, 76 restart at once, 1 any other status. */
int gab_status_exit_code(gab_status status);

/** Stores the message of a failure of this thread, with the place in the source; use #GAB_FAIL.
 *  @return status, so that it can be returned at once. */
gab_status gab_error_set(gab_status status, const char *file, int line, const char *format, ...)
    GAB_PRINTF(4, 5);

/** @return the last message of this thread, "" if none. Valid until the next gab_error_set(). */
const char *gab_error_message(void);
/** @return "file:line" of the source that set the last message of this thread. */
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

/** Like #GAB_TRY, but jumps to a label, for functions that must clean up; `status` must be a variable. */
#define GAB_TRY_GOTO(status, label, call)                                                                    \
  do {                                                                                                       \
    (status) = (call);                                                                                       \
    if ((status) != GAB_OK) goto label;                                                                      \
  } while (0)

#ifdef __cplusplus
}
#endif
#endif

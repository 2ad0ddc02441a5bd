/* SPDX-License-Identifier: Apache-2.0 */
/** @file process.h
 *  @brief Which process of which machine is meant, long after it was written down.
 *
 *  A number of a process (pid) is given again when the process has ended, and means something on one machine only, from one
 *  start of it to the next, and within one numbering: containers have their own. Needs nothing of the rest: gabion-launch has
 *  it compiled in.
 *
 *  Stability: internal.
 */
#ifndef GABION_CORE_PROCESS_H
#define GABION_CORE_PROCESS_H

#include <stdbool.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/** When a process of this machine was started, in clock ticks since the machine was. Local.
 *  @return 0: there is no such process, or it has ended and was only not waited for */
uint64_t gab_process_start(long pid);
/** Whether the process that had this number and this start still runs; false for a start of 0. Local. */
bool gab_process_lives(long pid, uint64_t start);

enum { GAB_PROCESS_WORD = 40 }; /**< characters of a word with its end */

/** Where numbers of processes mean something. Words without blanks, "unknown" for what the system does not tell. */
typedef struct gab_process_space {
  char boot[GAB_PROCESS_WORD];      /**< of the machine: another one each time that it is started */
  char numbering[GAB_PROCESS_WORD]; /**< the name space of process ids */
} gab_process_space;

/** That of this process. Local. */
gab_process_space gab_process_space_here(void);
/** Whether both words are known. Pure. */
bool gab_process_space_is_known(const gab_process_space *space);
/** Whether both are the same; what is not known is equal to nothing, itself included. Pure. */
bool gab_process_space_is_same(const gab_process_space *one, const gab_process_space *other);

#ifdef __cplusplus
}
#endif
#endif

/* SPDX-License-Identifier: Apache-2.0 */
/** @file listeners.h
 *  @brief Listening TCP sockets of a process, and their restriction to the loopback interface.
 *
 *  Open MPI binds its listening sockets to all interfaces of the machine, whatever interfaces it is told to use. In a job on
 *  one machine no connection from outside is needed.
 *
 *  Depends on no other file of the project: gabion-launch compiles it in.
 *
 *  Stability: internal.
 */
#ifndef GABION_CORE_LISTENERS_H
#define GABION_CORE_LISTENERS_H

#include <stdbool.h>

#ifdef __cplusplus
extern "C" {
#endif

enum { GAB_MOST_LISTENERS = 64 };

/** Descriptors of listening TCP sockets. */
typedef struct gab_listeners {
  int descriptor[GAB_MOST_LISTENERS];
  int count;
} gab_listeners;

/** Whether a descriptor is a listening TCP socket. Local. */
bool gab_listener_is(int descriptor);
/** Those of this process. Local. */
void gab_listeners_find(gab_listeners *found);

/** Lets a listening TCP socket, and the connections that it accepts from then on, receive only what comes by the loopback
 *  interface: from this machine, by any of its addresses. Others get no answer (SO_ATTACH_FILTER, which needs no rights). Local.
 *  @return false and errno where the system refuses */
bool gab_listener_restrict(int descriptor);

/** Restricts those of this process that are not in `before`. Local. @return how many could not be, errno of the last */
int gab_listeners_restrict_new(const gab_listeners *before);

#ifdef __cplusplus
}
#endif

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/** @file job.h
 *  @brief An attempt while it runs: what job.c, which starts and ends it, watch.c, which judges it, and wait.c share.
 *
 *  Stability: internal to gabion-launch.
 */
#ifndef GABION_APPS_LAUNCH_JOB_H
#define GABION_APPS_LAUNCH_JOB_H

#include "apps/launch/launch.h"

#include <stdint.h>

#define POLL_SECONDS 0.1 /* how often files are looked at; the end of mpirun wakes the loop at once */
#define KILL_SECONDS 5.0 /* for the system to end processes that were killed */

/** mpirun and what there is to know about it. */
typedef struct launch_job {
  const launch_options *options;
  launch_places places;
  pid_t mpirun;
  bool ended;
  int status;   /**< of mpirun, as waitpid gives it, once `ended` */
  pid_t keeper; /**< cleans up if the launcher is killed; -1: none */
  int to_keeper;
  double
      watched; /**< seconds of the attempt; of a time in which the launcher did not get to look, one at most: then
                        the machine stood still, as a virtual one that is paused, or it alone did */
  double looked;       /**< when, last */
  bool are_doors_open; /**< the system does not allow to restrict where mpirun listens */
  uint64_t killed;     /**< processes that the system had ended for lack of memory when the attempt began */
} launch_job;

/* wait.c */
/** Takes note of children that have ended; orphans of the job may be among them. */
void launch_reap(launch_job *job);
/** Waits for a signal or a short time, and takes note of children that have ended. @return the signal, 0 for none */
int launch_pause(launch_job *job, double seconds);
/** Waits until mpirun has ended. @return false if it has not within `seconds` */
bool launch_wait_for_end(launch_job *job, double seconds);

/* doors.c */
/** On one machine: restricts mpirun's listening sockets to the loopback interface, as far as its sockets are there yet. */
void launch_close_doors(launch_job *job);

/* watch.c */
/** The loop of an attempt, from start to verdict; mpirun may still be there afterwards. */
void launch_watch(launch_job *job, int attempt, launch_result *result);

#endif

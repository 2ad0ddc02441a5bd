/* SPDX-License-Identifier: Apache-2.0 */
/** @file plan_traffic.h
 *  @brief Who sends how much to whom: counted in a run, written to a file, and read by `gabion plan --clusters`.
 *
 *  It counts the messages of logged ports (core/messages/logged/message_logger.h), the ones that a message log
 *  between clusters would keep, from the first step to the last; without what post-step actions send (output,
 *  adapting, windows), where no log is kept. The file is CSV: `# steps N, processes P`, then from,to,messages,bytes.
 *
 *  Stability: internal.
 */
#ifndef GABION_APPS_DRIVER_PLAN_TRAFFIC_H
#define GABION_APPS_DRIVER_PLAN_TRAFFIC_H

#include "loadbalance/clusters/clusters.h"
#include "resilience/loop/timeloop.h"

/** Of a run. */
typedef struct gab_app_traffic {
  const char *path; /**< borrowed */
  gab_world *world;
  gab_timeloop *loop;
  gab_step since;  /**< counted from here on; -1: not at all */
  gab_epoch epoch; /**< in which that began */
} gab_app_traffic;

/** Lets a run count and write. Local. @param[in,out] traffic  stays where it is @param[in] path  NULL: nothing is done */
gab_status gab_app_traffic_add(gab_app_traffic *traffic, const char *path, gab_timeloop *loop,
                               gab_world *world);

/** A matrix in rows, per step. */
typedef struct gab_app_flows {
  int32_t ranks;
  gab_flow *flows; /**< owned */
  size_t count;
} gab_app_flows;

/** Reads such a file. Local. @return ::GAB_ERR_INPUT with file and line */
gab_status gab_app_flows_read(const char *path, gab_app_flows *flows);
/** Appends. */
gab_status gab_app_flows_put(gab_app_flows *flows, gab_rank from, gab_rank to, double bytes);
void gab_app_flows_release(gab_app_flows *flows);

#endif

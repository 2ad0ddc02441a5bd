/* SPDX-License-Identifier: Apache-2.0 */
/** @file plan_traffic.h
 *  @brief Bytes sent from each process to each other one: counted in a run, written to a file, read by `gabion plan
 *  --clusters`.
 *
 *  It counts the messages of logged ports (core/messages/logged/message_logger.h), which a message log between clusters
 *  would contain, from the first to the last step; not those of post-step actions (output, adaptation, windows), which are
 *  not logged. The file is CSV: `# steps N, processes P`, then from,to,messages,bytes.
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
  gab_step since;  /**< first counted step; -1: counting is off */
  gab_epoch epoch; /**< epoch of that */
} gab_app_traffic;

/** Makes a run count and write. Local. @param[in,out] traffic  must not move @param[in] path  NULL: no effect */
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

/* SPDX-License-Identifier: Apache-2.0 */
/** @file tracer_plan.h
 *  @brief Sections `tracers` and `output.tracers` of a flow: values derived from a parameter file.
 *
 *  Stability: internal.
 */
#ifndef GABION_APPS_DRIVER_TRACER_PLAN_H
#define GABION_APPS_DRIVER_TRACER_PLAN_H

#include "apps/driver/case/case.h"

enum { FLOW_MOST_SEEDINGS = 64 };

typedef enum seeding_kind { SEEDS_AT_POINT, SEEDS_ON_LINE, SEEDS_IN_BOX, SEEDS_AT_RANDOM } seeding_kind;

/** Tracers that begin together, once or again and again. */
typedef struct seeding {
  seeding_kind kind;
  double lo[3], hi[3]; /**< ends of the line, corners of the box */
  uint64_t count;
  int64_t grid[3];
  uint64_t seed;         /**< of random places */
  gab_step start, every; /**< every 0: once */
  uint64_t first;        /**< id of its first tracer */
} seeding;

typedef struct tracer_plan {
  bool is_wanted;
  gab_step every;    /**< steps of the flow in a step of the tracers */
  gab_step lifetime; /**< steps; 0: no end */
  seeding seedings[FLOW_MOST_SEEDINGS];
  size_t seeding_count;
  uint64_t total; /**< tracers of all seedings together, once each */
  gab_schedule output;
  int compression;
} tracer_plan;

/** For gab_app_declare(). */
gab_status gab_app_tracer_plan_declare(gab_config *config);
/** @param[in] domain  of the case @param[in] dt  of a step @return ::GAB_ERR_INPUT with the place in the file */
gab_status gab_app_tracer_plan_read(const gab_config *config, const gab_forest_options *domain, double dt,
                                    tracer_plan *plan);
/** Whether tracers of a seeding begin at a step. Pure. */
bool gab_app_seeding_is_due(const seeding *which, gab_step step);
/** Place and id of a tracer that begins then. Pure. @param[in] index  below its count */
uint64_t gab_app_seeding_place(const tracer_plan *plan, const seeding *which, int dimension, gab_step step,
                               uint64_t index, double at[3]);

#endif

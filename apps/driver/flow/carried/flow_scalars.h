/* SPDX-License-Identifier: Apache-2.0 */
/** @file flow_scalars.h
 *  @brief Scalars that a flow of the driver carries: heat and species of parameter files.
 *
 *  Stability: internal.
 */
#ifndef GABION_APPS_DRIVER_FLOW_SCALARS_H
#define GABION_APPS_DRIVER_FLOW_SCALARS_H

#include "apps/driver/plan/app_plan.h"
#include "lbm/scalar/scalar.h"
#include "lbm/setup/lbm_config.h"

enum { FLOW_MOST_SCALARS = 8 };

/** A scalar as the file says it, in physical units if not said otherwise. */
typedef struct scalar_plan {
  const char *name, *unit;
  double diffusivity, capacity;
  double reference;
  double expansion, gravity[3];
  double difference, length; /**< of Nusselt and Sherwood numbers; 0: none */
  double rayleigh,
      eddies, /**< the largest eddy diffusivity that the stability of steps counts with, in lattice units */
      speed;  /**< of buoyancy: of the largest difference of given values; speed in cells per step; 0: none */
  bool is_species;                        /**< its number is Sherwood's */
  const gab_expression *initial, *source; /**< borrowed; source NULL: none */
  double initial_range[2];                /**< least and largest initial value */
  gab_lbm_scalar_options options;         /**< in lattice units; without pointers into a run */
  gab_lbm_scalar_wall *bodies;            /**< owned; of each body */
  gab_lbm_scalar_wall *patches;           /**< owned; of each patch of the flow */
  bool *body_is_set, *patch_is_set;       /**< owned; has a condition in the file */
  bool has_condition[6];
} scalar_plan;

typedef struct scalars_plan {
  size_t count;
  scalar_plan items[FLOW_MOST_SCALARS];
  gab_units units;
  gab_schedule output;
} scalars_plan;

/** Input of scalars from the case. Borrowed. */
typedef struct scalars_case {
  const gab_config *config;
  const gab_domain *domain;
  gab_lbm_setup *setup; /**< its kernel becomes in_place if a scalar drives the flow and it is auto */
  int finest;
  double duration; /**< of the run, in s */
} scalars_case;

extern const char *const gab_app_side_names[GAB_SIDE_COUNT]; /**< x_min, ... */

gab_status gab_app_scalars_declare(gab_config *config);
/** @param[out] plan  to be released whatever the status @return ::GAB_ERR_INPUT with the place in the file */
gab_status gab_app_scalars_read(const scalars_case *from, scalars_plan *plan);
void gab_app_scalars_release(scalars_plan *plan);
/** Appends the names of scalars to those of a flow, for lookups. */
gab_quantity_list gab_app_scalars_names(const scalars_plan *plan, gab_quantity *items, size_t count);
/** Logs a summary of the scalars. @param[in] bodies  of the setup that the plan was read with */
void gab_app_scalars_describe(const scalars_plan *plan, const gab_body *bodies, size_t body_count);

typedef struct flow_scalars flow_scalars;

/** Before the forest is built. Collective. @param[in] forest, lbm, plan  borrowed @param[out] scalars  NULL without one */
gab_status gab_app_flow_scalars_create(gab_forest *forest, gab_lbm *lbm, const scalars_plan *plan, int finest,
                                       flow_scalars **scalars);
/** Before the flow. */
void gab_app_flow_scalars_destroy(flow_scalars **scalars);
/** Initial values, once the grid is built. Local. */
void gab_app_flow_scalars_begin(flow_scalars *scalars);
/** The values of a scalar on a block, component 0, as differences to its reference. @param[in] index  among those of the plan */
gab_field *gab_app_flow_scalars_field(const flow_scalars *scalars, size_t index, const gab_block *block);
/** Adds the task of a step behind those of the flow. */
gab_status gab_app_flow_scalars_add(flow_scalars *scalars, gab_timeloop *loop);
/** Appends their quantities to `count` others. @return how many there are then */
size_t gab_app_flow_scalars_quantities(const flow_scalars *scalars, gab_quantity *items, size_t count);
/** The series scalars.csv, if it is wanted. */
gab_status gab_app_flow_scalars_add_writers(flow_scalars *scalars, gab_output *output);
gab_status gab_app_flow_scalars_check_finite(const flow_scalars *scalars);
/** Logs remedies for scalars that are not finite, unless the flow diverged first. Collective.
 *  @return whether there are any */
bool gab_app_flow_scalars_name_levers(const flow_scalars *scalars, bool has_flow_diverged);
/** Results of the last state; says them in the log. Collective. */
gab_status gab_app_flow_scalars_finish(flow_scalars *scalars);
/** The member "scalars" of "results" in summary.json. */
void gab_app_flow_scalars_put(const flow_scalars *scalars, gab_json *json);
/** Bytes of a cell: fields, and image. Pure. */
void gab_app_scalars_bytes(const scalars_plan *plan, int dimension, double *state, double *image);
gab_status gab_app_flow_scalars_plan(const flow_scalars *scalars, gab_app_plan *plan);

#endif

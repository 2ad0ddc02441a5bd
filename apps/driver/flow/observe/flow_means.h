/* SPDX-License-Identifier: Apache-2.0 */
/** @file flow_means.h
 *  @brief Statistics of a flow of the driver: time means (output.means) and ends of a run (run.until).
 *
 *  Stability: internal.
 */
#ifndef GABION_APPS_DRIVER_FLOW_MEANS_H
#define GABION_APPS_DRIVER_FLOW_MEANS_H

#include "apps/driver/flow/observe/batch_means.h"
#include "apps/driver/flow/observe/repeating.h"
#include "apps/driver/plan/app_plan.h"
#include "blockforest/exchange/block_field.h"
#include "blockforest/output/means.h"
#include "lbm/lbm.h"

/* ---- flow_means.c ---- */

typedef struct means_plan {
  gab_schedule schedule; /**< every 0: no means */
  int64_t window;        /**< samples; 0: all of the run */
  gab_means *names;      /**< for lookups; owned */
  int profile_axis;      /**< that is not homogeneous; -1: no profile */
  bool periodic[3];
} means_plan;

/** For the rows of means_profile.csv. */
typedef struct means_profile {
  gab_means *means; /**< borrowed */
  int axis;         /**< -1: no profile */
} means_profile;

gab_status gab_app_means_declare(gab_config *config);
/** @param[in] from  quantities by which names are found @param[out] plan  to be released whatever the status
 *  @return ::GAB_ERR_INPUT with the place in the file */
gab_status gab_app_means_read(const gab_config *config, gab_quantity_list from, const gab_domain *domain,
                              double dt, means_plan *plan);
void gab_app_means_release(means_plan *plan);
void gab_app_means_describe(const gab_config *config, const means_plan *plan);

/** The means of a run, before its forest is built; appends their quantities to those of the run.
 *  @param[in,out] items  the quantities @param[out] means  NULL: none; owned by the caller */
gab_status gab_app_flow_means_create(gab_app_run *it, const means_plan *plan, int dimension,
                                     gab_quantity *items, gab_means **means);
/** Adds the writers at the end of the run, or of each window: all means as fields, one as a picture, the profile.
 *  @param[in] means  borrowed  @param[out] profile  lives as long as the output */
gab_status gab_app_flow_means_add_writers(gab_app_run *it, const means_plan *plan, gab_means *means,
                                          means_profile *profile);
/** If a sample is due after that many steps, takes it, the first one of a window after forgetting those before. Local. */
gab_status gab_app_flow_means_sample(const means_plan *plan, gab_means *means, gab_step steps_done);
/** Logs how many samples or windows there are. Collective. */
gab_status gab_app_flow_means_finish(gab_app_run *it, const means_plan *plan, gab_means *means,
                                     gab_step step);

/* ---- flow_until.c ---- */

typedef struct until_plan {
  gab_step every; /**< 0: none */
  double steady;  /**< 0: none */
  const char *of; /**< column of forces.csv for a mean of given accuracy; borrowed; NULL: none */
  double within;  /**< half of the width of its confidence interval, relative */
  gab_step start; /**< first step with a row that counts */
  struct {
    const char *of; /**< column of forces.csv that has to repeat; borrowed; NULL: none */
    double within;  /**< largest difference of a period to the one before, relative */
    double length;  /**< of a period in s; 0: is found */
    int periods;    /**< how many have to be alike */
    gab_step start; /**< first step with a row that counts */
  } periodic;
} until_plan;

/** State of the last check, with the velocities at that check. Equal on all ranks, part of the state. */
typedef struct flow_until {
  const until_plan *plan;
  gab_forest *forest;
  const gab_lbm *lbm;
  double dt;
  gab_block_field field;
  gab_data_id data;
  gab_step step; /**< -1: none yet */
  double change; /**< per unit of time, relative; NaN: not known */
  double *velocity;
  uint8_t *fluid;
  gab_schedule rows; /**< of forces.csv */
  int column;        /**< of plan->of */
  gab_step noted;    /**< step of the last row that counted */
  batch_means batches;
  int periodic_column;     /**< of plan->periodic.of */
  gab_step periodic_noted; /**< step of the last row that counted */
  repeating periods;
} flow_until;

gab_status gab_app_until_declare(gab_config *config);
gab_status gab_app_until_read(const gab_config *config, until_plan *plan);
/** Whether the run may end at that step, since there is a look. */
bool gab_app_until_due(const until_plan *plan, gab_step step);
/** Before the forest is built. @param[in] plan, lbm  borrowed */
gab_status gab_app_flow_until_prepare(flow_until *made, const until_plan *plan, gab_forest *forest,
                                      const gab_lbm *lbm, double dt);
void gab_app_flow_until_release(flow_until *it);
gab_status gab_app_flow_until_add(flow_until *it, gab_timeloop *loop);

/* ---- flow_converged.c ---- */

gab_status gab_app_converged_declare(gab_config *config);
/** The key of a column of forces.csv. */
#define UNTIL_COLUMN_KEY(example)                                                                            \
  {                                                                                                          \
    .name = "of", .type = GAB_CONFIG_STRING, .default_text = GAB_CONFIG_OPTIONAL,                            \
    .doc = "Column of forces.csv, such as " example "; each row that output.forces asks for is a value."     \
  }
/** Reads `of` of a section below run.until. @return ::GAB_ERR_INPUT without it, or without rows of forces */
gab_status gab_app_until_read_column(const gab_config *config, const char *section, const char **of);
/** @param[in] columns  of forces.csv, `count` of them @return ::GAB_ERR_INPUT if `of` is not among them */
gab_status gab_app_until_find_column(const gab_config *config, const char *key, const char *of,
                                     const char *const *columns, size_t count, int *column);
gab_status gab_app_converged_read(const gab_config *config, until_plan *plan);
/** @param[in] columns  of forces.csv, `count` of them @return ::GAB_ERR_INPUT if plan->of is not among them */
gab_status gab_app_flow_converged_prepare(flow_until *it, const gab_config *config, gab_schedule rows,
                                          const char *const *columns, size_t count);
/** A row of forces.csv that is due. */
void gab_app_flow_converged_note(flow_until *it, gab_step step, const double *values);
gab_status gab_app_flow_converged_pack(const flow_until *it, gab_buffer *out);
gab_status gab_app_flow_converged_unpack(flow_until *it, gab_reader *in);
gab_status gab_app_flow_converged_add(flow_until *it, gab_timeloop *loop);

/* ---- flow_periodic.c: the same for run.until.periodic ---- */

gab_status gab_app_periodic_declare(gab_config *config);
gab_status gab_app_periodic_read(const gab_config *config, until_plan *plan);
gab_status gab_app_flow_periodic_prepare(flow_until *it, const gab_config *config, const char *const *columns,
                                         size_t count);
void gab_app_flow_periodic_note(flow_until *it, gab_step step, const double *values);
gab_status gab_app_flow_periodic_pack(const flow_until *it, gab_buffer *out);
gab_status gab_app_flow_periodic_unpack(flow_until *it, gab_reader *in);
gab_status gab_app_flow_periodic_add(flow_until *it, gab_timeloop *loop);

#endif

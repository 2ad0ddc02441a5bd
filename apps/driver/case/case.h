/* SPDX-License-Identifier: Apache-2.0 */
/** @file case.h
 *  @brief A case: values derived from a parameter file, and the parts common to all solvers.
 *
 *  A user-defined solver (apps/driver/solver.h) calls these to read its cases. All are local, and return ::GAB_ERR_INPUT
 *  with the place in the file for invalid values.
 *
 *  Stability: extender.
 */
#ifndef GABION_APPS_DRIVER_CASE_H
#define GABION_APPS_DRIVER_CASE_H

#include "blockforest/output/output.h"
#include "core/config/config.h"
#include "loadbalance/balance.h"
#include "resilience/loop/timeloop.h"

#ifdef __cplusplus
extern "C" {
#endif

/** Rebalancing by the measured work of blocks. */
typedef struct gab_app_rebalance {
  gab_step every; /**< 0: never automatically */
  double above;   /**< imbalance above which blocks move */
} gab_app_rebalance;

/** Steps in which blocks are computed twice, and their share. */
typedef struct gab_app_recompute {
  gab_step every; /**< 0: monitor off */
  double share;   /**< of the blocks */
} gab_app_recompute;

typedef struct gab_solver gab_solver;           /* solver.h */
typedef struct gab_app_options gab_app_options; /* of the command line; opaque here */

/** Case data common to all solvers, derived from a parameter file without communication; first member of the case of a
 * solver. */
typedef struct gab_app_case {
  const gab_solver *solver;       /**< borrowed */
  gab_config *config;             /**< the parameter file, checked; owned */
  const gab_app_options *options; /**< borrowed */
  gab_forest_options domain;      /**< in cells of the parameter file */
  gab_forest_options grid;        /**< the same in cells of level 0 */
  gab_balance_options balance;
  gab_app_rebalance rebalance;
  double dt; /**< of a step */
  gab_step steps, check_every;
  gab_app_recompute recompute;
} gab_app_case;

/** Declares the sections of a list, for gab_solver.declare. */
gab_status gab_app_declare(gab_config *config, const gab_config_section *list, size_t count);

/* ---------------------------------------------------------------- for gab_solver.read */

/** ::GAB_ERR_INPUT if the file has a section that belongs to another solver. */
gab_status gab_app_case_refuse_others(const gab_app_case *which);
/** Cells, blocks and scale of the domain; the solver sets periodic axes. */
gab_status gab_app_domain_read(const gab_config *config, gab_forest_options *forest);
/** ::GAB_ERR_INPUT if blocks of the domain cannot be split evenly. */
gab_status gab_app_domain_check_levels(const gab_config *config, const gab_forest_options *forest);
/** Domain, grid and balance of a solver with equal steps and equal blocks: their work is not measured, and lost blocks are
 * not approximated. Sections of other solvers are refused. Call gab_app_case_settle() afterwards. @param[in] dimension
 * supported dimension; 0: 2 and 3 */
gab_status gab_app_case_read_alike(gab_app_case *which, int dimension);
/** Reads the section `balance`. */
gab_status gab_app_balance_read(const gab_config *config, gab_balance_options *found,
                                gab_app_rebalance *when);
/** For gab_solver.read: steps by gab_app_case.dt, recomputation, resilience, fault injections. @return ::GAB_ERR_INPUT with
 * the place in the file */
gab_status gab_app_case_settle(gab_app_case *which);
/** Prefixes the message of ::GAB_ERR_INPUT with the place in the file; returns any other status unchanged. */
gab_status gab_app_blame(const gab_config *config, const char *path, gab_status status);
/** Maximum bytes of a name in the head of a table. */
enum { GAB_APP_LONGEST_NAME = 48 };

/* ---------------------------------------------------------------- for gab_solver.check */

/** Memory of the cells of a case. */
typedef struct gab_app_memory {
  double cells;        /**< of the grid, at least */
  double state, image; /**< bytes of a cell in the fields, in a snapshot */
  /** Number of cells that need memory; any number above `most` if there are more. May be NULL. */
  double (*count)(const void *user, double most);
  const void *user;
} gab_app_memory;

#ifdef __cplusplus
}
#endif
#endif

/* SPDX-License-Identifier: Apache-2.0 */
/** @file tracers.h
 *  @brief Tracers: particles that a velocity field on blocks carries, with second order in time and space.
 *
 *  The program sets the velocity in all cells, in physical units, and the tracers take a step:
 *  @code
 *    GAB_TRY(gab_tracers_create(forest, &(gab_tracers_options){.name = "tracers"}, &tracers)); // before the blocks
 *    ...                                            set gab_tracers_velocity() of each block, at the start
 *    GAB_TRY(gab_tracers_exchange(tracers));
 *    GAB_TRY(gab_tracers_add(tracers, id, at, 0, NULL));
 *    ...                                            each step: set the velocity of its end, then
 *    GAB_TRY(gab_tracers_step(tracers, dt));
 *  @endcode
 *  A step is Heun's method (Runge-Kutta of second order): a predictor with the velocity at its start, which the record holds, and a
 *  corrector with the mean of that and of the velocity at the predicted position, at the end of the step:
 *
 *      x* = x + dt v,   x' = x + dt / 2 (v + u(x*, t + dt)),   v' = u(x', t + dt)
 *
 *  Values between cell centres are linear. Next to another level, and next to sides, a linear function of the block's own cells is
 *  extrapolated by at most half a cell: second order, not continuous.
 *
 *  **Walls.** Cells without a velocity (NaN) that are solid have the value with which the velocity half-way to a fluid cell is that
 *  of the wall. A predictor or corrector that ends in a solid cell, or beyond a closed side, is not taken: the tracer waits there until
 *  the flow takes it along. Beyond other sides tracers are removed; periodic ones wrap. Of cells that become solid when the grid
 *  changes, tracers wait, too; where no block is left, they are removed.
 *
 *  Records are stored block data (particles.h): they survive, and results do not depend on the number of processes.
 *
 *  Stability: stable; extender where marked.
 */
#ifndef GABION_BLOCKFOREST_TRACERS_H
#define GABION_BLOCKFOREST_TRACERS_H

#include "blockforest/exchange/block_field.h"
#include "blockforest/particles/particles.h"

#ifdef __cplusplus
extern "C" {
#endif

/** A record. */
typedef struct gab_tracer {
  gab_particle base;
  double velocity[3]; /**< at its place; in 2D velocity[2] is 0 */
  int64_t born;       /**< as gab_tracers_add() was told */
  uint64_t waits;     /**< 1: the predictor of the step under way is not taken; 0 between steps */
} gab_tracer;

typedef struct gab_tracers_options {
  const char *name; /**< of the block data; copied */
  bool closed
      [6]; /**< sides x min, x max, y min … that tracers cannot pass; without effect for periodic ones */
  /** The same of a position beyond a side whose parts differ. NULL: as `closed` says. Pure; called by several threads.
   *  @param[in] side  in their order @param[in] at  physical */
  bool (*is_closed)(void *user, int side, const double at[3]);
  /** Whether a cell of the domain is solid, and the velocity of its wall. NULL: none is. Pure; called by several threads.
   *  @param[in] cell  in cell indices of `level` @param[in,out] velocity  zero at first, in the units of the field */
  bool (*is_solid)(void *user, int level, const int64_t cell[3], double velocity[3]);
  void *user;
  bool is_timed; /**< the time of each block's tracers counts in balancing by measured times */
} gab_tracers_options;

typedef struct gab_tracers gab_tracers;

/** Registers tracers and their velocity field. Collective (opens ports), before the forest has blocks.
 *  @param[out] tracers  to be destroyed before the forest @return as gab_particles_create() */
gab_status gab_tracers_create(gab_forest *forest, const gab_tracers_options *options, gab_tracers **tracers);
void gab_tracers_destroy(gab_tracers **tracers);

/** The velocity on a block: as many components as dimensions, one layer of ghosts. The program sets its cells, NaN in those without a
 *  velocity, before gab_tracers_exchange() and gab_tracers_step(). Not stored: it is lost when a block moves. */
gab_field *gab_tracers_velocity(const gab_tracers *tracers, const gab_block *block);
/** Its handle, for gab_app_plan_add_data(). */
GAB_EXTENDER gab_data_id gab_tracers_velocity_data(const gab_tracers *tracers);
/** The ghosts that each step exchanges, for gab_app_plan_add_ghosts(). Borrows from the tracers. */
GAB_EXTENDER gab_ghost_kind gab_tracers_ghosts(const gab_tracers *tracers);

/** The records, for output, counts and removal: each is a gab_tracer. Borrowed. */
gab_particles *gab_tracers_particles(const gab_tracers *tracers);

/** Fills the ghosts of the velocity, between blocks of one level. Collective among neighbours. @return as gab_exchange_start() */
gab_status gab_tracers_exchange(gab_tracers *tracers);

/** Adds a tracer if a block of this process contains its position, in a cell that is not solid, with the velocity there: of the last
 *  gab_tracers_exchange() or gab_tracers_step(). For a seeding each process offers all. Local.
 *  @param[in] born  kept in the record @param[out] added  whether it is here; may be NULL @return as gab_particles_add() */
gab_status gab_tracers_add(gab_tracers *tracers, uint64_t id, const double at[3], int64_t born, bool *added);

/** A step to the time of the velocity that was set. Collective among neighbours: three messages per neighbour rank, that of the
 *  ghosts and two of gab_particles_move(). Where the velocity is not finite, tracers wait.
 *  @param[out] removed  beyond sides, by this process; may be NULL
 *  @return ::GAB_ERR_ARGUMENT for a tracer that would move by more than half a block, with place and velocity: it ends the run on all;
 *  ::GAB_ERR_FAULT in a broken world */
gab_status gab_tracers_step(gab_tracers *tracers, double dt, uint64_t *removed);

#ifdef __cplusplus
}
#endif
#endif

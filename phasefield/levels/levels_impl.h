/* SPDX-License-Identifier: Apache-2.0 */
/** @file levels_impl.h
 *  @brief A phase field on blocks of several levels.
 *
 *  Units: cells of the finest level L, of width h. A block of level l has cells of width H = 2^(L-l) h. All levels take
 *  the same step dt.
 *
 *  Invariant: every coarser block, and the outermost cells of every block next to another level, consist of one phase p,
 *  the same on both sides (phasefield/levels/refinement.h). gab_phasefield_levels_check() verifies it in every step. So
 *  phi needs no messages across borders of levels, does not change in coarse blocks, and only diffusion in one phase
 *  crosses a border: F = -M grad mu, M = D_p chi_p constant.
 *
 *  Ghosts of mu: blockforest/exchange/level_border.h with u = mu. Fluxes are decided on the fine side, so c changes by
 *  rounding only.
 *  Splitting: children have the phase of their parent; c is linear, its mean is kept. Merging: the mean of the children;
 *  ::GAB_ERR_STATE unless they are of one phase.
 *  Moving window: the content moves by 2^L rows of the finest level, which is one row of level 0.
 *
 *  Derivations and orders: doc/phase-field.md, "Levels".
 *
 *  Stability: internal, never installed.
 */
#ifndef GABION_PHASEFIELD_LEVELS_IMPL_H
#define GABION_PHASEFIELD_LEVELS_IMPL_H

#include "blockforest/exchange/coupling.h"
#include "phasefield/phasefield_impl.h"

/** Additional data of a model on several levels. */
struct gab_phasefield_levels {
  gab_phasefield *phasefield;
  int finest;                   /* level */
  gab_phasefield_model *coarse; /* one per level below the finest: `model` in other cells */
  gab_coupling **borders;       /* of mu, one per coarser level */
  gab_coupling *rows;           /* of the window */
  gab_exchange **rows_exchange; /* one per level */
  struct gab_phasefield_rows *rows_kind;
  gab_coupling *nearness; /* of refinement.c */
  gab_exchange *nearness_exchange;
};

/** For the exchange of one level when the window moves. */
typedef struct gab_phasefield_rows {
  const gab_phasefield_model *model;
  int32_t rows;
} gab_phasefield_rows;

static inline bool gab_phasefield_is_coarse(const gab_phasefield_block *block)
{
  return block->model->coarser > 0;
}

/* ---- phasefield/lookup.c ---- */
/** The model in cells of a level. */
const gab_phasefield_model *gab_phasefield_model_of(const gab_phasefield *phasefield, int level);

/* ---- phasefield/initialise.c ---- */
/** The initial state of a cell of a coarser level, the mean of that of the finest.
 *  @return false if these are not of one phase */
bool gab_phasefield_initial_mean(const gab_phasefield *phasefield, const int64_t cell[3], int coarser,
                                 double *phi, double *c);

/* ---- levels_create.c ---- */
/** Prepares options->levels > 0, after the registration of the data. Collective. */
gab_status gab_phasefield_levels_create(gab_phasefield *phasefield);
void gab_phasefield_levels_destroy(gab_phasefield *phasefield);

/* ---- levels_cells.c ---- */
/** A field in the child `part` (bit 0: x, ...) of a cell: constant, or linear with slopes from within the
 *  block. */
double gab_phasefield_child_value(const gab_field *field, const int32_t at[3], int component, int part,
                                  bool linear, int dimension);
/** The mean of 2^dimension values, in pairs: equal values give that value. @param[in,out] values  overwritten */
double gab_phasefield_mean_of_parts(double *values, int dimension);
/** The mean over the cells that a coarser one covers, equal values exactly. @param[in] at  its lowest */
double gab_phasefield_parent_value(const gab_field *field, const int32_t at[3], int component, int dimension);
/** The phase that a cell consists of, -1 if there is none. */
int gab_phasefield_pure(const gab_field *phi, const int32_t at[3]);

/* ---- levels.c ---- */
/** Brings the models of coarser levels to the step and shift of the finest. */
void gab_phasefield_levels_sync(gab_phasefield *phasefield);
/** Bits of the directions in which a block of another level lies. */
uint32_t gab_phasefield_beside(const gab_forest *forest, const gab_block *place);
/** Ghosts of phi in those directions, of a coarse block in all, from the cells inside. */
void gab_phasefield_fill_beside(const gab_phasefield_block *block, gab_phasefield_which which);
/** For blockforest/exchange/coupling.h: mu between levels. */
gab_coupling_kind gab_phasefield_border_coupling(void);
/** Ghosts of mu between levels; those within levels and beyond the sides are already filled. Collective. Marks blocks
 *  in which an interface has reached a border of levels. */
gab_status gab_phasefield_levels_exchange(gab_phasefield *phasefield);
/** ::GAB_ERR_STATE, raised, if a block of this process is marked. */
gab_status gab_phasefield_levels_check(gab_phasefield *phasefield);

/* ---- levels_split.c ---- */
gab_status gab_phasefield_split(void *user, const gab_forest *forest, const gab_block *parent,
                                const void *parent_data, const gab_block *const *children,
                                void *const *children_data);
gab_status gab_phasefield_merge(void *user, const gab_forest *forest, const gab_block *const *children,
                                const void *const *children_data, const gab_block *parent, void *parent_data);

/* ---- levels_window.c ---- */
gab_status gab_phasefield_levels_shift(gab_phasefield *phasefield, int64_t rows);
/** For blockforest/exchange/coupling.h and exchange.h. */
gab_coupling_kind gab_phasefield_rows_coupling(gab_phasefield *phasefield);
gab_ghost_kind gab_phasefield_rows_exchange(gab_phasefield_rows *rows);

/* ---- refinement.c ---- */
gab_coupling_kind gab_phasefield_nearness_coupling(void);
gab_ghost_kind gab_phasefield_nearness_exchange(void);

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/* Levels of the multigrid solver, and what its sources share. Internal.
 *
 * Level k of the multigrid has cells of the width of the finest blocks times 2^k, or wider ones in blocks of wider cells: these are
 * halved only from the level on that has their width. So level k < finest lies on a composite grid, the others on a uniform one. */
#ifndef GABION_BLOCKFOREST_ELLIPTIC_IMPL_H
#define GABION_BLOCKFOREST_ELLIPTIC_IMPL_H

#include "blockforest/elliptic/elliptic.h"
#include "blockforest/exchange/block_field.h"
#include "blockforest/exchange/coupling.h"

enum { GAB_ELLIPTIC_MOST_LEVELS = 40 };

/* Fields of a level. */
typedef enum elliptic_field {
  FIELD_U = 0,    /* approximation, or correction on a coarse level */
  FIELD_NEXT,     /* the other field of a sweep; residuals */
  FIELD_F,        /* right-hand side */
  FIELD_DIAGONAL, /* only for an operator of the program; beyond faces the weights of level_border.h */
  FIELD_KINDS
} elliptic_field;

/* A level of the multigrid: on blocks, or of the whole grid on each process. */
typedef struct elliptic_level {
  int number, finest; /* of this level, and of blocks */
  int32_t cells[3];   /* of a block of the finest level, or of the whole grid */
  double width;       /* of these cells */
  bool is_whole;
  gab_field *whole[FIELD_KINDS]; /* if is_whole */
  /* Else, of fields and exchanges of FIELD_U by level of blocks: */
  gab_block_field shapes[GAB_ELLIPTIC_MOST_FINEST + 1];
  gab_data_id blocks[FIELD_KINDS];
  gab_exchange *within[GAB_ELLIPTIC_MOST_FINEST + 1];
  gab_coupling *between[GAB_ELLIPTIC_MOST_FINEST]; /* by level of the wider cells */
  const gab_forest *forest;                        /* for levels of blocks */
  const gab_root_grid *grid;                       /* the same */
  bool weighs_fluxes;   /* an operator of the program: coefficients of faces differ */
  uint64_t diagonal_of; /* revision of the forest for which FIELD_DIAGONAL was computed, plus 1 */
} elliptic_level;

struct gab_elliptic {
  gab_forest *forest;
  int number; /* of this solver on this process, for the names of its data */
  gab_elliptic_options options;
  int dimension;
  bool periodic[3];
  double origin[3];
  int32_t roots[3]; /* blocks of level 0 */
  uint64_t all;     /* cells, if all blocks were of level 0 */
  int unused;       /* levels of blocks above the finest ones of the present grid */
  bool is_singular;
  double weights[8]; /* of the sweeps */
  int level_count, first_whole;
  elliptic_level levels[GAB_ELLIPTIC_MOST_LEVELS];
  gab_block_field own_shape;
  gab_data_id solution, preconditioned, direction; /* of conjugate gradients; the last one with V-cycles */
  gab_data_id rest, shadow;                        /* of BiCGStab besides: residuals, present and first */
  uint64_t *gathered;                              /* cells of the first whole level, as bits */
  double *bottom[3];                               /* of the coarsest level: solution, residual, direction */
};

/* ---- elliptic_levels.c: fields of a level */

gab_status gab_elliptic_levels_create(gab_elliptic *elliptic);
void gab_elliptic_levels_destroy(gab_elliptic *elliptic);
/* Pieces of a level on this process: its blocks, or the whole grid. */
ptrdiff_t gab_elliptic_pieces(const gab_elliptic *elliptic, const elliptic_level *level);
gab_field *gab_elliptic_piece(const gab_elliptic *elliptic, const elliptic_level *level, ptrdiff_t piece,
                              elliptic_field which);
/* Level of the block of a piece; of the whole grid 0. */
int gab_elliptic_block_level(const gab_elliptic *elliptic, const elliptic_level *level, ptrdiff_t piece);
double gab_elliptic_width(const gab_elliptic *elliptic, const elliptic_level *level, ptrdiff_t piece);
/* Global index of the lowest cell of a piece, in cells of its width. */
void gab_elliptic_first_cell(const gab_elliptic *elliptic, const elliptic_level *level, ptrdiff_t piece,
                             int32_t first[3]);
/* Fills the ghosts of FIELD_U beyond faces. Collective among neighbours on blocks.
 * @param[in] homogeneous  sides have the value or gradient 0 */
gab_status gab_elliptic_fill_ghosts(gab_elliptic *elliptic, elliptic_level *level, bool homogeneous);
/* The right-hand side of the first whole level, from all processes. Collective. */
gab_status gab_elliptic_gather(gab_elliptic *elliptic);

/* ---- elliptic_borders.c: ghosts beyond faces of blocks, within levels and between them */

/* Collective (opens ports). */
gab_status gab_elliptic_borders_create(gab_forest *forest, elliptic_level *level);
void gab_elliptic_borders_destroy(elliptic_level *level);
/* Collective among neighbours. Where two cells meet a wider one, ghosts are those of blockforest/exchange/level_border.h. */
gab_status gab_elliptic_borders_exchange(elliptic_level *level);

/* ---- elliptic_sweep.c: work per cell; ghosts of FIELD_U are filled */

/* FIELD_U += weight D^-1 (f - A u), by FIELD_NEXT. */
gab_status gab_elliptic_sweep(gab_elliptic *elliptic, elliptic_level *level, double weight);
/* The same from u = 0, without ghosts. */
gab_status gab_elliptic_first_sweep(gab_elliptic *elliptic, elliptic_level *level, double weight);
/* FIELD_NEXT = f - A u. */
void gab_elliptic_residual(gab_elliptic *elliptic, elliptic_level *level);
/* FIELD_NEXT = A u, on sides without value or gradient. */
void gab_elliptic_apply(gab_elliptic *elliptic, elliptic_level *level);
/* The solution of the coarsest level, FIELD_U, by conjugate gradients on each process. */
void gab_elliptic_bottom(gab_elliptic *elliptic, elliptic_level *level);
/* The diagonal of an operator of the program, if the blocks have changed. */
void gab_elliptic_find_diagonal(gab_elliptic *elliptic, elliptic_level *level);
/* What u of a cell of a width is multiplied by in A u, of the operator with alpha and beta. */
double gab_elliptic_diagonal(const gab_elliptic *elliptic, double width);
/* FIELD_F of the coarse level = mean of FIELD_NEXT of the fine one. Within the pieces of the fine one. */
void gab_elliptic_restrict(gab_elliptic *elliptic, const elliptic_level *fine, const elliptic_level *coarse);
/* FIELD_U of the fine level += FIELD_U of the coarse one, whose ghosts are filled. */
void gab_elliptic_prolong(gab_elliptic *elliptic, const elliptic_level *fine, const elliptic_level *coarse);

/* Largest |value| of a field of level 0, of all ranks. Collective. */
gab_status gab_elliptic_largest(gab_elliptic *elliptic, elliptic_field which, double *largest);

/* ---- elliptic_cycle.c */

/* A V-cycle of the equation for a correction: sides are homogeneous from `level` > 0 on, or if asked for. Collective.
 * @param[in] from_zero  FIELD_U of the level counts as 0 */
gab_status gab_elliptic_cycle(gab_elliptic *elliptic, int level, bool from_zero, bool homogeneous);

/* ---- conjugate.c */

/* to = a + factor b, in all cells of the finest level. */
void gab_elliptic_combine(const gab_elliptic *elliptic, gab_data_id to, gab_data_id a, double factor,
                          gab_data_id b);
/* The dot product of two fields of the finest level. Collective. */
gab_status gab_elliptic_dot(gab_elliptic *elliptic, gab_data_id a, gab_data_id b, double *dot);

/* Conjugate gradients on the finest level, from FIELD_U and FIELD_F. Collective. @param[in] most  iterations
 * @param[in] limit  of the largest residual @param[out] residual  reached */
gab_status gab_elliptic_conjugate(gab_elliptic *elliptic, int most, double limit, int *iterations,
                                  double *residual);
/* The same, preconditioned by a V-cycle. */
gab_status gab_elliptic_conjugate_multigrid(gab_elliptic *elliptic, int most, double limit, int *iterations,
                                            double *residual);

/* ---- bicgstab.c */

/* BiCGStab on the finest level, preconditioned by a V-cycle; otherwise as conjugate gradients. Collective. */
gab_status gab_elliptic_bicgstab(gab_elliptic *elliptic, int most, double limit, int *iterations,
                                 double *residual);

#endif

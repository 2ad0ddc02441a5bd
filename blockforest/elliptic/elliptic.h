/* SPDX-License-Identifier: Apache-2.0 */
/** @file elliptic.h
 *  @brief Linear elliptic equations on a block grid: multigrid, conjugate gradients and Jacobi, matrix-free.
 *
 *  Solves A u = f for the operator A u = alpha u - beta Laplace(u) on the cells of a forest (Poisson, implicit diffusion,
 *  pressure), or for an operator that the program gives as a function of a block and one layer of cells around it:
 *  @code
 *    gab_elliptic_options options = {.operation = {.alpha = 1, .beta = dt * k}};
 *    GAB_TRY(gab_elliptic_create(forest, &options, &heat));         // before the forest has blocks
 *    ...
 *    GAB_TRY(gab_elliptic_solve(heat, rhs, u, NULL));               // in a task of the time loop
 *  @endcode
 *
 *  Method
 *  ------
 *  Cell-centred geometric multigrid, V-cycles. Blocks are coarsened to half as many cells per axis as long as their cells are
 *  even. When the whole grid has at most #GAB_ELLIPTIC_GATHERED cells, or blocks cannot be coarsened, each process gets the whole
 *  right-hand side and continues alone, across blocks. Smoother: Jacobi sweeps with the weights of a Chebyshev polynomial over
 *  the upper part of the spectrum, [1/dimension, 2] of D^-1 A (Adams et al. 2003). Restriction: mean of the children.
 *  Prolongation: linear, from the cell and its neighbours along the axes. Each level has its own discretisation of A.
 *
 *  Where coefficients of an operator of the program jump by orders of magnitude, V-cycles alone may diverge. The method
 *  ::GAB_ELLIPTIC_CONJUGATE_MULTIGRID converges there: conjugate gradients, preconditioned by a V-cycle with constant prolongation. On coarse
 *  levels the coefficient of a face should be the mean of those of the narrowest faces in it (Alcouffe et al. 1981), not a
 *  sample of the medium. ::GAB_ELLIPTIC_BICGSTAB_MULTIGRID converges there, too, with V-cycles of linear prolongation.
 *
 *  Results are the same bit by bit on any number of processes and threads: all steps are per cell, in one order, and the
 *  reductions are order-free. No state survives a solve, so a run that returns to a checkpoint repeats it exactly.
 *
 *  Levels of blocks
 *  ----------------
 *  With gab_elliptic_options.finest the forest may have blocks of several levels, which may change between solves. The
 *  discretisation is that of blockforest/exchange/level_ghosts.h: fluxes match at borders of levels, so the sum of A u over the volume
 *  has no contribution from them, and the solution is of second order. V-cycles coarsen the blocks of the narrowest cells first
 *  (McCormick 1989; Martin & Cartwright 1996), so blocks need a multiple of 2^finest cells along each axis, 4 or more. The mean that
 *  a singular operator subtracts is weighted by volume. Conjugate gradients are refused, since the operator is not symmetric at
 *  borders; ::GAB_ELLIPTIC_BICGSTAB_MULTIGRID needs no symmetry (van der Vorst 1992).
 *
 *  An operator of the program gets cells of the width of each block. Its fluxes match at borders too: their coefficients are the factors
 *  of ghosts in A u. When the blocks have changed, the solver finds them by `apply` for a field that is 1 beyond one side and 0 elsewhere. A wide
 *  face whose coefficient is 0 has no flux, so let it be the mean of the narrow faces in it. Solutions are of second order where the
 *  coefficient is smooth.
 *
 *  Sides
 *  -----
 *  Periodic axes are those of the forest. Another side has a value or an outward derivative of u at its faces. If alpha is 0
 *  and no side has a value, A is singular: the solver subtracts the mean from the right-hand side, and the mean of u is 0.
 *
 *  Stability: stable.
 */
#ifndef GABION_BLOCKFOREST_ELLIPTIC_H
#define GABION_BLOCKFOREST_ELLIPTIC_H

#include "blockforest/elliptic/reduce.h"
#include "field/field.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct gab_elliptic gab_elliptic;

/** Cells of the whole grid at most, below which every process computes all of them. */
#define GAB_ELLIPTIC_GATHERED 4096
/** The same, if blocks cannot be coarsened further: beyond, the solver is refused. */
#define GAB_ELLIPTIC_MOST_GATHERED (1 << 20)
enum { GAB_ELLIPTIC_MOST_FINEST = 8 };

typedef enum gab_elliptic_method {
  GAB_ELLIPTIC_MULTIGRID = 0,
  GAB_ELLIPTIC_CONJUGATE,           /**< conjugate gradients, preconditioned by the diagonal */
  GAB_ELLIPTIC_JACOBI,              /**< one sweep with weight 2/3 per iteration; slow, for comparison */
  GAB_ELLIPTIC_CONJUGATE_MULTIGRID, /**< conjugate gradients, preconditioned by a V-cycle: for coefficients that jump */
  GAB_ELLIPTIC_BICGSTAB_MULTIGRID /**< BiCGStab, two V-cycles per iteration: for coefficients that jump, with levels too */
} gab_elliptic_method;

typedef enum gab_elliptic_side_kind {
  GAB_ELLIPTIC_VALUE = 0, /**< u at the faces of the side */
  GAB_ELLIPTIC_GRADIENT   /**< derivative of u along the outward normal there */
} gab_elliptic_side_kind;

/** Condition at a side that is not periodic. */
typedef struct gab_elliptic_side {
  gab_elliptic_side_kind kind;
  double value; /**< in units of u, or of u per length */
} gab_elliptic_side;

/** Cells to which an operator is applied: those of a block, or on a coarse level of the whole grid. */
typedef struct gab_elliptic_cells {
  void *user;
  int32_t cells[3]; /**< z is 1 in 2D */
  double origin[3]; /**< coordinates of the lower corner */
  double width;     /**< of a cell */
  const gab_field
      *u;         /**< component 0, with one layer of ghosts beyond faces; edges and corners are undefined */
  gab_field *out; /**< to be set in all cells: A u */
  gab_field *
      diagonal; /**< NULL, or to be set in all cells instead of `out`: the factor of u of the cell itself in A u */
} gab_elliptic_cells;

/** The operator A. */
typedef struct gab_elliptic_operator {
  double alpha, beta; /**< alpha u - beta Laplace(u), if `apply` is NULL; not both 0, neither negative */
  /** An operator of the program: a pure function, called by several threads for different blocks and for cells of any width.
   *  A must be symmetric, positive (semi)definite, and the sum of absolute values of a row at most twice its diagonal. */
  void (*apply)(const gab_elliptic_cells *at);
  void *user;       /**< of `apply`; borrowed */
  bool is_singular; /**< of `apply`: constants are in the null space */
} gab_elliptic_operator;

/** Zero-initialise; zeros mean the defaults. */
typedef struct gab_elliptic_options {
  gab_elliptic_operator operation;
  gab_elliptic_side sides[6]; /**< -x, +x, -y, +y, -z, +z; those of periodic axes are ignored */
  gab_elliptic_method method;
  double tolerance; /**< of the largest residual, relative to the largest right-hand side; default 1e-10 */
  int most;         /**< cycles or iterations; default 100, conjugate gradients and Jacobi 100000 */
  int sweeps;       /**< of the smoother, before and after the coarse correction each: 1 to 8; default 3 */
  int finest;       /**< level of blocks that there may be, at most #GAB_ELLIPTIC_MOST_FINEST; 0: one level */
} gab_elliptic_options;

/** Result of a solve. */
typedef struct gab_elliptic_result {
  int iterations;         /**< cycles or iterations */
  double first, residual; /**< largest |f - A u| before and after */
  double factor;          /**< geometric mean by which an iteration reduced it; 0 without one */
} gab_elliptic_result;

/** Makes a solver. Registers scratch data with the forest, so it comes before the forest has blocks, with the same options in
 *  the same order on all processes. Collective (opens ports).
 *  @param[out] elliptic  to be destroyed before the forest
 *  @return ::GAB_ERR_ARGUMENT for an operator or tolerance that cannot be, ::GAB_ERR_INPUT for a grid, with the numbers; as
 *  gab_forest_add_data() */
gab_status gab_elliptic_create(gab_forest *forest, const gab_elliptic_options *options,
                               gab_elliptic **elliptic);
void gab_elliptic_destroy(gab_elliptic **elliptic);

/** Changes alpha and beta, for a time step that varies. Local, the same on all. @return as gab_elliptic_create() */
gab_status gab_elliptic_set(gab_elliptic *elliptic, double alpha, double beta);

/** Solves A u = f. Collective over the living.
 *  @param[in] f  right-hand side @param[in,out] u  initial guess, replaced by the solution; ghosts are not set. Fields of the
 *  blocks' cells, double precision; they may be components of one field
 *  @param[out] result  may be NULL
 *  @return ::GAB_ERR_DIVERGED on all if the tolerance is not reached, with residuals and iterations; ::GAB_ERR_FAULT in a
 *  broken world. A forest with blocks of deeper levels than `finest`, or without some of its blocks, ends the run with ::GAB_ERR_STATE
 *  (gab_world_raise()), wrong data or components with ::GAB_ERR_ARGUMENT */
gab_status gab_elliptic_solve(gab_elliptic *elliptic, gab_block_component f, gab_block_component u,
                              gab_elliptic_result *result);

#ifdef __cplusplus
}
#endif
#endif

/* SPDX-License-Identifier: Apache-2.0 */
/** @file lbm.h
 *  @brief Lattice Boltzmann flow on a forest of blocks.
 *
 *  A step takes the flow from n to n + 1:
 *  @code
 *    gab_lbm_exchange_start(lbm);   packs and sends the populations that cross to other ranks
 *    gab_lbm_collide_inner(lbm);    optional: cells that need no message
 *    gab_lbm_exchange_finish(lbm);  receives and unpacks
 *    gab_lbm_collide(lbm);          ghosts between own blocks, boundaries, streaming, collision
 *  @endcode
 *
 *  State: the populations of each fluid cell after collision, as deviations f_q - w_q from the weights (Skordos 1993).
 *  Units: lattice units (cells, steps, density 1) of level 0, unless said otherwise; conversion: lbm/setup/units.h.
 *  Velocity: (sum_q c_q f_q + F/2) / rho of the populations before collision, in all outputs.
 *  Collision: a table per model (lbm/collision/collision.h). Kernel: a family by name (lbm/kernels/kernel_family.h).
 *  Body force: Guo, Zheng & Shi 2002; TRT and MRT relax its even and odd parts at their own rates.
 *  Results do not depend on the number of ranks or threads, nor on the kernel; on one level not on the blocks.
 *
 *  Blocks may be of several levels if their number of cells along each axis is even and at least 4. A level takes two
 *  sub-steps per step of the coarser level. Mass and momentum are conserved to rounding where levels meet.
 *  Without an open side (gab_lbm_has_open_side()), interpolated walls conserve the mass too (doc/walls.md); then
 *  gab_lbm_collide() is collective over all ranks, and there is no temporal blocking.
 *
 *  Life: gab_geometry_create, gab_forest_create, gab_lbm_create; populate the forest (gab_balance_initial) or restore
 *  it; steps; gab_lbm_destroy, gab_forest_destroy, gab_geometry_destroy in this order.
 *
 *  Collision models, stability and kernels: doc/flow.md; edges of sides: doc/sides.md; levels: doc/levels.md.
 *
 *  Stability: extender; stable where marked.
 */
#ifndef GABION_LBM_LBM_H
#define GABION_LBM_LBM_H

#include "blockforest/exchange/exchange.h"
#include "blockforest/forest/sample.h"
#include "core/base/entity.h"
#include "core/base/exact_sum.h"
#include "field/field.h"
#include "lbm/sides/boundary.h"
#include "lbm/collision/collision.h"
#include "lbm/boundaries/geometry.h"
#include "lbm/sides/patch.h"
#include "lbm/kernels/lattice.h"
#include "lbm/porous/porous.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct gab_lbm gab_lbm;

/** Initial state at a point. */
typedef struct gab_lbm_state {
  double density, velocity[3];
  double gradient[3][3]; /**< du_i/dx_j per cell: gives the populations their non-equilibrium part */
} gab_lbm_state;

/** A pure function of the physical cell centre. @param[in,out] state  holds the uniform initial state of the
 *  options and a zero gradient on entry */
typedef void (*gab_lbm_initial_fn)(void *user, const double centre[3], gab_lbm_state *state);

/** Free rates of MRT, in (0, 2]. The stress relaxes with omega. Defaults: d'Humières et al. 2002 in 3D, Lallemand & Luo
 * 2000 in 2D. In a uniform flow of up to 0.15 cells per step no wave grows with them up to omega 1.995 in 2D, 1.98 in 3D
 * (in 3D energy 1.6, energy square 1.6, flux 1.8, stress 1.8 reach 1.99). */
typedef struct gab_mrt_rates {
  double energy; /**< [0: 1.64 in 2D, 1.19 in 3D] bulk viscosity: (1/energy - 1/2) 2/9 in 3D, / 3 in 2D */
  double energy_square; /**< [0: 1.54 in 2D, 1.4 in 3D] */
  double energy_flux;   /**< [0: from the magic parameter if given, else 1.9 in 2D, 1.2 in 3D] */
  double stress;        /**< [0: 1.4] of the stress-like moments of fourth order; 3D only */
  double third; /**< [0: from the magic parameter if given, else 1.98] of the third-order moments other than
                 * the energy flux; 3D only */
} gab_mrt_rates;

/** Options of a flow. A zero-initialised member has the default in brackets. */
typedef struct gab_lbm_options {
  const gab_lattice *lattice;     /**< [NULL: D2Q9 in 2D, D3Q19 in 3D] */
  gab_precision precision;        /**< [double] of the stored populations and of the arithmetic */
  bool mixed;                     /**< with GAB_PRECISION_FLOAT: collisions are computed in double */
  const gab_collision *collision; /**< borrowed [NULL: TRT] */
  double omega; /**< relaxation rate of the even parts, in (0, 2): nu = (1/omega - 1/2) / 3 */
  /** (1/omega - 1/2)(1/omega_odd - 1/2); TRT [0: 3/16]; MRT [0: its odd rates are free], not with mrt.energy_flux */
  double magic;
  /** Speed up to which borders between levels, and open sides, are stable, below 1/2. TRT, MRT: bounds the magic parameter
   * of each level, also with a free rate of the energy flux, by ((1/omega - 1/2) / (2 border_speed))^2 [0: no bound] */
  double border_speed;
  gab_mrt_rates mrt;                     /**< MRT only */
  double smagorinsky;                    /**< Smagorinsky only: the constant [0: 0.1] */
  double numbers[GAB_COLLISION_NUMBERS]; /**< of a user-defined model; the same on all levels */
  double force[3];                       /**< body force per volume */
  bool force_varies;                     /**< gab_lbm_set_force() may be called [false] */
  const char *kernel;                    /**< by name: lbm/kernels/kernel_family.h [NULL: auto] */
  /** Number of dense blocks, adjacent along x, that share one field row by row, 1 … 16: they need no ghosts between them.
   * In place only. Results do not depend on it; blocks of fewer than some 100 cells along x are faster with it
   * (doc/performance.md). 1: each block has a separate field. [0: rows of 128 cells, but at most 1 + an eighth of a
   * process's blocks] */
  int fused_blocks;
  /** The finest level of blocks. Set it if blocks are refined without a geometry, or with one without it
   * (gab_domain.deepest): only then the state records the coupling of levels (gab_lbm_put_arithmetic()), and a later
   * version with other bits refuses it. No other effect [0] */
  int deepest;
  gab_side sides[GAB_SIDE_COUNT];
  const gab_patches
      *patches; /**< parts of sides with separate conditions; completed; borrowed [NULL: none] */
  const gab_porous_region
      *porous;         /**< read by gab_lbm_create(); what their shapes refer to is borrowed [NULL] */
  size_t porous_count; /**< [0] */
  double density;      /**< of the uniform initial state [0: 1] */
  double velocity[3];
  gab_lbm_initial_fn initial; /**< [NULL: uniform] */
  void *initial_user;
} gab_lbm_options;

/** @name Conditions in one numbering: the sides by gab_side_index, then the patches in their order. Pure.
 *  @{ */
static inline int gab_lbm_condition_count(const gab_lbm_options *options)
{
  return GAB_SIDE_COUNT + (options->patches ? options->patches->count : 0);
}
static inline const gab_side *gab_lbm_condition(const gab_lbm_options *options, int condition)
{
  return condition < GAB_SIDE_COUNT ? &options->sides[condition]
                                    : &options->patches->list[condition - GAB_SIDE_COUNT].condition;
}
/** The side that a condition belongs to. */
static inline int gab_lbm_condition_side(const gab_lbm_options *options, int condition)
{
  return condition < GAB_SIDE_COUNT ? condition : options->patches->list[condition - GAB_SIDE_COUNT].side;
}
/** Whether a condition has any face: not a side that its patches cover. */
static inline bool gab_lbm_condition_has_faces(const gab_lbm_options *options, int condition)
{
  const gab_patches *patches = options->patches;
  return condition >= GAB_SIDE_COUNT || !patches || !(patches->sides >> condition & 1) ||
         patches->side_faces[condition] > 0;
}
/** @} */

/** Makes a flow on a forest without blocks: registers block data and a ghost exchange. Collective. @param[in] geometry
 * borrowed during the life of the flow; NULL: no bodies. Its domain must be that of the forest @return ::GAB_ERR_INPUT with
 * the values of invalid options */
GAB_STABLE gab_status gab_lbm_create(gab_forest *forest, const gab_geometry *geometry,
                                     const gab_lbm_options *options, gab_lbm **lbm);
/** Call it before gab_forest_destroy(); afterwards the forest can only be destroyed. Sets *lbm to NULL. */
GAB_STABLE void gab_lbm_destroy(gab_lbm **lbm);

/** The domain of a forest for a geometry. */
GAB_STABLE gab_domain gab_lbm_domain(const gab_forest_options *options);

/* ------------------------------------------------------------------------------------------ stepping */

/** Changes the body force per volume from the next step on. The caller keeps it in its state (gab_lbm_pack_state() does not) and sets it
 *  again after a restore. Local; the same on all ranks. @return ::GAB_ERR_STATE without gab_lbm_options.force_varies */
gab_status gab_lbm_set_force(gab_lbm *lbm, const double force[3]);
/** One step: the calls below. Collective among neighbours. */
GAB_STABLE gab_status gab_lbm_step(gab_lbm *lbm);
/** `count` steps, with the same bits as gab_lbm_step(), if possible several in one sweep through memory (temporal
 * blocking): a cell takes its next step while it is in the caches, as soon as its neighbours have taken this one. For
 * domains that do not fit into the caches (doc/performance.md). Possible on a process
 * - whose blocks are dense, stored in place and of one level,
 * - that gets no ghosts from other processes, nor across periodic ends in y and z,
 * - without a local force or porous regions, and while blocks are not timed for balancing. Elsewhere, and for a step with forces on bodies or
 *   that is computed twice, steps are taken one by one. Intermediate states are not visible: fault points, the check of the
 *   world and callbacks occur once per temporal block. Do not use it with solvers that are coupled in each step (e.g. a
 *   scalar). Collective among neighbours.
 * @param[in] temporal_steps maximum steps of a temporal block (at most 8); 1: no temporal blocking; 0: chosen by the size
 *   of the caches
 * @return ::GAB_ERR_ARGUMENT for numbers below zero, else as gab_lbm_step() */
GAB_STABLE gab_status gab_lbm_steps(gab_lbm *lbm, gab_step count, int temporal_steps);
/** One temporal block, or nothing if it is impossible or not worthwhile: then no exchange has begun; take the next step by
 *  gab_lbm_step(). For loops that read the state at intervals (gab_timeloop_add_temporal_block()). Local, without messages.
 *  @param[in] most  steps @param[in] temporal_steps  as in gab_lbm_steps() @param[out] taken  steps, two or more; 0: none
 *  @return ::GAB_ERR_ARGUMENT for numbers below zero, else as gab_lbm_step() */
GAB_STABLE gab_status gab_lbm_temporal_block(gab_lbm *lbm, gab_step most, int temporal_steps,
                                             gab_step *taken);
/** Enters ::GAB_FAULT_POINT_EXCHANGE. */
GAB_STABLE gab_status gab_lbm_exchange_start(gab_lbm *lbm);
/** Optional, between start and finish: computes cells that need no data of other processes, and advances messages. Complete
 * the step by finish and collide; until then the populations are undefined. No effect in a step with forces on bodies,
 * without messages, or on a process with blocks of several levels or next to finer ones. Local. @return ::GAB_ERR_STATE
 * without an exchange in progress */
GAB_STABLE gab_status gab_lbm_collide_inner(gab_lbm *lbm);
/** Completes the ghosts that come from other processes. Ghosts between blocks of this process, and populations of boundary
 * cells, are set by gab_lbm_collide(), slab by slab just before use; in a step with forces on bodies they are set here. */
GAB_STABLE gab_status gab_lbm_exchange_finish(gab_lbm *lbm);
/** Enters ::GAB_FAULT_POINT_COMPUTE, then streams and collides all blocks. Local on one level; on several it includes the
 * sub-steps of finer levels with their exchanges: collective among neighbours. @return ::GAB_ERR_STATE if the forest has
 * changed since the exchange, or there was none for this step */
GAB_STABLE gab_status gab_lbm_collide(gab_lbm *lbm);
/** The same with the present ghosts, to measure the sweep alone: the result is not a flow. */
gab_status gab_lbm_collide_stale(gab_lbm *lbm);

/** Times of the computing threads, in seconds, summed over the threads of this process. */
typedef struct gab_lbm_times {
  double ghosts; /**< copied between blocks of this process */
  double links;  /**< populations of boundary cells */
  double sweep;  /**< streaming and collision */
  double
      interfaces;  /**< next to blocks of other levels: populations sent to finer cells, sums, corrections */
  double messages; /**< exchanges, between levels also those within this process: packing, transfer,
                    * unpacking; all threads count, since they wait */
  double other;    /**< distribution of work, waiting for other threads */
} gab_lbm_times;
/** Starts timing the parts of steps from zero, or ends it. Off by default, since it reads the clock twice for each part of
 * each slab. Local. */
gab_status gab_lbm_time_parts(gab_lbm *lbm, bool on);
/** Starts or ends measuring the processor time of each block (gab_forest_block_work()): sweep, boundaries, ghosts from
 * local blocks, and message progress meanwhile; without the common work of threads that share a block. All threads count.
 * Reads their clocks twice per block and sub-step. Local. */
void gab_lbm_time_blocks(gab_lbm *lbm, bool on);
/** Times since gab_lbm_time_parts(). Local. */
gab_lbm_times gab_lbm_get_times(const gab_lbm *lbm);

/** Number of steps; time of the ramps. Equal on all processes, part of the state: gab_lbm_entity() saves and restores it,
 * with the other data outside of blocks. */
GAB_STABLE gab_step gab_lbm_get_step(const gab_lbm *lbm);
void gab_lbm_set_step(gab_lbm *lbm, gab_step step);
/** Clears the populations of solid cells. They are not state and are not read, but are sent with the ghosts of fluid cells.
 * Afterwards a process sends the same bytes as one restored from a checkpoint of this step, as strategy `local` compares
 * with gab_protection.verify (gab_timeloop_on_checkpoint()). Results do not change. Local. @return ::GAB_ERR_MEMORY; the
 * state is then unchanged */
gab_status gab_lbm_clear_solid(gab_lbm *lbm);

/* ------------------------------------------------------------------------------------------ looking at it */

GAB_STABLE const gab_lbm_options *gab_lbm_get_options(const gab_lbm *lbm); /**< with the defaults filled in */
const gab_geometry *gab_lbm_get_geometry(const gab_lbm *lbm);
/** Name of the kernel, e.g. "in_place/D3Q19/double/forced". */
GAB_STABLE const char *gab_lbm_kernel_name(const gab_lbm *lbm);
/** Identity of the arithmetic: everything besides the parameters on which the bits of results depend: lattice, precision,
 * collision and the revision of their arithmetic; with several levels (gab_domain.deepest, gab_lbm_options.deepest) also
 * that of their coupling. Part of every checkpoint. The kernel is not included: kernels of the same arithmetic have the
 * same bits. Local. */
gab_status gab_lbm_put_arithmetic(const gab_lbm *lbm, gab_buffer *out);
/** Reads it back. Local. @return ::GAB_ERR_INPUT with both names if the state has another arithmetic than this flow */
gab_status gab_lbm_check_arithmetic(const gab_lbm *lbm, gab_reader *in);

/** State of a flow outside of its blocks: arithmetic and number of steps. Pack and unpack functions of a replicated entity
 * (core/base/entity.h). @param[in] lbm  a gab_lbm @return as gab_lbm_check_arithmetic() */
gab_status gab_lbm_pack_state(void *lbm, gab_buffer *out);
gab_status gab_lbm_unpack_state(void *lbm, gab_reader *in);
/** These two as the entity "flow", for gab_timeloop_add_entity(). Pure. @param[in] lbm  borrowed as long as the entity is
 * used */
GAB_STABLE gab_entity gab_lbm_entity(gab_lbm *lbm);

/** Kernel of a flow, with reasons as text. */
typedef struct gab_lbm_kernel_choice {
  const char *name;
  char family[160];    /**< reason for the family */
  char processor[160]; /**< processor instructions of this build */
  char advice[160];    /**< empty if there is no advice */
} gab_lbm_kernel_choice;
/** Chooses a kernel without making the flow. Local. @param[in] options  with a lattice @param[in] cells  of a block @return
 * ::GAB_ERR_INPUT if there is no such kernel */
gab_status gab_lbm_choose_kernel(const gab_lbm_options *options, const int32_t cells[3],
                                 gab_lbm_kernel_choice *choice);
/** Number of fields of populations per block with the kernel of these options: 1 or 2; 0 if there is no such kernel
 * (without a lattice: on any lattice). Fields of sparse blocks have only fluid cells. Pure. */
int gab_lbm_fields(const gab_lbm_options *options);
/** Whether the flow could use another collision, on its lattice (if known) and with its kernel. Pure. */
bool gab_lbm_accepts(const gab_lbm_options *options, const gab_collision *collision);

/** Memory and message sizes of the blocks of a flow, in bytes. */
typedef struct gab_lbm_footprint {
  size_t field;          /**< of the field, or the two fields, of ... */
  int places;            /**< ... this number of blocks that store all cells: 1, or those of a fused field */
  size_t cell;           /**< of a fluid cell in an image, and in a sparse block */
  double sparse_below;   /**< share of fluid cells below which a block away from other levels is sparse */
  gab_ghost_kind ghosts; /**< exchange in a step of its level; for its size only */
} gab_lbm_footprint;
/** Local, needs no blocks. @param[in] ranks  that share the domain: determines fused fields */
gab_lbm_footprint gab_lbm_get_footprint(const gab_lbm *lbm, int ranks);
GAB_STABLE double gab_lbm_viscosity(const gab_lbm *lbm);
/** The magic parameter on a level: that of the options, or less if it is bounded; for SRT, and for MRT with a free rate of
 * the energy flux, the value from the rates. Pure. @param[in] options  with a lattice for MRT; magic may be 0 */
double gab_lbm_magic_on(const gab_lbm_options *options, int level);
/** The collision model of the options, or the default. Pure. */
static inline const gab_collision *gab_lbm_collision(const gab_lbm_options *options)
{
  return options->collision ? options->collision : &gab_collision_trt;
}
/** The `border_speed` that open sides (sides with a velocity across, pressure, outflow) need in a flow of that speed, in
 * cells per step: twice the speed, at most 1/4, with TRT, or MRT with a magic parameter, if the Reynolds number of a cell
 * exceeds 10. 0: none. Pure. */
double gab_lbm_open_speed(const gab_lbm_options *options, double speed);
/** The `border_speed` that borders between levels need in a flow of that speed, in cells per step of level 0: `given`, if
 * not negative; else twice the speed, at most 1/4, since flows around bodies get up to twice as fast; 0.1 for an unknown
 * speed (0). Pure. */
double gab_lbm_border_speed(double speed, double given);
/** Text with the magic parameters of levels 0 to the largest on which it is bounded below that of the options: "0.12,
 * 0.18". Pure. @param[in] options  as for gab_lbm_magic_on() @param[in] levels  number of levels @return that level; -1,
 * and an empty text, if there is none */
int gab_lbm_describe_bounds(const gab_lbm_options *options, int levels, char *text, size_t capacity);
/** Text: whether borders between levels amplify waves in a flow of that speed, in cells per step, if the coarser cells are
 * of `level`, and the remedy; empty if not. By the magic parameter, and by known limits of a collision in 3D. Pure.
 * @param[in] options  as for gab_lbm_magic_on() */
void gab_lbm_advise_borders(const gab_lbm_options *options, double speed, int level, char *text,
                            size_t capacity);
void gab_lbm_advise_borders_of_space(const gab_lbm_options *options, int dimension, double speed, int level,
                                     char *text, size_t capacity);
/** Text: whether waves grow in a uniform flow of that speed, in cells per step, on a level, and the remedy; empty if not.
 * Pure. @param[in] options  as for gab_lbm_magic_on() */
void gab_lbm_advise(const gab_lbm_options *options, double speed, int level, char *text, size_t capacity);
/** Text: whether the flow runs along an outflow or a pressure side, by the velocities of sides and of the initial state,
 * with cells that are too coarse for it, and the remedy; empty if not. Pure. @param[in] options  as for gab_lbm_magic_on()
 */
void gab_lbm_advise_open(const gab_lbm_options *options, int level, char *text, size_t capacity);
/** Text: collisions that may help after a flow has diverged: other available models with their parameters, and those of its
 * own. Pure. */
void gab_lbm_advise_diverged(const gab_lbm_options *options, char *text, size_t capacity);
/** Whether the magic parameter is bounded on that level. Pure. */
bool gab_lbm_magic_is_bounded(const gab_lbm_options *options, int level);

/** Density and velocity of the cells of a local block, x fastest. Solid cells: density 1, velocity 0. Local.
 *  @param[in] box  in cells of the block from 0, inside the block
 *  @param[out] density  one value per cell; may be NULL
 *  @param[out] velocity  three values per cell, also in 2D; may be NULL */
GAB_STABLE gab_status gab_lbm_macroscopic(const gab_lbm *lbm, const gab_block *block, const gab_box *box,
                                          double *density, double *velocity);
/** 1 for fluid, 0 for solid cells of a local block, x fastest. Local. */
gab_status gab_lbm_fluid_mask(const gab_lbm *lbm, const gab_block *block, const gab_box *box, uint8_t *fluid);

/** Whether a side or patch is open, so that mass enters or leaves: `pressure`, `outflow`, or a user-defined one. Pure. */
GAB_STABLE bool gab_lbm_has_open_side(const gab_lbm_options *options, int dimension);
/** Whether the mass that interpolated walls create in a step is removed in the next (doc/walls.md). Local. */
bool gab_lbm_balances_walls(const gab_lbm *lbm);

/** Counts of this process's blocks. Local. */
typedef struct gab_lbm_counts {
  uint64_t fluid_cells;
  uint64_t cells;          /**< fluid and solid, without ghosts */
  uint64_t links;          /**< between boundary and fluid cells */
  uint64_t fallback_links; /**< interpolated or free-slip links replaced by half-way ones, since a cell that
                            * they need is not fluid */
} gab_lbm_counts;
GAB_STABLE gab_lbm_counts gab_lbm_count(const gab_lbm *lbm);

/** Sums over all fluid cells, exact (independent of order), in lattice units; cells of finer levels count by
 *  their volume. With a local force (lbm/step/local_force.h) momentum and velocities contain all of it, as in gab_lbm_macroscopic(): half a
 *  step of its acceleration more than the quantity `velocity`. */
typedef struct gab_lbm_integrals {
  uint64_t fluid_cells;
  double volume; /**< of the fluid, in cells of level 0 */
  /** Mass: of the cells, minus the mass that walls remove in the next step. */
  double mass, momentum[3], kinetic_energy;
  double strain; /**< sum of S:S, S from the non-equilibrium; in a periodic or closed domain at rest at its
                      walls this is the enstrophy, half the sum of vorticity squared */
  double max_velocity; /**< largest |u| */
} gab_lbm_integrals;
/** Collective. @param[in] with_strain  also compute `strain`, else 0; costs one ghost exchange */
GAB_STABLE gab_status gab_lbm_integrate(gab_lbm *lbm, bool with_strain, gab_lbm_integrals *integrals);

/** Place where a run left the range of its model. */
typedef struct gab_lbm_trouble {
  gab_step step;
  gab_block_id block;
  int64_t cell[3]; /**< in cells of the domain */
  double density, velocity[3];
} gab_lbm_trouble;
/** Checks all local fluid cells. Local. @param[out] where may be NULL @return ::GAB_ERR_DIVERGED with step, block, cell and
 * numbers for the first cell that is not finite, has |u| > 0.6 or a density outside (0, 10) */
GAB_STABLE gab_status gab_lbm_check_finite(const gab_lbm *lbm, gab_lbm_trouble *where);

/* ------------------------------------------------------------------------------------------ sides that pass fluid
 */

/** Sums over the fluid cells at a side or patch, exact (independent of order), in cells of level 0. Sides and patches have
 * the numbers of gab_lbm_condition(), also as `condition` below. */
typedef struct gab_side_sums {
  gab_exact_sum area; /**< of the faces of fluid cells */
  gab_exact_sum
      flow; /**< volume per step into the domain by the links of a given velocity, at factor and scale 1 */
  gab_exact_sum
      wetted; /**< length of its border to walls, moving sides and bodies; in 2D the number of ends */
  gab_exact_sum
      replaced; /**< of a patch of a body: volume per step that its links would give as walls of the body */
  gab_exact_sum links; /**< of a patch of a body, by level: gab_side_links() */
} gab_side_sums;
/** Links of a patch of a body from fluid cells of a level. Pure. */
uint64_t gab_side_links(const gab_side_sums *sums, int level);
/** Whether fluid can pass a side or patch: it is open, or its velocity crosses it. Pure. */
bool gab_lbm_passes_fluid(const gab_lbm *lbm, int condition);
/** Adds the cells of a block at sides that pass fluid. Local. @param[in] cells  of the level @param[in,out] sums  initially
 * zero */
void gab_lbm_add_side_sums(const gab_lbm *lbm, int level, const gab_box *cells,
                           gab_side_sums sums[GAB_MOST_CONDITIONS]);
/** The same for all blocks of the forest, summed over all ranks. Collective. @param[out] sums */
gab_status gab_lbm_sum_sides(const gab_lbm *lbm, gab_side_sums sums[GAB_MOST_CONDITIONS]);
/** Scales the velocities of sides with a flow rate (gab_side.flow_rate) to exactly that rate at factor 1. Before the first
 * step, and after each change of the grid; the scales are part of the state (gab_lbm_entity()). Local; equal on all ranks
 * if the sums are. @param[out] failed  the condition of an error; may be NULL @return ::GAB_ERR_INPUT if no factor gives
 * the flow rate, or the flow would be too fast */
gab_status gab_lbm_set_flow_rates(gab_lbm *lbm, const gab_side_sums sums[GAB_MOST_CONDITIONS], int *failed);
/** Factor of the velocity or pressure of a side or patch at a time, with its scale. Pure. @param[in] step may be fractional */
double gab_lbm_side_factor(const gab_lbm *lbm, int condition, double step);
/** Maximum over the run of a parameter file; absolute. Pure. */
double gab_lbm_side_peak(const gab_lbm *lbm, int condition);

/** Flow through a side or patch in a step, and the pressure there. */
typedef struct gab_side_load {
  /** Of the faces of fluid cells, in cells of level 0; of a patch of a body a weight: the area of a plane along the axes. */
  double area;
  double flow; /**< mass into the domain per step, in units of a cell of level 0 at density 1 */
  /** Momentum transferred through the side: by pressure, friction and outflow; relative to the pressure at density 1, as
   * for bodies. */
  double force[3];
  double
      torque[3]; /**< of a patch of a body: about the torque point of that, as gab_body_load.torque; else 0 */
  double pressure; /**< mean over the faces after the step: of the cells there, extrapolated linearly */
} gab_side_load;
/** Requests side loads and forces in the next gab_lbm_exchange_finish(). On all processes. */
void gab_lbm_request_side_loads(gab_lbm *lbm);
/** Loads of the requested step, by exact sums over the links between fluid cells and places beyond sides; a link from
 * beyond several sides is divided among them by the velocity of the cell. Without other levels at a side, the flows of all
 * sides add up to the change of the mass in the domain, to rounding. Collective. @param[out] loads  by condition, for
 * existing ones @return ::GAB_ERR_STATE if none was requested */
gab_status gab_lbm_side_loads(gab_lbm *lbm, gab_side_load loads[GAB_MOST_CONDITIONS]);

/** Whether the factor of any side or patch uses statistics of the flow. Pure. @param[out] of_sides  any that are those of sides, for which
 *  gab_lbm_request_side_loads() has to precede; may be NULL */
bool gab_lbm_uses_statistics(const gab_lbm_options *options, bool *of_sides);
/** Measures the statistics that factors use from the next step on; part of gab_lbm_pack_state(). Again in one step: nothing. To be called at
 *  multiples of gab_lbm_setup.statistics_every. Collective. @return as gab_lbm_side_loads() */
gab_status gab_lbm_measure_statistics(gab_lbm *lbm, const struct gab_units *units);

/* ------------------------------------------------------------------------------------------ computed twice
 */

/** Requests that a sample of the blocks (gab_sample_has()) is computed twice in the next step, from the same values, each
 * in one sub-step of its level, and compared bit by bit: detects errors of a core, and bits that flip in the field
 * meanwhile. From then to the next sweep of the block a hash detects changes of its populations. The result of the step is
 * the same. With several threads, a different one computes the second time. Memory: the fields of the sample, during a
 * sub-step. Enters ::GAB_FAULT_POINT_RECOMPUTE. Local, before gab_lbm_exchange_start(). @param[in] share  of the blocks, 0
 * to 1 */
gab_status gab_lbm_request_recomputation(gab_lbm *lbm, double share);
/** Findings since the last call. Local. @param[in] at_rest  also compares the hashes now, between two steps @return
 * ::GAB_ERR_SUSPECT with a block in the message, to be returned by a live monitor */
gab_status gab_lbm_check_recomputed(gab_lbm *lbm, bool at_rest);
/** Counts of the recomputation so far, on this process. Local. */
gab_sample_report gab_lbm_recomputation(const gab_lbm *lbm);

/* ------------------------------------------------------------------------------------------ forces on bodies
 */

/** Requests the forces in the next gab_lbm_exchange_finish(). On all processes. No cost otherwise. */
GAB_STABLE void gab_lbm_request_forces(gab_lbm *lbm);
/** Force of the fluid on one body in the requested step: momentum exchange along its links with the populations that are
 * used (Ladd 1994; Mei et al. 2002), relative to the pressure at density 1; exact sum over all links. Collective. @return
 * ::GAB_ERR_STATE if none was requested */
GAB_STABLE gab_status gab_lbm_force(gab_lbm *lbm, size_t body, double force[3]);
/** All bodies at once. Collective. @param[out] forces  gab_geometry_body_count() of them */
GAB_STABLE gab_status gab_lbm_forces(gab_lbm *lbm, double (*forces)[3]);

/** Load of the fluid on a body in a step. */
typedef struct gab_body_load {
  double force[3];
  /** About gab_geometry_torque_point(), in force times cells of level 0; about z in 2D. The momentum of a link points along
   * it, so the torque is the same for all points of the link; relative to the pressure at density 1, as the force. */
  double torque[3];
} gab_body_load;
/** Forces and torques of all bodies, as gab_lbm_forces(). Collective. @param[out] loads  gab_geometry_body_count() of them */
GAB_STABLE gab_status gab_lbm_loads(gab_lbm *lbm, gab_body_load *loads);

#ifdef __cplusplus
}
#endif
#endif

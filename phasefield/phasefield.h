/* SPDX-License-Identifier: Apache-2.0 */
/** @file phasefield.h
 *  @brief Solidification of alloys on a forest of blocks: the grand-potential multi-phase-field model.
 *
 *  Unknowns per cell: N phase fractions phi_a (sum 1, the last is the melt) and K-1 chemical potentials mu. Stored and
 *  sent are phi and the concentrations c; mu is computed from them. The temperature is T_0 + G (x - v t) along the last
 *  axis (y in 2D, z in 3D), x counted with the shift of the moving window. Equations: doc/phase-field.md, "The model"
 *  (Choudhury & Nestler 2012, Hötzer et al. 2015; anisotropy: Nestler, Garcke & Stinner 2005).
 *
 *  A step of length dt, explicit:
 *  1. phi changes by dt / (tau epsilon) times the variation of -Omega, and is projected onto the simplex (Euclidean;
 *     fractions below 1e-12 become 0). Only phases that are present in the cell or across a face take part.
 *  2. c changes by fluxes through faces only, so its sum is constant but for rounding.
 *  3. mu follows from c, phi and T cell by cell.
 *
 *  Results do not depend on ranks, threads or blocks. Blocks of one phase may have wider cells
 *  (phasefield/levels/refinement.h).
 *
 *  Life: gab_forest_create, gab_phasefield_create; populate the forest (gab_balance_initial) or restore it; steps;
 *  gab_phasefield_destroy, gab_forest_destroy in this order.
 *
 *  Stability: extender; stable where marked.
 */
#ifndef GABION_PHASEFIELD_PHASEFIELD_H
#define GABION_PHASEFIELD_PHASEFIELD_H

#include "blockforest/exchange/exchange.h"
#include "blockforest/output/own_quantity.h"
#include "blockforest/forest/sample.h"
#include "field/field.h"
#include "phasefield/model/thermo.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct gab_phasefield gab_phasefield;

/** Boundary condition at a side of the domain; phi always has zero gradient there. */
typedef enum gab_phasefield_side_kind {
  GAB_PHASEFIELD_PERIODIC = 0, /**< must agree with the forest */
  GAB_PHASEFIELD_CLOSED,       /**< no flux: zero gradient (Neumann) */
  GAB_PHASEFIELD_RESERVOIR,    /**< prescribed mu at the side (Dirichlet) */
  GAB_PHASEFIELD_SIDE_KINDS
} gab_phasefield_side_kind;

/** Sides in the order x-, x+, y-, y+, z-, z+. */
typedef struct gab_phasefield_side {
  gab_phasefield_side_kind kind;
  double mu[GAB_MOST_INDEPENDENTS]; /**< of a reservoir */
} gab_phasefield_side;

/** T = value + gradient * (x - velocity * t), x the coordinate along the last axis. */
typedef struct gab_phasefield_temperature {
  double value, gradient, velocity;
} gab_phasefield_temperature;

/** Noise: after each step, in cells of more than one phase, phi_a gains amplitude sqrt(dt) 4 phi_a (1 - phi_a) times a
 * random number of mean 0 and variance 1 (uniform between -sqrt(3) and sqrt(3)) before the projection onto the simplex. A
 * counter-based generator makes the numbers from seed, step, cell (without the shift of the window) and phase: the same for
 * any decomposition, number of threads, and restart. */
typedef struct gab_phasefield_noise {
  double amplitude; /**< per root of time, of a cell */
  uint64_t seed;
} gab_phasefield_noise;

/** Maximum number of times that cells may double their width away from interfaces. */
enum { GAB_PHASEFIELD_MOST_LEVELS = 4 };

/** Initial state of a cell: a pure function of its position. @param[in] cell in cells of the domain @param[out] phi N
 * fractions, zeroed on entry; projected onto the simplex afterwards @param[in,out] mu  K-1 potentials; on entry those of
 * the options */
typedef void (*gab_phasefield_initial_fn)(void *user, const int64_t cell[3], double *phi, double *mu);

/** Options of a model. A zero-initialised member has the default in brackets. */
typedef struct gab_phasefield_options {
  gab_thermo thermo;
  double epsilon; /**< interfaces are pi^2/4 of it wide */
  double dt;
  double gamma[GAB_MOST_PHASES][GAB_MOST_PHASES]; /**< surface energies, symmetric, > 0 */
  double tau[GAB_MOST_PHASES][GAB_MOST_PHASES];   /**< kinetic coefficients, symmetric, > 0 */
  double anisotropy[GAB_MOST_PHASES]
                   [GAB_MOST_PHASES]; /**< delta of gamma, symmetric, |delta| < 1/15 [isotropic] */
  double kinetic_anisotropy[GAB_MOST_PHASES]
                           [GAB_MOST_PHASES]; /**< delta of tau, symmetric, |delta| < 3/5 [none] */
  double triple; /**< gamma_abc of all triples of phases, times the largest gamma of their pairs */
  gab_interpolation interpolation;
  gab_potential potential;
  bool no_antitrapping;
  bool unchecked_dt; /**< accept an unstable dt */
  gab_phasefield_temperature temperature;
  gab_phasefield_noise noise; /**< [none] */
  gab_phasefield_side sides[6];
  double mu[GAB_MOST_INDEPENDENTS];  /**< of the initial state */
  gab_phasefield_initial_fn initial; /**< required */
  void *initial_user;
  gab_status (*initial_status)(void *user); /**< called after the cells of a block: a failure is returned
                                             * [NULL] */
  bool initial_as_stored; /**< initial() returns c instead of mu, and fractions that were projected before and
                           * are not changed: continues a state with the same bits */
  const char *kernel;     /**< "auto", "fast", "reference" [NULL: auto, i.e. fast if available for N and K] */
  int levels; /**< number of the finest level, where interfaces are; its cells are those of the domain and the
               * unit of lengths, rows and integrals. At most #GAB_PHASEFIELD_MOST_LEVELS [0: one grid] */
} gab_phasefield_options;

/** Makes a model on a forest without blocks: registers block data and ghost exchanges. Collective. @return ::GAB_ERR_INPUT
 * with the values of invalid options */
GAB_STABLE gab_status gab_phasefield_create(gab_forest *forest, const gab_phasefield_options *options,
                                            gab_phasefield **made);
/** Call it before gab_forest_destroy(). Sets *phasefield to NULL. */
GAB_STABLE void gab_phasefield_destroy(gab_phasefield **phasefield);

/** The longest stable time step: dx^2 / (2 dimension * the fastest of diffusion and gamma / tau). The latter is 1.5 times
 * as fast at junctions of three phases and (1 + |delta|) (1 + 15 |delta|) times in the stiffest direction of an anisotropic
 * gamma. */
GAB_STABLE double gab_phasefield_stable_dt(const gab_phasefield_options *options, int dimension, double dx);
/** Sets tau of each solid-melt pair to the value without kinetics at T and mu, where it is 0. */
gab_status gab_phasefield_fill_tau(gab_phasefield_options *options, double temperature, const double *mu);

/* ------------------------------------------------------------------------------------------ stepping */

/** One step: the calls below in this order. Collective among neighbours. Each of them returns ::GAB_ERR_STATE for ghosts
 * that were not exchanged in this step, or belong to another forest. */
GAB_STABLE gab_status gab_phasefield_step(gab_phasefield *phasefield);
/** The exchanges of phi and mu between blocks of the finest level in a step, for their sizes. Local. */
void gab_phasefield_get_ghosts(gab_phasefield *phasefield, gab_ghost_kind ghosts[2]);
/** Starts the exchange of mu, which the first sweep does not need. After a change of the forest or the step by the caller,
 * recomputes mu and the ghosts of phi first. */
gab_status gab_phasefield_exchange_mu_start(gab_phasefield *phasefield);
/** phi at the new time. Local. */
gab_status gab_phasefield_sweep_phi(gab_phasefield *phasefield);
gab_status gab_phasefield_exchange_mu_finish(gab_phasefield *phasefield);
/** Ghosts of the new phi. */
gab_status gab_phasefield_exchange_phi_start(gab_phasefield *phasefield);
/** c and mu of the cells that need no messages, while those of the new phi are in transit; after the arrival of mu.
 * Optional, with the same bits; does nothing if it saves no time. Local. */
gab_status gab_phasefield_sweep_mu_inner(gab_phasefield *phasefield);
gab_status gab_phasefield_exchange_phi_finish(gab_phasefield *phasefield);
/** c and mu at the new time; ends the step. Local. */
gab_status gab_phasefield_sweep_mu(gab_phasefield *phasefield);
/** The sweeps with the present ghosts, for measurements: the result is not a solution. Local. */
gab_status gab_phasefield_sweep_phi_stale(gab_phasefield *phasefield);
gab_status gab_phasefield_sweep_mu_stale(gab_phasefield *phasefield);
/** Starts or ends measuring the processor time of each block in the sweeps (gab_forest_block_work()). Local. */
void gab_phasefield_time_blocks(gab_phasefield *phasefield, bool on);

/** Number of steps, and of rows that the window has moved: equal on all processes, part of the state. An application
 * registers them as one replicated entity. Unpacking refuses a state of another kernel, whose rounding differs. */
GAB_STABLE gab_step gab_phasefield_get_step(const gab_phasefield *phasefield);
GAB_STABLE int64_t gab_phasefield_get_shift(const gab_phasefield *phasefield);
gab_status gab_phasefield_pack(void *phasefield, gab_buffer *out);
gab_status gab_phasefield_unpack(void *phasefield, gab_reader *in);
/** Invalidates data computed from phi and c: mu, and the ghosts of phi. The next step recomputes it first, as after a
 * change of the forest, with the same bits. Call it on all ranks, since that needs messages (gab_timeloop_on_checkpoint()).
 * Local. */
void gab_phasefield_forget_derived(gab_phasefield *phasefield);

/* ------------------------------------------------------------------------------------------ lost data */

/** Remaining data of a block. Ghosts of phi across known faces have been filled. */
enum {
  GAB_PHASEFIELD_KNOWS_PHI = 1,     /**< the fractions in its cells */
  GAB_PHASEFIELD_KNOWS_FACE_0 = 2,  /**< shifted left by the face (x-, x+, y-, ...): those across it */
  GAB_PHASEFIELD_KNOWS_FACE_C = 128 /**< also c across these faces: its ghosts have been filled, too */
};
/** Approximates lost data of a block. The result differs from the undisturbed run, which the caller has to report. As in
 * section 5.1 of Kohl et al. 2017, c follows from phi, mu and the Gibbs energies at the temperature of the analytic
 * profile. mu is that of the same phases across faces where c is known, weighted by proximity; elsewhere, in solids that of
 * their tie lines with the melt (far below a eutectic these are inconsistent, and phases may replace one another), in melt
 * that of the reservoir above. Without phi, a cell becomes solid or melt by the majority across the known faces along the
 * isotherm, weighted by proximity; then the solid with the largest weight across all known faces, where faces along the
 * growth direction have a longer range (interfaces recover their profile in some steps). Without faces, the initial state.
 * A pure function of the block, its ghosts, step and shift; local. Used for blocks of a run on one level if its recovery
 * strategies include `reconstruct`. @param[in] phasefield the model, at the step of the block @param[in] known bits of the
 * enum above */
gab_status gab_phasefield_reconstruct(void *phasefield, const gab_forest *forest, const gab_block *block,
                                      void *data, unsigned known);

/* ------------------------------------------------------------------------------------------ moving window */

/** The highest row (cell along the last axis, of the domain) with a cell that is less than half melt, -1 if
 *  there is none. Collective. */
GAB_STABLE gab_status gab_phasefield_front(gab_phasefield *phasefield, int64_t *row);
/** Moves the window up: all cells move down by `rows`; melt in the state of the upper side enters at the top, and the
 * bottom rows are dropped. Collective. @return ::GAB_ERR_STATE if the last axis is periodic */
GAB_STABLE gab_status gab_phasefield_shift(gab_phasefield *phasefield, int64_t rows);
/** The window moves by multiples of this number of rows: 1, with several levels 2^levels, so that cells of all levels
 * remain aligned. No interface may reach coarser cells by it: see phasefield/levels/refinement.h. */
int64_t gab_phasefield_shift_unit(const gab_phasefield *phasefield);

/* ------------------------------------------------------------------------------------------ looking at it */

GAB_STABLE const gab_phasefield_options *gab_phasefield_get_options(const gab_phasefield *phasefield);
GAB_STABLE const char *gab_phasefield_kernel_name(const gab_phasefield *phasefield);
GAB_STABLE gab_data_id gab_phasefield_data(const gab_phasefield *phasefield);
/** Temperature at the centre of the cells of a row of the domain, now. */
double gab_phasefield_temperature_at(const gab_phasefield *phasefield, int64_t row);

/** The fields of a local block, with ghosts (whose values are defined only between exchanges). Local. */
typedef struct gab_phasefield_view {
  const gab_field *phi; /**< N components */
  const gab_field *c;   /**< K-1 components */
  const gab_field *mu;  /**< K-1 components */
} gab_phasefield_view;
/** @return the view; updates mu if needed. */
gab_phasefield_view gab_phasefield_look(const gab_phasefield *phasefield, const gab_block *block);

/** Integrals over the domain in cells, exact. */
typedef struct gab_phasefield_integrals {
  double cells;
  double fraction[GAB_MOST_PHASES];      /**< sum of phi_a */
  double content[GAB_MOST_INDEPENDENTS]; /**< sum of c */
  double energy;                         /**< integral of epsilon a + w / epsilon over the volume */
} gab_phasefield_integrals;
/** Collective. */
GAB_STABLE gab_status gab_phasefield_integrate(gab_phasefield *phasefield,
                                               gab_phasefield_integrals *integrals);

/** Gain of the sums of c since the start by reservoirs and by the window, in cells: the content of the integrals is the
 * initial one plus this gain, except for rounding. Exact sums over all ranks; register the part of each rank as an entity
 * per rank with the three functions below. Collective. @param[out] gained  K-1 values */
gab_status gab_phasefield_ledger(gab_phasefield *phasefield, double *gained);
gab_status gab_phasefield_ledger_pack(void *phasefield, gab_buffer *out);
gab_status gab_phasefield_ledger_unpack(void *phasefield, gab_reader *in);
gab_status gab_phasefield_ledger_adopt(void *phasefield, gab_rank dead, gab_reader *in);

/** Checks all local cells. @return ::GAB_ERR_DIVERGED with step, cell and numbers for the first that is not finite or is
 * off the simplex */
GAB_STABLE gab_status gab_phasefield_check_finite(const gab_phasefield *phasefield);

/** Requests that a sample of the blocks (gab_sample_has()) is computed twice in the next step, from the same values, and
 * compared bit by bit: detects errors of a core, and bits that flip meanwhile. From then to the beginning of the next step
 * a hash detects changes of phi and c in memory. The result of the step is the same. Memory: phi, c and mu of the sample,
 * during the step. Enters ::GAB_FAULT_POINT_RECOMPUTE. Local, before gab_phasefield_exchange_mu_start(). @param[in] share
 * of the blocks, 0 to 1 */
gab_status gab_phasefield_request_recomputation(gab_phasefield *phasefield, double share);
/** Findings since the last call. Local. @param[in] at_rest also compares the hashes now, between two steps @return
 * ::GAB_ERR_SUSPECT that names a block, to be passed on by a live monitor */
gab_status gab_phasefield_check_recomputed(gab_phasefield *phasefield, bool at_rest);
/** Counts of the recomputation so far, on this process. Local. */
gab_sample_report gab_phasefield_recomputation(const gab_phasefield *phasefield);

/** Quantities for output: `phase` (0 … N-1, the largest fraction), `solid` (1 - melt), `interface` (sum of phi (1 - phi)),
 * `temperature`, for each phase phi_NAME, for each component mu_1, c_1, …, and user-defined ones
 * (phasefield/observe/cell_quantity.h). @param[out] items capacity for GAB_PHASEFIELD_MOST_QUANTITIES; strings are valid as
 * long as the model */
enum { GAB_PHASEFIELD_MOST_PARTS = 20, GAB_PHASEFIELD_MOST_QUANTITIES = 20 + GAB_MOST_OWN_QUANTITIES };
GAB_STABLE gab_quantity_list gab_phasefield_quantities(gab_phasefield *phasefield,
                                                       gab_quantity items[GAB_PHASEFIELD_MOST_QUANTITIES]);
/** Updates the data from which gradients are evaluated; call it before such quantities are evaluated at a step. Collective;
 * no effect if no user-defined quantity needs it. The state does not change. */
GAB_STABLE gab_status gab_phasefield_update_quantities(gab_phasefield *phasefield);

#ifdef __cplusplus
}
#endif
#endif

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

/** What happens at a side of the domain; phi always has zero gradient there. */
typedef enum gab_phasefield_side_kind {
  GAB_PHASEFIELD_PERIODIC = 0, /**< has to agree with the forest */
  GAB_PHASEFIELD_CLOSED,       /**< nothing passes: zero gradient (Neumann) */
  GAB_PHASEFIELD_RESERVOIR,    /**< given mu at the side (Dirichlet) */
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

/** Noise: after each step, in cells of more than one phase, phi_a gains amplitude sqrt(dt) 4 phi_a (1 -
 * phi_a) times a random number of mean 0 and variance 1 (even between -sqrt(3) and sqrt(3)) before it is put
 * on the simplex. The numbers are a function of seed, step, cell (as if the window had not moved) and phase,
 * by a counter-based generator: the same for any decomposition, threads and restarts. */
typedef struct gab_phasefield_noise {
  double amplitude; /**< per root of time, of a cell */
  uint64_t seed;
} gab_phasefield_noise;

/** How often cells may double their width away from interfaces. */
enum { GAB_PHASEFIELD_MOST_LEVELS = 4 };

/** Initial state of a cell: a pure function of its place. @param[in] cell  in cells of the domain
 *  @param[out] phi  N fractions, zeroed on entry; put on the simplex afterwards
 *  @param[in,out] mu  K-1 potentials; on entry those of the options */
typedef void (*gab_phasefield_initial_fn)(void *user, const int64_t cell[3], double *phi, double *mu);

/** How the model is to be. Zero-initialised members mean what is said in brackets. */
typedef struct gab_phasefield_options {
  gab_thermo thermo;
  double epsilon; /**< width of interfaces is pi^2/4 of it */
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
  bool unchecked_dt; /**< take a dt that is not stable */
  gab_phasefield_temperature temperature;
  gab_phasefield_noise noise; /**< [none] */
  gab_phasefield_side sides[6];
  double mu[GAB_MOST_INDEPENDENTS];  /**< of the initial state */
  gab_phasefield_initial_fn initial; /**< needed */
  void *initial_user;
  gab_status (*initial_status)(void *user); /**< asked after the cells of a block: a failure ends it [NULL] */
  bool initial_as_stored; /**< initial() gives c in place of mu, and fractions that have been on the simplex
                           * already and stay as they are: so a state is continued to the same bits */
  const char *kernel;     /**< "auto", "fast", "reference" [NULL: auto, fast where N and K have one] */
  int levels; /**< the finest level of the forest, where interfaces are; its cells are those of the domain:
               * lengths, rows, integrals are in them. At most #GAB_PHASEFIELD_MOST_LEVELS [0: one grid] */
} gab_phasefield_options;

/** Makes a model on a forest that has no blocks yet: registers block data and ghost exchanges. Collective.
 *  @return ::GAB_ERR_INPUT with the numbers for options that cannot be */
GAB_STABLE gab_status gab_phasefield_create(gab_forest *forest, const gab_phasefield_options *options,
                                            gab_phasefield **made);
/** Before gab_forest_destroy(). Sets *phasefield to NULL. */
GAB_STABLE void gab_phasefield_destroy(gab_phasefield **phasefield);

/** The longest stable time step: dx^2 / (2 dimension * the fastest of diffusion and gamma / tau), the
 * latter 1.5 times as fast at junctions of three phases and (1 + |delta|) (1 + 15 |delta|) times in the
 * stiffest direction of an anisotropic gamma. */
GAB_STABLE double gab_phasefield_stable_dt(const gab_phasefield_options *options, int dimension, double dx);
/** Sets tau of each solid and the melt to the one without kinetics at T and mu where it is 0. */
gab_status gab_phasefield_fill_tau(gab_phasefield_options *options, double temperature, const double *mu);

/* ------------------------------------------------------------------------------------------ stepping */

/** One whole step: the calls below in this order. Collective among neighbours. Each of them refuses, by
 *  ::GAB_ERR_STATE, to work on ghosts that have not been exchanged in this step, or of another forest. */
GAB_STABLE gab_status gab_phasefield_step(gab_phasefield *phasefield);
/** What blocks of the finest level exchange in a step, phi and mu: for their sizes. Local. */
void gab_phasefield_get_ghosts(gab_phasefield *phasefield, gab_ghost_kind ghosts[2]);
/** Starts the exchange of mu, which the first sweep does not need. (After the forest or the step has been
 *  changed from outside: makes mu and the ghosts of phi anew first.) */
gab_status gab_phasefield_exchange_mu_start(gab_phasefield *phasefield);
/** phi at the new time. Local. */
gab_status gab_phasefield_sweep_phi(gab_phasefield *phasefield);
gab_status gab_phasefield_exchange_mu_finish(gab_phasefield *phasefield);
/** Ghosts of the new phi. */
gab_status gab_phasefield_exchange_phi_start(gab_phasefield *phasefield);
/** c and mu of the cells that need no messages, while those of the new phi travel. mu has arrived. May be
 * left out, and changes no bit; does nothing where it would save nothing. Local. */
gab_status gab_phasefield_sweep_mu_inner(gab_phasefield *phasefield);
gab_status gab_phasefield_exchange_phi_finish(gab_phasefield *phasefield);
/** c and mu at the new time; the step is done. Local. */
gab_status gab_phasefield_sweep_mu(gab_phasefield *phasefield);
/** The sweeps from whatever the ghosts hold, to measure them alone: what they leave is no solution. Local. */
gab_status gab_phasefield_sweep_phi_stale(gab_phasefield *phasefield);
gab_status gab_phasefield_sweep_mu_stale(gab_phasefield *phasefield);
/** Begins to measure what each block takes in the sweeps (gab_forest_block_work()), or ends it: processor time. Local. */
void gab_phasefield_time_blocks(gab_phasefield *phasefield, bool on);

/** Steps done and rows that the window has moved: equal on all processes, part of the state. An application
 *  registers them as one replicated entity. Unpacking refuses a state of another kernel, whose rounding
 * differs. */
GAB_STABLE gab_step gab_phasefield_get_step(const gab_phasefield *phasefield);
GAB_STABLE int64_t gab_phasefield_get_shift(const gab_phasefield *phasefield);
gab_status gab_phasefield_pack(void *phasefield, gab_buffer *out);
gab_status gab_phasefield_unpack(void *phasefield, gab_reader *in);
/** Forgets what is made from phi and c: mu, and the ghosts of phi. The next step begins by making it anew, as it does when
 * the forest has changed, and comes to the same bits. To be called on all alike, since that takes messages
 * (gab_timeloop_on_checkpoint()). Local. */
void gab_phasefield_forget_derived(gab_phasefield *phasefield);

/* ------------------------------------------------------------------------------------------ lost data */

/** What is left of a block. Ghosts of phi across faces that are known have been filled. */
enum {
  GAB_PHASEFIELD_KNOWS_PHI = 1,     /**< the fractions in its cells */
  GAB_PHASEFIELD_KNOWS_FACE_0 = 2,  /**< shifted left by the face (x-, x+, y-, ...): those across it */
  GAB_PHASEFIELD_KNOWS_FACE_C = 128 /**< c across these faces as well: its ghosts have been filled, too */
};
/** Approximates what no copy of a block holds any more; a run that has used it is not the undisturbed one,
 * which whoever calls it has to say. As in section 5.1 of Kohl et al. 2017, c follows from phi, mu and the Gibbs
 * energies at the temperature of the analytic profile. mu is that of the same phases across faces where c is
 * known, the nearer the more; elsewhere that of their tie lines with the melt in solids (far below a eutectic
 * these are at odds with each other: phases may then replace one another), that of the reservoir above in melt.
 * Without phi, a cell is solid or melt as there is more of across the known faces along the isotherm, the nearer
 * the more, and then the solid of which there is most across all known faces, those along the growth seen from
 * farther (interfaces find their profile again in some steps); without faces, the state of the start. A pure
 * function of the block, its ghosts, step and shift; local. Blocks of a run on one level are approximated by it if the
 * run's recovery strategies have `reconstruct`.
 *  @param[in] phasefield  the model, at the step of the block  @param[in] known  bits of the above */
gab_status gab_phasefield_reconstruct(void *phasefield, const gab_forest *forest, const gab_block *block,
                                      void *data, unsigned known);

/* ------------------------------------------------------------------------------------------ moving window */

/** The highest row (cell along the last axis, of the domain) with a cell that is less than half melt, -1 if
 *  there is none. Collective. */
GAB_STABLE gab_status gab_phasefield_front(gab_phasefield *phasefield, int64_t *row);
/** Moves the window up: everything goes down by `rows` cells; melt in the state of the upper side enters on
 * top, what was at the bottom is gone. Collective. @return ::GAB_ERR_STATE if the last axis is periodic */
GAB_STABLE gab_status gab_phasefield_shift(gab_phasefield *phasefield, int64_t rows);
/** Rows by multiples of which a window moves: 1, with several levels 2^levels, so that cells of all levels
 * stay where they belong. An interface must not come to coarser cells by it: see phasefield/levels/refinement.h. */
int64_t gab_phasefield_shift_unit(const gab_phasefield *phasefield);

/* ------------------------------------------------------------------------------------------ looking at it */

GAB_STABLE const gab_phasefield_options *gab_phasefield_get_options(const gab_phasefield *phasefield);
GAB_STABLE const char *gab_phasefield_kernel_name(const gab_phasefield *phasefield);
GAB_STABLE gab_data_id gab_phasefield_data(const gab_phasefield *phasefield);
/** Temperature in the centre of the cells of a row of the domain, now. */
double gab_phasefield_temperature_at(const gab_phasefield *phasefield, int64_t row);

/** The fields of a local block, with ghosts (whose content is defined between exchanges only). Local. */
typedef struct gab_phasefield_view {
  const gab_field *phi; /**< N components */
  const gab_field *c;   /**< K-1 components */
  const gab_field *mu;  /**< K-1 components */
} gab_phasefield_view;
/** @return the view; mu is brought up to date if it is not. */
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

/** What the sums of c have gained since the start by reservoirs and by the window, in cells: the content of
 * the integrals is that of the start and this, but for rounding. Exact sums over all ranks; the part of each
 * rank is to be registered as an entity per rank by the three functions below. Collective.
 *  @param[out] gained  K-1 values */
gab_status gab_phasefield_ledger(gab_phasefield *phasefield, double *gained);
gab_status gab_phasefield_ledger_pack(void *phasefield, gab_buffer *out);
gab_status gab_phasefield_ledger_unpack(void *phasefield, gab_reader *in);
gab_status gab_phasefield_ledger_adopt(void *phasefield, gab_rank dead, gab_reader *in);

/** Looks at all local cells. @return ::GAB_ERR_DIVERGED with step, cell and numbers for the first that is not
 *  finite or is off the simplex */
GAB_STABLE gab_status gab_phasefield_check_finite(const gab_phasefield *phasefield);

/** Asks for a sample of the blocks (gab_sample_has()) to be computed twice in the next step, from the same values, and
 *  compared to the last bit: what a core has got wrong, or a bit that flips meanwhile, shows. From then to the beginning
 *  of the next step a hash tells whether phi and c change by themselves. The result of the step is what it is without.
 *  Memory: phi, c and mu of the sample, during the step. Announces ::GAB_FAULT_POINT_RECOMPUTE. Local, ahead of
 *  gab_phasefield_exchange_mu_start(). @param[in] share  of the blocks, 0 to 1 */
gab_status gab_phasefield_request_recomputation(gab_phasefield *phasefield, double share);
/** What was found since the last call. Local. @param[in] at_rest  also compares the hashes now, between two steps
 *  @return ::GAB_ERR_SUSPECT that names a block, to be passed on by a live monitor */
gab_status gab_phasefield_check_recomputed(gab_phasefield *phasefield, bool at_rest);
/** What came of it so far, on this process. Local. */
gab_sample_report gab_phasefield_recomputation(const gab_phasefield *phasefield);

/** What can be written out: `phase` (0 … N-1, the largest fraction), `solid` (1 - melt), `interface`
 *  (sum of phi (1 - phi)), `temperature`, for each phase phi_NAME, for each component mu_1, c_1, …, and those that a program has
 *  registered (phasefield/observe/cell_quantity.h).
 *  @param[out] items  capacity for GAB_PHASEFIELD_MOST_QUANTITIES; strings live as long as the model */
enum { GAB_PHASEFIELD_MOST_PARTS = 20, GAB_PHASEFIELD_MOST_QUANTITIES = 20 + GAB_MOST_OWN_QUANTITIES };
GAB_STABLE gab_quantity_list gab_phasefield_quantities(gab_phasefield *phasefield,
                                                       gab_quantity items[GAB_PHASEFIELD_MOST_QUANTITIES]);
/** Brings up to date what gradients are evaluated from: before such quantities are evaluated at a step. Collective; nothing if no
 *  program's quantity needs any. The state stays what it is. */
GAB_STABLE gab_status gab_phasefield_update_quantities(gab_phasefield *phasefield);

#ifdef __cplusplus
}
#endif
#endif

/* SPDX-License-Identifier: Apache-2.0 */
/** @file collision.h
 *  @brief Collision models: tables with the parameters, rates, kernels and stability limits of a model.
 *
 *  A model is one file, lbm/collision/collision_NAME.c: its kernels, generated from the arithmetic of one cell by
 *  lbm/kernels/source/kernel_families.inc, and its table. lbm/collision/collision.c lists the models of the library. A
 *  program adds its own by gab_collision_register(), with existing kernels and its own rates, or with a function of one
 *  cell. All models are chosen by name in the parameter file.
 *  @code
 *    static void collide(const gab_lattice *lattice, const gab_collision_rates *rates, bool forced, double *f) { ... }
 *    static const gab_collision own = {.name = "own", .title = "Own", .doc = "a collision of my own", .magic = ...,
 *                                      .kernels = &gab_collision_kernels_of_cell, .cell = collide};
 *    GAB_TRY(gab_collision_register(&own));     lbm: {collision: own}
 *  @endcode
 *  A function of one cell takes the time of the reference kernels, a few times that of the others. It works in all kernels
 *  but `vector`: on several levels, next to walls and bodies, and in sparse blocks. It does not know the position of its
 *  cell and has no memory: its result depends on the arriving populations only.
 *
 *  Stability: extender.
 */
#ifndef GABION_LBM_COLLISION_H
#define GABION_LBM_COLLISION_H

#include "core/config/config.h"

#ifdef __cplusplus
extern "C" {
#endif

struct gab_lbm_options;
struct gab_lattice;
struct gab_units;
/** The kernels of all families; made by lbm/kernels/source/kernel_families.inc. */
typedef struct gab_collision_kernels gab_collision_kernels;
/** Those of models with a function of one cell. */
extern const gab_collision_kernels gab_collision_kernels_of_cell;

/** That a model of a program's own has for itself. */
enum { GAB_COLLISION_NUMBERS = 8 };

/** Parameters of kernels on one level. */
typedef struct gab_collision_rates {
  double even, odd; /**< of even and odd moments; even is that of the shear stress */
  double force[3];
  /* MRT: (rate - even or odd) / norm of the moment, see kernel_cell_impl.h */
  double energy, energy_square, stress, third;
  double eddies; /* Smagorinsky: 18 C^2 */
  int level;     /* a step lasts 2^-level of one of level 0, a cell is as much narrower */
  /* those of gab_lbm_options, unless the model's `rates` changes them */
  double numbers[GAB_COLLISION_NUMBERS];
} gab_collision_rates;

typedef struct gab_collision {
  const char *name;  /**< in parameter files: "trt" */
  const char *title; /**< in records and messages: "TRT" */
  const char *doc;   /**< a clause */
  /** Of the arithmetic: to be raised whenever the same parameters give other bits. Part of every checkpoint. */
  int revision;
  const gab_collision_kernels *kernels;
  /** With ::gab_collision_kernels_of_cell, otherwise NULL. Collides one cell: mass is conserved, momentum grows by
   *  the force. A pure function, called by all threads at once. Its bits must follow from its arguments alone (compile
   *  with -ffp-contract=off, so that they do not depend on the compiler).
   *  @param[in] forced  false: rates->force is zero. The velocity includes half of the force (Guo, Zheng & Shi 2002)
   *  @param[in,out] f  in: incoming populations, by direction, as deviations from the weights; out: outgoing ones */
  void (*cell)(const struct gab_lattice *lattice, const gab_collision_rates *rates, bool forced, double *f);
  /** A clause: why it is not defined on some of the lattices. NULL: it is on all. */
  const char *lattices;

  /** Keys of the section `lbm` that have an effect with this model alone, and so are warned of with others;
   *  ends with NULL; NULL: none. */
  const char *const *keys;
  /** Those of them that have one in 3D only; NULL: none. */
  const char *const *keys_of_space;
  /** A table of further keys of the section `lbm`; NULL: none. */
  const gab_config_section *section;
  /** Reads its keys; called once for a parameter file, by `check` and by `run`. Lattice and omega are set. NULL: no
   *  keys.
   *  @param[in] units  of level 0, to convert physical values (lbm/setup/units.h) @param[in,out] options  `numbers`
   *  and others
   *  @return ::GAB_ERR_INPUT with the place in the file (gab_config_fail()) */
  gab_status (*read)(const gab_config *config, const struct gab_units *units,
                     struct gab_lbm_options *options);

  /** Fills in the defaults of parameters that are 0; the lattice is set. NULL: there are none. */
  void (*fill)(struct gab_lbm_options *options);
  /** Checks the parameters, with defaults filled in: after `read`, and in gab_lbm_create(). NULL: all are possible. Pure.
   *  @param[in] config  the parameter file, in which gab_config_fail() finds the place of a key; NULL in gab_lbm_create(), where it names the
   *  key only @param[in] units  of level 0; NULL in gab_lbm_create()
   *  @return ::GAB_ERR_INPUT for parameters that cannot be */
  gab_status (*check)(const gab_config *config, const struct gab_units *units,
                      const struct gab_lbm_options *options);
  /** The magic parameter (1/omega - 1/2)(1/omega_odd - 1/2) of a level as the options ask for it. Defaults
   *  need not be filled in. @param[in] even  1/omega - 1/2 there */
  double (*magic)(const struct gab_lbm_options *options, double even);
  /** Rates beyond `even`, `odd` and the force. @param[in] options  scaled to the level. NULL: none */
  void (*rates)(const struct gab_lbm_options *options, gab_collision_rates *rates);
  /** The option that is the rate of the trace of the stress, and so belongs to the bulk viscosity, which is the
   *  same on all levels. NULL: omega */
  double *(*bulk)(struct gab_lbm_options *options);

  /** Part of the equilibrium of a direction beyond gab_lattice_equilibrium(), of third and higher order in the
   *  velocity and without density, momentum and stress. NULL: none */
  double (*equilibrium_beyond)(const struct gab_lattice *lattice, int q, double drho, const double u[3]);

  /** The rate of the stress in a cell, if it differs from that of the level: for large-eddy models. NULL: that of the
   *  level or, with `cell`, the measured effect of the function on the stress (except its trace), so that strain and
   *  wall shear stress are correct for any rate. It is required for forces or a second-order equilibrium of another
   *  form.
   *  @param[in] square  n:n of the second moments n of the incoming non-equilibrium */
  double (*rate_of_stress)(const gab_collision_rates *rates, double rho, double square);
  /** The rate of the stress of a cell with a given strain rate, for initial states. NULL: that of the level.
   *  @param[in] shear_rate  sqrt(2 S:S), per step of level 0 */
  double (*rate_of_strain)(const gab_collision_rates *rates, double shear_rate);

  /** Odd moments have a separate rate, which `border_speed` may bound. */
  bool has_odd_rate;
  /** Whether the odd moments relax as a magic parameter says, so that half-way walls are exact. NULL: never */
  bool (*has_magic)(const struct gab_lbm_options *options);
  /** With a magic parameter: Reynolds number of a cell up to which no wave grows in a uniform flow
   *  (tests/lbm/collision/test_von_neumann.c). */
  double wave_reynolds;
  /** In 3D: above this Reynolds number of a cell borders between levels may amplify waves
   *  (tests/lbm/walls/mpi_open_sides.c). 0: never seen up to 100. */
  double border_reynolds_of_space;
  /** Alternatives if a magic parameter lets waves grow: names of models, each with or without a remark, and NULL.
   *  Messages name those that a flow can have (gab_lbm_accepts()). */
  const char *const *calmer;
} gab_collision;

/** Two relaxation times (Ginzburg, Verhaeghe & d'Humieres 2008). */
extern const gab_collision gab_collision_trt;
/** A single one (Bhatnagar, Gross & Krook; Qian, d'Humieres & Lallemand 1992): the kernels of TRT. */
extern const gab_collision gab_collision_srt;
/** A relaxation time per moment (d'Humieres et al. 2002; in the plane Lallemand & Luo 2000). */
extern const gab_collision gab_collision_mrt;

/** Recursive-regularised (Malaspinas 2015; Coreixas et al. 2017). */
extern const gab_collision gab_collision_rr;

/** The same with a turbulent viscosity of each cell (Smagorinsky 1963; Hou et al. 1996). */
extern const gab_collision gab_collision_smagorinsky;

/** Adds a user-defined model to those that can be chosen by name. Before a configuration is declared, the same on all
 *  processes. @param[in] model  borrowed until the process ends
 *  @return ::GAB_ERR_ARGUMENT if the name is taken, a member is missing (also the function of a cell or its kernels
 *  without the other) or the table of models is full */
gab_status gab_collision_register(const gab_collision *model);
/** @return NULL with an error message that lists the names if there is none of that name */
const gab_collision *gab_collision_by_name(const char *name);
/** @return ::GAB_ERR_INPUT with the reason if a model is not defined on a lattice */
gab_status gab_collision_check_lattice(const gab_collision *model, const struct gab_lattice *lattice);
/** @return the index-th of all models, NULL behind the last */
const gab_collision *gab_collision_at(int index);

#ifdef __cplusplus
}
#endif
#endif

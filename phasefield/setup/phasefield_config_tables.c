/* SPDX-License-Identifier: Apache-2.0 */
/* The tables of the section `phasefield`. */
#include "blockforest/hdf5/hdf5_input.h"
#include "phasefield/setup/phasefield_config.h"

#include <math.h>

#define COUNT(list) (sizeof(list) / sizeof(list)[0])
#define POSITIVE    .min = 0, .max = INFINITY, .min_excluded = true
#define ANY_REALS   .type = GAB_CONFIG_REAL, .length_min = 1, .length_max = GAB_CONFIG_ANY_LENGTH

/* clang-format off */
static const gab_config_key model_keys[] = {
    {.name = "epsilon", .type = GAB_CONFIG_REAL, POSITIVE, .unit = "length",
     .doc = "Interface parameter; the interface width pi^2/4 epsilon must be at least 4.93 cells "
            "(epsilon at least two cells)."},
    {.name = "dt", .type = GAB_CONFIG_REAL, POSITIVE, .unit = "time",
     .doc = "Time step; must be stable (gabion check reports the limit)."},
    {.name = "interpolation", .type = GAB_CONFIG_CHOICE, .choices = "moelans|cubic", .default_text = "moelans",
     .doc = "Interpolation of bulk energies and concentrations over interfaces."},
    {.name = "potential", .type = GAB_CONFIG_CHOICE, .choices = "obstacle|well", .default_text = "obstacle",
     .doc = "Potential of the interfaces; the obstacle gives them a finite width."},
    {.name = "anti_trapping", .type = GAB_CONFIG_BOOL, .default_text = "true",
     .doc = "Add the anti-trapping current, which corrects solute trapping at thick interfaces."},
    {.name = "gamma", .type = GAB_CONFIG_REAL, POSITIVE, .default_text = GAB_CONFIG_OPTIONAL, .unit = "energy/length^2",
     .doc = "Surface energy of all pairs of phases not listed in phasefield.pairs."},
    {.name = "tau", .type = GAB_CONFIG_REAL, POSITIVE, .default_text = GAB_CONFIG_OPTIONAL,
     .doc = "Kinetic coefficient of pairs not listed in phasefield.pairs. Default: for a solid and "
            "the melt, the one without interface kinetics; for two solids, the mean of theirs with "
            "the melt."},
    {.name = "anisotropy", .type = GAB_CONFIG_REAL, .min = -1. / 15, .max = 1. / 15, .min_excluded = true,
     .max_excluded = true, .default_text = "0",
     .doc = "delta in gamma (1 + delta cos 4 theta) for solids and melt not listed in "
            "phasefield.pairs; in 3D cos 4 theta is 4 sum n_i^4 - 3."},
    {.name = "kinetic_anisotropy", .type = GAB_CONFIG_REAL, .min = -0.6, .max = 0.6, .min_excluded = true,
     .max_excluded = true, .default_text = "0",
     .doc = "delta of tau; twice that of gamma keeps interfaces without kinetics."},
    {.name = "triple", .type = GAB_CONFIG_REAL, .min = 0, .max = INFINITY, .default_text = "10",
     .doc = "Energy of triples of phases, relative to the surface energies of their pairs; it "
            "suppresses third phases in interfaces."},
    {.name = "components", .type = GAB_CONFIG_STRING, .length_min = 2, .length_max = GAB_MOST_COMPONENTS,
     .doc = "Names of the components; the last one follows from the others."},
    {.name = "mu", ANY_REALS, .default_text = GAB_CONFIG_OPTIONAL,
     .doc = "Chemical potentials of the initial state and of reservoirs. Default: those of the "
            "eutectic, else 0."},
    {.name = "eutectic_temperature", .type = GAB_CONFIG_REAL, .default_text = GAB_CONFIG_OPTIONAL,
     .doc = "Eutectic temperature, for phases given by composition and slopes."},
    {.name = "series_every",
     .type = GAB_CONFIG_INT,
     .min = 0,
     .max = 9e15,
     .unit = "steps",
     .default_text = "100",
     .outside = true,
     .doc = "Interval of rows in front.csv (height of the front, undercooling, fractions), in steps; "
            "0: none."},
    {.name = "kernel", .type = GAB_CONFIG_CHOICE, .choices = "auto|fast|reference", .default_text = "auto",
     .doc = "Kernel of the sweeps; fast and reference differ by rounding."},
};

static const gab_config_key phase_keys[] = {
    {.name = "name", .type = GAB_CONFIG_STRING, .doc = "Letters, digits, _ and -. The last phase of the list is the melt."},
    {.name = "diffusivity", .type = GAB_CONFIG_REAL, .min = 0, .max = INFINITY, .default_text = "0",
     .doc = "Diffusivity of the components in this phase."},
    {.name = "curvature", ANY_REALS, .default_text = GAB_CONFIG_OPTIONAL,
     .doc = "Xi of the free energy f = c.Xi c + xi.c + X: (K-1)^2 numbers row by row. Default for a "
            "solid given by slopes: that of the melt."},
    {.name = "linear", ANY_REALS, .default_text = GAB_CONFIG_OPTIONAL, .doc = "xi, K-1 numbers; default: 0."},
    {.name = "linear_slope", ANY_REALS, .default_text = GAB_CONFIG_OPTIONAL, .doc = "Temperature derivative of xi: linear + linear_slope T."},
    {.name = "constant", .type = GAB_CONFIG_REAL, .default_text = "0", .doc = "X."},
    {.name = "constant_slope", .type = GAB_CONFIG_REAL, .default_text = "0", .doc = "Temperature derivative of X: constant + constant_slope T."},
    {.name = "temperatures", ANY_REALS, .default_text = GAB_CONFIG_OPTIONAL,
     .doc = "Temperatures of the tables, ascending; interpolation and extrapolation are linear."},
    {.name = "constant_table", ANY_REALS, .default_text = GAB_CONFIG_OPTIONAL, .doc = "X at `temperatures`, instead of constant and constant_slope."},
    {.name = "linear_table", ANY_REALS, .default_text = GAB_CONFIG_OPTIONAL,
     .doc = "xi at `temperatures`, instead of linear and linear_slope: all values of the first "
            "component, then the next."},
    {.name = "composition", ANY_REALS, .default_text = GAB_CONFIG_OPTIONAL,
     .doc = "K-1 concentrations at the eutectic; with slopes, instead of linear and constant."},
    {.name = "slopes", ANY_REALS, .default_text = GAB_CONFIG_OPTIONAL,
     .doc = "Slopes of the liquidus of a solid, temperature per concentration of the melt."},
};

static const gab_config_key pair_keys[] = {
    {.name = "phases", .type = GAB_CONFIG_STRING, .length_min = 2, .length_max = 2, .repeats = true, .doc = "The names of two phases."},
    {.name = "gamma", .type = GAB_CONFIG_REAL, POSITIVE, .default_text = GAB_CONFIG_OPTIONAL, .doc = "Surface energy."},
    {.name = "tau", .type = GAB_CONFIG_REAL, POSITIVE, .default_text = GAB_CONFIG_OPTIONAL, .doc = "Kinetic coefficient."},
    {.name = "anisotropy", .type = GAB_CONFIG_REAL, .min = -1. / 15, .max = 1. / 15, .min_excluded = true,
     .max_excluded = true, .default_text = GAB_CONFIG_OPTIONAL, .doc = "delta of gamma (1 + delta cos 4 theta)."},
    {.name = "kinetic_anisotropy", .type = GAB_CONFIG_REAL, .min = -0.6, .max = 0.6, .min_excluded = true,
     .max_excluded = true, .default_text = GAB_CONFIG_OPTIONAL, .doc = "The same for tau."},
};

static const gab_config_key temperature_keys[] = {
    {.name = "value", .type = GAB_CONFIG_REAL, .doc = "T at x = 0 and the start; T = value + gradient (x - velocity t), x along the last axis."},
    {.name = "gradient", .type = GAB_CONFIG_REAL, .default_text = "0", .doc = "Temperature per length."},
    {.name = "velocity", .type = GAB_CONFIG_REAL, .default_text = "0", .doc = "Velocity of the isotherms."},
};

static const gab_config_key noise_keys[] = {
    {.name = "amplitude", .type = GAB_CONFIG_REAL, .min = 0, .max = INFINITY, .unit = "1/sqrt(time)",
     .doc = "Amplitude: phi of a cell changes per step by this times sqrt(dt) 4 phi (1 - phi) times a"
            " random number of variance 1."},
    {.name = "seed", .type = GAB_CONFIG_INT, .min = 0, .max = 9e15, .default_text = "1", .doc = "Seed of the random numbers."},
};

static const gab_config_key boundary_keys[] = {
    {.name = "lateral", .type = GAB_CONFIG_CHOICE, .choices = "periodic|closed", .default_text = "periodic",
     .doc = "Lateral sides: all but the lower and the upper one."},
    {.name = "bottom", .type = GAB_CONFIG_CHOICE, .choices = "closed|reservoir", .default_text = "closed",
     .doc = "Lower side. closed: no flux; reservoir: chemical potentials phasefield.mu."},
    {.name = "top", .type = GAB_CONFIG_CHOICE, .choices = "closed|reservoir", .default_text = "reservoir", .doc = "Upper side, as bottom."},
};

#define SOLIDS_KEY {.name = "solids", .type = GAB_CONFIG_STRING, .repeats = true, .length_min = 1, .length_max = GAB_MOST_PHASES, \
                    .default_text = GAB_CONFIG_OPTIONAL, .doc = "Names of the solids, in order; default: all of them, or the first."}
#define SHARES_KEY {.name = "shares", .type = GAB_CONFIG_REAL, .min = 0, .max = 1, .length_min = 1, .length_max = GAB_MOST_PHASES, \
                    .default_text = GAB_CONFIG_OPTIONAL, .doc = "Shares of these solids, with sum 1; default: equal."}
#define HEIGHT_KEY {.name = "height", .type = GAB_CONFIG_REAL, .min = 0, .max = 1e9, .unit = "cells", .doc = "Height of the solid."}

static const gab_config_key plane_keys[] = {HEIGHT_KEY, SOLIDS_KEY};
static const gab_config_key sphere_keys[] = {
    {.name = "centre", .type = GAB_CONFIG_REAL, .length_min = 2, .length_max = 3, .unit = "cells",
     .doc = "Centre of the ball, which continues through periodic sides."},
    {.name = "radius", .type = GAB_CONFIG_REAL, POSITIVE, .unit = "cells", .doc = "Its radius."},
    SOLIDS_KEY};
static const gab_config_key lamellae_keys[] = {
    HEIGHT_KEY, SOLIDS_KEY, SHARES_KEY,
    {.name = "period", .type = GAB_CONFIG_REAL, .min = 1, .max = 1e9, .unit = "cells", .doc = "Period of the solids along x; a periodic domain holds a whole number of periods."}};
static const gab_config_key voronoi_keys[] = {
    HEIGHT_KEY, SOLIDS_KEY, SHARES_KEY,
    {.name = "seeds", .type = GAB_CONFIG_INT, .min = 1, .max = GAB_START_MOST_SEEDS, .doc = "Number of columns, each the cell of a random seed."},
    {.name = "seed", .type = GAB_CONFIG_INT, .min = 0, .max = 9e15, .default_text = "1", .doc = "Seed of the random numbers."}};

static gab_status hash_volume(const gab_config *config, const char *path, gab_hash64_stream *hash)
{
  (void)config;
  return gab_volume_files_hash(path, hash);
}

static const gab_config_key file_keys[] = {
    {.name = "path", .type = GAB_CONFIG_STRING, .file = GAB_CONFIG_FILE_BY_CASE, .content = hash_volume,
     .doc = "OUT/fields/NAME_0000001000 of an earlier run on as many cells, next to the parameter file or absolute: with "
            "phi_NAME of all phases and all c_1, c_2, ... (best in double precision) or mu_1, mu_2, ... The window has moved by 0 again."}};

static const gab_config_key window_keys[] = {
    {.name = "row", .type = GAB_CONFIG_INT, .min = 0, .max = 2147483647, .unit = "cells",
     .doc = "The window moves up when the front is above this row of cells."},
    {.name = "every", .type = GAB_CONFIG_INT, .min = 1, .max = 1e9, .unit = "steps", .default_text = "10", .doc = "Interval of this check, in steps."},
    {.name = "rows", .type = GAB_CONFIG_INT, .min = 1, .max = 2147483647, .unit = "cells", .default_text = "1",
     .doc = "Rows per move; a slab of output.slabs has as many."},
};
/* clang-format on */

#define INITIAL(name, list, text)                                                                            \
  {                                                                                                          \
    .path = "phasefield.initial", .doc = text, .keys = list, .count = COUNT(list), .optional = true,         \
    .variant = name                                                                                          \
  }

static const gab_config_section sections[] = {
    {.path = "phasefield",
     .doc = "Solidification by the grand-potential phase-field model; a case with this section is not"
            " a flow.",
     .keys = model_keys,
     .count = COUNT(model_keys),
     .optional = true},
    {.path = "phasefield.phases",
     .doc = "The phases, 2 to 8, the melt last: parabolic free energies, or compositions and slopes "
            "of a phase diagram.",
     .keys = phase_keys,
     .count = COUNT(phase_keys),
     .is_list = true},
    {.path = "phasefield.pairs",
     .doc = "Interfaces between two phases.",
     .keys = pair_keys,
     .count = COUNT(pair_keys),
     .is_list = true},
    {.path = "phasefield.temperature",
     .doc = "Temperature: a moving linear profile.",
     .keys = temperature_keys,
     .count = COUNT(temperature_keys),
     .optional = true},
    {.path = "phasefield.noise",
     .doc = "Noise on interfaces, the same for any number of processes.",
     .keys = noise_keys,
     .count = COUNT(noise_keys),
     .optional = true},
    {.path = "phasefield.boundaries",
     .doc = "Boundary conditions of the domain.",
     .keys = boundary_keys,
     .count = COUNT(boundary_keys)},
    INITIAL("plane", plane_keys, "One solid below a height."),
    INITIAL("sphere", sphere_keys, "A ball of solid."),
    INITIAL("lamellae", lamellae_keys, "Solids side by side below a height."),
    INITIAL("voronoi", voronoi_keys, "Columns of solids around random seeds, below a height."),
    INITIAL("file", file_keys, "State of an earlier run, written with output.fields."),
    {.path = "phasefield.window",
     .doc = "Window that moves with the front.",
     .keys = window_keys,
     .count = COUNT(window_keys),
     .optional = true},
};

gab_status gab_phasefield_declare(gab_config *config)
{
  for (size_t i = 0; i < COUNT(sections); i++) GAB_TRY(gab_config_declare(config, &sections[i]));
  return GAB_OK;
}

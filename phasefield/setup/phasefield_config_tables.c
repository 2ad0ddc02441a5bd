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
     .doc = "Sets the width of interfaces, pi^2/4 epsilon; at least two cells, for interfaces of 4.93 cells."},
    {.name = "dt", .type = GAB_CONFIG_REAL, POSITIVE, .unit = "time",
     .doc = "The time step; has to be stable (gabion check tells up to where)."},
    {.name = "interpolation", .type = GAB_CONFIG_CHOICE, .choices = "moelans|cubic", .default_text = "moelans",
     .doc = "How bulk energies and concentrations are distributed over interfaces."},
    {.name = "potential", .type = GAB_CONFIG_CHOICE, .choices = "obstacle|well", .default_text = "obstacle",
     .doc = "What keeps interfaces thin; the obstacle gives them a finite width."},
    {.name = "anti_trapping", .type = GAB_CONFIG_BOOL, .default_text = "true",
     .doc = "Whether the current is added that undoes what thick interfaces do to the solute."},
    {.name = "gamma", .type = GAB_CONFIG_REAL, POSITIVE, .default_text = GAB_CONFIG_OPTIONAL, .unit = "energy/length^2",
     .doc = "Surface energy of all pairs of phases that phasefield.pairs does not give."},
    {.name = "tau", .type = GAB_CONFIG_REAL, POSITIVE, .default_text = GAB_CONFIG_OPTIONAL,
     .doc = "Kinetic coefficient of all pairs that phasefield.pairs does not give; left out, that of a solid and the "
            "melt is the one without interface kinetics, and that of two solids the mean of theirs with the melt."},
    {.name = "anisotropy", .type = GAB_CONFIG_REAL, .min = -1. / 15, .max = 1. / 15, .min_excluded = true,
     .max_excluded = true, .default_text = "0",
     .doc = "delta of gamma (1 + delta cos 4 theta), of all solids and the melt that phasefield.pairs does not give; in 3D "
            "cos 4 theta is 4 sum n_i^4 - 3."},
    {.name = "kinetic_anisotropy", .type = GAB_CONFIG_REAL, .min = -0.6, .max = 0.6, .min_excluded = true,
     .max_excluded = true, .default_text = "0",
     .doc = "The same for tau; twice that of gamma leaves interfaces without kinetics so."},
    {.name = "triple", .type = GAB_CONFIG_REAL, .min = 0, .max = INFINITY, .default_text = "10",
     .doc = "Energy of triples of phases in surface energies of their pairs: keeps third phases out of interfaces."},
    {.name = "components", .type = GAB_CONFIG_STRING, .length_min = 2, .length_max = GAB_MOST_COMPONENTS,
     .doc = "Names of the components; the last one is the one that follows from the others."},
    {.name = "mu", ANY_REALS, .default_text = GAB_CONFIG_OPTIONAL,
     .doc = "Chemical potentials at the start and of reservoirs; left out, those of the eutectic or 0."},
    {.name = "eutectic_temperature", .type = GAB_CONFIG_REAL, .default_text = GAB_CONFIG_OPTIONAL,
     .doc = "For phases that are given by composition and slopes."},
    {.name = "series_every",
     .type = GAB_CONFIG_INT,
     .min = 0,
     .max = 9e15,
     .unit = "steps",
     .default_text = "100",
     .outside = true,
     .doc = "Steps between rows of front.csv: height of the front, undercooling, fractions; 0: none."},
    {.name = "kernel", .type = GAB_CONFIG_CHOICE, .choices = "auto|fast|reference", .default_text = "auto",
     .doc = "How the sweeps are computed; fast and reference differ by rounding."},
};

static const gab_config_key phase_keys[] = {
    {.name = "name", .type = GAB_CONFIG_STRING, .doc = "Letters, digits, _ and -. The last phase of the list is the melt."},
    {.name = "diffusivity", .type = GAB_CONFIG_REAL, .min = 0, .max = INFINITY, .default_text = "0",
     .doc = "Of the components in this phase."},
    {.name = "curvature", ANY_REALS, .default_text = GAB_CONFIG_OPTIONAL,
     .doc = "Xi of the free energy f = c.Xi c + xi.c + X: (K-1)^2 numbers row by row; a solid that is given by slopes has "
            "that of the melt."},
    {.name = "linear", ANY_REALS, .default_text = GAB_CONFIG_OPTIONAL, .doc = "xi, K-1 numbers; left out: 0."},
    {.name = "linear_slope", ANY_REALS, .default_text = GAB_CONFIG_OPTIONAL, .doc = "Its change with the temperature: linear + linear_slope T."},
    {.name = "constant", .type = GAB_CONFIG_REAL, .default_text = "0", .doc = "X."},
    {.name = "constant_slope", .type = GAB_CONFIG_REAL, .default_text = "0", .doc = "Its change with the temperature: constant + constant_slope T."},
    {.name = "temperatures", ANY_REALS, .default_text = GAB_CONFIG_OPTIONAL,
     .doc = "Points of tables, ascending; between them and beyond, the tables are linear."},
    {.name = "constant_table", ANY_REALS, .default_text = GAB_CONFIG_OPTIONAL, .doc = "X at these temperatures, instead of constant and constant_slope."},
    {.name = "linear_table", ANY_REALS, .default_text = GAB_CONFIG_OPTIONAL,
     .doc = "xi at these temperatures, instead of linear and linear_slope: all values of the first component, then the next."},
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
    {.name = "velocity", .type = GAB_CONFIG_REAL, .default_text = "0", .doc = "At which isotherms move."},
};

static const gab_config_key noise_keys[] = {
    {.name = "amplitude", .type = GAB_CONFIG_REAL, .min = 0, .max = INFINITY, .unit = "1/sqrt(time)",
     .doc = "phi of a cell gains this times sqrt(dt) 4 phi (1 - phi) times a random number of variance 1 per step."},
    {.name = "seed", .type = GAB_CONFIG_INT, .min = 0, .max = 9e15, .default_text = "1", .doc = "Of the random numbers."},
};

static const gab_config_key boundary_keys[] = {
    {.name = "lateral", .type = GAB_CONFIG_CHOICE, .choices = "periodic|closed", .default_text = "periodic",
     .doc = "All sides but the lower and upper one."},
    {.name = "bottom", .type = GAB_CONFIG_CHOICE, .choices = "closed|reservoir", .default_text = "closed",
     .doc = "Nothing passes, or the chemical potentials phasefield.mu are held."},
    {.name = "top", .type = GAB_CONFIG_CHOICE, .choices = "closed|reservoir", .default_text = "reservoir", .doc = "The same for the upper side."},
};

#define SOLIDS_KEY {.name = "solids", .type = GAB_CONFIG_STRING, .repeats = true, .length_min = 1, .length_max = GAB_MOST_PHASES, \
                    .default_text = GAB_CONFIG_OPTIONAL, .doc = "Names of the solids, in order; left out: all of them, or the first."}
#define SHARES_KEY {.name = "shares", .type = GAB_CONFIG_REAL, .min = 0, .max = 1, .length_min = 1, .length_max = GAB_MOST_PHASES, \
                    .default_text = GAB_CONFIG_OPTIONAL, .doc = "Shares of these solids, sum 1; left out: equal ones."}
#define HEIGHT_KEY {.name = "height", .type = GAB_CONFIG_REAL, .min = 0, .max = 1e9, .unit = "cells", .doc = "Up to which there is solid."}

static const gab_config_key plane_keys[] = {HEIGHT_KEY, SOLIDS_KEY};
static const gab_config_key sphere_keys[] = {
    {.name = "centre", .type = GAB_CONFIG_REAL, .length_min = 2, .length_max = 3, .unit = "cells",
     .doc = "Centre of the ball, which continues through periodic sides."},
    {.name = "radius", .type = GAB_CONFIG_REAL, POSITIVE, .unit = "cells", .doc = "Its radius."},
    SOLIDS_KEY};
static const gab_config_key lamellae_keys[] = {
    HEIGHT_KEY, SOLIDS_KEY, SHARES_KEY,
    {.name = "period", .type = GAB_CONFIG_REAL, .min = 1, .max = 1e9, .unit = "cells", .doc = "Width after which the solids repeat along x; a periodic domain holds a whole number of periods."}};
static const gab_config_key voronoi_keys[] = {
    HEIGHT_KEY, SOLIDS_KEY, SHARES_KEY,
    {.name = "seeds", .type = GAB_CONFIG_INT, .min = 1, .max = GAB_START_MOST_SEEDS, .doc = "Columns, each nearest to a random seed."},
    {.name = "seed", .type = GAB_CONFIG_INT, .min = 0, .max = 9e15, .default_text = "1", .doc = "Of the random numbers."}};

static const gab_config_key file_keys[] = {
    {.name = "path", .type = GAB_CONFIG_STRING, .file = GAB_CONFIG_FILE_BY_CASE, .content = gab_volume_files_hash,
     .doc = "OUT/fields/NAME_0000001000 of an earlier run on as many cells, next to the parameter file or absolute: with "
            "phi_NAME of all phases and all c_1, c_2, ... (best in double precision) or mu_1, mu_2, ... The window has moved by 0 again."}};

static const gab_config_key window_keys[] = {
    {.name = "row", .type = GAB_CONFIG_INT, .min = 0, .max = 2147483647, .unit = "cells",
     .doc = "When the front is above this row of cells, the window moves up."},
    {.name = "every", .type = GAB_CONFIG_INT, .min = 1, .max = 1e9, .unit = "steps", .default_text = "10", .doc = "Steps between looks."},
    {.name = "rows", .type = GAB_CONFIG_INT, .min = 1, .max = 2147483647, .unit = "cells", .default_text = "1",
     .doc = "By how many rows it moves at once; as many are in a slab of output.slabs."},
};
/* clang-format on */

#define INITIAL(name, list, text)                                                                            \
  {                                                                                                          \
    .path = "phasefield.initial", .doc = text, .keys = list, .count = COUNT(list), .optional = true,         \
    .variant = name                                                                                          \
  }

static const gab_config_section sections[] = {
    {.path = "phasefield",
     .doc = "Solidification by the grand-potential phase field; a case with this section is no flow.",
     .keys = model_keys,
     .count = COUNT(model_keys),
     .optional = true},
    {.path = "phasefield.phases",
     .doc =
         "The phases, 2 to 8, the melt last: parabolic free energies, or compositions and slopes of a phase "
         "diagram.",
     .keys = phase_keys,
     .count = COUNT(phase_keys),
     .is_list = true},
    {.path = "phasefield.pairs",
     .doc = "Interfaces between two phases.",
     .keys = pair_keys,
     .count = COUNT(pair_keys),
     .is_list = true},
    {.path = "phasefield.temperature",
     .doc = "The temperature, a moving straight line.",
     .keys = temperature_keys,
     .count = COUNT(temperature_keys),
     .optional = true},
    {.path = "phasefield.noise",
     .doc = "Noise on interfaces, the same for any number of processes.",
     .keys = noise_keys,
     .count = COUNT(noise_keys),
     .optional = true},
    {.path = "phasefield.boundaries",
     .doc = "What passes through the sides of the domain.",
     .keys = boundary_keys,
     .count = COUNT(boundary_keys)},
    INITIAL("plane", plane_keys, "One solid below a height."),
    INITIAL("sphere", sphere_keys, "A ball of solid."),
    INITIAL("lamellae", lamellae_keys, "Solids side by side below a height."),
    INITIAL("voronoi", voronoi_keys, "Columns of solids around random seeds, below a height."),
    INITIAL("file", file_keys, "The state that an earlier run has written with output.fields."),
    {.path = "phasefield.window",
     .doc = "The window moves with the front.",
     .keys = window_keys,
     .count = COUNT(window_keys),
     .optional = true},
};

gab_status gab_phasefield_declare(gab_config *config)
{
  for (size_t i = 0; i < COUNT(sections); i++) GAB_TRY(gab_config_declare(config, &sections[i]));
  return GAB_OK;
}

/* The sections of parameter files that belong to the driver: run, domain, output. */
#include "apps/driver/driver.h"
#include "phasefield/setup/phasefield_config.h"
#include "phasefield/levels/refinement.h"
#include "resilience/resilience_config.h"

#include <math.h>

#define KEYS(table)         .keys = (table), .count = sizeof(table) / sizeof((table)[0])
#define QUANTITY_LIST       "density, pressure, velocity, speed, vorticity, q_criterion, owner, level"
#define PHASE_QUANTITY_LIST "phase, solid, interface, temperature, phi_NAME, mu_1, c_1, ..."

static const gab_config_key run_keys[] = {
    {.name = "title",
     .type = GAB_CONFIG_STRING,
     .default_text = "\"\"",
     .outside = true,
     .doc = "What the case is, for the log."},
    {.name = "steps",
     .instead_of = "time",
     .type = GAB_CONFIG_INT,
     .min = 0,
     .max = 9e15,
     .default_text = GAB_CONFIG_OPTIONAL,
     .doc = "Time steps to compute; give either this or time."},
    {.name = "time",
     .instead_of = "steps",
     .type = GAB_CONFIG_REAL,
     .min = 0,
     .max = INFINITY,
     .min_excluded = true,
     .default_text = GAB_CONFIG_OPTIONAL,
     .doc = "Physical time to compute; rounded to whole steps."},
    {.name = "processes",
     .type = GAB_CONFIG_INT,
     .min = 1,
     .max = 1e9,
     .default_text = "4",
     .outside = true,
     .doc = "Recommended number of processes, what scripts/run.sh starts; the result is the same with any."},
    {.name = "check_every",
     .type = GAB_CONFIG_INT,
     .min = 0,
     .max = 9e15,
     .default_text = "100",
     .outside = true,
     .doc = "Steps between checks that the numbers still mean something; 0: never."},
};

static const gab_config_key domain_keys[] = {
    {.name = "cells",
     .type = GAB_CONFIG_INT,
     .unit = "cells",
     .min = 1,
     .max = 2147483647,
     .length_min = 2,
     .length_max = 3,
     .doc = "Cells of the domain in x, y, z; two numbers make a run in 2D."},
    {.name = "block",
     .type = GAB_CONFIG_INT,
     .unit = "cells",
     .min = 1,
     .max = 100000,
     .length_min = 2,
     .length_max = 3,
     .doc = "Cells of a block in x, y, z; the domain has to be a whole number of blocks."},
    {.name = "dx",
     .instead_of = "length",
     .type = GAB_CONFIG_REAL,
     .min = 1e-100,
     .max = 1e100,
     .default_text = GAB_CONFIG_OPTIONAL,
     .doc = "Width of a cell; 1 (lattice units) if neither this nor length is given."},
    {.name = "length",
     .instead_of = "dx",
     .type = GAB_CONFIG_REAL,
     .min = 1e-100,
     .max = 1e100,
     .default_text = GAB_CONFIG_OPTIONAL,
     .doc = "Instead of dx: length of the domain in x."},
    {.name = "origin",
     .type = GAB_CONFIG_REAL,
     .length_min = 2,
     .length_max = 3,
     .default_text = "[0, 0, 0]",
     .doc = "Coordinates of the lower corner of the domain."},
};

static const gab_config_key balance_keys[] = {
    {.name = "strategy",
     .type = GAB_CONFIG_CHOICE,
     .choices = "hilbert|morton|diffusion|graph",
     .default_text = "hilbert",
     .outside = true,
     .doc = "How blocks are shared out: equal pieces of a space-filling curve, loads that even out between "
            "neighbours, or graph partitioning (if METIS was there when Gabion was built)."},
    {.name = "weights",
     .type = GAB_CONFIG_CHOICE,
     .choices = "per_level|total",
     .default_text = "per_level",
     .outside = true,
     .doc = "Whether every level is shared out evenly by itself, or only the sum of all work is."},
    {.name = "work",
     .type = GAB_CONFIG_CHOICE,
     .choices = "cells|measured",
     .default_text = "cells",
     .outside = true,
     .doc =
         "What the work of a block is: its cells, of a flow the fluid ones, and the steps they take; or the time that "
         "it took in the steps before. Results do not depend on it."},
    {.name = "every",
     .type = GAB_CONFIG_INT,
     .unit = "steps",
     .min = 0,
     .max = 9e15,
     .default_text = "0",
     .outside = true,
     .doc =
         "With work: measured, steps after which blocks are shared out anew if the work was uneven. 0: only when the "
         "grid changes or a process is lost."},
    {.name = "above",
     .type = GAB_CONFIG_REAL,
     .min = 1,
     .max = 1e6,
     .default_text = "1.1",
     .outside = true,
     .doc =
         "With every: work of the busiest process over the mean above which it is uneven; with weights: per_level, of the "
         "busiest of each level, summed up. Blocks then move if that becomes at least a twentieth less."},
};

/* Three keys that say when something is written. */
#define SCHEDULE_KEYS                                                                                        \
  {.name = "every",                                                                                          \
   .type = GAB_CONFIG_INT,                                                                                   \
   .unit = "steps",                                                                                          \
   .min = 1,                                                                                                 \
   .max = 9e15,                                                                                              \
   .default_text = GAB_CONFIG_OPTIONAL,                                                                      \
   .outside = true,                                                                                          \
   .instead_of = "interval",                                                                                 \
   .doc = "Steps between two outputs."},                                                                     \
      {.name = "interval",                                                                                   \
       .type = GAB_CONFIG_REAL,                                                                              \
       .min = 0,                                                                                             \
       .max = INFINITY,                                                                                      \
       .min_excluded = true,                                                                                 \
       .default_text = GAB_CONFIG_OPTIONAL,                                                                  \
       .outside = true,                                                                                      \
       .instead_of = "every",                                                                                \
       .doc = "Instead of every: physical time between two outputs."},                                       \
  {                                                                                                          \
    .name = "start", .type = GAB_CONFIG_INT, .unit = "steps", .min = 0, .max = 9e15, .default_text = "0",    \
    .outside = true, .doc = "First step at which something is written."                                      \
  }

static const gab_config_key fields_keys[] = {
    SCHEDULE_KEYS,
    {.name = "final",
     .type = GAB_CONFIG_BOOL,
     .default_text = "true",
     .outside = true,
     .doc = "Whether the last state is written in any case."},
    {.name = "quantities",
     .type = GAB_CONFIG_STRING,
     .length_min = 1,
     .length_max = 16,
     .default_text = "[velocity, pressure]",
     .outside = true,
     .doc = "What is written: any of " QUANTITY_LIST "; of a phase field any of " PHASE_QUANTITY_LIST
            ", by default phase and solid."},
    {.name = "precision",
     .type = GAB_CONFIG_CHOICE,
     .choices = "float|double",
     .default_text = "float",
     .outside = true,
     .doc = "Of the numbers in the files."},
    {.name = "compression",
     .type = GAB_CONFIG_INT,
     .min = 0,
     .max = 9,
     .default_text = GAB_CONFIG_OPTIONAL,
     .outside = true,
     .doc = "0: none, 9: most; left out: 1, or 0 where HDF5 was built without zlib."},
};

static const gab_config_key slice_keys[] = {
    SCHEDULE_KEYS,
    {.name = "quantity",
     .type = GAB_CONFIG_STRING,
     .default_text = "speed",
     .outside = true,
     .doc = "What is shown: one of " QUANTITY_LIST
            ", or a component such as velocity.x; of a phase field one of " PHASE_QUANTITY_LIST
            ", by default phase."},
    {.name = "name",
     .type = GAB_CONFIG_STRING,
     .default_text = GAB_CONFIG_OPTIONAL,
     .outside = true,
     .distinct = true,
     .doc = "First part of the file name: letters, digits and _ - + .; by default quantity and axis."},
    {.name = "axis",
     .type = GAB_CONFIG_CHOICE,
     .choices = "x|y|z",
     .default_text = "z",
     .outside = true,
     .doc = "Normal of the slice; in 2D it is z."},
    {.name = "position",
     .type = GAB_CONFIG_REAL,
     .default_text = GAB_CONFIG_OPTIONAL,
     .outside = true,
     .doc = "Coordinate on that axis; by default the middle of the domain."},
    {.name = "range",
     .type = GAB_CONFIG_REAL,
     .length_min = 2,
     .length_max = 2,
     .default_text = GAB_CONFIG_OPTIONAL,
     .outside = true,
     .doc = "Values at the ends of the colour bar; by default those that occur."},
    {.name = "outlines",
     .type = GAB_CONFIG_BOOL,
     .default_text = "false",
     .outside = true,
     .doc = "Whether the blocks are drawn. In the colours of owners, a phase field is also drawn after each "
            "death as it "
            "was restored, without the blocks of the dead (NAME_lost)."},
    {.name = "outlined",
     .type = GAB_CONFIG_CHOICE,
     .choices = "owner|level",
     .default_text = "owner",
     .outside = true,
     .doc = "What the colours of the outlines tell: who owns a block, or its level of refinement."},
    {.name = "final",
     .type = GAB_CONFIG_BOOL,
     .default_text = "true",
     .outside = true,
     .doc = "Whether the last state is drawn in any case."},
};

static const gab_config_key probes_keys[] = {
    SCHEDULE_KEYS,
    {.name = "quantities",
     .type = GAB_CONFIG_STRING,
     .length_min = 1,
     .length_max = 16,
     .default_text = "[velocity, pressure]",
     .outside = true,
     .doc = "What is measured: any of " QUANTITY_LIST "."},
};

static const gab_config_key point_keys[] = {
    {.name = "name",
     .type = GAB_CONFIG_STRING,
     .outside = true,
     .distinct = true,
     .doc = "Name in the head of the columns, without commas."},
    {.name = "at",
     .type = GAB_CONFIG_REAL,
     .length_min = 2,
     .length_max = 3,
     .outside = true,
     .doc = "Coordinates; the value is that of the cell around them."},
};

static const gab_config_key line_keys[] = {
    {.name = "name",
     .type = GAB_CONFIG_STRING,
     .outside = true,
     .distinct = true,
     .doc = "First part of the names of the columns; 0, 1, 2, ... follows."},
    {.name = "from",
     .type = GAB_CONFIG_REAL,
     .length_min = 2,
     .length_max = 3,
     .outside = true,
     .doc = "First point."},
    {.name = "to",
     .type = GAB_CONFIG_REAL,
     .length_min = 2,
     .length_max = 3,
     .outside = true,
     .doc = "Last point."},
    {.name = "count",
     .type = GAB_CONFIG_INT,
     .min = 2,
     .max = 100000,
     .outside = true,
     .doc = "Points at equal distances, first and last included."},
};

static const gab_config_key forces_keys[] = {
    SCHEDULE_KEYS,
    {.name = "area",
     .type = GAB_CONFIG_REAL,
     .min = 0,
     .max = INFINITY,
     .min_excluded = true,
     .default_text = GAB_CONFIG_OPTIONAL,
     .outside = true,
     .doc = "Area A of the coefficients c = F / (rho/2 U^2 A), with U from fluid.velocity; in 2D by default "
            "fluid.length."},
};

static const gab_config_key integrals_keys[] = {
    SCHEDULE_KEYS,
    {.name = "strain",
     .type = GAB_CONFIG_BOOL,
     .default_text = "false",
     .outside = true,
     .doc = "Whether the mean of S:S is measured too (S the rate of strain), from which the dissipation "
            "follows as 2 nu S:S."},
};

static const gab_config_key slabs_keys[] = {
    {.name = "quantities",
     .type = GAB_CONFIG_STRING,
     .length_min = 1,
     .length_max = 16,
     .default_text = "[phase]",
     .outside = true,
     .doc = "Which of " PHASE_QUANTITY_LIST " are written."},
    {.name = "precision",
     .type = GAB_CONFIG_CHOICE,
     .choices = "float|double",
     .default_text = "float",
     .outside = true,
     .doc = "Of the numbers in the files."},
    {.name = "compression",
     .type = GAB_CONFIG_INT,
     .min = 0,
     .max = 9,
     .default_text = GAB_CONFIG_OPTIONAL,
     .outside = true,
     .doc = "0: none, 9: most; left out: 1, or 0 where HDF5 was built without zlib."},
};

static const gab_config_key profile_keys[] = {SCHEDULE_KEYS};

static const gab_config_section sections[] = {
    {.path = "run", .doc = "The run as a whole.", KEYS(run_keys)},
    {.path = "domain", .doc = "The grid and how it is cut into blocks.", KEYS(domain_keys)},
    {.path = "balance", .doc = "Which process computes which blocks.", KEYS(balance_keys)},
    {.path = "output.fields",
     .doc = "Fields on all cells for ParaView (open fields/fields.xdmf).",
     KEYS(fields_keys)},
    {.path = "output.slices", .doc = "Pictures (PNG) of plane slices.", .is_list = true, KEYS(slice_keys)},
    {.path = "output.probes", .doc = "Values at points and along lines, in probes.csv.", KEYS(probes_keys)},
    {.path = "output.points", .doc = "Points at which probes measure.", .is_list = true, KEYS(point_keys)},
    {.path = "output.lines", .doc = "Lines along which probes measure.", .is_list = true, KEYS(line_keys)},
    {.path = "output.forces",
     .doc = "Forces of the fluid on the bodies, in forces.csv, with coefficients if fluid.velocity and an "
            "area are known.",
     KEYS(forces_keys)},
    {.path = "output.profile",
     .doc = "Means over each layer of cells of a phase field, in profile.csv: fractions, concentrations, "
            "temperature; "
            "rows are counted from where the window began.",
     KEYS(profile_keys)},
    {.path = "output.slabs",
     .doc =
         "What leaves the moving window of a phase field, in slabs/; gabion assemble makes one field of it.",
     KEYS(slabs_keys)},
    {.path = "output.integrals",
     .doc = "Mass, momentum, kinetic energy (means over the fluid) and largest speed, in integrals.csv.",
     KEYS(integrals_keys)},
};

gab_status driver_config_create(gab_config **config)
{
  GAB_TRY(gab_config_create(config));
  gab_status status = GAB_OK;
  for (size_t i = 0; i < 2; i++) GAB_TRY_GOTO(status, failed, gab_config_declare(*config, &sections[i]));
  GAB_TRY_GOTO(status, failed, gab_lbm_declare(*config));
  GAB_TRY_GOTO(status, failed, gab_phasefield_declare(*config));
  GAB_TRY_GOTO(status, failed, gab_phasefield_refinement_declare(*config));
  GAB_TRY_GOTO(status, failed, gab_refinement_declare(*config));
  for (size_t i = 2; i < sizeof sections / sizeof sections[0]; i++)
    GAB_TRY_GOTO(status, failed, gab_config_declare(*config, &sections[i]));
  GAB_TRY_GOTO(status, failed, gab_resilience_declare(*config));
  GAB_TRY_GOTO(status, failed, recompute_declare(*config));
  return GAB_OK;
failed:
  gab_config_destroy(config);
  return status;
}

gab_status driver_config_finish(gab_config *config, const driver_options *options)
{
  for (size_t i = 0; i < options->setting_count; i++)
    GAB_TRY(gab_config_override(config, options->settings[i]));
  return gab_config_check(config);
}

gab_status driver_config_from_file(const driver_options *options, gab_config **config)
{
  *config = NULL;
  if (!options->word) GAB_FAIL(GAB_ERR_INPUT, "no case file given");
  GAB_TRY(driver_config_create(config));
  gab_status status = gab_config_load(*config, options->word);
  if (status == GAB_OK) status = driver_config_finish(*config, options);
  if (status != GAB_OK) gab_config_destroy(config);
  return status;
}

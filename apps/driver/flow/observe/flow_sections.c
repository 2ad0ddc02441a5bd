/* SPDX-License-Identifier: Apache-2.0 */
/* The sections of parameter files that belong to a flow. */
#include "apps/driver/case/common_sections.h"
#include "apps/driver/flow/flow_case.h"
#include "lbm/observe/quantities.h"

static const gab_config_key probes_keys[] = {
    SCHEDULE_KEYS,
    {.name = "quantities",
     .type = GAB_CONFIG_STRING,
     .length_min = 1,
     .length_max = 16,
     .choice_at = gab_lbm_quantity_choice,
     .default_text = "[velocity, pressure]",
     .outside = true,
     .doc = "Quantities to measure."},
};

static const gab_config_key point_keys[] = {
    {.name = "name",
     .type = GAB_CONFIG_STRING,
     .outside = true,
     .distinct = true,
     .doc = "Name in the column headers, without commas."},
    {.name = "at",
     .type = GAB_CONFIG_REAL,
     .length_min = 2,
     .length_max = 3,
     .outside = true,
     .doc = "Coordinates; the value is that of the cell that contains them."},
};

static const gab_config_key line_keys[] = {
    {.name = "name",
     .type = GAB_CONFIG_STRING,
     .outside = true,
     .distinct = true,
     .doc = "Prefix of the column names, followed by 0, 1, 2, ...; without commas."},
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
     .doc = "Number of equidistant points, both ends included."},
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
     .doc = "Area A of the coefficients c = F / (rho/2 U^2 A), U = fluid.velocity; default in 2D: "
            "fluid.length."},
    {.name = "parts",
     .type = GAB_CONFIG_BOOL,
     .default_text = "false",
     .outside = true,
     .doc =
         "Also write the parts of force and torque by pressure and by friction, from values on the wall, and y+ in "
         "summary.json; needs 40 bytes per cell."},
};

static const gab_config_key sides_keys[] = {
    SCHEDULE_KEYS,
    {.name = "forces",
     .type = GAB_CONFIG_BOOL,
     .default_text = "false",
     .outside = true,
     .doc = "Also write the forces on all sides and patches, walls too."},
};

static const gab_config_key porous_keys[] = {SCHEDULE_KEYS};

static const gab_config_key integrals_keys[] = {
    SCHEDULE_KEYS,
    {.name = "strain",
     .type = GAB_CONFIG_BOOL,
     .default_text = "false",
     .outside = true,
     .doc = "Also write the mean of S:S (S the rate of strain); the dissipation is 2 nu S:S."},
};

static const gab_config_key planes_keys[] = {
    EVERY_KEY("interval", true, "Interval of output, in steps."),
    INTERVAL_KEY(true,
                 "Instead of every: interval in physical time; output at the step nearest to each multiple."),
    START_KEY(true, "First step with output."),
    {.name = "name",
     .type = GAB_CONFIG_STRING,
     .outside = true,
     .distinct = true,
     .doc =
         "Name of the plane and of its files, of letters, digits, dots and _ - +; they end with h5 and csv."},
    {.name = "axis",
     .type = GAB_CONFIG_CHOICE,
     .choices = "x|y|z",
     .outside = true,
     .doc = "Normal of the plane; in 2D x or y."},
    {.name = "position",
     .type = GAB_CONFIG_REAL,
     .unit = "m",
     .outside = true,
     .doc = "Coordinate on that axis."},
    {.name = "spacing",
     .type = GAB_CONFIG_REAL,
     .min = 0,
     .max = INFINITY,
     .min_excluded = true,
     .unit = "m",
     .default_text = GAB_CONFIG_OPTIONAL,
     .outside = true,
     .doc =
         "Distance of the points, rounded to a whole number of them; default: the width of the finest cells that the "
         "grid may have."},
    {.name = "quantities",
     .type = GAB_CONFIG_STRING,
     .length_min = 1,
     .length_max = 16,
     .choice_at = gab_lbm_quantity_choice,
     .default_text = "[velocity, pressure]",
     .outside = true,
     .doc = "Quantities to write."},
};

/* The checkpoint that is read, so that a case is another one once the run there has gone on. */
static gab_status hash_source(const gab_config *config, const char *path, gab_hash64_stream *hash)
{
  char folder[GAB_APP_PATH_LENGTH + 32];
  const bool is_chosen = gab_config_is_set(config, "initial.step");
  snprintf(folder, sizeof folder, "%.*s/checkpoints", GAB_APP_PATH_LENGTH, path);
  return gab_restart_hash(folder, is_chosen ? gab_config_int(config, "initial.step") : -1, hash);
}

static const gab_config_key start_keys[] = {
    {.name = "from",
     .type = GAB_CONFIG_STRING,
     .file = GAB_CONFIG_FILE_BY_CASE,
     .content = hash_source,
     .at_start = true,
     .doc = "Output folder of that run, next to the parameter file or absolute. Not needed to resume."},
    {.name = "step",
     .type = GAB_CONFIG_INT,
     .min = 0,
     .max = INFINITY,
     .unit = "steps",
     .default_text = GAB_CONFIG_OPTIONAL,
     .doc = "Its checkpoint to read; left out: the last one."},
    {.name = "velocity",
     .type = GAB_CONFIG_REAL,
     .length_min = 2,
     .length_max = 3,
     .unit = "m/s",
     .default_text = GAB_CONFIG_OPTIONAL,
     .doc = "Velocity in cells outside of the domain of that run; left out: there must be none."},
};

static const gab_config_section sections[] = {
    {.path = "initial",
     .doc = "The state of another run, from its checkpoint on disk; grid, units and collision may differ.",
     .optional = true,
     .variant = "run",
     KEYS(start_keys)},
    {.path = "output.probes",
     .doc = "Probes: values at points and along lines, in probes.csv.",
     KEYS(probes_keys)},
    {.path = "output.points", .doc = "Points of the probes.", .is_list = true, KEYS(point_keys)},
    {.path = "output.lines", .doc = "Lines of the probes.", .is_list = true, KEYS(line_keys)},
    {.path = "output.forces",
     .doc =
         "Forces, torques and centres of pressure of the bodies, in forces.csv; with coefficients if fluid.velocity "
         "and an area are known.",
     KEYS(forces_keys)},
    {.path = "output.sides",
     .doc =
         "Measured flow rate into the domain and mean pressure of each side and patch that fluid passes, in sides.csv.",
     KEYS(sides_keys)},
    {.path = "output.porous",
     .doc =
         "Force of the fluid on each porous region, mean superficial velocity and power of the drag, in porous.csv.",
     KEYS(porous_keys)},
    {.path = "output.planes",
     .doc =
         "Quantities on uniform grids in planes (in 2D on lines), all steps in NAME.h5 (doc/field-format.md); flow rate and means in NAME.csv.",
     .is_list = true,
     KEYS(planes_keys)},
    {.path = "output.integrals",
     .doc = "Mass, momentum, kinetic energy (means over the fluid) and maximum speed, in "
            "integrals.csv.",
     KEYS(integrals_keys)},
};

gab_status gab_app_flow_declare(gab_config *config)
{
  GAB_TRY(gab_lbm_declare(config));
  GAB_TRY(gab_refinement_declare(config));
  GAB_TRY(gab_app_tracer_plan_declare(config));
  GAB_TRY(gab_app_scalars_declare(config));
  GAB_TRY(gab_app_means_declare(config));
  GAB_TRY(gab_app_until_declare(config));
  return gab_app_declare(config, sections, sizeof sections / sizeof sections[0]);
}

/* SPDX-License-Identifier: Apache-2.0 */
/* Reads the sections `scalars', `scalar_boundaries' and `output.scalars'. */
#include "apps/driver/flow/carried/flow_scalars.h"

#include "apps/driver/case/case_impl.h"
#include "apps/driver/case/common_sections.h"
#include "core/base/log.h"
#include "core/base/text/text_impl.h"
#include "core/memory/memory.h"
#include "lbm/observe/quantities.h"

#include <math.h>
#include <string.h>

/* ---------------------------------------------------------------- tables */

enum { MOST_SUBSTEPS = 1000 };

/* clang-format off */
#define POSITIVE_OPTION(key, its_unit, others, text)                                                         \
  {.name = key, .type = GAB_CONFIG_REAL, .min = 0, .max = INFINITY, .min_excluded = true, .unit = its_unit,  \
   .instead_of = others, .default_text = GAB_CONFIG_OPTIONAL, .doc = text}
#define NUMBER(key, preset, text)                                                                            \
  {.name = key, .type = GAB_CONFIG_REAL, .default_text = preset, .doc = text}
/* clang-format on */

static const gab_config_key scalar_keys[] = {
    {.name = "name",
     .type = GAB_CONFIG_STRING,
     .distinct = true,
     .doc = "Name in quantities, tables and messages, e.g. temperature."},
    {.name = "unit",
     .type = GAB_CONFIG_STRING,
     .default_text = "\"\"",
     .outside = true,
     .doc = "Unit, e.g. K."},
    POSITIVE_OPTION("diffusivity", "m^2/s", "prandtl|schmidt",
                    "Diffusivity; alternatives: prandtl, schmidt."),
    POSITIVE_OPTION("prandtl", NULL, "diffusivity|schmidt", "Viscosity over diffusivity, of heat."),
    POSITIVE_OPTION("schmidt", NULL, "diffusivity|prandtl", "Viscosity over diffusivity, of a species."),
    POSITIVE_OPTION(
        "turbulent_prandtl", NULL, NULL,
        "Prandtl or Schmidt number of eddies, usually 0.7 to 0.9: with `collision: smagorinsky` the eddy viscosity "
        "over this number adds to the diffusivity. Default: eddies do not."),
    {.name = "capacity",
     .type = GAB_CONFIG_REAL,
     .min = 0,
     .max = INFINITY,
     .min_excluded = true,
     .unit = "J/(m^3 K)",
     .default_text = "1",
     .doc =
         "Heat capacity per volume, density times specific heat. With it fluxes are in W/m^2 and sources in W/m^3; "
         "1: fluxes in the unit times m/s, as for a species."},
    {.name = "initial",
     .type = GAB_CONFIG_EXPRESSION,
     .variables = "x|y|z",
     .default_text = "0",
     .doc = "Initial value, a number or a formula of the place in m."},
    NUMBER(
        "reference", GAB_CONFIG_OPTIONAL,
        "Value without buoyancy; cells store the difference to it. Default: initial, if that is a number; else 0, "
        "which is refused if all initial values are far from it."),
    {.name = "expansion",
     .type = GAB_CONFIG_REAL,
     .unit = "1/K",
     .default_text = "0",
     .doc = "Expansion coefficient: the fluid gets the acceleration -expansion (value - reference) gravity."},
    {.name = "gravity",
     .type = GAB_CONFIG_REAL,
     .length_min = 2,
     .length_max = 3,
     .unit = "m/s^2",
     .default_text = "[0, 0, 0]",
     .doc = "Gravity, for expansion. The weight of the fluid itself is part of the pressure."},
    {.name = "source",
     .type = GAB_CONFIG_EXPRESSION,
     .variables = "x|y|z|t",
     .default_text = GAB_CONFIG_OPTIONAL,
     .doc = "Source per volume and time, a number or a formula of place and time; in W/m^3 with a capacity."},
    {.name = "bounded",
     .type = GAB_CONFIG_BOOL,
     .default_text = "false",
     .doc =
         "Limit what is carried, so that steep fronts do not over- or undershoot; steps are Heun's and cost twice as much."},
    {.name = "substeps",
     .type = GAB_CONFIG_INT,
     .min = 0,
     .max = MOST_SUBSTEPS,
     .default_text = "0",
     .doc =
         "Sub-steps in a step of the flow. 0: as few as are stable with the largest speed that this file says, or that "
         "buoyancy can reach."},
    POSITIVE_OPTION(
        "difference", "K", NULL,
        "Difference of values in Nusselt and Sherwood numbers, flux length / (diffusivity difference)."),
    POSITIVE_OPTION("length", "m", NULL, "Length in these numbers. Default: fluid.length."),
};

#define AT_KEYS                                                                                              \
  {.name = "scalar",                                                                                         \
   .type = GAB_CONFIG_STRING,                                                                                \
   .default_text = "\"\"",                                                                                   \
   .doc = "Name of the scalar; may be left out if there is one."},                                           \
  {                                                                                                          \
    .name = "at", .type = GAB_CONFIG_STRING, .length_min = 1, .length_max = GAB_CONFIG_ANY_LENGTH,           \
    .doc = "Sides (x_min, x_max, ...), names of their patches and of bodies."                                \
  }
static const gab_config_key common_keys[] = {AT_KEYS};
static const gab_config_key value_keys[] = {
    {.name = "value", .type = GAB_CONFIG_REAL, .doc = "Value at the wall, or of what flows in and out."}};
static const gab_config_key flux_keys[] = {
    {.name = "flux",
     .type = GAB_CONFIG_REAL,
     .unit = "W/m^2",
     .doc = "Flux per area into the fluid; without capacity in the unit times m/s."}};
static const gab_config_key transfer_keys[] = {
    {.name = "coefficient",
     .type = GAB_CONFIG_REAL,
     .min = 0,
     .max = INFINITY,
     .min_excluded = true,
     .unit = "W/(m^2 K)",
     .doc = "Transfer coefficient; without capacity in m/s."},
    {.name = "outside", .type = GAB_CONFIG_REAL, .doc = "Value outside of the wall."}};
static const gab_config_key conducting_keys[] = {
    {.name = "conductivity",
     .type = GAB_CONFIG_REAL,
     .min = 0,
     .max = INFINITY,
     .min_excluded = true,
     .unit = "W/(m K)",
     .doc =
         "Conductivity of the body; that of the fluid is its diffusivity times capacity. Without capacity in m^2/s."},
    {.name = "capacity",
     .type = GAB_CONFIG_REAL,
     .min = 0,
     .max = INFINITY,
     .min_excluded = true,
     .unit = "J/(m^3 K)",
     .doc = "Heat capacity per volume of the body; without capacity of the scalar relative to the fluid."},
    {.name = "source",
     .type = GAB_CONFIG_REAL,
     .unit = "W/m^3",
     .default_text = "0",
     .doc = "Source per volume in the body; without capacity of the scalar in the unit per s."}};
static const gab_config_key output_keys[] = {SCHEDULE_KEYS};

#define CONDITION(kind, text, ...)                                                                           \
  {                                                                                                          \
    .path = "scalar_boundaries", .doc = text, .is_list = true, .variant = kind, __VA_ARGS__                  \
  }
static const gab_config_section sections[] = {
    {.path = "scalars",
     .doc = "Heat and species that the flow carries (doc/heat.md).",
     .is_list = true,
     KEYS(scalar_keys)},
    {.path = "scalar_boundaries",
     .doc =
         "Conditions of scalars at sides and bodies. Without one, nothing is conducted, and what flows out keeps its value.",
     .is_list = true,
     KEYS(common_keys)},
    CONDITION("value", "A fixed value.", KEYS(value_keys)),
    CONDITION("flux", "A fixed flux.", KEYS(flux_keys)),
    CONDITION("transfer", "A flux of coefficient (outside - value at the wall).", KEYS(transfer_keys)),
    CONDITION("conducting",
              "A body that conducts: it has values inside, which diffuse and pass its surface (doc/heat.md).",
              KEYS(conducting_keys)),
    CONDITION("adiabatic", "Nothing is conducted.", .keys = NULL, .count = 0),
    {.path = "output.scalars",
     .doc = "Means, ranges, fluxes and Nusselt or Sherwood numbers of scalars, in scalars.csv.",
     KEYS(output_keys)},
};

gab_status gab_app_scalars_declare(gab_config *config)
{
  return gab_app_declare(config, sections, sizeof sections / sizeof sections[0]);
}

/* ---------------------------------------------------------------- a scalar */

typedef struct reader {
  const scalars_case *from;
  size_t index;
  scalar_plan *made;
  char path[GAB_CONFIG_PATH_CAPACITY];
} reader;

static const char *key_of(reader *by, const char *name)
{
  return gab_config_path(by->path, "scalars.%zu.%s", by->index, name);
}

static double real_of(reader *by, const char *name)
{
  return gab_config_real(by->from->config, key_of(by, name));
}

static bool is_set(reader *by, const char *name)
{
  return gab_config_is_set(by->from->config, key_of(by, name));
}

/* Names that output.means gives to its own quantities. */
static gab_status check_prefix(const reader *by)
{
  static const char *const prefixes[] = {"mean_", "rms_", "reynolds_stress_", "turbulent_kinetic_energy"};
  if (!gab_config_is_set(by->from->config, "output.means")) return GAB_OK;
  for (size_t i = 0; i < sizeof prefixes / sizeof *prefixes; i++)
    if (strncmp(by->made->name, prefixes[i], strlen(prefixes[i])) == 0)
      return gab_config_fail(
          by->from->config, by->path,
          "'%s' could be a quantity of output.means, which has names %s...: choose another name",
          by->made->name, prefixes[i]);
  return GAB_OK;
}

static gab_status read_name(reader *by)
{
  gab_quantity items[GAB_LBM_MOST_QUANTITIES];
  const gab_quantity *found;
  const gab_quantity_list known = gab_lbm_quantities_list(NULL, by->from->domain->dimension, items);
  by->made->name = gab_config_string(by->from->config, key_of(by, "name"));
  GAB_TRY(gab_app_column_check(by->from->config, by->path));
  if (gab_quantity_find(known, by->made->name, &found) == GAB_OK)
    return gab_config_fail(by->from->config, by->path, "'%s' is a quantity of the flow: choose another name",
                           by->made->name);
  const gab_quantity own = {.name = by->made->name, .components = 1, .evaluate = items[0].evaluate};
  if (gab_quantity_check(&own) != GAB_OK) {
    char message[256];
    snprintf(message, sizeof message, "%s", gab_error_message());
    return gab_config_fail(by->from->config, by->path, "%s", message);
  }
  GAB_TRY(check_prefix(by));
  by->made->unit = gab_config_string(by->from->config, key_of(by, "unit"));
  return GAB_OK;
}

static gab_status read_diffusivity(reader *by)
{
  const gab_lbm_setup *setup = by->from->setup;
  by->made->is_species = is_set(by, "schmidt");
  if (is_set(by, "diffusivity")) by->made->diffusivity = real_of(by, "diffusivity");
  else if (is_set(by, "prandtl")) by->made->diffusivity = setup->viscosity / real_of(by, "prandtl");
  else if (is_set(by, "schmidt")) by->made->diffusivity = setup->viscosity / real_of(by, "schmidt");
  else
    return gab_config_fail(by->from->config, gab_config_path(by->path, "scalars.%zu", by->index),
                           "needs diffusivity, prandtl or schmidt");
  if (is_set(by, "turbulent_prandtl")) {
    by->made->options.turbulent_prandtl = real_of(by, "turbulent_prandtl");
    if (setup->options.collision != &gab_collision_smagorinsky)
      return gab_config_fail(by->from->config, by->path,
                             "needs an eddy viscosity: set lbm.collision: smagorinsky, or remove this key");
  }
  by->made->capacity = real_of(by, "capacity");
  by->made->options.diffusivity = gab_units_viscosity_to_lattice(&setup->units, by->made->diffusivity);
  return GAB_OK;
}

static gab_status refuse_value(const reader *by, const gab_expression *formula, double value,
                               const double at[4])
{
  char place[GAB_TEXT_PLACE_CAPACITY], time[40] = "";
  gab_text_format_place(at, by->from->domain->dimension, place);
  if (gab_expression_uses(formula, 3)) snprintf(time, sizeof time, ", time %g", at[3]);
  return gab_config_fail(by->from->config, by->path,
                         "the formula '%s' is %g at %s%s; it has to be finite in all cells, solid ones too",
                         gab_expression_text(formula), value, place, time);
}

/* Values of a formula over the cells of the domain, at most 64 along each axis; of one that varies in time, at most
 * 16, at 17 instants of the run. @param[out] range  minimum and maximum */
static gab_status check_formula(const reader *by, const gab_expression *formula, double range[2])
{
  const bool varies = gab_expression_uses(formula, 3);
  const int64_t most_cells = gab_expression_is_constant(formula) ? 1 : varies ? 16 : 64;
  const int intervals = varies ? 16 : 0;
  const gab_domain *domain = by->from->domain;
  int64_t count[3];
  range[0] = INFINITY;
  range[1] = -INFINITY;
  for (int axis = 0; axis < 3; axis++)
    count[axis] = domain->cells[axis] < most_cells ? domain->cells[axis] : most_cells;
  for (int64_t i = 0; i < count[0] * count[1] * count[2]; i++) {
    const int64_t index[3] = {i % count[0], i / count[0] % count[1], i / (count[0] * count[1])};
    double at[4];
    for (int axis = 0; axis < 3; axis++) {
      const int64_t cell = index[axis] * domain->cells[axis] / count[axis];
      at[axis] = domain->origin[axis] + ((double)cell + 0.5) * domain->dx;
    }
    for (int k = 0; k <= intervals; k++) {
      at[3] = varies ? by->from->duration * k / intervals : 0;
      const double value = gab_expression_at(formula, at);
      if (!isfinite(value)) return refuse_value(by, formula, value, at);
      range[0] = fmin(range[0], value);
      range[1] = fmax(range[1], value);
    }
  }
  return GAB_OK;
}

static gab_status read_reference(reader *by)
{
  const gab_config *config = by->from->config;
  scalar_plan *made = by->made;
  const double least = made->initial_range[0], most = made->initial_range[1];
  if (is_set(by, "reference")) made->reference = real_of(by, "reference");
  else if (gab_expression_is_constant(made->initial)) made->reference = least;
  else if (real_of(by, "expansion") != 0)
    return gab_config_fail(config, key_of(by, "reference"),
                           "is needed: expansion is given, and initial is a formula");
  else if (fabs(least + most) > 2 * (most - least))
    return gab_config_fail(
        config, key_of(by, "reference"),
        "is needed: initial lies between %.6g and %.6g, far from the default 0, so that %s "
        "would change near inlets; set a value in that range, e.g. %.6g",
        least, most, made->name, 0.5 * (least + most));
  return GAB_OK;
}

/* The reference has to be known before sides are, which are given as differences to it. */
static gab_status read_values(reader *by)
{
  const gab_config *config = by->from->config;
  scalar_plan *made = by->made;
  double range[2];
  made->initial = gab_config_expression(config, key_of(by, "initial"));
  GAB_TRY(check_formula(by, made->initial, made->initial_range));
  if (is_set(by, "source")) {
    made->source = gab_config_expression(config, key_of(by, "source"));
    GAB_TRY(check_formula(by, made->source, range));
  }
  GAB_TRY(read_reference(by));
  made->options.zero = made->reference;
  made->options.source_varies = made->source && gab_expression_uses(made->source, 3);
  return GAB_OK;
}

static gab_status read_buoyancy(reader *by)
{
  const gab_config *config = by->from->config;
  size_t count;
  const double *gravity = gab_config_reals(config, key_of(by, "gravity"), &count);
  scalar_plan *made = by->made;
  made->expansion = real_of(by, "expansion");
  for (size_t axis = 0; axis < count; axis++) made->gravity[axis] = gravity[axis];
  const double strength = hypot(hypot(made->gravity[0], made->gravity[1]), made->gravity[2]);
  if (by->from->domain->dimension == 2 && made->gravity[2] != 0)
    return gab_config_fail(config, key_of(by, "gravity"),
                           "the domain has 2 dimensions; remove the third number");
  if (made->expansion != 0 && strength == 0)
    return gab_config_fail(config, key_of(by, "gravity"), "is needed: expansion is given");
  if (made->expansion == 0 && strength != 0)
    return gab_config_fail(config, key_of(by, "gravity"), "has no effect without expansion");
  for (int axis = 0; axis < 3; axis++)
    if (made->gravity[axis] != 0)
      made->options.buoyancy[axis] =
          gab_units_acceleration_to_lattice(&by->from->setup->units, -made->expansion * made->gravity[axis]);
  return GAB_OK;
}

static gab_status read_numbers(reader *by)
{
  scalar_plan *made = by->made;
  if (is_set(by, "difference")) made->difference = real_of(by, "difference");
  made->length = is_set(by, "length") ? real_of(by, "length") : by->from->setup->reference_length;
  if (made->difference > 0 && !(made->length > 0))
    return gab_config_fail(by->from->config, key_of(by, "length"),
                           "or fluid.length is needed: difference is given");
  return GAB_OK;
}

static gab_status read_scalar(reader *by)
{
  GAB_TRY(read_name(by));
  GAB_TRY(read_diffusivity(by));
  GAB_TRY(read_values(by));
  GAB_TRY(read_buoyancy(by));
  GAB_TRY(read_numbers(by));
  by->made->options.name = by->made->name;
  by->made->options.reference = 0; /* cells store the difference */
  by->made->options.unit = by->made->unit;
  const gab_patches *patches = by->from->setup->patches;
  GAB_TRY(GAB_NEW_ARRAY(&by->made->patch_is_set, patches ? (size_t)patches->count : 0, GAB_MEMORY_OTHER));
  GAB_TRY(GAB_NEW_ARRAY(&by->made->body_is_set, by->from->setup->body_count, GAB_MEMORY_OTHER));
  GAB_TRY(GAB_NEW_ARRAY(&by->made->patches, patches ? (size_t)patches->count : 0, GAB_MEMORY_OTHER));
  return GAB_NEW_ARRAY(&by->made->bodies, by->from->setup->body_count, GAB_MEMORY_OTHER);
}

/* ---------------------------------------------------------------- conditions */

static scalar_plan *scalar_of(scalars_plan *plan, const char *name)
{
  if (!name[0]) return plan->count == 1 ? &plan->items[0] : NULL;
  for (size_t i = 0; i < plan->count; i++)
    if (strcmp(plan->items[i].name, name) == 0) return &plan->items[i];
  return NULL;
}

/* In lattice units. */
static gab_lbm_scalar_wall wall_of(const scalars_case *from, const scalar_plan *made, const char *item)
{
  char path[GAB_CONFIG_PATH_CAPACITY];
  const gab_config *config = from->config;
  const double to_lattice = from->setup->units.dt / from->setup->units.dx / made->capacity;
  const char *type = gab_config_string(config, gab_config_path(path, "%s.type", item));
  if (strcmp(type, "value") == 0)
    return (gab_lbm_scalar_wall){.kind = GAB_SCALAR_FIXED,
                                 .value = gab_config_real(config, gab_config_path(path, "%s.value", item)) -
                                          made->reference};
  if (strcmp(type, "flux") == 0)
    return (gab_lbm_scalar_wall){.kind = GAB_SCALAR_FLUX,
                                 .value = gab_config_real(config, gab_config_path(path, "%s.flux", item)) *
                                          to_lattice};
  if (strcmp(type, "transfer") == 0)
    return (gab_lbm_scalar_wall){
        .kind = GAB_SCALAR_TRANSFER,
        .value = gab_config_real(config, gab_config_path(path, "%s.outside", item)) - made->reference,
        .transfer = gab_config_real(config, gab_config_path(path, "%s.coefficient", item)) * to_lattice};
  if (strcmp(type, "conducting") == 0)
    return (gab_lbm_scalar_wall){
        .kind = GAB_SCALAR_CONDUCTS,
        .conductivity = gab_config_real(config, gab_config_path(path, "%s.conductivity", item)) /
                        (made->diffusivity * made->capacity),
        .capacity = gab_config_real(config, gab_config_path(path, "%s.capacity", item)) / made->capacity,
        .source = gab_config_real(config, gab_config_path(path, "%s.source", item)) * from->setup->units.dt /
                  made->capacity};
  return (gab_lbm_scalar_wall){.kind = GAB_SCALAR_INSULATED};
}

static gab_status refuse_conducting(const scalars_case *from, const char *path, const char *name)
{
  return gab_config_fail(from->config, path, "'%s' is not a body: only bodies are conducting", name);
}

/* The insides of a body need blocks, and do not move. */
static gab_status open_body(const scalars_case *from, const char *path, gab_body *body)
{
  for (int axis = 0; axis < 3; axis++)
    if (body->velocity[axis] != 0 || body->spin[axis] != 0)
      return gab_config_fail(from->config, path,
                             "'%s' moves, but a conducting body is at rest: remove its velocity and spin",
                             body->name);
  body->keeps_blocks = true;
  return GAB_OK;
}

static gab_status set_side(const scalars_case *from, scalar_plan *made, const char *path, int side,
                           gab_lbm_scalar_wall wall)
{
  if (side / 2 >= from->domain->dimension)
    return gab_config_fail(from->config, path, "a domain in 2D has no side %s", gab_app_side_names[side]);
  if (from->domain->periodic[side / 2])
    return gab_config_fail(from->config, path, "%s is periodic: it has no condition",
                           gab_app_side_names[side]);
  if (wall.kind == GAB_SCALAR_CONDUCTS) return refuse_conducting(from, path, gab_app_side_names[side]);
  if (made->has_condition[side])
    return gab_config_fail(from->config, path, "%s has a condition of %s already", gab_app_side_names[side],
                           made->name);
  made->has_condition[side] = true;
  made->options.sides[side] = (gab_lbm_scalar_side){wall.kind, wall.value};
  made->options.transfer[side] = wall.transfer;
  return GAB_OK;
}

/* Of a body or a patch. */
static gab_status set_once(const scalars_case *from, const scalar_plan *made, const char *path,
                           const char *name, gab_lbm_scalar_wall wall, bool *is_set_already,
                           gab_lbm_scalar_wall *place)
{
  if (*is_set_already)
    return gab_config_fail(from->config, path, "%s has a condition of %s already", name, made->name);
  *is_set_already = true;
  *place = wall;
  return GAB_OK;
}

static gab_status set_at(const scalars_case *from, scalar_plan *made, const char *path, const char *name,
                         gab_lbm_scalar_wall wall)
{
  for (int side = 0; side < GAB_SIDE_COUNT; side++)
    if (strcmp(gab_app_side_names[side], name) == 0) return set_side(from, made, path, side, wall);
  for (size_t i = 0; i < from->setup->body_count; i++)
    if (strcmp(from->setup->bodies[i].name, name) == 0) {
      if (wall.kind == GAB_SCALAR_CONDUCTS) GAB_TRY(open_body(from, path, &from->setup->bodies[i]));
      return set_once(from, made, path, name, wall, &made->body_is_set[i], &made->bodies[i]);
    }
  for (int i = 0; from->setup->patches && i < from->setup->patches->count; i++)
    if (from->setup->patches->list[i].side != GAB_PATCH_ON_BODY &&
        strcmp(from->setup->patches->list[i].name, name) == 0)
      return wall.kind == GAB_SCALAR_CONDUCTS
                 ? refuse_conducting(from, path, name)
                 : set_once(from, made, path, name, wall, &made->patch_is_set[i], &made->patches[i]);
  return gab_config_fail(from->config, path,
                         "'%s' is neither a side (x_min, ...) nor the name of a body or patch", name);
}

static gab_status read_condition(const scalars_case *from, scalars_plan *plan, size_t index)
{
  char item[GAB_CONFIG_PATH_CAPACITY], path[GAB_CONFIG_PATH_CAPACITY];
  size_t count;
  gab_config_path(item, "scalar_boundaries.%zu", index);
  const char *name = gab_config_string(from->config, gab_config_path(path, "%s.scalar", item));
  scalar_plan *made = scalar_of(plan, name);
  if (!made && !name[0])
    return gab_config_fail(from->config, path, "is needed: the case has %zu scalars", plan->count);
  if (!made) return gab_config_fail(from->config, path, "'%s' is not the name of a scalar", name);
  const gab_lbm_scalar_wall wall = wall_of(from, made, item);
  const char *const *at = gab_config_strings(from->config, gab_config_path(path, "%s.at", item), &count);
  for (size_t i = 0; i < count; i++) GAB_TRY(set_at(from, made, path, at[i], wall));
  return GAB_OK;
}

/* The inflow of a condition must have a value. @param[in] condition  of the flow: a side or a patch */
static gab_status check_inlet(const scalars_case *from, const scalar_plan *made, int condition)
{
  char path[GAB_CONFIG_PATH_CAPACITY];
  const gab_lbm_options *options = &from->setup->options;
  const gab_side *flow = gab_lbm_condition(options, condition);
  const int side = gab_lbm_condition_side(options, condition), patch = condition - GAB_SIDE_COUNT;
  if (side == GAB_PATCH_ON_BODY) {
    if (!gab_side_kind_passes_fluid(flow->kind) || flow->on_body == GAB_BODY_VELOCITY_ALONG) return GAB_OK;
    return gab_config_fail(from->config, options->patches->list[patch].path,
                           "fluid passes this patch of a body: scalars cannot be carried through it yet");
  }
  const double inwards = (side % 2 ? -1 : 1) * flow->velocity[side / 2];
  const gab_lbm_scalar_side_kind kind =
      patch < 0 ? made->options.sides[side].kind : made->patches[patch].kind;
  const bool is_given = gab_side_kind_passes_fluid(flow->kind) && !gab_side_kind_is_open(flow->kind);
  if (!is_given || (inwards == 0 && flow->flow_rate == 0) || kind == GAB_SCALAR_FIXED) return GAB_OK;
  if (patch < 0) gab_config_path(path, "boundaries.%s", gab_app_side_names[side]);
  else gab_config_path(path, "%s", options->patches->list[patch].path);
  if (!(inwards > 0 || flow->flow_rate > 0)) {
    if (flow->factor || flow->series || flow->shape || flow->profile == GAB_PROFILE_WOMERSLEY)
      gab_log(GAB_LOG_WARNING,
              "%s: where its factor or shape lets fluid in, %s has the value of the cell; add {type: value, "
              "at: [%s], value: ...} to scalar_boundaries",
              path, made->name, patch < 0 ? gab_app_side_names[side] : options->patches->list[patch].name);
    return GAB_OK;
  }
  return gab_config_fail(
      from->config, path,
      "fluid flows in, but %s has no value there: add {type: value, at: [%s], value: ...} to "
      "scalar_boundaries",
      made->name, patch < 0 ? gab_app_side_names[side] : options->patches->list[patch].name);
}

static gab_status check_inlets(const scalars_case *from, const scalar_plan *made)
{
  for (int k = 0; k < gab_lbm_condition_count(&from->setup->options); k++)
    if (gab_lbm_condition_has_faces(&from->setup->options, k)) GAB_TRY(check_inlet(from, made, k));
  return GAB_OK;
}

/* ---------------------------------------------------------------- buoyancy and sub-steps */

static void widen(double range[2], gab_lbm_scalar_side_kind kind, double value)
{
  if (kind != GAB_SCALAR_FIXED && kind != GAB_SCALAR_TRANSFER) return;
  range[0] = fmin(range[0], value);
  range[1] = fmax(range[1], value);
}

/* Largest difference between reference, initial values, and values at and beyond walls. */
static double largest_difference(const scalars_case *from, const scalar_plan *made)
{
  double range[2] = {fmin(0, made->initial_range[0] - made->reference),
                     fmax(0, made->initial_range[1] - made->reference)};
  for (int side = 0; side < GAB_SIDE_COUNT; side++)
    widen(range, made->options.sides[side].kind, made->options.sides[side].value);
  for (size_t i = 0; i < from->setup->body_count; i++)
    widen(range, made->bodies[i].kind, made->bodies[i].value);
  for (int i = 0; from->setup->patches && i < from->setup->patches->count; i++)
    widen(range, made->patches[i].kind, made->patches[i].value);
  return range[1] - range[0];
}

/* The largest diffusivity of conducting bodies, in lattice units; 0 without. @param[out] which  that body */
static double of_bodies(const scalars_case *from, const scalar_plan *made, size_t *which)
{
  double most = 0;
  for (size_t i = 0; i < from->setup->body_count; i++) {
    if (made->bodies[i].kind != GAB_SCALAR_CONDUCTS) continue;
    const double found = gab_lbm_scalar_body_diffusivity(
        made->options.diffusivity, &made->bodies[i], from->setup->bodies[i].wall == GAB_WALL_INTERPOLATED);
    if (which && found > most) *which = i;
    most = fmax(most, found);
  }
  return most;
}

/* Eddies may be anywhere, but do not help against what the flow carries where there are none. */
static int substeps_of(const scalar_plan *made, const scalars_case *from, double speed)
{
  const double diffusivity = made->options.diffusivity, widest = diffusivity + made->eddies;
  const int dimension = from->domain->dimension, finest = from->finest;
  const int carrying = made->options.bounded
                           ? gab_lbm_scalar_bounded_substeps(widest, dimension, finest, speed)
                           : gab_lbm_scalar_substeps(diffusivity, dimension, finest, speed),
            conducting =
                gab_lbm_scalar_substeps(fmax(widest, of_bodies(from, made, NULL)), dimension, finest, 0);
  return carrying > conducting ? carrying : conducting;
}

/* Both bounds on the length of a step are met by a smaller units.dt: conduction, and the carrying of values by the flow. */
static gab_status refuse_substeps(const reader *by, double speed)
{
  const scalars_case *from = by->from;
  const double diffusivity = by->made->options.diffusivity + by->made->eddies;
  size_t which = 0;
  const double of_body = of_bodies(from, by->made, &which);
  if (of_body > diffusivity &&
      gab_lbm_scalar_substeps(of_body, from->domain->dimension, from->finest, 0) > MOST_SUBSTEPS)
    return gab_config_fail(
        from->config, by->path,
        "more than %d sub-steps would be needed: %s conducts with up to %.3g cells^2 per step in the "
        "finest cells; lower units.dt, use wider cells, or wall: staircase for that body",
        (int)MOST_SUBSTEPS, from->setup->bodies[which].name, ldexp(of_body, 2 * from->finest));
  const int conducting = gab_lbm_scalar_substeps(diffusivity, from->domain->dimension, from->finest, 0);
  if (conducting > MOST_SUBSTEPS / 2)
    return gab_config_fail(
        from->config, by->path,
        "more than %d sub-steps would be needed: the diffusivity is %.3g cells^2 per step in the "
        "finest cells; lower it or units.dt, or use wider cells",
        (int)MOST_SUBSTEPS, ldexp(diffusivity, 2 * from->finest));
  return gab_config_fail(
      from->config, by->path,
      "more than %d sub-steps would be needed: the diffusivity of %.3g cells^2 per step is too "
      "small for a speed of %.3g cells per step; raise it, lower units.dt, or set bounded: true",
      (int)MOST_SUBSTEPS, diffusivity, speed);
}

/* The length is that of the domain along gravity; flows get half of sqrt(g beta dT L) at most (measured in cavities: a quarter). */
static gab_status find_scales(const scalars_case *from, reader *by)
{
  scalar_plan *made = by->made;
  const gab_units *units = &from->setup->units;
  const double difference = largest_difference(from, made);
  double work = 0, cubed = 0, speed = from->setup->speed;
  for (int axis = 0; axis < from->domain->dimension; axis++) {
    const double cells = (double)from->domain->cells[axis], force = fabs(made->options.buoyancy[axis]);
    work += force * difference * cells;
    cubed += force * difference * cells * cells * cells;
  }
  made->speed = sqrt(work);
  made->rayleigh =
      cubed / (gab_units_viscosity_to_lattice(units, from->setup->viscosity) * made->options.diffusivity);
  speed = fmax(speed, 0.5 * made->speed);
  made->options.bounded = gab_config_bool(from->config, key_of(by, "bounded"));
  gab_lbm_options filled = from->setup->options;
  if (made->options.turbulent_prandtl > 0) filled.collision->fill(&filled);
  made->eddies = gab_lbm_scalar_eddy_diffusivity(filled.smagorinsky, made->options.turbulent_prandtl,
                                                 from->finest, speed);
  const int least = substeps_of(made, from, speed);
  made->options.substeps = (int)gab_config_int(from->config, key_of(by, "substeps"));
  if (least > MOST_SUBSTEPS) return refuse_substeps(by, speed);
  if (made->options.substeps == 0) made->options.substeps = least;
  if (made->options.substeps < least)
    return gab_config_fail(
        from->config, by->path,
        "= %d: at least %d are needed for a diffusivity of %.3g cells^2 per step (of level 0) at a speed "
        "of %.3g cells per step",
        made->options.substeps, least,
        fmax(made->options.diffusivity + made->eddies, of_bodies(from, made, NULL)), speed);
  return GAB_OK;
}

/* ---------------------------------------------------------------- main */

static gab_status choose_kernel(const scalars_case *from, const scalars_plan *plan)
{
  gab_lbm_options *options = &from->setup->options;
  bool drives = false;
  for (size_t i = 0; i < plan->count; i++) drives |= plan->items[i].expansion != 0;
  if (!drives) return GAB_OK;
  if (options->kernel && strcmp(options->kernel, "sparse") == 0)
    return gab_config_fail(from->config, "lbm.kernel", "sparse has no buoyancy: choose auto or in_place");
  if (!options->kernel || strcmp(options->kernel, "auto") == 0) options->kernel = "in_place";
  return GAB_OK;
}

static gab_status read_output(const scalars_case *from, scalars_plan *plan)
{
  const char *const path = "output.scalars";
  if (gab_config_is_set(from->config, path) && plan->count == 0)
    return gab_config_fail(from->config, path, "there are no scalars");
  return gab_app_series_read(from->config, path, from->setup->units.dt, &plan->output);
}

/* Conditions and tables address bodies by name, as sides and patches. */
static gab_status check_bodies(const scalars_case *from)
{
  char path[GAB_CONFIG_PATH_CAPACITY];
  const gab_patches *patches = from->setup->patches;
  for (size_t i = 0; i < gab_config_count(from->config, "bodies"); i++) {
    const char *name = gab_config_string(from->config, gab_config_path(path, "bodies.%zu.name", i));
    for (int side = 0; side < GAB_SIDE_COUNT; side++)
      if (strcmp(gab_app_side_names[side], name) == 0)
        return gab_config_fail(from->config, path,
                               "'%s' is the name of a side, which scalars also have: choose another name",
                               name);
    for (int k = 0; patches && k < patches->count; k++)
      if (strcmp(patches->list[k].name, name) == 0)
        return gab_config_fail(from->config, path,
                               "'%s' is the name of %s, which scalars also have: choose another name", name,
                               patches->list[k].path);
  }
  return GAB_OK;
}

gab_status gab_app_scalars_read(const scalars_case *from, scalars_plan *plan)
{
  const size_t count = gab_config_count(from->config, "scalars"),
               conditions = gab_config_count(from->config, "scalar_boundaries");
  reader by = {.from = from};
  *plan = (scalars_plan){.units = from->setup->units};
  if (count > FLOW_MOST_SCALARS)
    return gab_config_fail(from->config, "scalars", "%zu are too many: at most %d", count,
                           (int)FLOW_MOST_SCALARS);
  if (count == 0 && conditions > 0)
    return gab_config_fail(from->config, "scalar_boundaries", "there are no scalars");
  if (count > 0) GAB_TRY(check_bodies(from));
  for (; by.index < count; by.index++) {
    by.made = &plan->items[plan->count++];
    GAB_TRY(read_scalar(&by));
  }
  for (size_t i = 0; i < conditions; i++) GAB_TRY(read_condition(from, plan, i));
  for (by.index = 0; by.index < count; by.index++) {
    by.made = &plan->items[by.index];
    GAB_TRY(check_inlets(from, by.made));
    GAB_TRY(find_scales(from, &by));
  }
  GAB_TRY(choose_kernel(from, plan));
  return read_output(from, plan);
}

void gab_app_scalars_release(scalars_plan *plan)
{
  for (size_t i = 0; i < plan->count; i++) {
    gab_free(&plan->items[i].bodies);
    gab_free(&plan->items[i].patches);
    gab_free(&plan->items[i].body_is_set);
    gab_free(&plan->items[i].patch_is_set);
  }
  plan->count = 0;
}

static gab_status no_values(void *user, const gab_forest *forest, const gab_block *block, double *values)
{
  (void)user, (void)forest, (void)block, (void)values;
  GAB_FAIL(GAB_ERR_STATE, "a quantity that is only looked up");
}

gab_quantity_list gab_app_scalars_names(const scalars_plan *plan, gab_quantity *items, size_t count)
{
  for (size_t i = 0; i < plan->count; i++)
    items[count++] = (gab_quantity){
        .name = plan->items[i].name, .components = 1, .pointwise = true, .evaluate = no_values};
  return (gab_quantity_list){items, count};
}

void gab_app_scalars_describe(const scalars_plan *plan, const gab_body *bodies, size_t body_count)
{
  for (size_t i = 0; i < plan->count; i++) {
    const scalar_plan *it = &plan->items[i];
    char buoyancy[160] = "", parts[64] = "", eddies[64] = "";
    if (it->options.turbulent_prandtl > 0)
      snprintf(eddies, sizeof eddies, ", Prandtl number of eddies %.4g", it->options.turbulent_prandtl);
    if (it->options.substeps > 1)
      snprintf(parts, sizeof parts, ", %d sub-steps in a step", it->options.substeps);
    if (it->rayleigh > 0)
      snprintf(buoyancy, sizeof buoyancy,
               ", Rayleigh number %.6g, sqrt(g expansion difference height) %.3g cells per step",
               it->rayleigh, it->speed);
    gab_log(GAB_LOG_INFO, "  %s: diffusivity %.6g m^2/s = %.4g cells^2 per step%s%s%s", it->name,
            it->diffusivity, it->options.diffusivity, eddies, parts, buoyancy);
    for (size_t b = 0; b < body_count; b++)
      if (it->bodies[b].kind == GAB_SCALAR_CONDUCTS)
        gab_log(GAB_LOG_INFO,
                "  %s: %s conducts %.4g times as well as the fluid, with %.4g times its capacity", it->name,
                bodies[b].name, it->bodies[b].conductivity, it->bodies[b].capacity);
    if (it->speed > 0.4)
      gab_log(GAB_LOG_WARNING, "%s may drive the flow to %.2g cells per step, more than 0.2: lower units.dt",
              it->name, 0.5 * it->speed);
  }
}

void gab_app_scalars_bytes(const scalars_plan *plan, int dimension, double *state, double *image)
{
  double field = (double)plan->count * (1 + dimension) * sizeof(double);
  for (size_t i = 0; i < plan->count; i++)
    if (plan->items[i].options.turbulent_prandtl > 0) field += sizeof(double);
  *state = 2 * field;
  *image = field;
}

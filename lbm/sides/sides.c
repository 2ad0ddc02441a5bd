/* SPDX-License-Identifier: Apache-2.0 */
/* The table of the sides, what programs have registered, and the kinds that fluid passes with a given velocity or not at all. */
#include "lbm/sides/side_impl.h"
#include "lbm/sides/side_plane_impl.h"
#include "lbm/sides/side_turbulence_impl.h"
#include "lbm/setup/units.h"
#include "lbm/setup/vectors_impl.h"

#include "core/base/registry_impl.h"

#include <math.h>
#include <stdio.h>

#define ROW(upper, lower) [GAB_SIDE_##upper] = &gab_side_##lower,
const gab_side_descriptor *const gab_side_kinds[GAB_SIDE_KIND_COUNT] = {GAB_SIDE_KINDS(ROW)};
#undef ROW

const char *const gab_side_paths[GAB_SIDE_COUNT] = {"boundaries.x_min", "boundaries.x_max",
                                                    "boundaries.y_min", "boundaries.y_max",
                                                    "boundaries.z_min", "boundaries.z_max"};

bool gab_side_kind_is_open(gab_side_kind kind)
{
  return (unsigned)kind < GAB_SIDE_KIND_COUNT && gab_side_kinds[kind]->arrival == GAB_ARRIVAL_COMPUTED;
}

bool gab_side_kind_passes_fluid(gab_side_kind kind)
{
  return gab_side_kind_is_open(kind) ||
         ((unsigned)kind < GAB_SIDE_KIND_COUNT && gab_side_kinds[kind]->has_velocity);
}

/* ------------------------------------------------------------------------------------------ user-defined */

static const char *library_name(int index)
{
  return index >= 0 && index < GAB_SIDE_OWN ? gab_side_kinds[index]->name : NULL;
}
static gab_registry boundaries = {
    .kind = "boundary condition", .most = GAB_MOST_BOUNDARIES, .taken = library_name};

const gab_boundary *gab_boundary_at(int index) { return gab_registry_at(&boundaries, index); }

const gab_boundary *gab_boundary_by_name(const char *name) { return gab_registry_find(&boundaries, name); }

const char *gab_boundary_name(int index)
{
  if (library_name(index)) return library_name(index);
  const gab_boundary *own = gab_boundary_at(index - GAB_SIDE_OWN);
  return own ? own->name : NULL;
}

gab_status gab_boundary_register(const gab_boundary *boundary)
{
  if (!boundary->name || !boundary->doc || !boundary->arrives)
    GAB_FAIL(GAB_ERR_ARGUMENT, "boundary condition '%s' lacks a name, a text or what arrives",
             boundary->name ? boundary->name : "?");
  if ((boundary->keys != NULL) != (boundary->key_count > 0) || (boundary->keys && !boundary->read))
    GAB_FAIL(GAB_ERR_ARGUMENT, "boundary condition '%s' has keys without a number or without read()",
             boundary->name);
  return gab_registry_add(&boundaries, boundary);
}

/* ------------------------------------------------------------------------------------------ closed kinds */

/* Has to agree with the forest. */
const gab_side_descriptor gab_side_periodic = GAB_SIDE_DESCRIPTOR(
    name = "periodic", doc = "Periodic with the opposite side.", keys = NULL, key_count = 0, read = NULL,
    relaxation = 0, keeps_state = false, arrival = GAB_ARRIVAL_WRAPPED, has_velocity = false,
    reads_next_density = false, refuses_porous = false, precedence = 0, amplifies_waves = false,
    reynolds_along = 0, arrives = NULL);

static const gab_config_key wall_keys[] = {
    {.name = "slip_length",
     .type = GAB_CONFIG_REAL,
     .min = 0,
     .max = INFINITY,
     .unit = "m",
     .default_text = "0",
     .doc = "Slip length of Navier: velocity of the fluid at the wall over its gradient across the wall."},
    {.name = "roughness_length",
     .type = GAB_CONFIG_REAL,
     .min = 0,
     .max = INFINITY,
     .min_excluded = true,
     .unit = "m",
     .default_text = GAB_CONFIG_OPTIONAL,
     .doc =
         "Length z0 of a log law: friction rho u_*^2 with u = u_* / 0.4 ln((z + z0) / z0) in the first cells; "
         "instead of no slip."},
    {.name = "eddy_height",
     .type = GAB_CONFIG_REAL,
     .min = 0,
     .max = INFINITY,
     .min_excluded = true,
     .unit = "m",
     .default_text = GAB_CONFIG_OPTIONAL,
     .doc = "Height up to which the fluid has the turbulent viscosity of the mixing length 0.4 (z + z0)."},
};

static gab_status read_wall(const gab_config *config, const char *path, int dimension, const gab_units *units,
                            gab_side *side)
{
  char key[GAB_CONFIG_PATH_CAPACITY], rough[GAB_CONFIG_PATH_CAPACITY];
  (void)dimension;
  side->slip_length = gab_config_real(config, gab_config_path(key, "%s.slip_length", path)) / units->dx;
  gab_config_path(rough, "%s.roughness_length", path);
  if (gab_config_is_set(config, rough)) {
    if (side->slip_length > 0)
      return gab_config_fail(config, key, "has no effect with %s: leave one of them out", rough);
    side->roughness = gab_config_real(config, rough) / units->dx;
  }
  if (!gab_config_is_set(config, gab_config_path(key, "%s.eddy_height", path))) return GAB_OK;
  if (side->roughness == 0) return gab_config_fail(config, key, "has no effect without %s", rough);
  side->sponge = (gab_sponge){
      .thickness = gab_config_real(config, key) / units->dx, .viscosity = 1, .roughness = side->roughness};
  return GAB_OK;
}

/* Half-way bounce-back; with a slip length or a log law as from a wall that moves (slip.c, ground.c). */
const gab_side_descriptor gab_side_wall = GAB_SIDE_DESCRIPTOR(
    name = "wall", doc = "No slip, a slip length, or a log law.", keys = wall_keys,
    key_count = sizeof wall_keys / sizeof *wall_keys, read = read_wall, relaxation = 0, keeps_state = false,
    arrival = GAB_ARRIVAL_BOUNCED, has_velocity = false, reads_next_density = false, refuses_porous = false,
    precedence = 0, amplifies_waves = false, reynolds_along = 0, arrives = NULL);

/* Specular reflection. */
const gab_side_descriptor gab_side_free_slip = GAB_SIDE_DESCRIPTOR(
    name = "free_slip", doc = "Free slip: no friction and no flow across.", keys = NULL, key_count = 0,
    read = NULL, relaxation = 0, keeps_state = false, arrival = GAB_ARRIVAL_REFLECTED, has_velocity = false,
    reads_next_density = false, refuses_porous = false, precedence = 1, amplifies_waves = false,
    reynolds_along = 0, arrives = NULL);

#define OF_PROFILE(key, in, text, ...)                                                                       \
  {                                                                                                          \
    .name = (key), .type = GAB_CONFIG_REAL, .default_text = GAB_CONFIG_OPTIONAL, .unit = (in),               \
    .doc = (text), __VA_ARGS__                                                                               \
  }
#define POSITIVE .min = 0, .max = INFINITY, .min_excluded = true

static const gab_config_key velocity_keys[] = {
    {.name = "velocity",
     .type = GAB_CONFIG_REAL,
     .length_min = 2,
     .length_max = 3,
     .unit = "m/s",
     .default_text = GAB_CONFIG_OPTIONAL,
     .instead_of = "flow_rate|from",
     .doc =
         "Velocity at the side; of parabolic, duct and pipe the maximum, of womersley the amplitude of the mean, of power_law and "
         "logarithmic that at the reference height."},
    {.name = "flow_rate",
     .type = GAB_CONFIG_REAL,
     .unit = "m^3/s, in 2D m^2/s",
     .default_text = GAB_CONFIG_OPTIONAL,
     .instead_of = "velocity|from",
     .doc =
         "Instead of velocity: flow rate across the side into the domain, exact on the grid; negative: out of it."},
    {.name = "profile",
     .type = GAB_CONFIG_CHOICE,
     .choices = "constant|parabolic|duct|pipe|power_law|logarithmic|womersley",
     .default_text = "constant",
     .instead_of = "shape",
     .doc =
         "Profile of the velocity: doc/sides.md. parabolic, duct and womersley vanish at sides that are not periodic."},
    {.name = "shape",
     .type = GAB_CONFIG_EXPRESSION,
     .variables = "x|y|z",
     .min = -INFINITY,
     .max = INFINITY,
     .default_text = GAB_CONFIG_OPTIONAL,
     .instead_of = "profile",
     .doc = "Formula by which the velocity is multiplied, at points of the side in m."},
    OF_PROFILE("centre", "m", "Only pipe and womersley: centre of the tube; default: the middle of the side.",
               .length_min = 2, .length_max = 3),
    OF_PROFILE("radius", "m",
               "Only pipe and womersley: radius of the tube. womersley without it: flow between two plates.",
               POSITIVE),
    {.name = "ground",
     .type = GAB_CONFIG_CHOICE,
     .choices = "x_min|x_max|y_min|y_max|z_min|z_max",
     .default_text = GAB_CONFIG_OPTIONAL,
     .doc =
         "Only power_law and logarithmic: side from which heights count; default y_min in 2D, z_min in 3D."},
    OF_PROFILE("reference_height", "m",
               "Only power_law and logarithmic: height at which the fluid has the velocity.", POSITIVE),
    OF_PROFILE("exponent", NULL, "Only power_law: exponent of the height; 1/7 over flat open land.",
               POSITIVE),
    OF_PROFILE("roughness_length", "m", "Only logarithmic: aerodynamic roughness length z0.", POSITIVE),
    OF_PROFILE("displacement_height", "m", "Only logarithmic: displacement height d, 0 if not given.",
               .min = 0, .max = INFINITY),
    OF_PROFILE("period", "s", "Only womersley: period of the oscillation.", POSITIVE),
    GAB_SIDE_TIME_KEYS("velocity"),
    GAB_SIDE_SPONGE_KEYS,
    GAB_SIDE_TURBULENCE_KEYS,
    GAB_SIDE_PLANE_KEYS,
};

/* Keys that some profiles have: bits by gab_profile. */
#define BIT(profile) (1U << GAB_PROFILE_##profile)
static const struct {
  const char *key;
  unsigned profiles, required;
} profile_keys[] = {
    {"centre", BIT(PIPE) | BIT(WOMERSLEY), 0},
    {"radius", BIT(PIPE) | BIT(WOMERSLEY), BIT(PIPE)},
    {"ground", BIT(POWER_LAW) | BIT(LOGARITHMIC), 0},
    {"reference_height", BIT(POWER_LAW) | BIT(LOGARITHMIC), BIT(POWER_LAW) | BIT(LOGARITHMIC)},
    {"exponent", BIT(POWER_LAW), BIT(POWER_LAW)},
    {"roughness_length", BIT(LOGARITHMIC), BIT(LOGARITHMIC)},
    {"displacement_height", BIT(LOGARITHMIC), 0},
    {"period", BIT(WOMERSLEY), BIT(WOMERSLEY)},
};

static bool is_disc(const gab_side *side)
{
  const gab_side_part *part = &side->part;
  return part->patches && part->condition >= GAB_SIDE_COUNT &&
         part->patches->list[part->condition - GAB_SIDE_COUNT].region == GAB_PATCH_DISC;
}

static gab_status check_profile_keys(const gab_config *config, const char *path, const gab_side *side)
{
  char key[GAB_CONFIG_PATH_CAPACITY], profile[GAB_CONFIG_PATH_CAPACITY];
  const char *name = gab_config_string(config, gab_config_path(profile, "%s.profile", path));
  if (side->shape) name = "of a formula";
  for (size_t i = 0; i < sizeof profile_keys / sizeof *profile_keys; i++) {
    if (is_disc(side) && (profile_keys[i].profiles & BIT(PIPE))) continue; /* they are those of the region */
    const bool given = gab_config_is_set(config, gab_config_path(key, "%s.%s", path, profile_keys[i].key));
    if (given && !(profile_keys[i].profiles >> side->profile & 1))
      return gab_config_fail(config, key, "has no effect: the profile is %s", name);
    if (!given && (profile_keys[i].required >> side->profile & 1))
      return gab_config_fail(config, profile, "%s needs %s", name, profile_keys[i].key);
  }
  return GAB_OK;
}

static double real_or_zero(const gab_config *config, const char *path, const char *name)
{
  char key[GAB_CONFIG_PATH_CAPACITY];
  gab_config_path(key, "%s.%s", path, name);
  return gab_config_is_set(config, key) ? gab_config_real(config, key) : 0;
}

static gab_status read_profile(const gab_config *config, const char *path, int dimension, gab_side *side)
{
  char key[GAB_CONFIG_PATH_CAPACITY];
  gab_profile_numbers *made = &side->of_profile;
  side->profile = (gab_profile)gab_config_choice_index(config, gab_config_path(key, "%s.profile", path));
  side->shape = gab_config_expression(config, gab_config_path(key, "%s.shape", path));
  if (side->shape) side->profile = GAB_PROFILE_FORMULA;
  GAB_TRY(check_profile_keys(config, path, side));
  made->ground = gab_config_choice_index(config, gab_config_path(key, "%s.ground", path));
  for (int axis = 0; axis < 3; axis++) made->centre[axis] = NAN;
  if (gab_config_is_set(config, gab_config_path(key, "%s.centre", path)))
    GAB_TRY(gab_lbm_read_vector(config, key, dimension, made->centre));
  made->radius = real_or_zero(config, path, "radius");
  made->height = real_or_zero(config, path, "reference_height");
  made->exponent = real_or_zero(config, path, "exponent");
  made->roughness = real_or_zero(config, path, "roughness_length");
  made->displacement = real_or_zero(config, path, "displacement_height");
  made->period = real_or_zero(config, path, "period");
  return GAB_OK;
}

/* The velocity of a flow rate is found when the domain is known. */
static gab_status read_velocity(const gab_config *config, const char *path, int dimension,
                                const gab_units *units, gab_side *side)
{
  char key[GAB_CONFIG_PATH_CAPACITY], rate[GAB_CONFIG_PATH_CAPACITY];
  GAB_TRY(gab_side_read_plane(config, path, dimension, units, side));
  if (side->plane) return gab_side_read_time(config, path, units, side);
  gab_config_path(key, "%s.velocity", path);
  gab_config_path(rate, "%s.flow_rate", path);
  if (!gab_config_is_set(config, key) && !gab_config_is_set(config, rate))
    return gab_config_fail(config, path, "needs velocity, flow_rate or from");
  if (gab_config_is_set(config, key)) {
    GAB_TRY(gab_lbm_read_plane_vector(config, key, dimension, side->velocity));
    for (int axis = 0; axis < 3; axis++) side->velocity[axis] *= units->dt / units->dx;
  } else {
    side->flow_rate = gab_config_real(config, rate) * units->dt / pow(units->dx, dimension);
    if (side->flow_rate == 0)
      return gab_config_fail(config, rate, "must not be 0; a side that rests is of type wall");
  }
  GAB_TRY(read_profile(config, path, dimension, side));
  GAB_TRY(gab_side_read_time(config, path, units, side));
  GAB_TRY(gab_side_read_sponge(config, path, dimension, units, true, side));
  return gab_side_read_turbulence(config, path, dimension, units, side);
}

/* Bounce-back with momentum, Ladd 1994. */
const gab_side_descriptor gab_side_velocity = GAB_SIDE_DESCRIPTOR(
    name = "velocity", doc = "Given velocity: inlet or moving wall.", keys = velocity_keys,
    key_count = sizeof velocity_keys / sizeof *velocity_keys, read = read_velocity, relaxation = 0,
    keeps_state = false, arrival = GAB_ARRIVAL_BOUNCED, has_velocity = true, reads_next_density = false,
    refuses_porous = false, precedence = 0, amplifies_waves = true, reynolds_along = 0, arrives = NULL);

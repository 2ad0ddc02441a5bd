/* SPDX-License-Identifier: Apache-2.0 */
/* The table of the sides, what programs have registered, and the kinds that fluid passes with a given velocity or not at all. */
#include "lbm/boundaries/side_impl.h"
#include "lbm/setup/units.h"
#include "lbm/setup/vectors_impl.h"

#include "core/base/registry_impl.h"

#include <limits.h>
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
const gab_side_descriptor gab_side_periodic =
    GAB_SIDE_DESCRIPTOR(name = "periodic", doc = "Periodic with the opposite side.", keys = NULL,
                        key_count = 0, read = NULL, arrival = GAB_ARRIVAL_WRAPPED, has_velocity = false,
                        precedence = 0, amplifies_waves = false, reynolds_along = 0, arrives = NULL);

/* Half-way bounce-back. */
const gab_side_descriptor gab_side_wall = GAB_SIDE_DESCRIPTOR(
    name = "wall", doc = "No slip.", keys = NULL, key_count = 0, read = NULL, arrival = GAB_ARRIVAL_BOUNCED,
    has_velocity = false, precedence = 0, amplifies_waves = false, reynolds_along = 0, arrives = NULL);

/* Specular reflection. */
const gab_side_descriptor gab_side_free_slip =
    GAB_SIDE_DESCRIPTOR(name = "free_slip", doc = "Free slip: no friction and no flow across.", keys = NULL,
                        key_count = 0, read = NULL, arrival = GAB_ARRIVAL_REFLECTED, has_velocity = false,
                        precedence = 1, amplifies_waves = false, reynolds_along = 0, arrives = NULL);

static const gab_config_key velocity_keys[] = {
    {.name = "velocity",
     .type = GAB_CONFIG_REAL,
     .length_min = 2,
     .length_max = 3,
     .unit = "m/s",
     .doc = "Velocity at the side; the maximum of a parabolic profile."},
    {.name = "profile",
     .type = GAB_CONFIG_CHOICE,
     .choices = "constant|parabolic",
     .default_text = "constant",
     .instead_of = "shape",
     .doc = "Profile of the velocity; parabolic vanishes at sides that are not periodic."},
    {.name = "shape",
     .type = GAB_CONFIG_EXPRESSION,
     .variables = "x|y|z",
     .min = -INFINITY,
     .max = INFINITY,
     .default_text = GAB_CONFIG_OPTIONAL,
     .instead_of = "profile",
     .doc = "Formula by which the velocity is multiplied, at points of the side in m."},
    {.name = "factor",
     .type = GAB_CONFIG_EXPRESSION,
     .variables = "t",
     .min = -INFINITY,
     .max = INFINITY,
     .default_text = GAB_CONFIG_OPTIONAL,
     .doc = "Formula by which the velocity is multiplied, of the time in s."},
    {.name = "series",
     .type = GAB_CONFIG_STRING,
     .file = GAB_CONFIG_FILE_BY_CASE,
     .default_text = GAB_CONFIG_OPTIONAL,
     .doc = "File with a time in s and a factor of the velocity in each line, linear in between."},
    {.name = "series_repeats",
     .type = GAB_CONFIG_BOOL,
     .default_text = "false",
     .doc = "The series starts again after its last time; else its last value stays."},
    {.name = "ramp_time",
     .type = GAB_CONFIG_REAL,
     .min = 0,
     .max = INFINITY,
     .unit = "s",
     .default_text = "0",
     .doc = "Time of the smooth ramp of the velocity from zero."},
};

static gab_status read_series(const gab_config *config, const char *path, gab_side *side)
{
  char key[GAB_CONFIG_PATH_CAPACITY], repeats[GAB_CONFIG_PATH_CAPACITY], file[PATH_MAX], why[1024];
  const char *text = gab_config_string(config, gab_config_path(key, "%s.series", path));
  gab_config_path(repeats, "%s.series_repeats", path);
  if (!text[0] && gab_config_is_set(config, repeats))
    return gab_config_fail(config, repeats, "has no effect without %s", key);
  if (!text[0]) return GAB_OK;
  GAB_TRY(gab_config_file_of(config, key, file));
  gab_time_series *series;
  const gab_status status = gab_time_series_read(file, gab_config_bool(config, repeats), &series);
  side->series = series;
  if (status != GAB_ERR_INPUT && status != GAB_ERR_IO) return status;
  snprintf(why, sizeof why, "%s", gab_error_message());
  return gab_config_fail(config, key, "%s", why);
}

static gab_status read_velocity(const gab_config *config, const char *path, int dimension,
                                const gab_units *units, gab_side *side)
{
  char key[GAB_CONFIG_PATH_CAPACITY];
  GAB_TRY(gab_lbm_read_plane_vector(config, gab_config_path(key, "%s.velocity", path), dimension,
                                    side->velocity));
  for (int axis = 0; axis < 3; axis++) side->velocity[axis] *= units->dt / units->dx;
  side->profile = (gab_profile)gab_config_choice_index(config, gab_config_path(key, "%s.profile", path));
  side->ramp_steps = gab_config_real(config, gab_config_path(key, "%s.ramp_time", path)) / units->dt;
  side->shape = gab_config_expression(config, gab_config_path(key, "%s.shape", path));
  if (side->shape) side->profile = GAB_PROFILE_FORMULA;
  side->factor = gab_config_expression(config, gab_config_path(key, "%s.factor", path));
  side->dt = units->dt;
  return read_series(config, path, side);
}

/* Bounce-back with momentum, Ladd 1994. */
const gab_side_descriptor gab_side_velocity =
    GAB_SIDE_DESCRIPTOR(name = "velocity", doc = "Given velocity: inlet or moving wall.",
                        keys = velocity_keys, key_count = sizeof velocity_keys / sizeof *velocity_keys,
                        read = read_velocity, arrival = GAB_ARRIVAL_BOUNCED, has_velocity = true,
                        precedence = 0, amplifies_waves = true, reynolds_along = 0, arrives = NULL);

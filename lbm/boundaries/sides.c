/* SPDX-License-Identifier: Apache-2.0 */
/* The table of the sides, what programs have registered, and the kinds that fluid passes with a given velocity or not at all. */
#include "lbm/boundaries/side_impl.h"
#include "lbm/setup/units.h"
#include "lbm/setup/vectors_impl.h"

#include "core/base/registry_impl.h"

#include <math.h>

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
     .doc = "Profile of the velocity; parabolic vanishes at sides that are not periodic."},
    {.name = "ramp_time",
     .type = GAB_CONFIG_REAL,
     .min = 0,
     .max = INFINITY,
     .unit = "s",
     .default_text = "0",
     .doc = "Time of the smooth ramp of the velocity from zero."},
};

static gab_status read_velocity(const gab_config *config, const char *path, int dimension,
                                const gab_units *units, gab_side *side)
{
  char key[GAB_CONFIG_PATH_CAPACITY];
  GAB_TRY(gab_lbm_read_plane_vector(config, gab_config_path(key, "%s.velocity", path), dimension,
                                    side->velocity));
  for (int axis = 0; axis < 3; axis++) side->velocity[axis] *= units->dt / units->dx;
  side->profile = (gab_profile)gab_config_choice_index(config, gab_config_path(key, "%s.profile", path));
  side->ramp_steps = gab_config_real(config, gab_config_path(key, "%s.ramp_time", path)) / units->dt;
  return GAB_OK;
}

/* Bounce-back with momentum, Ladd 1994. */
const gab_side_descriptor gab_side_velocity =
    GAB_SIDE_DESCRIPTOR(name = "velocity", doc = "Given velocity: inlet or moving wall.",
                        keys = velocity_keys, key_count = sizeof velocity_keys / sizeof *velocity_keys,
                        read = read_velocity, arrival = GAB_ARRIVAL_BOUNCED, has_velocity = true,
                        precedence = 0, amplifies_waves = true, reynolds_along = 0, arrives = NULL);

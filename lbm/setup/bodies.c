/* SPDX-License-Identifier: Apache-2.0 */
/* The sections `bodies` and `porous` of parameter files: shapes, and sets of them. */
#include "lbm/setup/bodies_impl.h"
#include "lbm/setup/vectors_impl.h"

#include "core/memory/memory.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

static const char *const set_names[] = {
    [GAB_SET_UNION] = "union", [GAB_SET_INTERSECTION] = "intersection", [GAB_SET_DIFFERENCE] = "difference"};

typedef struct body_reader {
  const gab_config *config;
  const char *list; /* the section */
  bool are_solid;   /* they have walls */
  int dimension;
  const char *folder;
  const gab_units *units;
  size_t count;
  gab_body *bodies; /* by item of the list */
  bool *are_parts;  /* by item: a set names it */
} body_reader;

static gab_status read_text(const gab_config *config, const char *path, const char *folder, char *text,
                            size_t capacity)
{
  const char *value = gab_config_string(config, path);
  bool relative = folder && folder[0] && value[0] != '/';
  int length = snprintf(text, capacity, "%s%s%s", relative ? folder : "", relative ? "/" : "", value);
  if (length < 0 || (size_t)length >= capacity)
    return gab_config_fail(config, path, "has more than %zu characters", capacity - 1);
  return GAB_OK;
}

/* ------------------------------------------------------------------------------------------ shapes */

static gab_status read_round_body(const gab_config *config, const char *at, int dimension, gab_body *body)
{
  char path[GAB_CONFIG_PATH_CAPACITY];
  GAB_TRY(gab_lbm_read_vector(config, gab_config_path(path, "%s.centre", at), dimension, body->centre));
  body->radius = gab_config_real(config, gab_config_path(path, "%s.radius", at));
  if (body->shape != GAB_SHAPE_CYLINDER) return GAB_OK;
  body->axis = gab_config_choice_index(config, gab_config_path(path, "%s.axis", at));
  if (dimension == 2 && body->axis != 2) return gab_config_fail(config, path, "must be z in 2D");
  gab_config_path(path, "%s.length", at);
  body->length = gab_config_is_set(config, path) ? gab_config_real(config, path) : 0;
  return GAB_OK;
}

static gab_status read_box_body(const gab_config *config, const char *at, int dimension, gab_body *body)
{
  char path[GAB_CONFIG_PATH_CAPACITY];
  GAB_TRY(gab_lbm_read_vector(config, gab_config_path(path, "%s.lo", at), dimension, body->lo));
  GAB_TRY(gab_lbm_read_vector(config, gab_config_path(path, "%s.hi", at), dimension, body->hi));
  for (int axis = 0; axis < dimension; axis++)
    if (!(body->lo[axis] < body->hi[axis]))
      return gab_config_fail(config, path, "is not above the lower corner: %g and %g", body->hi[axis],
                             body->lo[axis]);
  return GAB_OK;
}

static gab_status read_own_body(const gab_config *config, const char *at, int dimension, gab_body *body)
{
  for (int axis = 0; axis < 3; axis++) {
    body->lo[axis] = -INFINITY;
    body->hi[axis] = INFINITY;
  }
  GAB_TRY(body->own->read(config, at, dimension, body));
  for (int axis = 0; axis < dimension; axis++)
    if (!(body->lo[axis] < body->hi[axis]))
      return gab_config_fail(config, at, "a body of type %s would reach from %g to %g along %c",
                             body->own->name, body->lo[axis], body->hi[axis], (int)"xyz"[axis]);
  return GAB_OK;
}

static gab_status read_shape(const body_reader *by, const char *at, const char *type, gab_body *body)
{
  char path[GAB_CONFIG_PATH_CAPACITY];
  int shape = 0;
  while (gab_body_shape_name(shape + 1) && strcmp(type, gab_body_shape_name(shape)) != 0) shape++;
  body->shape = shape < GAB_SHAPE_OWN ? (gab_shape)shape : GAB_SHAPE_OWN;
  body->own = shape < GAB_SHAPE_OWN ? NULL : gab_body_shape_at(shape - GAB_SHAPE_OWN);
  if (body->shape == GAB_SHAPE_MASK) {
    if (by->dimension != 2) return gab_config_fail(by->config, at, "a picture can only be a body in 2D");
    GAB_TRY(read_text(by->config, gab_config_path(path, "%s.file", at), by->folder, body->mask,
                      sizeof body->mask));
  }
  if (body->shape == GAB_SHAPE_OWN) return read_own_body(by->config, at, by->dimension, body);
  if (body->shape == GAB_SHAPE_BOX || body->shape == GAB_SHAPE_MASK)
    return read_box_body(by->config, at, by->dimension, body);
  return read_round_body(by->config, at, by->dimension, body);
}

/* ------------------------------------------------------------------------------------------ wall and place */

/* Numbers about the axes: three, or in 2D one, about z. @param[out] is_set  whether they are given */
static gab_status read_axial(const body_reader *by, const char *path, double axial[3], bool *is_set)
{
  size_t count;
  *is_set = gab_config_is_set(by->config, path);
  if (!*is_set) return GAB_OK;
  const double *given = gab_config_reals(by->config, path, &count);
  if (count != (by->dimension == 2 ? 1u : 3u))
    return gab_config_fail(by->config, path, "needs %s",
                           by->dimension == 2 ? "one number in 2D, about z" : "three numbers in 3D");
  for (size_t k = 0; k < count; k++) axial[count == 1 ? 2 : k] = given[k];
  return GAB_OK;
}

/* A point that is given, or the middle of the body. @param[in] along  an axis whose coordinate does not count; -1: none */
static gab_status read_middle(const body_reader *by, const char *path, const gab_body *body, int along,
                              double middle[3])
{
  double lo[3], hi[3];
  if (gab_config_is_set(by->config, path))
    return gab_lbm_read_vector(by->config, path, by->dimension, middle);
  const bool is_round = body->shape == GAB_SHAPE_SPHERE || body->shape == GAB_SHAPE_CYLINDER;
  gab_body_extent(body, by->dimension, lo, hi);
  for (int axis = 0; axis < by->dimension; axis++) {
    const bool is_endless = !isfinite(lo[axis]) || !isfinite(hi[axis]);
    if (is_endless && axis != along)
      return gab_config_fail(by->config, path, "is needed: the body is endless along %c", (int)"xyz"[axis]);
    middle[axis] = body->set == GAB_SET_NONE && is_round ? body->centre[axis]
                   : is_endless                          ? 0
                                                         : 0.5 * (lo[axis] + hi[axis]);
  }
  return GAB_OK;
}

static gab_status read_spin(const body_reader *by, const char *at, gab_body *body)
{
  char path[GAB_CONFIG_PATH_CAPACITY];
  bool is_set;
  int along = -1;
  GAB_TRY(read_axial(by, gab_config_path(path, "%s.spin", at), body->spin, &is_set));
  gab_config_path(path, "%s.spin_centre", at);
  if (!is_set && gab_config_is_set(by->config, path))
    return gab_config_fail(by->config, path, "has no effect without spin");
  if (!is_set) return GAB_OK;
  for (int axis = 0; axis < 3; axis++) body->spin[axis] *= by->units->dt / by->units->dx;
  for (int axis = 0; axis < 3; axis++)
    if (body->spin[(axis + 1) % 3] == 0 && body->spin[(axis + 2) % 3] == 0) along = axis;
  return read_middle(by, path, body, along, body->spin_centre);
}

static gab_status read_rotation(const body_reader *by, const char *at, gab_body *body)
{
  char path[GAB_CONFIG_PATH_CAPACITY];
  double degrees[3] = {0, 0, 0};
  bool is_set;
  GAB_TRY(read_axial(by, gab_config_path(path, "%s.rotation", at), degrees, &is_set));
  gab_config_path(path, "%s.rotation_centre", at);
  if (!is_set && gab_config_is_set(by->config, path))
    return gab_config_fail(by->config, path, "has no effect without rotation");
  if (!is_set) return GAB_OK;
  GAB_TRY(read_middle(by, path, body, -1, body->rotation_centre)); /* before it is rotated */
  memcpy(body->rotation, degrees, sizeof degrees);
  return GAB_OK;
}

static gab_status read_copies(const body_reader *by, const char *at, gab_body *body)
{
  char path[GAB_CONFIG_PATH_CAPACITY], offset[GAB_CONFIG_PATH_CAPACITY];
  size_t count;
  gab_config_path(offset, "%s.copy_offset", at);
  gab_config_path(path, "%s.copies", at);
  if (!gab_config_is_set(by->config, path))
    return gab_config_is_set(by->config, offset)
               ? gab_config_fail(by->config, offset, "has no effect without copies")
               : GAB_OK;
  const int64_t *copies = gab_config_ints(by->config, path, &count);
  for (size_t axis = 0; axis < count; axis++) body->copies[axis] = copies[axis];
  if ((int)count != by->dimension)
    return gab_config_fail(by->config, path, "needs %d numbers, one for each axis", by->dimension);
  if (!gab_config_is_set(by->config, offset))
    return gab_config_fail(by->config, path, "needs copy_offset, the distances of the copies");
  return gab_lbm_read_vector(by->config, offset, by->dimension, body->copy_offset);
}

static gab_status read_wall(const body_reader *by, const char *at, gab_body *body)
{
  char path[GAB_CONFIG_PATH_CAPACITY];
  GAB_TRY(gab_lbm_read_plane_vector(by->config, gab_config_path(path, "%s.velocity", at), by->dimension,
                                    body->velocity));
  for (int axis = 0; axis < 3; axis++) body->velocity[axis] *= by->units->dt / by->units->dx;
  body->inside_is_fluid = gab_config_choice_index(by->config, gab_config_path(path, "%s.inside", at)) == 1;
  if (gab_body_has_surface(body) &&
      gab_config_choice_index(by->config, gab_config_path(path, "%s.wall", at)) != 1)
    body->wall = GAB_WALL_INTERPOLATED;
  return GAB_OK;
}

/* All of an item but the parts of a set. */
static gab_status read_body(const body_reader *by, size_t item)
{
  char at[GAB_CONFIG_PATH_CAPACITY], path[GAB_CONFIG_PATH_CAPACITY];
  gab_body *body = &by->bodies[item];
  gab_config_path(at, "%s.%zu", by->list, item);
  const char *type = gab_config_string(by->config, gab_config_path(path, "%s.type", at));
  body->item = item;
  for (int set = GAB_SET_UNION; set <= GAB_SET_DIFFERENCE; set++)
    if (strcmp(type, set_names[set]) == 0) body->set = (gab_set)set;
  GAB_TRY(read_text(by->config, gab_config_path(path, "%s.name", at), NULL, body->name, sizeof body->name));
  if (body->set == GAB_SET_NONE) GAB_TRY(read_shape(by, at, type, body));
  return by->are_solid ? read_wall(by, at, body) : GAB_OK;
}

/* What needs the extent, so for a set its parts. */
static gab_status place_body(const body_reader *by, gab_body *body)
{
  char at[GAB_CONFIG_PATH_CAPACITY], path[GAB_CONFIG_PATH_CAPACITY];
  gab_config_path(at, "%s.%zu", by->list, body->item);
  GAB_TRY(read_rotation(by, at, body));
  GAB_TRY(read_copies(by, at, body));
  if (by->are_solid) GAB_TRY(read_spin(by, at, body));
  gab_config_path(path, "%s.torque_point", at);
  body->has_torque_point = by->are_solid && gab_config_is_set(by->config, path);
  if (body->has_torque_point)
    GAB_TRY(gab_lbm_read_vector(by->config, path, by->dimension, body->torque_point));
  if (gab_body_check(body, by->dimension) == GAB_OK) return GAB_OK;
  char why[512];
  const char *message = gab_error_message(), *text = strstr(message, ": ");
  snprintf(why, sizeof why, "%s", text ? text + 2 : message);
  return gab_config_fail(by->config, at, "%s", why);
}

/* ------------------------------------------------------------------------------------------ sets */

/* Keys that only a body or a region in the flow has. */
static gab_status refuse_keys_of_part(const body_reader *by, size_t item, const char *set)
{
  static const char *const of_walls[] = {"velocity", "spin", "wall", "torque_point", NULL};
  static const char *const of_regions[] = {"permeability", "forchheimer", NULL};
  const char *const *keys = by->are_solid ? of_walls : of_regions;
  char path[GAB_CONFIG_PATH_CAPACITY];
  for (size_t i = 0; keys[i]; i++)
    if (gab_config_is_set(by->config, gab_config_path(path, "%s.%zu.%s", by->list, item, keys[i])))
      return gab_config_fail(by->config, path, "has no effect: the %s is a part of %s, which has %s",
                             by->are_solid ? "body" : "region", set,
                             by->are_solid ? "a wall" : "a permeability");
  return GAB_OK;
}

static gab_status find_part(const body_reader *by, size_t set, const char *name, size_t *item)
{
  char path[GAB_CONFIG_PATH_CAPACITY];
  for (*item = 0; *item < by->count; ++*item)
    if (name[0] && strcmp(by->bodies[*item].name, name) == 0) break;
  gab_config_path(path, "%s.%zu.of", by->list, set);
  if (*item == by->count) return gab_config_fail(by->config, path, "no body has the name '%s'", name);
  if (*item >= set)
    return gab_config_fail(by->config, path, "'%s' must come before the set in the list", name);
  if (by->are_parts[*item])
    return gab_config_fail(by->config, path, "'%s' is a part of another set already", name);
  return GAB_OK;
}

/* Sets come behind their parts, so there are no circles, and parts are complete. */
static gab_status read_set(const body_reader *by, size_t item)
{
  char path[GAB_CONFIG_PATH_CAPACITY];
  gab_body *body = &by->bodies[item];
  size_t count;
  const char *const *names =
      gab_config_strings(by->config, gab_config_path(path, "%s.%zu.of", by->list, item), &count);
  gab_body *parts;
  GAB_TRY(GAB_NEW_ARRAY(&parts, count, GAB_MEMORY_OTHER));
  body->parts = parts; /* owned by the setup */
  for (size_t i = 0; i < count; i++) {
    size_t part;
    GAB_TRY(find_part(by, item, names[i], &part));
    GAB_TRY(refuse_keys_of_part(by, part, body->name[0] ? body->name : "a set"));
    parts[i] = by->bodies[part];
    body->part_count = i + 1;
    by->are_parts[part] = true;
    by->bodies[part] = (gab_body){0}; /* now of the set */
    memcpy(by->bodies[part].name, parts[i].name, sizeof parts[i].name);
  }
  return GAB_OK;
}

static gab_status read_all(const body_reader *by)
{
  for (size_t i = 0; i < by->count; i++) {
    GAB_TRY(read_body(by, i));
    if (by->bodies[i].set != GAB_SET_NONE) GAB_TRY(read_set(by, i));
    GAB_TRY(place_body(by, &by->bodies[i]));
  }
  return GAB_OK;
}

gab_status gab_lbm_read_bodies(const gab_config *config, const char *list, int dimension, const char *folder,
                               const gab_units *units, gab_body **bodies, size_t *count)
{
  body_reader by = {.config = config,
                    .list = list,
                    .are_solid = strcmp(list, "bodies") == 0,
                    .dimension = dimension,
                    .folder = folder,
                    .units = units};
  by.count = gab_config_count(config, list);
  GAB_TRY(GAB_NEW_ARRAY(bodies, by.count, GAB_MEMORY_OTHER));
  by.bodies = *bodies;
  *count = by.count;
  GAB_TRY(GAB_NEW_ARRAY(&by.are_parts, by.count, GAB_MEMORY_OTHER));
  const gab_status status = read_all(&by);
  size_t kept = 0;
  for (size_t i = 0; status == GAB_OK && i < by.count; i++)
    if (!by.are_parts[i]) by.bodies[kept++] = by.bodies[i];
  if (status == GAB_OK) *count = kept;
  gab_free(&by.are_parts);
  return status;
}

/* Its velocity is linear in the place, so that the largest one is at a corner. */
double gab_lbm_body_speed(const gab_body *body, const gab_domain *domain)
{
  gab_body shape = *body;
  double lo[3], hi[3], speed = 0;
  shape.inside_is_fluid = false;
  gab_body_extent(&shape, domain->dimension, lo, hi);
  for (int corner = 0; corner < 8; corner++) {
    double point[3] = {0}, velocity[3];
    for (int axis = 0; axis < domain->dimension; axis++) {
      const double first = domain->origin[axis], last = first + (double)domain->cells[axis] * domain->dx;
      point[axis] = corner >> axis & 1 ? fmin(hi[axis], last) : fmax(lo[axis], first);
    }
    gab_body_velocity_at(body, point, velocity);
    speed = fmax(speed, hypot(hypot(velocity[0], velocity[1]), velocity[2]));
  }
  return speed;
}

void gab_lbm_release_bodies(gab_body *bodies, size_t count)
{
  for (size_t i = 0; i < count; i++) {
    gab_body *parts = (gab_body *)bodies[i].parts;
    gab_lbm_release_bodies(parts, bodies[i].part_count);
    gab_free(&parts);
    if (bodies[i].own && bodies[i].own->release) bodies[i].own->release(bodies[i].data);
  }
}

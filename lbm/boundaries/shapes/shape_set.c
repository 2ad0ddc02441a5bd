/* SPDX-License-Identifier: Apache-2.0 */
/* Sets of bodies and rotated bodies, as a shape with a distance: that of a union is the least of its parts', that of an
 * intersection the largest, and a rotation changes none. So each of them changes by no more than points are apart. */
#include "lbm/boundaries/shapes/shapes_impl.h"

#include "core/memory/memory.h"

#include <math.h>
#include <string.h>

enum { MOST_PARTS = 1 << 16, MOST_DEPTH = 16 };

typedef struct part {
  gab_body body;          /* of a plain part: what `shape' borrows */
  gab_composed *composed; /* of a set, or a rotated part; owned; else NULL */
  gab_shape_data shape;   /* in physical coordinates */
} part;

struct gab_composed {
  gab_body body; /* stands for it, with itself as data */
  gab_set set;
  bool is_rotated;
  int dimension;
  double to_parts[3][3], centre[3]; /* the rotation backwards */
  size_t count;
  part *parts;
};

/* ------------------------------------------------------------------------------------------ evaluation */

static void to_parts(const gab_composed *composed, const double point[3], double turned[3])
{
  memcpy(turned, point, 3 * sizeof *turned);
  if (!composed->is_rotated) return;
  for (int axis = 0; axis < 3; axis++) {
    turned[axis] = composed->centre[axis];
    for (int k = 0; k < 3; k++)
      turned[axis] += composed->to_parts[axis][k] * (point[k] - composed->centre[k]);
  }
  /* the cell layer of a plane domain, where shapes of a plane are evaluated */
  if (composed->dimension == 2) turned[2] = 0;
}

static double distance_to(const gab_body *body, const double point[3])
{
  const gab_composed *composed = body->data;
  double at[3], result = 0;
  to_parts(composed, point, at);
  for (size_t i = 0; i < composed->count; i++) {
    const double distance = gab_shape_distance(&composed->parts[i].shape, at);
    if (i == 0) result = distance;
    else if (composed->set == GAB_SET_UNION) result = fmin(result, distance);
    else result = fmax(result, composed->set == GAB_SET_DIFFERENCE ? -distance : distance);
  }
  return result;
}

static bool contains(const gab_body *body, const double point[3])
{
  const gab_composed *composed = body->data;
  double at[3];
  to_parts(composed, point, at);
  if (composed->set == GAB_SET_DIFFERENCE && !gab_shape_is_solid(&composed->parts[0].shape, at)) return false;
  for (size_t i = composed->set == GAB_SET_DIFFERENCE; i < composed->count; i++) {
    const bool is_in = gab_shape_is_solid(&composed->parts[i].shape, at);
    if (is_in && composed->set == GAB_SET_UNION) return true;
    if (is_in == (composed->set == GAB_SET_DIFFERENCE) && composed->set != GAB_SET_UNION) return false;
  }
  return composed->set != GAB_SET_UNION;
}

/* By the part whose surface is nearest. */
static bool is_in_group(const gab_body *body, const char *group, const double point[3])
{
  const gab_composed *composed = body->data;
  const gab_shape_data *nearest = NULL;
  double at[3], least = INFINITY;
  to_parts(composed, point, at);
  for (size_t i = 0; i < composed->count; i++) {
    const double distance = fabs(gab_shape_distance(&composed->parts[i].shape, at));
    if (distance < least) nearest = &composed->parts[i].shape;
    least = fmin(least, distance);
  }
  return nearest && gab_shape_is_in_group(nearest, group, at);
}

static const gab_body_shape composed_shape = {.name = "set",
                                              .doc = "Other bodies.",
                                              .distance = distance_to,
                                              .contains = contains,
                                              .is_in_group = is_in_group};

/* ------------------------------------------------------------------------------------------ making it */

static gab_status create(const gab_body *body, int dimension, int depth, gab_composed **composed);

/* A plain part, or one that is itself composed, at one of its copies. */
static gab_status add_part(gab_composed *composed, const gab_body *body, const int64_t copy[3], int depth)
{
  const gab_domain physical = {.dimension = composed->dimension, .dx = 1};
  part *made = &composed->parts[composed->count++];
  GAB_TRY(gab_body_check(body, composed->dimension));
  if (!gab_body_has_surface(body))
    GAB_FAIL(GAB_ERR_INPUT, "%s: a body without an exact surface cannot be a part of a set", body->name);
  made->body = *body;
  if (gab_body_is_composed(body)) GAB_TRY(create(body, composed->dimension, depth + 1, &made->composed));
  const gab_body *evaluated = made->composed ? &made->composed->body : &made->body;
  made->shape = gab_shape_of(evaluated, 0, NULL, &physical);
  if (composed->dimension == 2) made->shape.centre[2] = 0;
  for (int axis = 0; axis < composed->dimension; axis++) {
    const double shift = (double)copy[axis] * body->copy_offset[axis];
    if (copy[axis] == 0) continue;
    made->shape.centre[axis] += shift;
    made->shape.lo[axis] += shift;
    made->shape.hi[axis] += shift;
  }
  return GAB_OK;
}

static int64_t copies_of(const gab_body *body, int axis)
{
  return body->copies[axis] > 1 ? body->copies[axis] : 1;
}

static gab_status add_parts(gab_composed *composed, const gab_body *parts, size_t count, int depth)
{
  double all = 0;
  for (size_t i = 0; i < count; i++)
    all +=
        (double)copies_of(&parts[i], 0) * (double)copies_of(&parts[i], 1) * (double)copies_of(&parts[i], 2);
  if (all > MOST_PARTS)
    GAB_FAIL(GAB_ERR_INPUT, "%s: %g parts with all copies are more than %d", composed->body.name, all,
             (int)MOST_PARTS);
  GAB_TRY(GAB_NEW_ARRAY(&composed->parts, (size_t)all, GAB_MEMORY_OTHER));
  for (size_t i = 0; i < count; i++) {
    int64_t at[3];
    for (at[2] = 0; at[2] < copies_of(&parts[i], 2); at[2]++)
      for (at[1] = 0; at[1] < copies_of(&parts[i], 1); at[1]++)
        for (at[0] = 0; at[0] < copies_of(&parts[i], 0); at[0]++)
          GAB_TRY(add_part(composed, &parts[i], at, depth));
  }
  return GAB_OK;
}

static gab_status fill(gab_composed *made, const gab_body *body, int dimension, int depth)
{
  double matrix[3][3];
  if (depth > MOST_DEPTH) GAB_FAIL(GAB_ERR_INPUT, "%s: sets of sets are too deep", body->name);
  made->body = *body;
  made->body.shape = GAB_SHAPE_OWN;
  made->body.own = &composed_shape;
  made->body.data = made;
  made->body.set = GAB_SET_NONE;
  made->body.parts = NULL;
  made->set = body->set == GAB_SET_NONE ? GAB_SET_UNION : body->set;
  made->dimension = dimension;
  made->is_rotated = body->rotation[0] != 0 || body->rotation[1] != 0 || body->rotation[2] != 0;
  gab_body_rotation(body, matrix);
  for (int row = 0; row < 3; row++)
    for (int column = 0; column < 3; column++) made->to_parts[row][column] = matrix[column][row];
  memcpy(made->centre, body->rotation_centre, sizeof made->centre);
  /* Copies are made of the whole, and its inside is what its parts are. */
  gab_body whole = *body;
  memset(whole.copies, 0, sizeof whole.copies);
  whole.inside_is_fluid = false;
  gab_body_extent(&whole, dimension, made->body.lo, made->body.hi);
  if (body->set != GAB_SET_NONE) return add_parts(made, body->parts, body->part_count, depth);
  memset(whole.rotation, 0, sizeof whole.rotation);
  return add_parts(made, &whole, 1, depth);
}

static gab_status create(const gab_body *body, int dimension, int depth, gab_composed **composed)
{
  GAB_TRY(GAB_NEW(composed, GAB_MEMORY_OTHER));
  const gab_status status = fill(*composed, body, dimension, depth);
  if (status != GAB_OK) gab_composed_destroy(composed);
  return status;
}

gab_status gab_composed_create(const gab_body *body, int dimension, gab_composed **composed)
{
  return create(body, dimension, 0, composed);
}

void gab_composed_destroy(gab_composed **composed)
{
  gab_composed *gone = *composed;
  if (!gone) return;
  for (size_t i = 0; i < gone->count; i++) gab_composed_destroy(&gone->parts[i].composed);
  gab_free(&gone->parts);
  gab_free(composed);
}

const gab_body *gab_composed_body(const gab_composed *composed) { return &composed->body; }

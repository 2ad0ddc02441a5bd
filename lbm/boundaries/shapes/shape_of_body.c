/* SPDX-License-Identifier: Apache-2.0 */
/* What a gab_body says: whether it can be, its shape in cells, its extent, and the velocity of its wall. */
#include "lbm/boundaries/shapes/shapes_impl.h"

#include <math.h>
#include <string.h>

static bool is_round(const gab_body *body)
{
  return body->set == GAB_SET_NONE && (body->shape == GAB_SHAPE_SPHERE || body->shape == GAB_SHAPE_CYLINDER);
}

static bool is_vector_zero(const double vector[3])
{
  return vector[0] == 0 && vector[1] == 0 && vector[2] == 0;
}

bool gab_body_is_composed(const gab_body *body)
{
  return body->set != GAB_SET_NONE || !is_vector_zero(body->rotation);
}

bool gab_body_has_surface(const gab_body *body)
{
  if (body->set != GAB_SET_NONE) return true;
  if (body->shape == GAB_SHAPE_OWN)
    return !body->own || body->own->distance; /* a missing one is refused elsewhere */
  return body->shape != GAB_SHAPE_MASK;
}

/* ------------------------------------------------------------------------------------------ whether it can be */

static gab_status check_round(const gab_body *body, int dimension)
{
  if (!(body->radius > 0 && isfinite(body->radius)))
    GAB_FAIL(GAB_ERR_INPUT, "%s: the radius must be positive, not %g", body->name, body->radius);
  for (int axis = 0; axis < dimension; axis++)
    if (!isfinite(body->centre[axis])) GAB_FAIL(GAB_ERR_INPUT, "%s: the centre is not finite", body->name);
  if (body->shape == GAB_SHAPE_SPHERE) return GAB_OK;
  if (body->axis < 0 || body->axis > 2 || !(body->length >= 0))
    GAB_FAIL(GAB_ERR_INPUT, "%s: a cylinder cannot have axis %d and length %g", body->name, body->axis,
             body->length);
  if (dimension == 2 && body->axis != 2)
    GAB_FAIL(GAB_ERR_INPUT, "%s: in 2D the axis of a cylinder is z", body->name);
  return GAB_OK;
}

static gab_status check_corners(const gab_body *body, int dimension)
{
  for (int axis = 0; axis < dimension; axis++) {
    if (!(body->lo[axis] < body->hi[axis]))
      GAB_FAIL(GAB_ERR_INPUT, "%s: lower corner %g is not below upper corner %g along axis %d", body->name,
               body->lo[axis], body->hi[axis], axis);
    if (body->shape == GAB_SHAPE_MASK && !(isfinite(body->lo[axis]) && isfinite(body->hi[axis])))
      GAB_FAIL(GAB_ERR_INPUT, "%s: a picture needs finite corners", body->name);
  }
  return GAB_OK;
}

static gab_status check_placement(const gab_body *body, int dimension)
{
  if (!is_vector_zero(body->rotation) && !gab_body_has_surface(body))
    GAB_FAIL(GAB_ERR_INPUT, "%s: a body without an exact surface cannot be rotated", body->name);
  if (dimension == 2 && (body->rotation[0] != 0 || body->rotation[1] != 0))
    GAB_FAIL(GAB_ERR_INPUT, "%s: in 2D a body can be rotated about z only", body->name);
  for (int axis = 0; axis < 3; axis++) {
    if (!isfinite(body->rotation[axis]) || !isfinite(body->rotation_centre[axis]))
      GAB_FAIL(GAB_ERR_INPUT, "%s: the rotation is not finite", body->name);
    if (body->copies[axis] <= 1) continue;
    if (body->inside_is_fluid)
      GAB_FAIL(GAB_ERR_INPUT, "%s: copies of a body whose inside is fluid would cover each other",
               body->name);
    if (!isfinite(body->copy_offset[axis]) || body->copy_offset[axis] == 0 || axis >= dimension)
      GAB_FAIL(GAB_ERR_INPUT, "%s: copies along axis %d need an offset that is finite and not 0", body->name,
               axis);
    if (!is_vector_zero(body->spin))
      GAB_FAIL(GAB_ERR_INPUT, "%s: copies of a body that spins would spin about one centre", body->name);
  }
  return GAB_OK;
}

gab_status gab_body_check(const gab_body *body, int dimension)
{
  GAB_TRY(check_placement(body, dimension));
  if (body->wall == GAB_WALL_INTERPOLATED && !gab_body_has_surface(body))
    GAB_FAIL(GAB_ERR_INPUT, "%s: a %s has no exact surface; its wall must be staircase", body->name,
             body->shape == GAB_SHAPE_MASK ? "picture" : body->own->name);
  if (body->set != GAB_SET_NONE) {
    if (body->part_count == 0 || !body->parts) GAB_FAIL(GAB_ERR_INPUT, "%s: a set needs parts", body->name);
    return GAB_OK;
  }
  if (is_round(body)) return check_round(body, dimension);
  if (body->shape == GAB_SHAPE_OWN && !body->own)
    GAB_FAIL(GAB_ERR_INPUT, "%s: the descriptor of its shape is missing", body->name);
  if (body->shape == GAB_SHAPE_MASK && dimension != 2)
    GAB_FAIL(GAB_ERR_INPUT, "%s: a picture can only be a body in 2D", body->name);
  return check_corners(body, dimension);
}

/* ------------------------------------------------------------------------------------------ its shape */

gab_shape_data gab_shape_of(const gab_body *body, int index, const gab_mask *mask, const gab_domain *domain)
{
  gab_shape_data shape = {.shape = body->shape, .body = index, .axis = body->axis, .mask = mask};
  shape.inverted = body->inside_is_fluid;
  shape.described = body;
  shape.dimension = domain->dimension;
  memcpy(shape.origin, domain->origin, sizeof shape.origin);
  shape.dx = domain->dx;
  shape.radius = body->radius / domain->dx;
  shape.half_length = body->length > 0 ? body->length / domain->dx / 2 : INFINITY;
  if (domain->dimension == 2 && body->shape == GAB_SHAPE_SPHERE) {
    shape.shape = GAB_SHAPE_CYLINDER;
    shape.axis = 2;
  }
  if (domain->dimension == 2) shape.half_length = INFINITY;
  for (int axis = 0; axis < 3; axis++) {
    shape.centre[axis] = (body->centre[axis] - domain->origin[axis]) / domain->dx;
    double reach = shape.shape == GAB_SHAPE_CYLINDER && axis == shape.axis ? shape.half_length : shape.radius;
    shape.lo[axis] =
        is_round(body) ? shape.centre[axis] - reach : (body->lo[axis] - domain->origin[axis]) / domain->dx;
    shape.hi[axis] =
        is_round(body) ? shape.centre[axis] + reach : (body->hi[axis] - domain->origin[axis]) / domain->dx;
  }
  if (body->shape == GAB_SHAPE_OWN) memset(shape.centre, 0, sizeof shape.centre); /* not moved */
  if (domain->dimension == 2) {
    shape.centre[2] = 0.5;
    shape.lo[2] = -INFINITY;
    shape.hi[2] = INFINITY;
  }
  return shape;
}

/* ------------------------------------------------------------------------------------------ extent */

static void extent_of_shape(const gab_body *body, int dimension, double lo[3], double hi[3])
{
  for (int axis = 0; axis < 3; axis++) {
    double reach = body->radius;
    if (body->shape == GAB_SHAPE_CYLINDER && dimension == 3 && axis == body->axis)
      reach = body->length > 0 ? body->length / 2 : INFINITY;
    lo[axis] = is_round(body) ? body->centre[axis] - reach : body->lo[axis];
    hi[axis] = is_round(body) ? body->centre[axis] + reach : body->hi[axis];
    if (body->inside_is_fluid) lo[axis] = -INFINITY;
    if (body->inside_is_fluid) hi[axis] = INFINITY;
  }
}

/* An intersection lies in each of its parts, a difference in its first one. */
static void extent_of_set(const gab_body *body, int dimension, double lo[3], double hi[3])
{
  const size_t count = body->set == GAB_SET_DIFFERENCE ? 1 : body->part_count;
  const bool all = body->set == GAB_SET_UNION;
  for (size_t i = 0; i < count; i++) {
    double from[3], to[3];
    gab_body_extent(&body->parts[i], dimension, from, to);
    for (int axis = 0; axis < 3; axis++) {
      lo[axis] = i == 0 ? from[axis] : all ? fmin(lo[axis], from[axis]) : fmax(lo[axis], from[axis]);
      hi[axis] = i == 0 ? to[axis] : all ? fmax(hi[axis], to[axis]) : fmin(hi[axis], to[axis]);
    }
  }
}

static void rotate_extent(const gab_body *body, double lo[3], double hi[3])
{
  const double slack = 1e-9;
  double matrix[3][3], from[3], to[3];
  gab_body_rotation(body, matrix);
  for (int axis = 0; axis < 3; axis++) {
    from[axis] = to[axis] = body->rotation_centre[axis];
    for (int k = 0; k < 3; k++) {
      if (fabs(matrix[axis][k]) < 0x1p-50) continue; /* of 90 degrees */
      const double a = matrix[axis][k] * (lo[k] - body->rotation_centre[k]),
                   b = matrix[axis][k] * (hi[k] - body->rotation_centre[k]);
      from[axis] += fmin(a, b);
      to[axis] += fmax(a, b);
    }
  }
  for (int axis = 0; axis < 3; axis++) {
    const double more = isfinite(to[axis] - from[axis]) ? slack * (to[axis] - from[axis]) : 0;
    lo[axis] = from[axis] - more;
    hi[axis] = to[axis] + more;
  }
}

void gab_body_extent(const gab_body *body, int dimension, double lo[3], double hi[3])
{
  if (body->set != GAB_SET_NONE) extent_of_set(body, dimension, lo, hi);
  else extent_of_shape(body, dimension, lo, hi);
  if (!is_vector_zero(body->rotation)) rotate_extent(body, lo, hi);
  for (int axis = 0; axis < dimension; axis++) {
    const double reach =
        body->copies[axis] > 1 ? (double)(body->copies[axis] - 1) * body->copy_offset[axis] : 0;
    lo[axis] += fmin(reach, 0);
    hi[axis] += fmax(reach, 0);
  }
}

/* About x, then y, then z. */
void gab_body_rotation(const gab_body *body, double matrix[3][3])
{
  double c[3], s[3];
  for (int axis = 0; axis < 3; axis++) {
    const double turns = body->rotation[axis] / 90, quarter = rint(turns);
    if (turns == quarter) { /* exact */
      const int k = (int)fmod(fmod(quarter, 4) + 4, 4);
      c[axis] = k == 0 ? 1 : k == 2 ? -1 : 0;
      s[axis] = k == 1 ? 1 : k == 3 ? -1 : 0;
    } else {
      c[axis] = cos(body->rotation[axis] * (acos(-1) / 180));
      s[axis] = sin(body->rotation[axis] * (acos(-1) / 180));
    }
  }
  const double made[3][3] = {
      {c[2] * c[1], c[2] * s[1] * s[0] - s[2] * c[0], c[2] * s[1] * c[0] + s[2] * s[0]},
      {s[2] * c[1], s[2] * s[1] * s[0] + c[2] * c[0], s[2] * s[1] * c[0] - c[2] * s[0]},
      {-s[1], c[1] * s[0], c[1] * c[0]}};
  memcpy(matrix, made, sizeof made);
}

/* ------------------------------------------------------------------------------------------ its wall */

void gab_body_velocity_at(const gab_body *body, const double point[3], double velocity[3])
{
  const double *w = body->spin;
  double r[3];
  memcpy(velocity, body->velocity, 3 * sizeof *velocity);
  if (is_vector_zero(w)) return;
  for (int axis = 0; axis < 3; axis++) r[axis] = point[axis] - body->spin_centre[axis];
  for (int axis = 0; axis < 3; axis++) {
    const int b = (axis + 1) % 3, c = (axis + 2) % 3;
    velocity[axis] += w[b] * r[c] - w[c] * r[b];
  }
}

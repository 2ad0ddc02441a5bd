/* SPDX-License-Identifier: Apache-2.0 */
/* Boxes and rays evaluated from a signed distance, and a check that a function is one. */
#include "lbm/boundaries/geometry.h"
#include "lbm/boundaries/shapes/shapes_impl.h"

#include <math.h>

static void to_physical(const gab_shape_data *shape, const double point[3], double physical[3])
{
  for (int axis = 0; axis < 3; axis++)
    physical[axis] =
        axis < shape->dimension ? shape->origin[axis] + (point[axis] - shape->centre[axis]) * shape->dx : 0;
}

bool gab_distance_exists(const gab_shape_data *shape) { return shape->described->own->distance != NULL; }

/* In cells of level 0. An image beyond a periodic side lies `centre' away from the body. */
double gab_distance_at(const gab_shape_data *shape, const double point[3])
{
  double physical[3];
  to_physical(shape, point, physical);
  return shape->described->own->distance(shape->described, physical) / shape->dx;
}

bool gab_distance_has(const gab_shape_data *shape, const double point[3])
{
  double physical[3];
  for (int axis = 0; axis < shape->dimension; axis++)
    if (!(point[axis] >= shape->lo[axis] && point[axis] <= shape->hi[axis])) return false;
  const gab_body_shape *own = shape->described->own;
  if (!own->contains) return gab_distance_at(shape, point) <= 0;
  to_physical(shape, point, physical);
  return own->contains(shape->described, physical);
}

bool gab_shape_is_in_group(const gab_shape_data *shape, const char *group, const double point[3])
{
  double physical[3];
  if (shape->shape != GAB_SHAPE_OWN || !shape->described->own->is_in_group) return false;
  to_physical(shape, point, physical);
  return shape->described->own->is_in_group(shape->described, group, physical);
}

static gab_relation relation_by_distance(const gab_shape_data *shape, const double lo[3], const double hi[3],
                                         bool within)
{
  const double slack = 1e-9; /* rounding may make it a bit steeper than it is */
  double centre[3], square = 0;
  for (int axis = 0; axis < 3; axis++) {
    centre[axis] = lo[axis] + (hi[axis] - lo[axis]) / 2;
    if (axis < shape->dimension) square += (hi[axis] - lo[axis]) * (hi[axis] - lo[axis]) / 4;
  }
  const double distance = gab_distance_at(shape, centre);
  const double reach = sqrt(square) + slack * (1 + sqrt(square) + fabs(distance));
  if (distance > reach) return GAB_RELATION_APART;
  return within && distance < -reach ? GAB_RELATION_COVERED : GAB_RELATION_MIXED;
}

gab_relation gab_distance_relation(const gab_shape_data *shape, const double lo[3], const double hi[3])
{
  const gab_body_shape *own = shape->described->own;
  bool within = true;
  for (int axis = 0; axis < shape->dimension; axis++) {
    if (hi[axis] < shape->lo[axis] || lo[axis] > shape->hi[axis]) return GAB_RELATION_APART;
    within = within && lo[axis] >= shape->lo[axis] && hi[axis] <= shape->hi[axis];
  }
  if (own->relation) {
    double from[3], to[3];
    to_physical(shape, lo, from);
    to_physical(shape, hi, to);
    const gab_relation relation = own->relation(shape->described, from, to);
    return relation == GAB_RELATION_COVERED && !within ? GAB_RELATION_MIXED : relation;
  }
  return own->distance ? relation_by_distance(shape, lo, hi, within) : GAB_RELATION_MIXED;
}

/* Where the surface is passed between both ends of a link, halving it until a double cannot tell. */
bool gab_distance_interval(const gab_shape_data *shape, const double point[3], const double direction[3],
                           double *in, double *out)
{
  double from = 0, to = 1, at[3];
  const bool begins_inside = gab_distance_has(shape, point);
  for (int axis = 0; axis < 3; axis++) at[axis] = point[axis] + direction[axis];
  *in = -INFINITY;
  *out = INFINITY;
  if (!gab_distance_exists(shape) || gab_distance_has(shape, at) == begins_inside) return false;
  double *passed = begins_inside ? out : in;
  if (shape->described->own->crossing) {
    double physical[3], end[3];
    to_physical(shape, point, physical);
    to_physical(shape, at, end);
    *passed = shape->described->own->crossing(shape->described, physical, end);
    return *passed >= 0 && *passed <= 1;
  }
  for (int i = 0; i < 52; i++) {
    const double middle = 0.5 * (from + to);
    for (int axis = 0; axis < 3; axis++) at[axis] = point[axis] + middle * direction[axis];
    if (gab_distance_has(shape, at) == begins_inside) from = middle;
    else to = middle;
  }
  *passed = 0.5 * (from + to);
  return true;
}

/* ------------------------------------------------------------------------------------------ whether it is one */

enum { LOOKS = 16 }; /* along an axis */

/* Between neighbours of a coarse lattice of points of the domain. */
gab_status gab_distance_check(const gab_shape_data *shape, const gab_domain *domain, const char *name)
{
  int at[3], count[3];
  if (shape->described->own->is_exact) return GAB_OK;
  for (int axis = 0; axis < 3; axis++) count[axis] = axis < domain->dimension ? LOOKS : 1;
  for (at[2] = 0; at[2] < count[2]; at[2]++)
    for (at[1] = 0; at[1] < count[1]; at[1]++)
      for (at[0] = 0; at[0] < count[0]; at[0]++) {
        double point[3];
        for (int axis = 0; axis < 3; axis++)
          point[axis] = (double)domain->cells[axis] * (at[axis] + 0.5) / count[axis];
        const double here = gab_distance_at(shape, point);
        for (int axis = 0; axis < domain->dimension; axis++) {
          const double apart = (double)domain->cells[axis] / LOOKS;
          double next[3] = {point[0], point[1], point[2]};
          next[axis] += apart;
          const double change = fabs(gab_distance_at(shape, next) - here);
          if (!(change <= apart * (1 + 1e-6)))
            GAB_FAIL(GAB_ERR_INPUT,
                     "%s: shape '%s' does not return a distance: at (%g, %g, %g) it changes by %g between "
                     "points that are %g apart",
                     name, shape->described->own->name, domain->origin[0] + point[0] * domain->dx,
                     domain->origin[1] + point[1] * domain->dx, domain->origin[2] + point[2] * domain->dx,
                     change * domain->dx, apart * domain->dx);
        }
      }
  return GAB_OK;
}

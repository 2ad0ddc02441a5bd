/* SPDX-License-Identifier: Apache-2.0 */
/* Patches of bodies at a link: who owns it, and what it gives. */
#include "lbm/boundaries/body_patch_impl.h"

#include <math.h>
#include <string.h>

/* The middle of a region along an axis; where it is endless, the point itself. */
static double middle_of(const gab_patch *patch, int axis, double point)
{
  double lo, hi;
  gab_patch_extent(patch, axis, &lo, &hi);
  return isfinite(lo) && isfinite(hi) ? 0.5 * (lo + hi) : point;
}

/* Physical coordinates, of the image beyond periodic sides that is nearest to the region. */
static void place_of(const gab_domain *domain, const gab_patch *patch, const double point[3], double place[3])
{
  for (int axis = 0; axis < 3; axis++) {
    const double size = (double)domain->cells[axis] * domain->dx;
    const bool is_used = axis < domain->dimension;
    place[axis] = is_used ? domain->origin[axis] + point[axis] * domain->dx : 0;
    if (is_used && domain->periodic[axis])
      place[axis] -= size * rint((place[axis] - middle_of(patch, axis, place[axis])) / size);
  }
}

int gab_body_patch_of_link(const gab_lbm_model *model, int level, const int64_t solid[3], int body, int q,
                           gab_body_patch_link *on)
{
  const gab_patches *patches = model->options.patches;
  const gab_domain *domain = gab_geometry_domain(model->geometry);
  bool is_crossed = false;
  if (!patches || patches->on_bodies == 0) return -1;
  for (int i = patches->count - patches->on_bodies; i < patches->count; i++) {
    const gab_patch *patch = &patches->list[i];
    if (patch->body != (size_t)body) continue;
    if (!is_crossed)
      on->distance =
          gab_geometry_crossing(model->geometry, level, solid, body, model->lattice->c[q], on->point);
    is_crossed = true;
    place_of(domain, patch, on->point, on->place);
    const bool has = patch->region == GAB_PATCH_GROUP
                         ? gab_geometry_is_in_group(model->geometry, on->point, body, patch->group)
                         : gab_patch_has_point(patch, domain->dimension, on->place);
    on->body = body;
    if (has) return GAB_SIDE_COUNT + i;
  }
  return -1;
}

double gab_body_patch_shape(const gab_lbm_model *model, int condition, const gab_body_patch_link *on)
{
  const gab_side *side = gab_lbm_condition(&model->options, condition);
  double square = 0;
  switch (side->profile) {
  case GAB_PROFILE_FORMULA:
    return gab_expression_at(side->shape, on->place);
  case GAB_PROFILE_PIPE:
    for (int axis = 0; axis < model->lattice->dimension; axis++)
      square += pow(on->place[axis] - side->of_profile.centre[axis], 2);
    return fmax(0, 1 - square / pow(side->of_profile.radius, 2));
  default:
    return 1;
  }
}

void gab_body_patch_velocity(const gab_lbm_model *model, int condition, const gab_body_patch_link *on,
                             double velocity[3])
{
  const gab_side *side = gab_lbm_condition(&model->options, condition);
  const double shape = gab_body_patch_shape(model, condition, on);
  double normal[3] = {0, 0, 0}, across = 0;
  for (int axis = 0; axis < 3; axis++) velocity[axis] = shape * side->velocity[axis];
  if (side->on_body == GAB_BODY_VELOCITY_GIVEN) return;
  if (!gab_geometry_normal_at(model->geometry, on->point, on->body, normal)) memset(normal, 0, sizeof normal);
  if (side->on_body == GAB_BODY_VELOCITY_NORMAL) {
    const double speed = velocity[0];
    for (int axis = 0; axis < 3; axis++) velocity[axis] = speed * normal[axis];
    return;
  }
  for (int axis = 0; axis < 3; axis++) across += velocity[axis] * normal[axis];
  for (int axis = 0; axis < 3; axis++) velocity[axis] -= across * normal[axis];
}

/* Linear along the link: the surface is as far from the fluid cell as `distance` says. Where it is nearer than half of the link, an
 * extrapolation would multiply what the cell has: it is left at the half. */
double gab_body_patch_reach(const gab_lbm_model *model, const gab_body_patch_link *on)
{
  if (gab_geometry_body(model->geometry, (size_t)on->body)->wall == GAB_WALL_STAIRCASE) return 1;
  return on->distance > 0.5 ? 0.5 / on->distance : 1;
}

/* SPDX-License-Identifier: Apache-2.0 */
/* Regions of patches on sides, and the condition of a face. */
#include "lbm/sides/patch.h"
#include "lbm/sides/side_plane_impl.h"

#include "core/config/time_series.h"
#include "core/memory/memory.h"
#include "lbm/boundaries/mesh/predicates_impl.h"
#include "lbm/boundaries/shapes/shapes_impl.h"

#include <math.h>

/* ------------------------------------------------------------------------------------------ regions */

/* The centre of a face along an axis, physical. */
static double centre_of(const gab_domain *domain, int axis, int64_t face)
{
  return domain->origin[axis] + ((double)face + 0.5) * domain->dx;
}

static bool is_in_box(const gab_patch *patch, int dimension, const double point[3])
{
  bool inside = true;
  for (int axis = 0; axis < dimension; axis++)
    inside = inside &&
             (axis == patch->side / 2 || (point[axis] >= patch->lo[axis] && point[axis] <= patch->hi[axis]));
  return inside;
}

static bool is_in_disc(const gab_patch *patch, int dimension, const double point[3])
{
  double square = 0;
  for (int axis = 0; axis < dimension; axis++) {
    const double away = point[axis] - patch->centre[axis];
    square += axis == patch->side / 2 ? 0 : away * away;
  }
  return square <= patch->radius * patch->radius;
}

/* The axes along a side, or across the axis of a polygon on a body, ascending. */
static void axes_of(const gab_patch *patch, int axes[2])
{
  const int across = patch->side == GAB_PATCH_ON_BODY ? patch->axis : patch->side / 2;
  axes[0] = across == 0 ? 1 : 0;
  axes[1] = across == 2 ? 1 : 2;
}

/* Whether a point that lies on the line through a and b lies between them. */
static bool is_between(const double a[2], const double b[2], const double point[2])
{
  bool inside = true;
  for (int k = 0; k < 2; k++) inside = inside && point[k] >= fmin(a[k], b[k]) && point[k] <= fmax(a[k], b[k]);
  return inside;
}

/* By the edges that a ray along the first axis crosses; points on an edge are inside. */
static bool is_in_polygon(const gab_patch *patch, const double point[3])
{
  int axes[2];
  bool inside = false;
  axes_of(patch, axes);
  const double at[2] = {point[axes[0]], point[axes[1]]};
  for (size_t i = 0; i < patch->point_count; i++) {
    const double *a = patch->points + 2 * i, *b = patch->points + 2 * ((i + 1) % patch->point_count);
    const int turn = gab_mesh_orient2d(a, b, at);
    if (turn == 0 && is_between(a, b, at)) return true;
    if ((a[1] > at[1]) != (b[1] > at[1]) && (turn > 0) == (b[1] > a[1])) inside = !inside;
  }
  return inside;
}

/* Of a mask: the pixel of a share of its extent; at the upper end the last one. */
static size_t pixel_of(double share, int count)
{
  const size_t pixel = (size_t)(share * count);
  return pixel < (size_t)count ? pixel : (size_t)count - 1;
}

static bool is_in_mask(const gab_patch *patch, const double point[3])
{
  int axes[2];
  double share[2];
  const gab_mask *mask = patch->mask;
  axes_of(patch, axes);
  for (int k = 0; k < 2; k++) {
    const double lo = patch->lo[axes[k]], hi = patch->hi[axes[k]];
    share[k] = (point[axes[k]] - lo) / (hi - lo);
    if (!(share[k] >= 0 && share[k] <= 1)) return false;
  }
  const size_t column = pixel_of(share[0], mask->width);
  const size_t row = (size_t)mask->height - 1 - pixel_of(share[1], mask->height);
  return mask->dark[row * mask->stride + column / 8] >> column % 8 & 1;
}

bool gab_patch_has_point(const gab_patch *patch, int dimension, const double point[3])
{
  switch (patch->region) {
  case GAB_PATCH_BOX:
    return is_in_box(patch, dimension, point);
  case GAB_PATCH_DISC:
    return is_in_disc(patch, dimension, point);
  case GAB_PATCH_POLYGON:
    return is_in_polygon(patch, point);
  case GAB_PATCH_MASK:
    return is_in_mask(patch, point);
  case GAB_PATCH_GROUP:
    break;
  }
  return false;
}

bool gab_patch_has(const gab_patch *patch, const gab_domain *domain, const int64_t face[3])
{
  double centre[3] = {0, 0, 0};
  for (int axis = 0; axis < domain->dimension; axis++) centre[axis] = centre_of(domain, axis, face[axis]);
  return gab_patch_has_point(patch, domain->dimension, centre);
}

/* The same by its box first. */
static bool has(const gab_patch *patch, const gab_domain *domain, const int64_t face[3])
{
  for (int axis = 0; axis < domain->dimension; axis++)
    if (axis != patch->side / 2 && (face[axis] < patch->first[axis] || face[axis] >= patch->last[axis]))
      return false;
  return gab_patch_has(patch, domain, face);
}

int gab_patches_condition_at(const gab_patches *patches, const gab_domain *domain, int side,
                             const int64_t face[3])
{
  int64_t at[3] = {0, 0, 0};
  if (!patches || !(patches->sides >> side & 1)) return side;
  for (int axis = 0; axis < domain->dimension; axis++) {
    const int64_t cells = domain->cells[axis];
    at[axis] = face[axis];
    if (domain->periodic[axis]) at[axis] = (at[axis] % cells + cells) % cells;
    if (at[axis] < 0) at[axis] = 0;
    if (at[axis] >= cells) at[axis] = cells - 1;
  }
  for (int i = 0; i < patches->count; i++)
    if (patches->list[i].side == side && has(&patches->list[i], domain, at)) return GAB_SIDE_COUNT + i;
  return side;
}

/* ------------------------------------------------------------------------------------------ faces */

static void add_extent(double at, double *lo, double *hi)
{
  *lo = fmin(*lo, at);
  *hi = fmax(*hi, at);
}

void gab_patch_extent(const gab_patch *patch, int axis, double *lo, double *hi)
{
  int axes[2];
  *lo = patch->lo[axis];
  *hi = patch->hi[axis];
  if (patch->region == GAB_PATCH_DISC) {
    *lo = patch->centre[axis] - patch->radius;
    *hi = patch->centre[axis] + patch->radius;
  }
  if (patch->region != GAB_PATCH_POLYGON) return;
  axes_of(patch, axes);
  if (axis != axes[0] && axis != axes[1]) { /* drawn out */
    *lo = -INFINITY;
    *hi = INFINITY;
    return;
  }
  *lo = INFINITY;
  *hi = -INFINITY;
  for (size_t i = 0; i < patch->point_count; i++)
    add_extent(patch->points[2 * i + (axis == axes[1])], lo, hi);
}

static int64_t clamped(double value, int64_t most)
{
  return value > 0 ? value < (double)most ? (int64_t)value : most : 0;
}

/* The cells that the extent of a region may have centres of. */
static void box_of(const gab_patch *patch, const gab_domain *domain, int64_t first[3], int64_t last[3])
{
  for (int axis = 0; axis < 3; axis++) {
    double lo, hi;
    first[axis] = 0;
    last[axis] = 1;
    if (axis == patch->side / 2 || axis >= domain->dimension) continue;
    gab_patch_extent(patch, axis, &lo, &hi);
    first[axis] = clamped(floor((lo - domain->origin[axis]) / domain->dx) - 1, domain->cells[axis]);
    last[axis] = clamped(ceil((hi - domain->origin[axis]) / domain->dx) + 1, domain->cells[axis]);
  }
}

/* Counts the faces of a patch and finds the box of its region. */
static void count_faces(gab_patches *patches, int index, const gab_domain *domain)
{
  gab_patch *patch = &patches->list[index];
  int64_t first[3], last[3], at[3];
  box_of(patch, domain, first, last);
  patch->faces = patch->region_faces = 0;
  for (int axis = 0; axis < 3; axis++) {
    patch->first[axis] = last[axis];
    patch->last[axis] = first[axis];
  }
  for (at[2] = first[2]; at[2] < last[2]; at[2]++)
    for (at[1] = first[1]; at[1] < last[1]; at[1]++)
      for (at[0] = first[0]; at[0] < last[0]; at[0]++) {
        bool is_hidden = false;
        if (!gab_patch_has(patch, domain, at)) continue;
        for (int axis = 0; axis < 3; axis++) {
          if (at[axis] < patch->first[axis]) patch->first[axis] = at[axis];
          if (at[axis] >= patch->last[axis]) patch->last[axis] = at[axis] + 1;
        }
        for (int other = 0; other < index && !is_hidden; other++)
          is_hidden = patches->list[other].side == patch->side && has(&patches->list[other], domain, at);
        patch->region_faces++;
        patch->faces += !is_hidden;
      }
}

/* Profiles refer to the faces of the region. */
static void set_part(gab_patches *patches, int index, const gab_domain *domain)
{
  gab_patch *patch = &patches->list[index];
  gab_side_part *part = &patch->condition.part;
  *part = (gab_side_part){.patches = patches, .condition = GAB_SIDE_COUNT + index, .has_frame = true};
  for (int axis = 0; axis < domain->dimension; axis++) {
    const double cells = (double)domain->cells[axis];
    const bool is_across = axis == patch->side / 2;
    part->lo[axis] = is_across ? 0 : (double)patch->first[axis] / cells;
    part->hi[axis] = is_across ? 1 : (double)patch->last[axis] / cells;
    part->is_bounded[axis] = !domain->periodic[axis] || part->lo[axis] > 0 || part->hi[axis] < 1;
  }
}

static gab_status check_patch(const gab_patch *patch, const gab_domain *domain)
{
  if (patch->side < 0 || patch->side >= 2 * domain->dimension || domain->periodic[patch->side / 2])
    GAB_FAIL(GAB_ERR_INPUT, "patch '%s' needs a side of the domain that is not periodic", patch->name);
  if (domain->dimension == 2 && (patch->region == GAB_PATCH_POLYGON || patch->region == GAB_PATCH_MASK))
    GAB_FAIL(GAB_ERR_INPUT, "patch '%s': in 2D a region is a box or a disc", patch->name);
  return GAB_OK;
}

gab_status gab_patches_complete(gab_patches *patches, const gab_domain *domain)
{
  patches->sides = 0;
  for (int side = 0; side < GAB_SIDE_COUNT; side++) {
    patches->side_faces[side] = 1;
    for (int axis = 0; axis < domain->dimension; axis++)
      if (axis != side / 2) patches->side_faces[side] *= (uint64_t)domain->cells[axis];
  }
  for (int i = 0; i < patches->count; i++) {
    gab_patch *patch = &patches->list[i];
    if (patch->side == GAB_PATCH_ON_BODY) continue;
    GAB_TRY(check_patch(patch, domain));
    count_faces(patches, i, domain);
    if (patch->faces == 0)
      GAB_FAIL(GAB_ERR_INPUT, "patch '%s' has no face: %s", patch->name,
               patch->region_faces > 0 ? "it lies behind earlier patches"
                                       : "its region contains the centre of none");
    set_part(patches, i, domain);
    if (patch->condition.density == 0) patch->condition.density = 1;
    patches->sides |= 1U << patch->side;
    patches->side_faces[patch->side] -= patch->faces;
  }
  return GAB_OK;
}

void gab_patches_release(gab_patches *patches)
{
  for (int i = 0; i < patches->count; i++) {
    gab_patch *patch = &patches->list[i];
    gab_time_series_destroy(&patch->condition.series);
    gab_free(&patch->condition.turbulence);
    gab_side_plane_release(&patch->condition.plane);
    gab_free(&patch->points);
    if (patch->mask) gab_mask_release(patch->mask);
    gab_free(&patch->mask);
  }
  patches->count = patches->on_bodies = 0;
}

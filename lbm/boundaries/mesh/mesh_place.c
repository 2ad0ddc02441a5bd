/* SPDX-License-Identifier: Apache-2.0 */
#include "lbm/boundaries/mesh/mesh.h"

#include <float.h>
#include <math.h>

static const double pi = 3.14159265358979323846;

/* Exact for multiples of 90 degrees. */
static void cosine_and_sine(double degrees, double *cosine, double *sine)
{
  const double quarter = 90, turns = degrees / quarter, whole = floor(turns);
  static const double exact[4] = {1, 0, -1, 0};
  if (turns == whole) {
    const int quadrant = (int)fmod(fmod(whole, 4) + 4, 4);
    *cosine = exact[quadrant];
    *sine = exact[(quadrant + 3) % 4];
  } else {
    *cosine = cos(degrees * pi / 180);
    *sine = sin(degrees * pi / 180);
  }
}

static void rotate(gab_mesh *mesh, const double degrees[3])
{
  for (int axis = 0; axis < 3; axis++) {
    const int x = (axis + 1) % 3, y = (axis + 2) % 3;
    double cosine, sine;
    if (degrees[axis] == 0) continue;
    cosine_and_sine(degrees[axis], &cosine, &sine);
    for (size_t i = 0; i < mesh->vertex_count; i++) {
      double *point = mesh->vertex + 3 * i;
      const double along = point[x], across = point[y];
      point[x] = cosine * along - sine * across;
      point[y] = sine * along + cosine * across;
    }
  }
}

static void set_bounds(gab_mesh *mesh)
{
  for (int axis = 0; axis < 3; axis++) {
    mesh->lo[axis] = INFINITY;
    mesh->hi[axis] = -INFINITY;
    for (size_t i = 0; i < mesh->vertex_count; i++) {
      mesh->lo[axis] = fmin(mesh->lo[axis], mesh->vertex[3 * i + (size_t)axis]);
      mesh->hi[axis] = fmax(mesh->hi[axis], mesh->vertex[3 * i + (size_t)axis]);
    }
  }
}

/* The largest copy in the box, in its middle. */
static void fit(const gab_mesh *mesh, const gab_mesh_placement *placement, double *scale,
                double translation[3])
{
  *scale = INFINITY;
  for (int axis = 0; axis < 3; axis++) {
    const double size = mesh->hi[axis] - mesh->lo[axis];
    if (size > 0) *scale = fmin(*scale, (placement->fit_hi[axis] - placement->fit_lo[axis]) / size);
  }
  for (int axis = 0; axis < 3; axis++)
    translation[axis] = 0.5 * (placement->fit_lo[axis] + placement->fit_hi[axis]) -
                        0.5 * *scale * (mesh->lo[axis] + mesh->hi[axis]);
}

gab_status gab_mesh_place(gab_mesh *mesh, const gab_mesh_placement *placement, const char *name)
{
  double scale = placement->scale, translation[3];
  for (int axis = 0; axis < 3; axis++) translation[axis] = placement->translation[axis];
  rotate(mesh, placement->degrees);
  set_bounds(mesh);
  int extents = 0;
  for (int axis = 0; axis < 3; axis++) extents += mesh->hi[axis] > mesh->lo[axis];
  if (extents < 3)
    GAB_FAIL(GAB_ERR_INPUT, "%s: all points lie in a plane or on a line (%g x %g x %g): not a solid body",
             name, mesh->hi[0] - mesh->lo[0], mesh->hi[1] - mesh->lo[1], mesh->hi[2] - mesh->lo[2]);
  if (placement->fits) fit(mesh, placement, &scale, translation);
  for (size_t i = 0; i < 3 * mesh->vertex_count; i++) {
    mesh->vertex[i] = scale * mesh->vertex[i] + translation[i % 3];
    if (!(fabs(mesh->vertex[i]) <= FLT_MAX))
      GAB_FAIL(GAB_ERR_INPUT, "%s: scaled by %g, coordinate %g of point %zu leaves the range of a float",
               name, scale, mesh->vertex[i], i / 3 + 1);
  }
  set_bounds(mesh);
  return GAB_OK;
}

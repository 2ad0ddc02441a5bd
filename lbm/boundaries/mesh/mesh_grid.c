/* SPDX-License-Identifier: Apache-2.0 */
/* Cubes around a mesh that are inside, outside, or at the surface. */
#include "lbm/boundaries/mesh/tree_impl.h"

#include "core/memory/memory.h"

#include <math.h>
#include <string.h>

enum { CUBES_PER_TRIANGLE = 64, FEWEST_CUBES = 4096, MOST_CUBES = 1 << 22 };

static void size_grid(gab_mesh *mesh)
{
  gab_mesh_grid *grid = &mesh->grid;
  const double wanted =
      fmin(fmax((double)mesh->triangle_count * CUBES_PER_TRIANGLE, FEWEST_CUBES), MOST_CUBES);
  double longest = 0, cubes;
  for (int axis = 0; axis < 3; axis++) longest = fmax(longest, mesh->hi[axis] - mesh->lo[axis]);
  int64_t along = 1;
  do { /* cubes along the longest axis */
    along += 1 + along / 8;
    grid->width = longest / (double)along;
    cubes = 1;
    for (int axis = 0; axis < 3; axis++) {
      grid->count[axis] = (int64_t)floor((mesh->hi[axis] - mesh->lo[axis]) / grid->width) + 1;
      grid->lo[axis] = mesh->lo[axis];
      cubes *= (double)grid->count[axis];
    }
  } while (cubes < wanted && along < MOST_CUBES / 4);
}

static int64_t clamp(double value, int64_t most)
{
  return value < 0 ? 0 : value > (double)most ? most : (int64_t)value;
}

static void range_of(const gab_mesh_grid *grid, const double lo[3], const double hi[3], int64_t first[3],
                     int64_t last[3])
{
  for (int axis = 0; axis < 3; axis++) {
    first[axis] = clamp(floor((lo[axis] - grid->lo[axis]) / grid->width), grid->count[axis] - 1);
    last[axis] = clamp(floor((hi[axis] - grid->lo[axis]) / grid->width), grid->count[axis] - 1);
  }
}

static size_t place_of(const gab_mesh_grid *grid, const int64_t at[3])
{
  return (size_t)((at[2] * grid->count[1] + at[1]) * grid->count[0] + at[0]);
}

/* Of the cubes from `first' to before `end', larger by what rounding of positions may add. */
static void bounds_of(const gab_mesh *mesh, const int64_t first[3], const int64_t end[3], double lo[3],
                      double hi[3])
{
  const gab_mesh_grid *grid = &mesh->grid;
  for (int axis = 0; axis < 3; axis++) {
    const double slack = 1e-6 * grid->width + 10 * gab_mesh_slack(mesh);
    lo[axis] = grid->lo[axis] + grid->width * (double)first[axis] - slack;
    hi[axis] = grid->lo[axis] + grid->width * (double)end[axis] + slack;
  }
}

/* Halves the box until no triangle touches it, or it is one cube: at most log2(MOST_CUBES) + 3 calls deep. Cost grows with the
 * surface in cubes, whatever the shape of triangles. */
static void fill(gab_mesh *mesh, const int64_t first[3], const int64_t end[3])
{
  gab_mesh_grid *grid = &mesh->grid;
  double lo[3], hi[3], middle[3];
  int64_t at[3], half[3];
  int longest = 0;
  bool on_surface;
  bounds_of(mesh, first, end, lo, hi);
  for (int axis = 0; axis < 3; axis++) {
    middle[axis] = 0.5 * (lo[axis] + hi[axis]);
    if (end[axis] - first[axis] > end[longest] - first[longest]) longest = axis;
  }
  unsigned char state = GAB_MESH_SURFACE;
  const bool touches = gab_mesh_touches(mesh, lo, hi);
  if (touches && end[longest] - first[longest] > 1) {
    memcpy(half, end, sizeof half);
    half[longest] = first[longest] + (end[longest] - first[longest]) / 2;
    fill(mesh, first, half);
    memcpy(at, first, sizeof at);
    at[longest] = half[longest];
    fill(mesh, at, end);
    return;
  }
  if (!touches) state = gab_mesh_winding(mesh, middle, &on_surface) != 0 ? GAB_MESH_INSIDE : GAB_MESH_OUTSIDE;
  for (at[2] = first[2]; at[2] < end[2]; at[2]++)
    for (at[1] = first[1]; at[1] < end[1]; at[1]++)
      for (at[0] = first[0]; at[0] < end[0]; at[0]++) grid->state[place_of(grid, at)] = state;
}

static gab_status build_grid(gab_mesh *mesh)
{
  gab_mesh_grid *grid = &mesh->grid;
  const int64_t first[3] = {0, 0, 0};
  size_grid(mesh);
  GAB_TRY(GAB_NEW_ARRAY(&grid->state, (size_t)(grid->count[0] * grid->count[1] * grid->count[2]),
                        GAB_MEMORY_OTHER));
  fill(mesh, first, grid->count);
  return GAB_OK;
}

gab_status gab_mesh_index(gab_mesh *mesh)
{
  GAB_TRY(gab_mesh_tree_build(mesh));
  return build_grid(mesh);
}

/* INSIDE or OUTSIDE if one such cube holds the box; SURFACE where the tree has to answer. */
static gab_mesh_state cube_state(const gab_mesh *mesh, const double lo[3], const double hi[3])
{
  const gab_mesh_grid *grid = &mesh->grid;
  int64_t first[3], last[3];
  for (int axis = 0; axis < 3; axis++)
    if (!(lo[axis] >= mesh->lo[axis] && hi[axis] <= mesh->hi[axis])) return GAB_MESH_SURFACE;
  range_of(grid, lo, hi, first, last);
  for (int axis = 0; axis < 3; axis++)
    if (first[axis] != last[axis]) return GAB_MESH_SURFACE;
  return grid->state[place_of(grid, first)];
}

gab_mesh_state gab_mesh_state_of(const gab_mesh *mesh, const double lo[3], const double hi[3])
{
  double middle[3];
  bool on_surface;
  for (int axis = 0; axis < 3; axis++) {
    if (hi[axis] < mesh->lo[axis] || lo[axis] > mesh->hi[axis]) return GAB_MESH_OUTSIDE;
    middle[axis] = 0.5 * (lo[axis] + hi[axis]);
  }
  const gab_mesh_state state = cube_state(mesh, lo, hi);
  if (state != GAB_MESH_SURFACE) return state;
  if (gab_mesh_touches(mesh, lo, hi)) return GAB_MESH_SURFACE;
  return gab_mesh_winding(mesh, middle, &on_surface) != 0 ? GAB_MESH_INSIDE : GAB_MESH_OUTSIDE;
}

bool gab_mesh_has(const gab_mesh *mesh, const double point[3])
{
  bool on_surface;
  for (int axis = 0; axis < 3; axis++)
    if (!(point[axis] >= mesh->lo[axis] && point[axis] <= mesh->hi[axis])) return false;
  const gab_mesh_state state = cube_state(mesh, point, point);
  if (state != GAB_MESH_SURFACE) return state == GAB_MESH_INSIDE;
  return gab_mesh_winding(mesh, point, &on_surface) != 0 || on_surface;
}

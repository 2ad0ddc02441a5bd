/* SPDX-License-Identifier: Apache-2.0 */
/* Area and flow rate of patches of bodies on the cells of the grid. The links of a surface, each with 6 w_q c_q, add up to its area times its
 * normal: of a plane at any angle on the mean, of one along the axes exactly. */
#include "lbm/boundaries/body_patch_impl.h"

#include <math.h>

typedef struct patch_scan {
  const gab_lbm_model *model;
  int level;
  gab_side_sums *sums; /* by condition */
} patch_scan;

/* One sum has the numbers of all levels: below 2^LINK_BITS on each. */
enum { LINK_BITS = 40, MOST_LEVELS = 24 };
static double link_of_level(int level) { return ldexp(1, LINK_BITS * level); }

uint64_t gab_side_links(const gab_side_sums *sums, int level)
{
  gab_exact_sum left = sums->links;
  double links = 0;
  for (int at = MOST_LEVELS; at >= level; at--) {
    links = floor(gab_exact_value(&left) / link_of_level(at));
    gab_exact_add(&left, -links * link_of_level(at));
  }
  return (uint64_t)links;
}

/* Without an exact surface the faces between cells are the surface. */
static double area_of_link(const patch_scan *by, int q, const gab_body_patch_link *on)
{
  const int8_t *c = by->model->lattice->c[q];
  double normal[3], across = 0;
  if (!gab_geometry_normal_at(by->model->geometry, on->point, on->body, normal))
    return c[0] * c[0] + c[1] * c[1] + c[2] * c[2] == 1 ? 1 : 0;
  for (int axis = 0; axis < 3; axis++) across += c[axis] * normal[axis];
  return 6 * by->model->lattice->weight[q] * across;
}

/* What the link would give as a wall of its body: nothing where that spins along its surface. */
static double own_flow_of_link(const patch_scan *by, const int64_t solid[3], int q,
                               const gab_body_patch_link *on)
{
  const int8_t *c = by->model->lattice->c[q];
  const double beyond = 1 - on->distance, offset[3] = {beyond * c[0], beyond * c[1], beyond * c[2]};
  double velocity[3], normal[3], speed = 0;
  gab_geometry_wall_velocity(by->model->geometry, by->level, solid, on->body, offset, velocity);
  const bool has_normal = gab_geometry_normal_at(by->model->geometry, on->point, on->body, normal);
  for (int axis = 0; axis < 3; axis++) speed += (has_normal ? normal[axis] : c[axis]) * velocity[axis];
  return area_of_link(by, q, on) * speed;
}

static void add_link(const patch_scan *by, const int64_t cell[3], int q)
{
  const gab_lattice *lattice = by->model->lattice;
  const int8_t *c = lattice->c[q];
  const int64_t solid[3] = {cell[0] - c[0], cell[1] - c[1], cell[2] - c[2]};
  const double face = ldexp(1, -(lattice->dimension - 1) * by->level);
  gab_body_patch_link on;
  const int body = gab_geometry_cell(by->model->geometry, by->level, solid);
  if (body < 0) return;
  const int condition = gab_body_patch_of_link(by->model, by->level, solid, body, q, &on);
  if (condition < 0) return;
  gab_exact_add(&by->sums[condition].area, face * area_of_link(by, q, &on));
  gab_exact_add(&by->sums[condition].links, link_of_level(by->level));
  if (!gab_side_moves(gab_lbm_condition(&by->model->options, condition))) return;
  double velocity[3], flow = 0;
  gab_exact_add(&by->sums[condition].replaced, face * own_flow_of_link(by, solid, q, &on));
  gab_body_patch_velocity(by->model, condition, &on, velocity);
  for (int axis = 0; axis < 3; axis++) flow += c[axis] * velocity[axis];
  gab_exact_add(&by->sums[condition].flow, face * 6 * lattice->weight[q] * flow);
}

/* Halves the box along its longest axis, without parts that no body is near to. */
static void scan(const patch_scan *by, const gab_box *box)
{
  enum { FEW = 512 };
  gab_box around;
  int longest = 0;
  int64_t cells = 1, cell[3];
  for (int axis = 0; axis < 3; axis++) {
    const bool refines = axis < by->model->lattice->dimension;
    if (box->hi[axis] <= box->lo[axis]) return;
    cells *= box->hi[axis] - box->lo[axis];
    if (box->hi[axis] - box->lo[axis] > box->hi[longest] - box->lo[longest]) longest = axis;
    around.lo[axis] = box->lo[axis] - refines;
    around.hi[axis] = box->hi[axis] + refines;
  }
  if (gab_geometry_is_clear(by->model->geometry, by->level, &around)) return;
  if (cells > FEW) {
    gab_box left = *box, right = *box;
    left.hi[longest] = right.lo[longest] = (box->lo[longest] + box->hi[longest]) / 2;
    scan(by, &left);
    scan(by, &right);
    return;
  }
  for (cell[2] = box->lo[2]; cell[2] < box->hi[2]; cell[2]++)
    for (cell[1] = box->lo[1]; cell[1] < box->hi[1]; cell[1]++)
      for (cell[0] = box->lo[0]; cell[0] < box->hi[0]; cell[0]++) {
        if (gab_geometry_cell(by->model->geometry, by->level, cell) != GAB_CELL_FLUID) continue;
        for (int q = 1; q < by->model->lattice->q; q++) add_link(by, cell, q);
      }
}

void gab_body_patches_add_sums(const gab_lbm_model *model, int level, const gab_box *cells,
                               gab_side_sums sums[GAB_MOST_CONDITIONS])
{
  const gab_patches *patches = model->options.patches;
  const patch_scan by = {.model = model, .level = level, .sums = sums};
  if (patches && patches->on_bodies > 0) scan(&by, cells);
}

/* SPDX-License-Identifier: Apache-2.0 */
/* Links of bodies: half-way or interpolated, of walls at rest or moving, and of patches with conditions of their own. */
#include "lbm/boundaries/body_patch_impl.h"
#include "lbm/boundaries/links/links_impl.h"
#include "lbm/levels/level_interface_impl.h"

#include <math.h>

/* Bouzidi, Firdaouss & Lallemand 2001, eqs. 5 and 6; delta = 1/2 is half-way bounce-back. Without its target;
 * in a sparse block also without far, which is found when all places are known. */
static gab_linear_link interpolated_link(const gab_link *at, double delta, double term, bool *needs_fallback)
{
  const int8_t opposite = (int8_t)gab_lattice_opposite(at->q);
  gab_linear_link made = {
      .near = gab_link_origin(at), .q = (int8_t)at->q, .factor = GAB_SIDE_UNIT, .a = 1, .term = term};
  made.far = made.near;
  made.far_q = opposite;
  *needs_fallback = false;
  if (delta < 0.5) {
    int32_t next[3] = {at->x[0] + at->c[0], at->x[1] + at->c[1], at->x[2] + at->c[2]};
    *needs_fallback =
        !gab_link_is_fluid(at, next) && !gab_level_is_open_place(at->model, at->block, next, NULL);
    if (*needs_fallback) return made;
    if (!at->draft) made.far = gab_link_index(at, next);
    made.a = 2 * delta;
    made.b = 1 - 2 * delta;
  } else if (delta > 0.5) {
    made.far_q = made.q;
    made.a = 1 / (2 * delta);
    made.b = (2 * delta - 1) / (2 * delta);
    made.term = term / (2 * delta);
  }
  return made;
}

/* Of the first child of a cell that is solid. */
static int body_of_children(const gab_lbm_model *model, int level, const int64_t cell[3])
{
  const int dimension = model->lattice->dimension;
  int body = -1;
  for (int child = 0; child < 1 << dimension && body < 0; child++) {
    int64_t at[3];
    for (int axis = 0; axis < 3; axis++)
      at[axis] = axis < dimension ? 2 * cell[axis] + (child >> axis & 1) : cell[axis];
    body = gab_geometry_cell(model->geometry, level + 1, at);
  }
  return body;
}

int gab_lbm_body_at(const gab_lbm_model *model, int level, const int64_t cell[3])
{
  int64_t at[3] = {cell[0], cell[1], cell[2]};
  int body = -1;
  for (int coarser = level; coarser >= 0 && body < 0; coarser--) {
    body = gab_geometry_cell(model->geometry, coarser, at);
    for (int axis = 0; axis < model->lattice->dimension; axis++) at[axis] >>= 1;
  }
  if (body < 0) body = body_of_children(model, level, cell);
  return body < 0 ? -1 : body;
}

/* Of a link from a solid cell. A rotation changes the velocity across the link only, so that any point of the link will do. */
static double body_term(const gab_lbm_model *model, int level, const int64_t solid[3], int body, int q)
{
  static const double at_centre[3] = {0, 0, 0};
  double velocity[3];
  gab_geometry_wall_velocity(model->geometry, level, solid, body, at_centre, velocity);
  return gab_momentum_term(model, q, velocity);
}

void gab_link_body_terms(const gab_lbm_model *model, int level, const int64_t solid[3], int body, int q,
                         gab_wall_terms *terms)
{
  gab_body_patch_link on;
  const int condition = gab_body_patch_of_link(model, level, solid, body, q, &on);
  if (condition < 0 || !gab_side_moves(gab_lbm_condition(&model->options, condition))) {
    terms->body = body_term(model, level, solid, body, q);
    return;
  }
  double velocity[3];
  gab_body_patch_velocity(model, condition, &on, velocity);
  const double term = gab_momentum_term(model, q, velocity);
  terms->of[terms->count++] = (struct gab_wall_term){.factor = condition, .term = term, .across = term};
}

/* A patch with a given pressure: an open link that looks at its own cell only. */
static gab_status add_pressure_link(const gab_link *at, int condition, const gab_body_patch_link *on,
                                    uint32_t *to)
{
  gab_links *links = &at->block->links;
  const gab_side *side = gab_lbm_condition(&at->model->options, condition);
  gab_open_link open = {.cell = at->cell,
                        .q = (int8_t)at->q,
                        .mirror = (int8_t)gab_lattice_opposite(at->q),
                        .sides = 1,
                        .source = {GAB_OPEN_SELF, GAB_OPEN_SELF},
                        .conditions = {(int8_t)condition, 0, 0}};
  open.given[0] = (side->density - 1) * gab_body_patch_shape(at->model, condition, on);
  open.given[1] = gab_body_patch_reach(at->model, on);
  if (!(fabs(open.given[0]) * gab_side_peak(side) < 0.5)) /* as check_density() of sides */
    GAB_FAIL(
        GAB_ERR_INPUT,
        "%s: the pressure changes the density on the lattice by %g at some place, more than 0.5: look at the "
        "formula of shape, or shorten the time step",
        gab_condition_path(at->model->options.patches, condition), open.given[0] * gab_side_peak(side));
  GAB_TRY(gab_link_target(at, &open.to));
  if (at->draft) GAB_TRY(gab_sparse_add_open(at->draft, at->cell, &open.cell));
  GAB_LINK_APPEND(links->opens, links->open_count, open);
  *to = open.to;
  return GAB_OK;
}

/* What a formula makes of a velocity, which is known here only; of a flow rate find_scale() looks at the mean. */
static gab_status check_speed(const gab_lbm_model *model, int condition, const double velocity[3])
{
  const double most = 0.35 / sqrt(3.0); /* the Mach number that gab_flow_check() refuses */
  const gab_side *side = gab_lbm_condition(&model->options, condition);
  double square = 0;
  for (int axis = 0; axis < 3; axis++) square += velocity[axis] * velocity[axis];
  const double speed = sqrt(square) * gab_side_peak(side);
  if (side->flow_rate != 0 || side->profile != GAB_PROFILE_FORMULA || speed <= most) return GAB_OK;
  GAB_FAIL(
      GAB_ERR_INPUT,
      "%s: the formula of shape makes a velocity of %g cells per step at some place, more than %.2g: shorten "
      "the time step",
      gab_condition_path(model->options.patches, condition), speed, most);
}

/* @param[out] made  its target and where the fluid cell sends towards it */
static gab_status add_wall_link(const gab_link *at, int level, const int64_t solid[3], int body,
                                int condition, const gab_body_patch_link *on, gab_linear_link *made)
{
  gab_links *links = &at->block->links;
  const double delta = gab_geometry_wall_distance(at->model->geometry, level, solid, body, at->c);
  const bool is_given = condition >= 0 && gab_side_moves(gab_lbm_condition(&at->model->options, condition));
  double velocity[3], term;
  bool falls_back;
  if (is_given) {
    gab_body_patch_velocity(at->model, condition, on, velocity);
    term = gab_momentum_term(at->model, at->q, velocity);
  } else term = body_term(at->model, level, solid, body, at->q);
  if (!isfinite(term))
    GAB_FAIL(GAB_ERR_INPUT, "%s: the velocity is not finite at some place; look at the formula of shape",
             is_given ? gab_condition_path(at->model->options.patches, condition) : "bodies");
  if (is_given) GAB_TRY(check_speed(at->model, condition, velocity));
  *made = interpolated_link(at, delta, term, &falls_back);
  links->fallbacks += falls_back;
  if (is_given) made->factor = (int16_t)condition;
  if (made->b == 0 && made->term == 0) {
    GAB_TRY(gab_link_add_bounce(at));
    made->to = at->draft ? made->near : gab_link_index(at, at->b);
  } else {
    GAB_TRY(gab_link_target(at, &made->to));
    GAB_LINK_APPEND(links->linears, links->linear_count, *made);
  }
  return GAB_OK;
}

gab_status gab_link_add_body(const gab_link *at)
{
  gab_links *links = &at->block->links;
  int64_t solid[3];
  if (gab_level_is_open_place(at->model, at->block, at->b, NULL)) return GAB_OK;
  for (int axis = 0; axis < 3; axis++) solid[axis] = gab_link_cell(at, at->b, axis);
  const int level = at->block->at->level;
  const int body = gab_lbm_body_at(at->model, level, solid);
  if (body < 0) return gab_link_add_bounce(at);
  gab_body_patch_link on;
  gab_linear_link made = {.near = gab_link_origin(at)};
  const int condition = gab_body_patch_of_link(at->model, level, solid, body, at->q, &on);
  if (condition >= 0 && gab_side_is_open(gab_lbm_condition(&at->model->options, condition)))
    GAB_TRY(add_pressure_link(at, condition, &on, &made.to));
  else GAB_TRY(add_wall_link(at, level, solid, body, condition, &on, &made));
  GAB_LINK_APPEND(links->momenta, links->momentum_count,
                  (gab_momentum_link){.to = made.to,
                                      .from = made.near,
                                      .cell = gab_link_index(at, at->x),
                                      .body = (unsigned)body & 0x1fffffU,
                                      .condition = condition < 0 ? 0 : (unsigned)condition & 63U,
                                      .q = (unsigned)at->q & 31U});
  return GAB_OK;
}

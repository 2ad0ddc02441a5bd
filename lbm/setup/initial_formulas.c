/* SPDX-License-Identifier: Apache-2.0 */
/* Initial state by formulas of the parameter file. */
#include "lbm/setup/lbm_config.h"

#include "core/base/text/text_impl.h"

#include <math.h>

static const char *const paths[] = {"initial.velocity_x", "initial.velocity_y", "initial.velocity_z",
                                    "initial.pressure"};

static double physical(const gab_expression *formula, const double at[3])
{
  return formula ? gab_expression_at(formula, at) : 0;
}

/* Central differences of fourth order over parts of a cell. */
static double derivative(const gab_expression *formula, const double at[3], int axis, double part)
{
  static const double weight[4] = {1. / 12, -8. / 12, 8. / 12, -1. / 12};
  static const int by[4] = {-2, -1, 1, 2};
  double sum = 0;
  for (int i = 0; formula && gab_expression_uses(formula, axis) && i < 4; i++) {
    double to[3] = {at[0], at[1], at[2]};
    to[axis] += by[i] * part;
    sum += weight[i] * physical(formula, to);
  }
  return sum / part;
}

void gab_initial_formulas_at(void *user, const double centre[3], gab_lbm_state *state)
{
  const gab_initial_formulas *by = user;
  const double dx = by->units.dx;
  for (int i = 0; i < by->dimension; i++) {
    state->velocity[i] = gab_units_velocity_to_lattice(&by->units, physical(by->velocity[i], centre));
    for (int j = 0; j < by->dimension; j++)
      state->gradient[i][j] =
          gab_units_velocity_to_lattice(&by->units, derivative(by->velocity[i], centre, j, dx / 16) * dx);
  }
  if (by->pressure)
    state->density = gab_units_pressure_to_density(&by->units, physical(by->pressure, centre));
}

void gab_initial_formulas_velocity(void *user, const double centre[3], double velocity[3])
{
  const gab_initial_formulas *by = user;
  for (int i = 0; i < 3; i++) velocity[i] = i < by->dimension ? physical(by->velocity[i], centre) : 0;
}

/* ------------------------------------------------------------------------------------------ reading */

static gab_status check_finite(const gab_config *config, const gab_initial_formulas *by, const double at[3])
{
  const gab_expression *const all[] = {by->velocity[0], by->velocity[1], by->velocity[2], by->pressure};
  for (int i = 0; i < 4; i++) {
    char place[GAB_TEXT_PLACE_CAPACITY];
    if (isfinite(physical(all[i], at))) continue;
    gab_text_format_place(at, by->dimension, place);
    return gab_config_fail(config, paths[i], "the formula '%s' is %g at %s", gab_expression_text(all[i]),
                           physical(all[i], at), place);
  }
  return GAB_OK;
}

/* Sees cells all over the domain, at most 64 along each axis: the largest speed, and the share of the divergence in the gradients. */
static gab_status check_velocity(const gab_config *config, const gab_domain *domain, gab_initial_formulas *by)
{
  enum { MOST_CELLS = 64 };
  int count[3];
  double divergence = 0, gradient = 0;
  for (int axis = 0; axis < 3; axis++)
    count[axis] = domain->cells[axis] < MOST_CELLS ? (int)domain->cells[axis] : MOST_CELLS;
  for (int z = 0; z < count[2]; z++)
    for (int y = 0; y < count[1]; y++)
      for (int x = 0; x < count[0]; x++) {
        const int index[3] = {x, y, z};
        double at[3], sum = 0, square = 0;
        gab_lbm_state state = {.density = 1};
        for (int axis = 0; axis < 3; axis++)
          at[axis] = domain->origin[axis] +
                     ((double)(domain->cells[axis] * index[axis] / count[axis]) + 0.5) * domain->dx;
        GAB_TRY(check_finite(config, by, at));
        gab_initial_formulas_at(by, at, &state);
        for (int i = 0; i < 3; i++) {
          sum += state.gradient[i][i];
          square += state.velocity[i] * state.velocity[i];
          for (int j = 0; j < 3; j++) gradient += state.gradient[i][j] * state.gradient[i][j];
        }
        divergence += sum * sum;
        by->speed = fmax(by->speed, sqrt(square));
      }
  const double share = gradient > 0 ? sqrt(divergence / gradient) : 0, most = 0.05;
  if (!(share <= most) && !gab_config_bool(config, "initial.project"))
    return gab_config_fail(config, "initial",
                           "the velocity is not free of divergence: it is %.2g of the velocity gradient "
                           "(root mean squares), at most %g can be meant; initial.project removes it",
                           share, most);
  return GAB_OK;
}

gab_status gab_initial_formulas_read(const gab_config *config, const gab_domain *domain,
                                     const gab_units *units, gab_initial_formulas *formulas)
{
  *formulas = (gab_initial_formulas){.dimension = domain->dimension, .units = *units};
  for (int axis = 0; axis < domain->dimension; axis++)
    formulas->velocity[axis] = gab_config_expression(config, paths[axis]);
  if (domain->dimension == 2 && gab_config_is_set(config, paths[2]))
    return gab_config_fail(config, paths[2], "the domain has 2 dimensions; remove it");
  formulas->pressure = gab_config_is_set(config, paths[3]) ? gab_config_expression(config, paths[3]) : NULL;
  return check_velocity(config, domain, formulas);
}

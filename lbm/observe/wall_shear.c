/* SPDX-License-Identifier: Apache-2.0 */
/* The wall shear stress, and the differences that it shares with gradients. */
#include "lbm/observe/quantities_impl.h"

#include <math.h>
#include <string.h>

double gab_lbm_slope(const gab_field *u, const int32_t at[3], int component, int axis)
{
  int32_t low[3] = {at[0], at[1], at[2]}, high[3] = {at[0], at[1], at[2]};
  low[axis]--;
  high[axis]++;
  double here = gab_field_get(u, at[0], at[1], at[2], component);
  double below = gab_field_get(u, low[0], low[1], low[2], component);
  double above = gab_field_get(u, high[0], high[1], high[2], component);
  if (!isnan(below) && !isnan(above)) return 0.5 * (above - below);
  if (!isnan(above)) return above - here;
  return isnan(below) ? 0 : here - below;
}

gab_status gab_lbm_check_updated(const gab_lbm_quantities *view, const gab_forest *forest, unsigned needed)
{
  const char *what = needed == GAB_LBM_NEEDS_STRESS ? "stresses" : "gradients of the velocity";
  if (!(view->wanted & needed))
    GAB_FAIL(GAB_ERR_STATE, "%s were not asked for when the quantities were made", what);
  if (view->updated != gab_forest_revision(forest))
    GAB_FAIL(GAB_ERR_STATE, "%s: gab_lbm_quantities_update() has to come before", what);
  const gab_step now = gab_world_step(gab_forest_world(forest));
  if (view->updated_step != now)
    GAB_FAIL(GAB_ERR_STATE,
             "%s are those of step %" GAB_PRI_STEP " in step %" GAB_PRI_STEP
             ": gab_lbm_quantities_update() has to come before",
             what, view->updated_step, now);
  return GAB_OK;
}

/* The stress on the wall: extrapolated along the normal, by differences as those of velocities. */
static void stress_at_wall(const gab_field *stress, const int32_t at[3], const double normal[3],
                           double distance, double tensor[3][3])
{
  const bool flat = stress->shape.components == 3;
  const int dimension = flat ? 2 : 3;
  int component = 0;
  memset(tensor, 0, 9 * sizeof(double));
  for (int i = 0; i < dimension; i++)
    for (int j = i; j < dimension; j++, component++) {
      double value = gab_field_get(stress, at[0], at[1], at[2], component);
      for (int axis = 0; axis < dimension; axis++)
        value -= distance * normal[axis] * gab_lbm_slope(stress, at, component, axis);
      tensor[i][j] = tensor[j][i] = value;
    }
}

/* The same by the fit of velocities, where there is one: next to a rigid wall the stress is that of the slope across it. */
static void find_stress_at_wall(const gab_field *stress, gab_wall_fit *fit, const int32_t at[3], int body,
                                const double normal[3], double distance, double tensor[3][3])
{
  double slope[3], viscosity;
  if (!gab_wall_fit_slope(fit, at, body, normal, distance, slope, &viscosity)) {
    stress_at_wall(stress, at, normal, distance, tensor);
    return;
  }
  viscosity *= 1 + gab_field_get(fit->state, at[0], at[1], at[2], GAB_WALL_STATE_DENSITY);
  for (int i = 0; i < 3; i++)
    for (int j = 0; j < 3; j++) tensor[i][j] = viscosity * (slope[i] * normal[j] + normal[i] * slope[j]);
}

gab_status gab_lbm_open_wall_fit(const gab_lbm_quantities *view, const gab_block *block, gab_wall_fit *fit)
{
  const bool is_kept = view->walls.exchange != NULL;
  return gab_wall_fit_open(view->lbm, block, is_kept ? gab_block_data(block, view->walls.data) : NULL, fit);
}

void gab_lbm_fill_cell_stress(const gab_lbm_quantities *view, const gab_block *block, const int32_t at[3],
                              gab_wall_fit *fit, gab_lbm_cell *cell)
{
  const gab_field *stress = gab_block_data(block, view->stresses.data);
  const double speed = gab_units_velocity_to_physical(&view->units, 1),
               scale = view->units.density * speed * speed, none[3] = {0};
  double distance = 0, tensor[3][3];
  int body;
  memset(cell->wall_stress, 0, sizeof cell->wall_stress);
  stress_at_wall(stress, at, none, 0, tensor);
  for (int k = 0; k < 9; k++) cell->stress[k / 3][k % 3] = scale * tensor[k / 3][k % 3];
  cell->at_wall = fit && gab_lbm_wall_beside(view->lbm, block, at, cell->wall_normal, &distance, &body);
  cell->wall_distance = cell->at_wall ? distance * cell->dx : 0;
  if (!cell->at_wall) {
    memset(cell->wall_normal, 0, sizeof cell->wall_normal);
    return;
  }
  find_stress_at_wall(stress, fit, at, body, cell->wall_normal, distance, tensor);
  for (int k = 0; k < 9; k++) cell->wall_stress[k / 3][k % 3] = scale * tensor[k / 3][k % 3];
}

/* Component of sigma n along the wall. */
static void shear_of(double tensor[3][3], const double normal[3], double scale, double values[3])
{
  double across = 0;
  for (int i = 0; i < 3; i++) {
    values[i] = tensor[i][0] * normal[0] + tensor[i][1] * normal[1] + tensor[i][2] * normal[2];
    across += values[i] * normal[i];
  }
  for (int i = 0; i < 3; i++) values[i] = scale * (values[i] - across * normal[i]);
}

gab_status gab_lbm_evaluate_wall_shear(void *user, const gab_forest *forest, const gab_block *block,
                                       double *values)
{
  const gab_lbm_quantities *view = user;
  const double speed = gab_units_velocity_to_physical(&view->units, 1),
               scale = view->units.density * speed * speed;
  GAB_TRY(gab_lbm_check_updated(view, forest, GAB_LBM_NEEDS_STRESS));
  const gab_field *stress = gab_block_data(block, view->stresses.data);
  const bool has_walls = gab_lbm_has_walls(view->lbm, block);
  const int32_t *cells = stress->shape.cells;
  gab_wall_fit fit;
  int32_t at[3];
  GAB_TRY(gab_lbm_open_wall_fit(view, block, &fit));
  for (at[2] = 0; at[2] < cells[2]; at[2]++)
    for (at[1] = 0; at[1] < cells[1]; at[1]++)
      for (at[0] = 0; at[0] < cells[0]; at[0]++, values += 3) {
        double normal[3], distance, tensor[3][3];
        int body;
        for (int k = 0; k < 3; k++) values[k] = NAN;
        if (!has_walls || isnan(gab_field_get(stress, at[0], at[1], at[2], 0))) continue;
        if (!gab_lbm_wall_beside(view->lbm, block, at, normal, &distance, &body)) continue;
        find_stress_at_wall(stress, &fit, at, body, normal, distance, tensor);
        shear_of(tensor, normal, scale, values);
      }
  gab_wall_fit_close(&fit);
  return GAB_OK;
}

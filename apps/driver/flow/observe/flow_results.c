/* SPDX-License-Identifier: Apache-2.0 */
/* Results of a flow that are known at its end. */
#include "apps/driver/flow/simulation.h"

#include "core/base/log.h"
#include "lbm/collision/rheology.h"

#include <math.h>

/* Darcy's law: mean velocity over all of the sample, solid or not, is permeability times acceleration / viscosity. */
static double permeability_along(const simulation *which, int axis, const gab_lbm_integrals *last,
                                 double cells)
{
  const flow_case *given = which->parameters;
  const gab_units *units = &given->setup.units;
  const double acceleration =
      gab_lbm_get_options(which->lbm)->force[axis] * units->dx / (units->dt * units->dt);
  if (!given->domain.periodic[axis] || acceleration == 0) return 0;
  const double velocity = last->momentum[axis] / cells * units->dx / units->dt;
  return given->setup.viscosity * velocity / acceleration;
}

void gab_app_results_find(simulation *which, const gab_lbm_integrals *last)
{
  const double darcy = 9.869233e-13; /* m^2 */
  const gab_domain *domain = &which->parameters->domain;
  const double cells = (double)domain->cells[0] * (double)domain->cells[1] * (double)domain->cells[2];
  const gab_units *units = &which->parameters->setup.units;
  const double speed = units->dx / units->dt;
  which->results =
      (flow_results){.max_speed = last->max_velocity * speed,
                     .kinetic_energy = last->kinetic_energy / last->volume * units->density * speed * speed};
  for (int axis = 0; axis < 3; axis++)
    which->results.mean_velocity[axis] = last->momentum[axis] / last->mass * speed;
  if (which->parameters->setup.body_count == 0) return;
  for (int axis = 0; axis < domain->dimension; axis++) {
    const double found = permeability_along(which, axis, last, cells);
    if (found == 0) continue;
    which->results.porosity = last->volume / cells;
    if (gab_lbm_get_options(which->lbm)->collision == &gab_collision_rheology) continue; /* not Darcy's law */
    which->results.permeability[axis] = found;
    gab_log(GAB_LOG_INFO, "permeability along %c: %.6g m^2 (%.6g mD), porosity %.6g", "xyz"[axis], found,
            found / darcy * 1e3, which->results.porosity);
  }
}

void gab_app_results_put(const gab_app_run *it, gab_json *json)
{
  static const char *const names[] = {"permeability_x_m2", "permeability_y_m2", "permeability_z_m2"};
  const flow_results *found = &((const simulation *)it)->results;
  gab_app_forces_put((const simulation *)it, json);
  gab_app_side_series_put((const simulation *)it, json);
  gab_app_planes_put((const simulation *)it, json);
  gab_app_porous_put((const simulation *)it, json);
  gab_app_sides_put((const simulation *)it, json);
  gab_app_flow_scalars_put(((const simulation *)it)->scalars, json);
  gab_json_list(json, "mean_velocity_m_per_s");
  for (int axis = 0; axis < ((const simulation *)it)->parameters->domain.dimension; axis++)
    gab_json_real(json, NULL, found->mean_velocity[axis]);
  gab_json_close(json);
  gab_json_real(json, "max_speed_m_per_s", found->max_speed);
  gab_json_real(json, "kinetic_energy_J_per_m3", found->kinetic_energy);
  if (found->porosity > 0) gab_json_real(json, "porosity", found->porosity);
  for (int axis = 0; axis < 3; axis++)
    if (found->permeability[axis] != 0) gab_json_real(json, names[axis], found->permeability[axis]);
}

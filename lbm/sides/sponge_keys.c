/* SPDX-License-Identifier: Apache-2.0 */
/* Keys of sides that give them a sponge; what it does: sponge.c. */
#include "lbm/sides/side_impl.h"
#include "lbm/setup/units.h"
#include "lbm/setup/vectors_impl.h"

#include <math.h>

gab_status gab_side_read_sponge(const gab_config *config, const char *path, int dimension,
                                const gab_units *units, bool has_velocity, gab_side *side)
{
  char thick[GAB_CONFIG_PATH_CAPACITY], key[GAB_CONFIG_PATH_CAPACITY];
  const char *const others[] = {"sponge_damping", "sponge_viscosity", "sponge_velocity"};
  gab_sponge *made = &side->sponge;
  gab_config_path(thick, "%s.sponge_thickness", path);
  for (int i = 0; i < (has_velocity ? 2 : 3); i++)
    if (!gab_config_is_set(config, thick) &&
        gab_config_is_set(config, gab_config_path(key, "%s.%s", path, others[i])))
      return gab_config_fail(config, key, "has no effect without %s", thick);
  if (!gab_config_is_set(config, thick)) return GAB_OK;
  made->thickness = gab_config_real(config, thick) / units->dx;
  made->viscosity = gab_config_real(config, gab_config_path(key, "%s.sponge_viscosity", path));
  if (!has_velocity && gab_config_is_set(config, gab_config_path(key, "%s.sponge_velocity", path))) {
    GAB_TRY(gab_lbm_read_plane_vector(config, key, dimension, made->velocity));
    for (int axis = 0; axis < 3; axis++) made->velocity[axis] *= units->dt / units->dx;
    made->has_velocity = true;
  }
  /* Sound decays by half of the rate if only one of density and velocity is drawn. The weight has the mean 1/3. */
  const double sound = sqrt(1 / 3.0), share = made->has_velocity ? 1 : 0.5;
  if (made->thickness < 4)
    return gab_config_fail(config, thick, "is %g cells, less than 4: make it thicker", made->thickness);
  const double usual = 4, most_rate = 0.5, most = most_rate * share * made->thickness / (1.5 * sound);
  gab_config_path(key, "%s.sponge_damping", path);
  const double damping = gab_config_is_set(config, key) ? gab_config_real(config, key) : fmin(usual, most);
  if (damping == 0 && made->viscosity == 1)
    return gab_config_fail(config, key, "is 0 and sponge_viscosity is 1: the sponge has no effect");
  made->rate = 1.5 * sound * damping / (share * made->thickness);
  if (made->rate > most_rate * (1 + 1e-12))
    return gab_config_fail(
        config, key,
        "draws %g of a difference in a step, more than 0.5: a layer of %g cells can have %.3g at most",
        made->rate, made->thickness, most);
  return GAB_OK;
}

/* SPDX-License-Identifier: Apache-2.0 */
#include "lbm/setup/vectors_impl.h"

gab_status gab_lbm_read_vector(const gab_config *config, const char *path, int dimension, double vector[3])
{
  size_t count;
  const double *values = gab_config_reals(config, path, &count);
  for (size_t axis = 0; axis < 3; axis++) vector[axis] = axis < count ? values[axis] : 0;
  if (dimension == 3 && count < 3 && gab_config_is_set(config, path))
    return gab_config_fail(config, path, "has %zu components, but the domain has 3 dimensions", count);
  return GAB_OK;
}

gab_status gab_lbm_read_plane_vector(const gab_config *config, const char *path, int dimension,
                                     double vector[3])
{
  GAB_TRY(gab_lbm_read_vector(config, path, dimension, vector));
  if (dimension == 2 && vector[2] != 0)
    return gab_config_fail(config, path, "the third component must be 0 in 2D, not %g", vector[2]);
  return GAB_OK;
}

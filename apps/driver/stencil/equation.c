/* SPDX-License-Identifier: Apache-2.0 */
/* The equation of this program: its table, and what that says by itself. */
#include "apps/driver/stencil/stencil_impl.h"

#include <math.h>

const gab_stencil *gab_app_stencil;

int gab_app_stencil_count(const char *const *names)
{
  int count = 0;
  while (names && names[count]) count++;
  return count;
}

int gab_app_stencil_field_count(void) { return gab_app_stencil_count(gab_app_stencil->fields); }

const char *gab_app_stencil_path(char path[GAB_CONFIG_PATH_CAPACITY], const char *key)
{
  return gab_config_path(path, "%s.%s", gab_app_stencil->name, key);
}

gab_stencil_block gab_app_stencil_block_of(const stencil_run *it, size_t index, gab_step step)
{
  const gab_forest *forest = it->base.forest;
  const gab_block *block = gab_forest_block(forest, index);
  const int32_t *cells = it->shape.shape.cells;
  return (gab_stencil_block){.config = it->base.parameters->config,
                             .forest = forest,
                             .block = block,
                             .step = step,
                             .width = ldexp(1, it->parameters->finest - gab_block_level(forest, block)),
                             .cells = {cells[0], cells[1], cells[2]},
                             .now = gab_block_data(block, it->now),
                             .next = gab_block_data(block, it->next)};
}

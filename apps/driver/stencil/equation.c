/* SPDX-License-Identifier: Apache-2.0 */
/* The equation of this program: its table, and what that says by itself. */
#include "apps/driver/stencil/stencil_impl.h"

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

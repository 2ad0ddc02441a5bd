/* SPDX-License-Identifier: Apache-2.0 */
/* Formulas of a stencil: the section `initial', and formulas of the program. */
#include "apps/driver/stencil/stencil_impl.h"

#include <math.h>

gab_status gab_app_stencil_initial_declare(gab_config *config)
{
  static gab_config_key keys[GAB_STENCIL_MOST_FIELDS];
  static gab_config_section section;
  const int fields = gab_app_stencil_field_count();
  for (int f = 0; f < fields; f++)
    keys[f] = (gab_config_key){.name = gab_app_stencil->fields[f],
                               .type = GAB_CONFIG_EXPRESSION,
                               .variables = "x|y|z",
                               .min = -INFINITY,
                               .max = INFINITY,
                               .default_text = GAB_CONFIG_OPTIONAL,
                               .doc = "Value at the start; left out: that of the program."};
  section = (gab_config_section){.path = "initial",
                                 .doc = "Values at the start, at the centres of cells.",
                                 .keys = keys,
                                 .count = (size_t)fields,
                                 .optional = true};
  return gab_app_declare(config, &section, 1);
}

void gab_app_stencil_initial_read(stencil_case *which)
{
  char path[GAB_CONFIG_PATH_CAPACITY];
  for (int f = 0; gab_app_stencil->fields[f]; f++) {
    which->initial[f] = gab_config_expression(
        which->base.config, gab_config_path(path, "initial.%s", gab_app_stencil->fields[f]));
    which->has_initial = which->has_initial || which->initial[f];
  }
}

void gab_app_stencil_initial_cell(const stencil_case *which, const double centre[3], double *values)
{
  for (int f = 0; f < gab_app_stencil_field_count(); f++)
    if (which->initial[f]) values[f] = gab_expression_at(which->initial[f], centre);
}

double gab_stencil_evaluate(const gab_stencil_block *at, const gab_expression *formula, int32_t x, int32_t y,
                            int32_t z)
{
  double values[4];
  gab_block_cell_centre(at->forest, at->block, x, y, z, values);
  values[3] = at->time;
  return gab_expression_at(formula, values);
}

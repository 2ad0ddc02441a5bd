/* SPDX-License-Identifier: Apache-2.0 */
/* Conduction with a source: start, sides and source are formulas of the parameter file, and so is the exact solution, for the sum of squared
 * errors. Sides of type `own' have its values. */
#include "gabion/stencil.h"

static const gab_config_key keys[] = {{.name = "source",
                                       .type = GAB_CONFIG_EXPRESSION,
                                       .variables = "x|y|z|t",
                                       .min = -INFINITY,
                                       .max = INFINITY,
                                       .default_text = "0",
                                       .doc = "Source of heat."},
                                      {.name = "exact",
                                       .type = GAB_CONFIG_EXPRESSION,
                                       .variables = "x|y|z|t",
                                       .min = -INFINITY,
                                       .max = INFINITY,
                                       .default_text = "0",
                                       .doc = "Exact solution."}};

static void conduct(const gab_stencil_block *at)
{
  const gab_expression *source = gab_config_expression(at->config, "formulas.source");
  const gab_expression *exact = gab_config_expression(at->config, "formulas.exact");
  const double width = gab_forest_dx(at->forest, 0);
  const gab_field *now = at->now;
  gab_stencil_block later = *at;
  later.time = at->time + at->dt;
  for (int32_t y = 0; y < at->cells[1]; y++)
    for (int32_t x = 0; x < at->cells[0]; x++) {
      const double here = gab_field_get(now, x, y, 0, 0);
      const double around = gab_field_get(now, x - 1, y, 0, 0) + gab_field_get(now, x + 1, y, 0, 0) +
                            gab_field_get(now, x, y - 1, 0, 0) + gab_field_get(now, x, y + 1, 0, 0);
      const double next =
          here + at->dt * ((around - 4 * here) / (width * width) + gab_stencil_evaluate(at, source, x, y, 0));
      gab_field_set(at->next, x, y, 0, 0, next);
      gab_field_set(at->next, x, y, 0, 1, next - gab_stencil_evaluate(&later, exact, x, y, 0));
    }
}

static void beyond(const gab_stencil_ghost *at, double *values)
{
  const double place[4] = {at->place[0], at->place[1], at->place[2], at->time};
  values[0] =
      2 * gab_expression_at(gab_config_expression(at->config, "formulas.exact"), place) - at->inside[0];
}

static void square(const double *values, double *terms) { terms[0] = values[1] * values[1]; }

static const char *const fields[] = {"u", "error", NULL}, *const sums[] = {"error", NULL};
static const gab_stencil formulas = {.name = "formulas",
                                     .title = "conduction by formulas",
                                     .dimension = 2,
                                     .keys = keys,
                                     .key_count = 2,
                                     .fields = fields,
                                     .update = conduct,
                                     .beyond = beyond,
                                     .dt = 1e-4,
                                     .sums = sums,
                                     .add = square};

int main(int argc, char **argv) { return gab_stencil_main(argc, argv, &formulas); }

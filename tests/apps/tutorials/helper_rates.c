/* SPDX-License-Identifier: Apache-2.0 */
/* A stencil of two fields at two rates: `fast' diffuses in each step with `slow' as its source; `slow' follows the neighbours of `fast' in each
 * fourth step, by four time steps at once. script_stencil_rates.sh computes the same without the library. VARIANT=each: both in each step;
 * VARIANT=forgets: `slow' is not copied in between. */
#include "gabion/stencil.h"

#include <stdlib.h>
#include <string.h>

enum { FAST, SLOW, EVERY = 4 };
static const char *variant;

static void start(const gab_config *config, const double centre[3], double *values)
{
  (void)config;
  values[FAST] = sin(0.7 * centre[0]) + 0.1 * centre[1];
  values[SLOW] = cos(0.3 * centre[0] * centre[1]);
}

static double laplace(const gab_field *now, int32_t x, int32_t y, int field)
{
  return gab_field_get(now, x - 1, y, 0, field) + gab_field_get(now, x + 1, y, 0, field) +
         gab_field_get(now, x, y - 1, 0, field) + gab_field_get(now, x, y + 1, 0, field) -
         4 * gab_field_get(now, x, y, 0, field);
}

static void update(const gab_stencil_block *at)
{
  const int every = strcmp(variant, "each") == 0 ? 1 : EVERY;
  const bool is_due = at->step % every == 0;
  for (int32_t y = 0; y < at->cells[1]; y++)
    for (int32_t x = 0; x < at->cells[0]; x++) {
      const double fast = gab_field_get(at->now, x, y, 0, FAST), slow = gab_field_get(at->now, x, y, 0, SLOW);
      gab_field_set(at->next, x, y, 0, FAST, fast + at->dt * (laplace(at->now, x, y, FAST) + slow));
      if (is_due)
        gab_field_set(at->next, x, y, 0, SLOW,
                      slow + every * at->dt * (0.5 * laplace(at->now, x, y, FAST) - slow * slow * slow));
      else if (strcmp(variant, "forgets") != 0) gab_field_set(at->next, x, y, 0, SLOW, slow);
    }
}

static void add(const double *values, double *terms)
{
  for (int i = 0; i < 2; i++) terms[i] = values[i] * values[i];
}

int main(int argc, char **argv)
{
  static const char *const fields[] = {"fast", "slow", NULL}, *const sums[] = {"fast", "slow", NULL};
  const gab_stencil rates = {.name = "rates",
                             .title = "two fields at two rates",
                             .dimension = 2,
                             .fields = fields,
                             .start = start,
                             .update = update,
                             .dt = 0.1,
                             .sums = sums,
                             .add = add};
  variant = getenv("VARIANT") ? getenv("VARIANT") : "";
  return gab_stencil_main(argc, argv, &rates);
}

/* SPDX-License-Identifier: Apache-2.0 */
/* Conduction in a plate by a stencil (apps/driver/stencil/stencil.h) with one mistake of its user, named by the environment variable
 * MISTAKE; without it, a correct program. `copy' and `memset' are correct, too. */
#include "apps/driver/stencil/stencil.h"

#include <omp.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

static const char *mistake;
static bool has(const char *name) { return strcmp(mistake, name) == 0; }

static double get(const gab_stencil_block *at, int32_t x, int32_t y)
{
  return gab_field_get(at->now, x, y, 0, 0);
}
static double around(const gab_stencil_block *at, int32_t x, int32_t y)
{
  return get(at, x - 1, y) + get(at, x + 1, y) + get(at, x, y - 1) + get(at, x, y + 1);
}

/* Of memory into which nothing is written; the compiler does not know that. */
static void *(*volatile take)(size_t) = malloc;
static double scratch_value(size_t count)
{
  double *scratch = take(count * sizeof *scratch);
  const double value = scratch ? scratch[count / 2] : 0;
  free(scratch);
  return value;
}

/* Error of the value of a cell. */
static double error_of(const gab_stencil_block *at, int32_t x, int32_t y)
{
  static int calls, row;
  static double last;
  const double here = get(at, x, y);
  double error = 0;
  if (has("corners")) error = 0.05 * (get(at, x - 1, y - 1) + get(at, x + 1, y + 1) - 2 * here);
  if (has("two_deep")) error = 0.01 * (get(at, x - 2, y) + get(at, x + 2, y) - 2 * here);
  if (has("component")) error = 0.1 * gab_field_get(at->now, x, y, 0, 1);
  if (has("third_axis")) error = 0.1 * (gab_field_get(at->now, x, y, 1, 0) - here);
  if (has("random")) error = rand();
  if (has("counter") || has("untried")) error = 1e-3 * ++calls;
  if (has("last_block") && x == 0 && y == 0) error = 0.1 * (last - here), last = here;
  if (has("unset_heap")) error = scratch_value(40);
  if (has("unset_large")) error = scratch_value(40000);
  if (has("clock")) {
    struct timespec now;
    timespec_get(&now, TIME_UTC);
    error = 1e-12 * (double)now.tv_nsec;
  }
  if (has("thread")) error = omp_get_thread_num();
  if (has("nan") && x == 3 && y == 2) error = sqrt(-1 - here * here);
  if (has("reads_next")) error = 0.1 * gab_field_get(at->next, x, y, 0, 0);
  if (has("row_counter")) error = 1e-3 * (row++ % 7);
  return error;
}

static void conduct(const gab_stencil_block *at)
{
  const int32_t less = has("unwritten"), more = has("one_beyond");
  if (has("copy")) (void)gab_field_copy(at->next, at->now);
  if (has("memset")) memset(at->next->data, 0, at->next->map.elements * sizeof(double));
  for (int32_t y = 0; y < at->cells[1]; y++)
    for (int32_t x = 0; x < at->cells[0] - less + more; x++) {
      const double here = get(at, x, y);
      const double value = here + 0.2 * (around(at, x, y) - 4 * here) + error_of(at, x, y);
      if (has("into_now")) gab_field_set((gab_field *)(uintptr_t)at->now, x, y, 0, 0, value);
      if (has("alternate") && at->step % 2 == 1) continue;
      gab_field_set(at->next, has("swapped") ? y : x, has("swapped") ? x : y, 0, 0, value);
      if (has("component_set")) gab_field_set(at->next, x, y, 0, 1, value);
    }
}

static void start(const gab_config *config, const double centre[3], double *values)
{
  const double dx = centre[0] - 20, dy = centre[1] - 13;
  (void)config;
  values[0] = exp(-(dx * dx + dy * dy) / 100);
  if (has("start_random")) values[0] += 1e-9 * rand();
  if (has("start_beyond")) values[1] = 1;
}

static void add(const double *values, double *terms)
{
  terms[0] = values[0];
  if (!has("add_short")) terms[1] = values[0] * values[0];
}

static void gradient(const gab_stencil_cell *at, double *values)
{
  const int32_t x = at->x, y = at->y, beyond = has("quantity_corner");
  values[0] = gab_field_get(at->now, x + 1, y + beyond, 0, 0) - gab_field_get(at->now, x - 1, y, 0, 0);
  values[1] = gab_field_get(at->now, x, y + 1, 0, 0) - gab_field_get(at->now, x, y - 1, 0, 0);
  if (!has("quantity_short")) values[2] = 0;
}

static double corner(const gab_field *now, int field)
{
  const int32_t at = has("criterion_corner") ? -1 : 0;
  return fabs(gab_field_get(now, at, -1, 0, field));
}

int main(int argc, char **argv)
{
  static const char *const fields[] = {"temperature", NULL}, *const sums[] = {"heat", "squares", NULL};
  static const gab_stencil_quantity quantities[] = {
      {.name = "gradient", .doc = "the gradient", .components = 3, .evaluate = gradient}};
  static const gab_stencil_criterion criteria[] = {{"corner", "A cell at a corner.", corner}};
  static gab_stencil plate = {.name = "plate",
                              .title = "a plate",
                              .dimension = 2,
                              .fields = fields,
                              .start = start,
                              .update = conduct,
                              .adaptive = true,
                              .criteria = criteria,
                              .criterion_count = 1,
                              .quantities = quantities,
                              .quantity_count = 1,
                              .sums = sums,
                              .add = add};
  mistake = getenv("MISTAKE") ? getenv("MISTAKE") : "";
  plate.untried = has("untried");
  return gab_stencil_main(argc, argv, &plate);
}

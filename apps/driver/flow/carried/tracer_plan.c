/* SPDX-License-Identifier: Apache-2.0 */
/* Reads the sections `tracers' and `output.tracers'. */
#include "apps/driver/flow/carried/tracer_plan.h"

#include "apps/driver/case/case_impl.h"
#include "apps/driver/case/common_sections.h"
#include "core/base/hash.h"

#include <math.h>
#include <string.h>

/* ---------------------------------------------------------------- tables */

#define MOST_SEEDS 1000000000

/* clang-format off */
#define POINT(key, text)                                                                                     \
  {.name = key, .type = GAB_CONFIG_REAL, .length_min = 2, .length_max = 3, .unit = "m", .doc = text}
#define COUNT_KEY(text)                                                                                      \
  {.name = "count", .type = GAB_CONFIG_INT, .min = 1, .max = MOST_SEEDS, .doc = text}
#define WHEN_KEYS                                                                                            \
  {.name = "start", .type = GAB_CONFIG_INT, .unit = "steps", .min = 0, .max = 9e15, .default_text = "0",     \
   .doc = "Step of the first tracers."},                                                                     \
  {.name = "every", .type = GAB_CONFIG_INT, .unit = "steps", .min = 0, .max = 9e15, .default_text = "0",     \
   .doc = "Interval of further tracers at the same places (random: at new ones). 0: none."}
/* clang-format on */

static const gab_config_key tracer_keys[] = {
    {.name = "every",
     .type = GAB_CONFIG_INT,
     .unit = "steps",
     .min = 1,
     .max = 1e6,
     .default_text = "1",
     .doc = "Steps of the flow in a step of the tracers, which is of second order in its length."},
    {.name = "lifetime",
     .type = GAB_CONFIG_REAL,
     .unit = "s",
     .min = 0,
     .max = INFINITY,
     .min_excluded = true,
     .default_text = GAB_CONFIG_OPTIONAL,
     .doc = "Time after which a tracer is removed. Default: never."},
};

static const gab_config_key point_keys[] = {POINT("at", "Coordinates."), WHEN_KEYS};
static const gab_config_key line_keys[] = {POINT("from", "First tracer."), POINT("to", "Last tracer."),
                                           COUNT_KEY("Number of equidistant tracers."), WHEN_KEYS};
static const gab_config_key box_keys[] = {
    POINT("lo", "Lower corner."),
    POINT("hi", "Upper corner."),
    {.name = "grid",
     .type = GAB_CONFIG_INT,
     .min = 1,
     .max = MOST_SEEDS,
     .length_min = 2,
     .length_max = 3,
     .doc = "Number of tracers along x, y, z, in the middle of equal parts of the box."},
    WHEN_KEYS};
static const gab_config_key random_keys[] = {
    POINT("lo", "Lower corner."),
    POINT("hi", "Upper corner."),
    COUNT_KEY("Number of tracers."),
    {.name = "seed",
     .type = GAB_CONFIG_INT,
     .min = 0,
     .max = 9e15,
     .default_text = "1",
     .doc = "Number that the places follow from; the same on any number of processes."},
    WHEN_KEYS};

static const gab_config_key output_keys[] = {
    SCHEDULE_KEYS,
    {.name = "compression",
     .type = GAB_CONFIG_INT,
     .min = 0,
     .max = 9,
     .default_text = GAB_CONFIG_OPTIONAL,
     .outside = true,
     .doc = "Compression level, 0 (none) to 9 (best). Default: 1; 0 if HDF5 was built without zlib."},
};

#define SEEDS(kind, text, table)                                                                             \
  {                                                                                                          \
    .path = "tracers.seeds", .doc = text, KEYS(table), .is_list = true, .variant = kind                      \
  }
static const gab_config_section sections[] = {
    {.path = "tracers", .doc = "Tracers, which the flow carries. They do not change it.", KEYS(tracer_keys)},
    {.path = "tracers.seeds",
     .doc = "Where and when tracers begin. Places in bodies are left out.",
     .is_list = true},
    SEEDS("point", "One place.", point_keys),
    SEEDS("line", "A line.", line_keys),
    SEEDS("box", "A regular grid in a box.", box_keys),
    SEEDS("random", "Random places in a box.", random_keys),
    {.path = "output.tracers",
     .doc = "Tracers in fields/tracers.xdmf, for ParaView and Python, and their number in tracers.csv.",
     KEYS(output_keys)},
};

gab_status gab_app_tracer_plan_declare(gab_config *config)
{
  return gab_app_declare(config, sections, sizeof sections / sizeof sections[0]);
}

/* ---------------------------------------------------------------- reading */

typedef struct reader {
  const gab_config *config;
  const gab_forest_options *domain;
  tracer_plan *plan;
  size_t index; /* of the seeding */
} reader;

static const char *key_of(const reader *from, char path[GAB_CONFIG_PATH_CAPACITY], const char *name)
{
  return gab_config_path(path, "tracers.seeds.%zu.%s", from->index, name);
}

/* A place inside; the upper ends of the domain are outside, but may be a corner of a box. */
static gab_status read_place(const reader *from, const char *name, bool is_corner, double place[3])
{
  char path[GAB_CONFIG_PATH_CAPACITY];
  size_t count;
  const gab_forest_options *domain = from->domain;
  const double *at = gab_config_reals(from->config, key_of(from, path, name), &count);
  if ((int)count < domain->grid.dimension)
    return gab_config_fail(from->config, path, "%zu coordinates in a domain of %d dimensions", count,
                           domain->grid.dimension);
  for (int axis = 0; axis < domain->grid.dimension; axis++) {
    const double lo = domain->origin[axis];
    const double hi = lo + (double)domain->grid.roots[axis] * domain->cells[axis] * domain->dx;
    if (!(at[axis] >= lo && (is_corner ? at[axis] <= hi : at[axis] < hi)))
      return gab_config_fail(from->config, path,
                             "%c = %g is outside the domain, which ranges from %g to %g%s", "xyz"[axis],
                             at[axis], lo, hi, at[axis] == hi ? ", its end not included" : "");
    place[axis] = at[axis];
  }
  return GAB_OK;
}

static gab_status read_box(const reader *from, seeding *made)
{
  char path[GAB_CONFIG_PATH_CAPACITY];
  GAB_TRY(read_place(from, "lo", true, made->lo));
  GAB_TRY(read_place(from, "hi", true, made->hi));
  for (int axis = 0; axis < from->domain->grid.dimension; axis++)
    if (!(made->lo[axis] < made->hi[axis]))
      return gab_config_fail(from->config, key_of(from, path, "hi"), "%c: the box from %g to %g is empty",
                             "xyz"[axis], made -> lo[axis], made -> hi[axis]);
  return GAB_OK;
}

static gab_status read_grid(const reader *from, seeding *made)
{
  char path[GAB_CONFIG_PATH_CAPACITY];
  size_t count;
  double all = 1;
  const int64_t *grid = gab_config_ints(from->config, key_of(from, path, "grid"), &count);
  if ((int)count < from->domain->grid.dimension)
    return gab_config_fail(from->config, path, "%zu numbers in a domain of %d dimensions", count,
                           from->domain->grid.dimension);
  for (int axis = 0; axis < 3; axis++) {
    made->grid[axis] = axis < from->domain->grid.dimension ? grid[axis] : 1;
    all *= (double)made->grid[axis];
  }
  if (all > MOST_SEEDS)
    return gab_config_fail(from->config, path, "%g tracers: at most %d are possible", all, MOST_SEEDS);
  made->count = (uint64_t)all;
  return GAB_OK;
}

/* Tracers start after one of their own steps. */
static gab_status read_steps(const reader *from, const char *name, gab_step *steps)
{
  char path[GAB_CONFIG_PATH_CAPACITY];
  *steps = gab_config_int(from->config, key_of(from, path, name));
  if (*steps % from->plan->every != 0)
    return gab_config_fail(from->config, path,
                           "%" GAB_PRI_STEP " is not a multiple of tracers.every = %" GAB_PRI_STEP, *steps,
                           from->plan->every);
  return GAB_OK;
}

static gab_status read_seeding(const reader *from, seeding *made)
{
  char path[GAB_CONFIG_PATH_CAPACITY];
  const char *type = gab_config_string(from->config, key_of(from, path, "type"));
  *made = (seeding){.count = 1, .first = from->plan->total};
  if (strcmp(type, "point") == 0) {
    GAB_TRY(read_place(from, "at", false, made->lo));
  } else if (strcmp(type, "line") == 0) {
    made->kind = SEEDS_ON_LINE;
    GAB_TRY(read_place(from, "from", false, made->lo));
    GAB_TRY(read_place(from, "to", false, made->hi));
  } else {
    made->kind = strcmp(type, "box") == 0 ? SEEDS_IN_BOX : SEEDS_AT_RANDOM;
    GAB_TRY(read_box(from, made));
  }
  if (made->kind == SEEDS_IN_BOX) GAB_TRY(read_grid(from, made));
  if (made->kind == SEEDS_ON_LINE || made->kind == SEEDS_AT_RANDOM)
    made->count = (uint64_t)gab_config_int(from->config, key_of(from, path, "count"));
  if (made->kind == SEEDS_AT_RANDOM)
    made->seed = (uint64_t)gab_config_int(from->config, key_of(from, path, "seed"));
  GAB_TRY(read_steps(from, "start", &made->start));
  GAB_TRY(read_steps(from, "every", &made->every));
  from->plan->total += made->count;
  return GAB_OK;
}

static gab_status read_lifetime(const gab_config *config, double dt, tracer_plan *plan)
{
  if (!gab_config_is_set(config, "tracers.lifetime")) return GAB_OK;
  const double steps = gab_config_real(config, "tracers.lifetime") / dt;
  if (!(steps < 9e15)) return gab_config_fail(config, "tracers.lifetime", "that would be %g steps", steps);
  plan->lifetime = steps < 1 ? 1 : llround(steps);
  return GAB_OK;
}

static gab_status read_output(const gab_config *config, double dt, tracer_plan *plan)
{
  const char *const path = "output.tracers";
  if (!gab_config_is_set(config, path)) return GAB_OK;
  if (!plan->is_wanted) return gab_config_fail(config, path, "there are no tracers.seeds");
  GAB_TRY(gab_app_series_read(config, path, dt, &plan->output));
  plan->compression = gab_app_compression_read(config, path);
  return GAB_OK;
}

gab_status gab_app_tracer_plan_read(const gab_config *config, const gab_forest_options *domain, double dt,
                                    tracer_plan *plan)
{
  *plan = (tracer_plan){.every = gab_config_int(config, "tracers.every")};
  reader from = {.config = config, .domain = domain, .plan = plan};
  plan->seeding_count = gab_config_count(config, "tracers.seeds");
  plan->is_wanted = plan->seeding_count > 0;
  if (gab_config_is_set(config, "tracers") && !plan->is_wanted)
    return gab_config_fail(config, "tracers", "tracers.seeds is needed: where tracers begin");
  if (plan->seeding_count > FLOW_MOST_SEEDINGS)
    return gab_config_fail(config, "tracers.seeds", "%zu seedings: at most %d are possible",
                           plan->seeding_count, (int)FLOW_MOST_SEEDINGS);
  GAB_TRY(read_lifetime(config, dt, plan));
  for (; from.index < plan->seeding_count; from.index++)
    GAB_TRY(read_seeding(&from, &plan->seedings[from.index]));
  return read_output(config, dt, plan);
}

/* ---------------------------------------------------------------- seeds */

bool gab_app_seeding_is_due(const seeding *which, gab_step step)
{
  const gab_step since = step - which->start;
  return since == 0 || (since > 0 && which->every > 0 && since % which->every == 0);
}

static double draw(const seeding *which, uint64_t stream, uint64_t counter)
{
  return gab_hash_uniform(which->seed, stream, counter);
}

/* Below its end, whatever rounding did: a place at the end would be outside the domain. */
static double between(double lo, double hi, double share)
{
  const double at = lo + share * (hi - lo);
  return at < hi ? at : nextafter(hi, lo);
}

uint64_t gab_app_seeding_place(const tracer_plan *plan, const seeding *which, int dimension, gab_step step,
                               uint64_t index, double at[3])
{
  const uint64_t round = which->every > 0 ? (uint64_t)((step - which->start) / which->every) : 0;
  uint64_t rest = index;
  at[0] = at[1] = at[2] = 0;
  for (int axis = 0; axis < dimension; axis++) {
    const uint64_t along = (uint64_t)which->grid[axis];
    const double line = which->count > 1 ? (double)index / (double)(which->count - 1) : 0;
    switch (which->kind) {
    case SEEDS_AT_POINT:
      at[axis] = which->lo[axis];
      break;
    case SEEDS_ON_LINE:
      at[axis] = (1 - line) * which->lo[axis] + line * which->hi[axis];
      break;
    case SEEDS_IN_BOX:
      at[axis] = between(which->lo[axis], which->hi[axis], ((double)(rest % along) + 0.5) / (double)along);
      rest /= along;
      break;
    case SEEDS_AT_RANDOM:
      at[axis] = between(which->lo[axis], which->hi[axis], draw(which, 3 * round + (uint64_t)axis, index));
      break;
    }
  }
  return round * plan->total + which->first + index;
}

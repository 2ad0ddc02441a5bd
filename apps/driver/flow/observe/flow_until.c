/* SPDX-License-Identifier: Apache-2.0 */
/* End of a run when its flow is steady, from the section `run.until'. */
#include "apps/driver/flow/observe/flow_means.h"

#include "apps/driver/case/case_impl.h"
#include "apps/driver/case/common_sections.h"
#include "core/base/exact_sum.h"
#include "core/base/log.h"
#include "core/memory/memory.h"
#include "core/messages/collective.h"

#include <math.h>
#include <stdio.h>

/* ---------------------------------------------------------------- table */

static const gab_config_key keys[] = {
    {.name = "steady",
     .type = GAB_CONFIG_REAL,
     .min = 0,
     .min_excluded = true,
     .max = INFINITY,
     .unit = "1/s",
     .default_text = GAB_CONFIG_OPTIONAL,
     .outside = true,
     .doc =
         "The run ends when the velocity changes by less than this share of its norm (L2 over the fluid) per unit of "
         "time, between two looks. Without units: per step."},
    EVERY_KEY(NULL, false, "Interval of looks, in steps; needed with steady."),
};

gab_status gab_app_until_declare(gab_config *config)
{
  static const gab_config_section section = {
      .path = "run.until",
      .doc = "End of the run before run.steps or run.time, which stay the most.",
      KEYS(keys)};
  GAB_TRY(gab_app_declare(config, &section, 1));
  GAB_TRY(gab_app_converged_declare(config));
  return gab_app_periodic_declare(config);
}

gab_status gab_app_until_read(const gab_config *config, until_plan *plan)
{
  *plan = (until_plan){0};
  if (!gab_config_is_set(config, "run.until")) return GAB_OK;
  GAB_TRY(gab_app_converged_read(config, plan));
  GAB_TRY(gab_app_periodic_read(config, plan));
  const bool has_every = gab_config_is_set(config, "run.until.every");
  if (!gab_config_is_set(config, "run.until.steady")) {
    if ((plan->of || plan->periodic.of) && !has_every) return GAB_OK;
    return gab_config_fail(config, "run.until",
                           has_every ? "steady is needed" : "steady, converged or periodic is needed");
  }
  /* The field is part of checkpoints: a run without this check has no stored velocities to continue with. */
  if (!has_every) return gab_config_fail(config, "run.until", "every is needed");
  plan->every = gab_config_int(config, "run.until.every");
  plan->steady = gab_config_real(config, "run.until.steady");
  return GAB_OK;
}

bool gab_app_until_due(const until_plan *plan, gab_step step)
{
  return plan->every > 0 && step % plan->every == 0;
}

/* ---------------------------------------------------------------- velocities of the last check */

static void forget(gab_field *field)
{
  const gab_box all = gab_field_interior(field);
  gab_field_fill(field, -1, &all, NAN);
}

/* A block of another level has no velocities of the last check to compare with. */
static gab_status split(void *user, const gab_forest *forest, const gab_block *parent,
                        const void *parent_data, const gab_block *const *children, void *const *children_data)
{
  const gab_topology *topology = gab_forest_topology(forest);
  (void)user, (void)parent, (void)parent_data, (void)children;
  for (int c = 0; c < gab_topology_child_count(topology); c++)
    if (children_data[c]) forget(children_data[c]);
  return GAB_OK;
}

static gab_status merge(void *user, const gab_forest *forest, const gab_block *const *children,
                        const void *const *children_data, const gab_block *parent, void *parent_data)
{
  (void)user, (void)forest, (void)children, (void)children_data, (void)parent;
  forget(parent_data);
  return GAB_OK;
}

gab_status gab_app_flow_until_prepare(flow_until *made, const until_plan *plan, gab_forest *forest,
                                      const gab_lbm *lbm, double dt)
{
  const gab_forest_options *options = gab_forest_get_options(forest);
  const int32_t *cells = options->cells;
  const size_t count = (size_t)cells[0] * (size_t)cells[1] * (size_t)cells[2];
  *made = (flow_until){.plan = plan, .forest = forest, .lbm = lbm, .dt = dt, .step = -1, .change = NAN};
  if (plan->every == 0) return GAB_OK;
  made->field = (gab_block_field){
      .shape = {.cells = {cells[0], cells[1], cells[2]}, .components = options->grid.dimension}};
  gab_block_data_kind kind = gab_block_field_data(&made->field, "velocity of the last look");
  kind.split = split;
  kind.merge = merge;
  GAB_TRY(gab_forest_add_data(forest, &kind, &made->data));
  GAB_TRY(GAB_NEW_ARRAY(&made->velocity, 3 * count, GAB_MEMORY_OTHER));
  return GAB_NEW_ARRAY(&made->fluid, count, GAB_MEMORY_OTHER);
}

void gab_app_flow_until_release(flow_until *it)
{
  gab_free(&it->velocity);
  gab_free(&it->fluid);
}

/* ---------------------------------------------------------------- a look */

typedef struct sums {
  gab_exact_sum change, norm; /* squares, times the volumes of cells */
  uint64_t unknown;           /* cells */
} sums;

static void look_at_cell(double volume, const double *now, gab_field *before, const int32_t at[3], sums *all)
{
  double change = 0, norm = 0;
  for (int c = 0; c < before->shape.components; c++) {
    const double difference = now[c] - gab_field_get(before, at[0], at[1], at[2], c);
    change += difference * difference;
    norm += now[c] * now[c];
    gab_field_set(before, at[0], at[1], at[2], c, now[c]);
  }
  if (isnan(change)) {
    all->unknown++;
    return;
  }
  gab_exact_add(&all->change, volume * change);
  gab_exact_add(&all->norm, volume * norm);
}

static gab_status look_at_block(flow_until *it, const gab_block *block, sums *all)
{
  gab_field *before = gab_block_data(block, it->data);
  const gab_box box = gab_field_interior(before);
  const double volume = ldexp(1, -before->shape.components * gab_block_level(it->forest, block));
  int32_t at[3];
  size_t i = 0;
  GAB_TRY(gab_lbm_macroscopic(it->lbm, block, &box, NULL, it->velocity));
  GAB_TRY(gab_lbm_fluid_mask(it->lbm, block, &box, it->fluid));
  for (at[2] = 0; at[2] < box.hi[2]; at[2]++)
    for (at[1] = 0; at[1] < box.hi[1]; at[1]++)
      for (at[0] = 0; at[0] < box.hi[0]; at[0]++, i++)
        if (it->fluid[i]) look_at_cell(volume, it->velocity + 3 * i, before, at, all);
        else
          for (int c = 0; c < before->shape.components; c++) gab_field_set(before, at[0], at[1], at[2], c, 0);
  return GAB_OK;
}

static void log_look(const flow_until *it)
{
  const gab_step step = it->step;
  if (!isnan(it->change))
    gab_log(GAB_LOG_INFO,
            "step %" GAB_PRI_STEP ": the velocity changes by %.4g per unit of time, run.until.steady is %g",
            step, it->change, it->plan->steady);
  else if (step > 0)
    gab_log(GAB_LOG_INFO,
            "step %" GAB_PRI_STEP
            ": the change of the velocity is not known, since the grid has changed or the fluid is at rest",
            step);
}

static gab_status look(void *user, gab_step step)
{
  flow_until *it = user;
  sums all = {.unknown = 0};
  if (step == it->step) return GAB_OK; /* a resumed run has done it already */
  gab_exact_clear(&all.change);
  gab_exact_clear(&all.norm);
  for (size_t b = 0; b < gab_forest_block_count(it->forest); b++)
    GAB_TRY(look_at_block(it, gab_forest_block(it->forest, b), &all));
  gab_world *world = gab_forest_world(it->forest);
  gab_exact_sum both[2] = {all.change, all.norm};
  GAB_TRY(gab_world_sum_exact(world, both, 2));
  GAB_TRY(gab_world_sum_u64(world, &all.unknown, 1));
  const double change = gab_exact_value(&both[0]), norm = gab_exact_value(&both[1]);
  const bool is_known = it->step >= 0 && all.unknown == 0 && norm > 0;
  it->change = is_known ? sqrt(change / norm) / ((double)(step - it->step) * it->dt) : NAN;
  it->step = step;
  log_look(it);
  return GAB_OK;
}

/* ---------------------------------------------------------------- the end */

static bool is_due(const void *user, gab_step step)
{
  return gab_app_until_due(((const flow_until *)user)->plan, step);
}

static bool is_steady(const void *user, gab_step step, char *why, size_t capacity)
{
  const flow_until *it = user;
  if (it->step != step || !(it->change <= it->plan->steady)) return false;
  snprintf(why, capacity, "the flow is steady: its velocity changes by %.4g per unit of time, steady is %g",
           it->change, it->plan->steady);
  return true;
}

static gab_status pack(void *user, gab_buffer *out)
{
  const flow_until *it = user;
  GAB_TRY(gab_put_i64(out, it->step));
  GAB_TRY(gab_put_f64s(out, &it->change, 1));
  GAB_TRY(gab_app_flow_converged_pack(it, out));
  return gab_app_flow_periodic_pack(it, out);
}

static gab_status unpack(void *user, gab_reader *in)
{
  flow_until *it = user;
  int64_t step;
  GAB_TRY(gab_get_i64(in, &step));
  it->step = step;
  GAB_TRY(gab_get_f64s(in, &it->change, 1));
  GAB_TRY(gab_app_flow_converged_unpack(it, in));
  return gab_app_flow_periodic_unpack(it, in);
}

gab_status gab_app_flow_until_add(flow_until *it, gab_timeloop *loop)
{
  const gab_entity entity = {.name = "last look of run.until",
                             .kind = GAB_ENTITY_REPLICATED,
                             .user = it,
                             .pack = pack,
                             .unpack = unpack};
  if (it->plan->every == 0 && !it->plan->of && !it->plan->periodic.of) return GAB_OK;
  GAB_TRY(gab_timeloop_add_entity(loop, &entity));
  GAB_TRY(gab_app_flow_converged_add(it, loop));
  GAB_TRY(gab_app_flow_periodic_add(it, loop));
  if (it->plan->every == 0) return GAB_OK;
  GAB_TRY(gab_timeloop_add_action(loop, "change of the velocity", is_due, look, it));
  return gab_timeloop_add_end(loop, "run.until", is_due, is_steady, it);
}

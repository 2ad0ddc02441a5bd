/* SPDX-License-Identifier: Apache-2.0 */
/* Time means of a flow, as the section `output.means' asks for them. */
#include "apps/driver/flow/observe/flow_means.h"

#include "apps/driver/case/case_impl.h"
#include "apps/driver/case/common_sections.h"
#include "apps/driver/run/run_impl.h"
#include "core/base/log.h"
#include "core/messages/collective.h"
#include "lbm/observe/quantities.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

/* ---------------------------------------------------------------- table */

/* Pointwise quantities, without the owner, which depends on processes. */
static gab_config_choice quantity_choice(int index)
{
  gab_quantity items[GAB_LBM_MOST_QUANTITIES];
  const gab_quantity_list all = gab_lbm_quantities_list(NULL, 3, items);
  for (size_t i = 0; i < all.count; i++)
    if (items[i].pointwise && items[i].evaluate != gab_quantity_owner()->evaluate && index-- == 0)
      return (gab_config_choice){.name = items[i].name, .doc = items[i].doc};
  return (gab_config_choice){0};
}

static const gab_config_key keys[] = {
    {.name = "quantities",
     .type = GAB_CONFIG_STRING,
     .length_min = 1,
     .length_max = GAB_MOST_MEANS,
     .choice_at = quantity_choice,
     .default_text = "[velocity, pressure]",
     .doc =
         "Pointwise quantities and scalars. The mean of each is the new quantity mean_NAME of fields, slices and "
         "probes."},
    {.name = "rms",
     .type = GAB_CONFIG_BOOL,
     .default_text = "false",
     .doc = "Also rms_NAME: root mean square of the fluctuation of each component."},
    {.name = "stresses",
     .type = GAB_CONFIG_BOOL,
     .default_text = "false",
     .doc =
         "Also reynolds_stress_xx, _xy, ... (mean products of velocity fluctuations, without the density) and "
         "turbulent_kinetic_energy."},
    {.name = "products",
     .type = GAB_CONFIG_STRING,
     .length_min = 1,
     .length_max = GAB_MOST_MEAN_PRODUCTS,
     .default_text = GAB_CONFIG_OPTIONAL,
     .doc =
         "Pairs of quantities, such as velocity*temperature: covariance_velocity_temperature is the mean product of their "
         "fluctuations. At most one of both is a vector."},
    {.name = "window",
     .type = GAB_CONFIG_INT,
     .unit = "samples",
     .min = 1,
     .max = 1e9,
     .default_text = GAB_CONFIG_OPTIONAL,
     .doc =
         "Means are over this many samples: then they are written and begin again. The rest behind the last window is not "
         "written. Default: over all samples of the run."},
    EVERY_KEY("interval", false,
              "Interval of samples, in steps. Default: 10; a sample costs about as much as ten steps."),
    INTERVAL_KEY(false, "Instead of every: interval of samples in physical time."),
    START_KEY(false, "First step with a sample. The initial state is never one."),
    {.name = "final",
     .type = GAB_CONFIG_BOOL,
     .default_text = "true",
     .outside = true,
     .doc =
         "Write all means at the end, or at that of each window: fields/means.xdmf, and a picture of the first one."},
    {.name = "homogeneous",
     .type = GAB_CONFIG_CHOICE,
     .choices = "x|y|z",
     .length_min = 1,
     .length_max = 3,
     .default_text = GAB_CONFIG_OPTIONAL,
     .outside = true,
     .doc =
         "All axes but one: at the end, or at that of each window, all means are also averaged over these axes, as a profile "
         "along the remaining axis, in means_profile.csv."},
    FIELD_FILE_KEYS,
};

gab_status gab_app_means_declare(gab_config *config)
{
  static const gab_config_section section = {
      .path = "output.means", .doc = "Time means per cell, as quantities and fields.", KEYS(keys)};
  return gab_app_declare(config, &section, 1);
}

/* ---------------------------------------------------------------- case */

static const char *const path = "output.means.quantities";

static const char *const product_path = "output.means.products";

/* The quantity of the first `length` letters of a name. */
static gab_status find(const gab_config *config, gab_quantity_list from, const char *text, size_t length,
                       gab_quantity *to)
{
  const gab_quantity *found;
  char name[80];
  while (length > 0 && *text == ' ') text++, length--;
  while (length > 0 && text[length - 1] == ' ') length--;
  snprintf(name, sizeof name, "%.*s", (int)length, text);
  GAB_TRY(gab_app_blame(config, product_path, gab_quantity_find(from, name, &found)));
  *to = *found;
  return GAB_OK;
}

static gab_status read_products(const gab_config *config, gab_quantity_list from,
                                gab_mean_product products[GAB_MOST_MEAN_PRODUCTS], size_t *count)
{
  *count = 0;
  if (!gab_config_is_set(config, product_path)) return GAB_OK;
  const char *const *texts = gab_config_strings(config, product_path, count);
  for (size_t i = 0; i < *count; i++) {
    const char *star = strchr(texts[i], '*');
    if (!star || strchr(star + 1, '*'))
      return gab_config_fail(config, product_path, "'%s': expected two quantities, such as velocity*pressure",
                             texts[i]);
    GAB_TRY(find(config, from, texts[i], (size_t)(star - texts[i]), &products[i].of[0]));
    GAB_TRY(find(config, from, star + 1, strlen(star + 1), &products[i].of[1]));
  }
  return GAB_OK;
}

static gab_status make(const gab_config *config, gab_quantity_list from, int dimension, gab_means **means)
{
  size_t count;
  const char *const *names = gab_config_strings(config, path, &count);
  gab_quantity picked[GAB_MOST_MEANS];
  bool has_vector = false;
  for (size_t i = 0; i < count; i++) {
    const gab_quantity *found;
    GAB_TRY(gab_app_blame(config, path, gab_quantity_find(from, names[i], &found)));
    picked[i] = *found;
    has_vector |= strcmp(names[i], "velocity") == 0;
  }
  gab_mean_product products[GAB_MOST_MEAN_PRODUCTS];
  size_t product_count;
  GAB_TRY(read_products(config, from, products, &product_count));
  const gab_means_options options = {.quantities = picked,
                                     .products = products,
                                     .product_count = product_count,
                                     .quantity_count = count,
                                     .dimension = dimension,
                                     .rms = gab_config_bool(config, "output.means.rms"),
                                     .stresses = gab_config_bool(config, "output.means.stresses")};
  if (options.stresses && !has_vector)
    return gab_config_fail(config, "output.means.stresses", "needs velocity in output.means.quantities");
  return gab_app_blame(config, path, gab_means_create(&options, means));
}

static const char *const homogeneous = "output.means.homogeneous";

static gab_status read_profile(const gab_config *config, const gab_domain *domain, means_plan *plan)
{
  const int dimension = domain->dimension;
  size_t count = 0;
  plan->profile_axis = -1;
  for (int axis = 0; axis < 3; axis++) plan->periodic[axis] = domain->periodic[axis];
  if (!gab_config_is_set(config, homogeneous)) return GAB_OK;
  const char *const *names = gab_config_strings(config, homogeneous, &count);
  bool is_named[3] = {false, false, false};
  for (size_t i = 0; i < count; i++) is_named[names[i][0] - 'x'] = true;
  if (dimension == 2 && is_named[2])
    return gab_config_fail(config, homogeneous, "in 2D there is no axis z: give x or y");
  if (count != (size_t)dimension - 1)
    return gab_config_fail(config, homogeneous,
                           "names %zu of %d axes: give all but one, along which the profile is", count,
                           dimension);
  for (int axis = 0; axis < dimension; axis++)
    if (!is_named[axis]) plan->profile_axis = axis;
  return GAB_OK;
}

gab_status gab_app_means_read(const gab_config *config, gab_quantity_list from, const gab_domain *domain,
                              double dt, means_plan *plan)
{
  *plan = (means_plan){.profile_axis = -1};
  if (!gab_config_is_set(config, "output.means")) return GAB_OK;
  GAB_TRY(gab_app_schedule_read(config, "output.means", dt, &plan->schedule));
  if (plan->schedule.every == 0) plan->schedule.every = 10;
  if (gab_config_is_set(config, "output.means.window"))
    plan->window = gab_config_int(config, "output.means.window");
  GAB_TRY(read_profile(config, domain, plan));
  return make(config, from, domain->dimension, &plan->names);
}

void gab_app_means_release(means_plan *plan) { gab_means_destroy(&plan->names); }

/* ---------------------------------------------------------------- samples */

/* The initial state is the first scheduled one with `start` 0, but no sample. */
static int64_t scheduled_before(const means_plan *plan) { return gab_schedule_count(plan->schedule, 1); }

/* The last samples of windows; without windows the end of the run. */
static gab_schedule schedule_of_files(const means_plan *plan)
{
  gab_schedule made = {.last = true};
  if (plan->window > 0) {
    made = plan->schedule;
    made.stride = plan->window;
    made.skip = scheduled_before(plan) + plan->window - 1;
    made.last = false;
  }
  return made;
}

gab_status gab_app_flow_means_sample(const means_plan *plan, gab_means *means, gab_step steps_done)
{
  const int64_t samples = gab_schedule_count(plan->schedule, steps_done) - scheduled_before(plan);
  if (!means || !gab_schedule_due(plan->schedule, steps_done)) return GAB_OK;
  if (plan->window > 0 && samples % plan->window == 0) gab_means_reset(means);
  return gab_means_sample(means);
}

void gab_app_means_describe(const gab_config *config, const means_plan *plan)
{
  const gab_schedule *schedule = &plan->schedule;
  if (schedule->every == 0) return;
  char text[200] = "";
  size_t count;
  const char *const *names = gab_config_strings(config, path, &count);
  for (size_t i = 0, used = 0; i < count && used < sizeof text; i++)
    used += (size_t)snprintf(text + used, sizeof text - used, "%s%s", i ? ", " : "", names[i]);
  gab_log(GAB_LOG_INFO,
          "  means of %s: a sample every %g steps from step %" GAB_PRI_STEP ", %d numbers per cell", text,
          schedule->interval > 0 ? schedule->interval : (double)schedule->every,
          gab_schedule_step(*schedule, scheduled_before(plan)), gab_means_values(plan->names));
  if (plan->window > 0)
    gab_log(GAB_LOG_INFO, "  in windows of %" PRIi64 " samples; the first ends with step %" GAB_PRI_STEP,
            plan->window, gab_schedule_step(schedule_of_files(plan), 0));
  for (int axis = 0; axis < 3 && plan->profile_axis >= 0; axis++)
    if (axis != plan->profile_axis && !plan->periodic[axis])
      gab_log(GAB_LOG_WARNING,
              "%s: axis %c is not periodic: the profile averages over what lies next to its sides, too",
              homogeneous, "xyz"[axis]);
}

/* ---------------------------------------------------------------- run */

gab_status gab_app_flow_means_create(gab_app_run *it, const means_plan *plan, int dimension,
                                     gab_quantity *items, gab_means **means)
{
  *means = NULL;
  if (plan->schedule.every == 0) return GAB_OK;
  GAB_TRY(make(it->parameters->config, it->quantities, dimension, means));
  it->quantities.count += gab_means_quantities(*means, items + it->quantities.count);
  return gab_means_attach(*means, it->forest);
}

static gab_status add_picture(gab_app_run *it, const means_plan *plan, const gab_quantity *first)
{
  const gab_forest_options *domain = &it->parameters->domain;
  gab_slice_options slice = {.name = "means", .axis = 2};
  if (!gab_slice_is_built()) return GAB_OK;
  GAB_TRY(gab_quantity_find_scalar(it->quantities, first->name, &slice.quantity, &slice.component));
  slice.position = domain->origin[2] + 0.5 * (double)domain->grid.roots[2] * domain->cells[2] * domain->dx;
  return gab_output_add_slice(it->output, schedule_of_files(plan), &slice);
}

static gab_status profile_rows(void *user, gab_step step, double time, double **rows, size_t *count)
{
  const means_profile *profile = user;
  (void)step, (void)time;
  return gab_means_profile(profile->means, profile->axis, rows, count);
}

static gab_status add_profile(gab_app_run *it, const means_plan *plan, means_profile *profile)
{
  char names[GAB_MOST_PROFILE_COLUMNS][GAB_PROFILE_COLUMN_CAPACITY];
  const char *columns[GAB_MOST_PROFILE_COLUMNS];
  const size_t count = gab_means_profile_columns(profile->means, profile->axis, names);
  for (size_t i = 0; i < count; i++) columns[i] = names[i];
  return gab_app_blame(it->parameters->config, homogeneous,
                       gab_output_add_table(it->output, schedule_of_files(plan), "means_profile", columns,
                                            count, profile_rows, profile));
}

gab_status gab_app_flow_means_add_writers(gab_app_run *it, const means_plan *plan, gab_means *means,
                                          means_profile *profile)
{
  const gab_config *config = it->parameters->config;
  gab_quantity items[GAB_MOST_MEAN_QUANTITIES];
  *profile = (means_profile){.means = means, .axis = plan->profile_axis};
  if (means && plan->profile_axis >= 0) GAB_TRY(add_profile(it, plan, profile));
  if (!means || !gab_config_bool(config, "output.means.final")) return GAB_OK;
  const gab_volume_options volume = {
      .name = "means",
      .quantities = items,
      .quantity_count = gab_means_quantities(means, items),
      .precision = gab_config_choice_index(config, "output.means.precision") == 0 ? GAB_OUTPUT_FLOAT
                                                                                  : GAB_OUTPUT_DOUBLE,
      .compression = gab_app_compression_read(config, "output.means")};
  GAB_TRY(gab_app_blame(config, "output.means",
                        gab_output_add_volume(it->output, schedule_of_files(plan), &volume)));
  return gab_app_blame(config, "output.means", add_picture(it, plan, &items[0]));
}

static gab_status log_windows(const gab_app_run *it, const means_plan *plan, gab_step step)
{
  const int64_t windows = gab_schedule_count(schedule_of_files(plan), step + 1);
  if (windows > 0)
    gab_log(GAB_LOG_INFO,
            "means: %" PRIi64 " windows of %" PRIi64 " samples; all means, to be opened with ParaView: "
            "%s/fields/means.xdmf",
            windows, plan->window, it->folder);
  else
    gab_log(GAB_LOG_WARNING,
            "means: the run has ended before the first window of output.means, step %" GAB_PRI_STEP
            ": no means are "
            "written",
            gab_schedule_step(schedule_of_files(plan), 0));
  return GAB_OK;
}

gab_status gab_app_flow_means_finish(gab_app_run *it, const means_plan *plan, gab_means *means, gab_step step)
{
  if (!means) return GAB_OK;
  if (plan->window > 0) return log_windows(it, plan, step);
  uint64_t samples = (uint64_t)gab_means_samples(means);
  GAB_TRY(gab_world_max_u64(it->world, &samples, 1));
  if (samples > 0)
    gab_log(GAB_LOG_INFO,
            "means: %" PRIu64 " samples; all means, to be opened with ParaView: %s/fields/means.xdmf",
            samples, it->folder);
  else
    gab_log(GAB_LOG_WARNING,
            "means: the run has ended before output.means.start, step %" GAB_PRI_STEP ": no sample",
            plan->schedule.start);
  return GAB_OK;
}

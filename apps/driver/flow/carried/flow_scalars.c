/* SPDX-License-Identifier: Apache-2.0 */
/* Scalars of a flow in a run: their steps, their table and their results. */
#include "apps/driver/flow/carried/flow_scalars.h"

#include "core/base/log.h"
#include "core/memory/memory.h"
#include "core/messages/collective.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

/* ---------------------------------------------------------------- life */

typedef struct carried {
  const scalar_plan *plan;
  double dt, to_source; /* of values per second: per step */
  gab_lbm_scalar *scalar;
  gab_lbm_scalar_balance last; /* of the last state of a run */
  gab_lbm_scalar_body *bodies;
} carried;

struct flow_scalars {
  const scalars_plan *plan;
  gab_forest *forest;
  gab_lbm *lbm;
  size_t body_count;
  carried items[FLOW_MOST_SCALARS];
};

static double source_at(void *user, const double centre[3], double step)
{
  const carried *it = user;
  const double at[4] = {centre[0], centre[1], centre[2], step * it->dt};
  return gab_expression_at(it->plan->source, at) * it->to_source;
}

static double initial_at(void *user, const double centre[3], double step)
{
  const carried *it = user;
  (void)step;
  return gab_expression_at(it->plan->initial, centre) - it->plan->reference;
}

static gab_status create_one(flow_scalars *made, size_t index, int finest)
{
  const scalar_plan *plan = &made->plan->items[index];
  carried *it = &made->items[index];
  *it =
      (carried){.plan = plan, .dt = made->plan->units.dt, .to_source = made->plan->units.dt / plan->capacity};
  gab_lbm_scalar_options options = plan->options;
  options.bodies = plan->bodies;
  options.patches = plan->patches;
  if (plan->source) {
    options.source = source_at;
    options.source_user = it;
  }
  GAB_TRY(GAB_NEW_ARRAY(&it->bodies, made->body_count, GAB_MEMORY_OTHER));
  return gab_lbm_scalar_create(made->forest, made->lbm, &options, finest, &it->scalar);
}

gab_status gab_app_flow_scalars_create(gab_forest *forest, gab_lbm *lbm, const scalars_plan *plan, int finest,
                                       flow_scalars **scalars)
{
  gab_status status = GAB_OK;
  *scalars = NULL;
  if (plan->count == 0) return GAB_OK;
  GAB_TRY(GAB_NEW(scalars, GAB_MEMORY_OTHER));
  **scalars = (flow_scalars){.plan = plan,
                             .forest = forest,
                             .lbm = lbm,
                             .body_count = gab_geometry_body_count(gab_lbm_get_geometry(lbm))};
  for (size_t i = 0; status == GAB_OK && i < plan->count; i++) status = create_one(*scalars, i, finest);
  if (status != GAB_OK) gab_app_flow_scalars_destroy(scalars);
  return status;
}

void gab_app_flow_scalars_destroy(flow_scalars **scalars)
{
  flow_scalars *gone = *scalars;
  if (!gone) return;
  for (size_t i = gone->plan->count; i-- > 0;) {
    gab_lbm_scalar_destroy(&gone->items[i].scalar);
    gab_free(&gone->items[i].bodies);
  }
  gab_free(scalars);
}

void gab_app_flow_scalars_begin(flow_scalars *it)
{
  for (size_t i = 0; i < it->plan->count; i++)
    gab_lbm_scalar_set(it->items[i].scalar, initial_at, &it->items[i]);
}

gab_field *gab_app_flow_scalars_field(const flow_scalars *it, size_t index, const gab_block *block)
{
  return gab_block_data(block, gab_lbm_scalar_data(it->items[index].scalar));
}

/* ---------------------------------------------------------------- a step */

static gab_status advance(void *user, gab_step step)
{
  const flow_scalars *it = user;
  (void)step;
  for (size_t i = 0; i < it->plan->count; i++) GAB_TRY(gab_lbm_scalar_step(it->items[i].scalar));
  return GAB_OK;
}

gab_status gab_app_flow_scalars_add(flow_scalars *it, gab_timeloop *loop)
{
  return gab_timeloop_add_task(loop, "scalars", advance, it);
}

gab_status gab_app_flow_scalars_check_finite(const flow_scalars *it)
{
  for (size_t i = 0; it && i < it->plan->count; i++)
    GAB_TRY(gab_lbm_scalar_check_finite(it->items[i].scalar));
  return GAB_OK;
}

bool gab_app_flow_scalars_name_levers(const flow_scalars *it, bool has_flow_diverged)
{
  bool has_named = false;
  for (size_t i = 0; it && i < it->plan->count; i++) {
    const scalar_plan *plan = it->items[i].plan;
    char source[256] = "";
    uint64_t is_bad = gab_lbm_scalar_check_finite(it->items[i].scalar) != GAB_OK;
    if (gab_world_max_u64(gab_forest_world(it->forest), &is_bad, 1) != GAB_OK || !is_bad) continue;
    if (has_flow_diverged && plan->expansion == 0) continue; /* it has only followed the flow */
    if (plan->source)
      snprintf(source, sizeof source, "scalars.%zu.source (now %.150s) finite everywhere and at all times; ",
               i, gab_expression_text(plan->source));
    gab_log(
        GAB_LOG_INFO,
        "  what may help for %s: %sa smaller units.dt; more scalars.%zu.substeps (now %d), if the flow is "
        "faster than this file says",
        plan->name, source, i, plan->options.substeps);
    has_named = true;
  }
  return has_named;
}

size_t gab_app_flow_scalars_quantities(const flow_scalars *it, gab_quantity *items, size_t count)
{
  for (size_t i = 0; it && i < it->plan->count; i++) {
    gab_quantity both[2];
    gab_lbm_scalar_quantities(it->items[i].scalar, both);
    items[count++] = both[0];
  }
  return count;
}

/* ---------------------------------------------------------------- numbers */

const char *const gab_app_side_names[GAB_SIDE_COUNT] = {"x_min", "x_max", "y_min", "y_max", "z_min", "z_max"};

static bool has_side(const flow_scalars *it, int side)
{
  const gab_forest_options *grid = gab_forest_get_options(it->forest);
  return side < 2 * grid->grid.dimension && !grid->periodic[side / 2];
}

static double mean_of(const carried *it, const gab_lbm_scalar_balance *last)
{
  return last->sum / last->volume + it->plan->reference;
}

static double mean_in(const carried *it, const gab_lbm_scalar_body *body)
{
  return body->sum / body->volume + it->plan->reference;
}

/* Of a flux in lattice units: W, or the unit times m^3/s; in 2D per m. */
static double physical(const flow_scalars *all, const carried *it, double flux)
{
  const gab_units *units = &all->plan->units;
  return flux * pow(units->dx, gab_forest_get_options(all->forest)->grid.dimension) / units->dt *
         it->plan->capacity;
}

static bool has_number_at(gab_lbm_scalar_side_kind kind)
{
  return kind == GAB_SCALAR_FIXED || kind == GAB_SCALAR_CONDUCTS;
}

/* Nusselt's or Sherwood's number, NaN where there is none: it belongs to walls with a value, and to conducting bodies. */
static double number_of(const flow_scalars *all, const carried *it, gab_lbm_scalar_side_kind kind,
                        bool is_wall, double flux, double area)
{
  const scalar_plan *plan = it->plan;
  if (!has_number_at(kind) || !is_wall || !(plan->difference > 0) || !(area > 0)) return NAN;
  return flux / area * (plan->length / all->plan->units.dx) / (plan->options.diffusivity * plan->difference);
}

/* Fluid passes no part of it, and it has no patches. */
static bool is_wall(const flow_scalars *all, int side)
{
  const gab_patches *patches = gab_lbm_get_options(all->lbm)->patches;
  return !gab_lbm_passes_fluid(all->lbm, side) && !(patches && patches->sides >> side & 1);
}

static double number_of_side(const flow_scalars *all, const carried *it, const gab_lbm_scalar_balance *last,
                             int side)
{
  return number_of(all, it, it->plan->options.sides[side].kind, is_wall(all, side), last->sides[side],
                   last->side_areas[side]);
}

static double number_of_body(const flow_scalars *all, const carried *it, const gab_lbm_scalar_body *bodies,
                             size_t index)
{
  return number_of(all, it, it->plan->bodies[index].kind, true, bodies[index].flux, bodies[index].area);
}

/* ---------------------------------------------------------------- the table */

enum { MOST_LETTERS = 96 };

typedef struct column_list {
  char (*names)[MOST_LETTERS];
  double *values;
  size_t count;
} column_list;

static void put(column_list *to, const carried *it, const char *where, const char *what, double value)
{
  if (to->names) snprintf(to->names[to->count], MOST_LETTERS, "%s.%s%s", it->plan->name, where, what);
  if (to->values) to->values[to->count] = value;
  to->count++;
}

static void put_place(column_list *to, const carried *it, const char *where, bool has_number, double flux,
                      double number)
{
  put(to, it, where, ".flux", flux);
  if (has_number) put(to, it, where, it->plan->is_species ? ".sherwood" : ".nusselt", number);
}

/* Names, values or both of all columns of a scalar. */
static void put_columns(const flow_scalars *all, const carried *it, const gab_lbm_scalar_balance *last,
                        const gab_lbm_scalar_body *bodies, column_list *to)
{
  const scalar_plan *plan = it->plan;
  const bool has_numbers = plan->difference > 0;
  put(to, it, "", "mean", mean_of(it, last));
  put(to, it, "", "min", last->least + plan->reference);
  put(to, it, "", "max", last->most + plan->reference);
  for (int side = 0; side < 6; side++)
    if (has_side(all, side))
      put_place(to, it, gab_app_side_names[side],
                has_numbers && plan->options.sides[side].kind == GAB_SCALAR_FIXED && is_wall(all, side),
                physical(all, it, last->sides[side]), number_of_side(all, it, last, side));
  for (size_t i = 0; i < all->body_count; i++) {
    const char *name = gab_geometry_body(gab_lbm_get_geometry(all->lbm), i)->name;
    put_place(to, it, name, has_numbers && has_number_at(plan->bodies[i].kind),
              physical(all, it, bodies[i].flux), number_of_body(all, it, bodies, i));
    if (plan->bodies[i].kind != GAB_SCALAR_CONDUCTS) continue;
    put(to, it, name, ".mean", mean_in(it, &bodies[i]));
    put(to, it, name, ".max", bodies[i].most + plan->reference);
  }
}

static gab_status row(void *user, gab_step step, double time, double *values)
{
  flow_scalars *all = user;
  column_list to = {.values = values};
  (void)step, (void)time;
  for (size_t i = 0; i < all->plan->count; i++) {
    carried *it = &all->items[i];
    GAB_TRY(gab_lbm_scalar_get_balance(it->scalar, &it->last, it->bodies));
    put_columns(all, it, &it->last, it->bodies, &to);
  }
  return GAB_OK;
}

static gab_status add_series(flow_scalars *all, gab_output *output, column_list *to, const char **names)
{
  to->count = 0;
  for (size_t i = 0; i < all->plan->count; i++)
    put_columns(all, &all->items[i], &all->items[i].last, all->items[i].bodies, to);
  for (size_t i = 0; i < to->count; i++) names[i] = to->names[i];
  return gab_output_add_series(output, all->plan->output, "scalars", names, to->count, row, all, NULL);
}

gab_status gab_app_flow_scalars_add_writers(flow_scalars *all, gab_output *output)
{
  const size_t most = FLOW_MOST_SCALARS * (3 + 2 * 6 + 4 * all->body_count);
  column_list to = {0};
  const char **names = NULL;
  if (all->plan->output.every == 0) return GAB_OK;
  gab_status status = GAB_NEW_ARRAY(&to.names, most, GAB_MEMORY_OTHER);
  if (status == GAB_OK) status = GAB_NEW_ARRAY(&names, most, GAB_MEMORY_OTHER);
  if (status == GAB_OK) status = add_series(all, output, &to, names);
  gab_free(&to.names);
  gab_free(&names);
  return status;
}

/* ---------------------------------------------------------------- results */

static void report_number(const carried *it, const char *where, double number)
{
  if (!isnan(number))
    gab_log(GAB_LOG_INFO, "  %s, %s: %s number %.5g", it->plan->name, where,
            it->plan->is_species ? "Sherwood" : "Nusselt", number);
}

gab_status gab_app_flow_scalars_finish(flow_scalars *all)
{
  for (size_t i = 0; i < all->plan->count; i++) {
    carried *it = &all->items[i];
    GAB_TRY(gab_lbm_scalar_get_balance(it->scalar, &it->last, it->bodies));
    gab_log(GAB_LOG_INFO, "%s: mean %.6g, from %.6g to %.6g%s%s", it->plan->name, mean_of(it, &it->last),
            it->last.least + it->plan->reference, it->last.most + it->plan->reference,
            it->plan->unit[0] ? " " : "", it->plan->unit);
    for (int side = 0; side < 6; side++)
      report_number(it, gab_app_side_names[side], number_of_side(all, it, &it->last, side));
    for (size_t b = 0; b < all->body_count; b++) {
      if (it->plan->bodies[b].kind == GAB_SCALAR_CONDUCTS)
        gab_log(GAB_LOG_INFO, "  in %s: mean %.6g, at most %.6g%s%s",
                gab_geometry_body(gab_lbm_get_geometry(all->lbm), b)->name, mean_in(it, &it->bodies[b]),
                it->bodies[b].most + it->plan->reference, it->plan->unit[0] ? " " : "", it->plan->unit);
      report_number(it, gab_geometry_body(gab_lbm_get_geometry(all->lbm), b)->name,
                    number_of_body(all, it, it->bodies, b));
    }
  }
  return GAB_OK;
}

void gab_app_flow_scalars_put(const flow_scalars *all, gab_json *json)
{
  char names[2][MOST_LETTERS];
  if (!all) return;
  gab_json_object(json, "scalars");
  for (size_t i = 0; i < all->plan->count; i++) {
    const carried *it = &all->items[i];
    const char *number = it->plan->is_species ? "sherwood" : "nusselt";
    gab_json_object(json, it->plan->name);
    gab_json_real(json, "mean", mean_of(it, &it->last));
    gab_json_real(json, "min", it->last.least + it->plan->reference);
    gab_json_real(json, "max", it->last.most + it->plan->reference);
    for (size_t place = 0; place < 6 + all->body_count; place++) {
      const int side = (int)place;
      const bool is_side = place < 6;
      if (is_side && !has_side(all, side)) continue;
      const char *where = is_side ? gab_app_side_names[side]
                                  : gab_geometry_body(gab_lbm_get_geometry(all->lbm), place - 6)->name;
      const double found =
          is_side ? number_of_side(all, it, &it->last, side) : number_of_body(all, it, it->bodies, place - 6);
      snprintf(names[0], sizeof names[0], "flux_%s", where);
      snprintf(names[1], sizeof names[1], "%s_%s", number, where);
      gab_json_real(json, names[0],
                    physical(all, it, is_side ? it->last.sides[side] : it->bodies[place - 6].flux));
      if (!isnan(found)) gab_json_real(json, names[1], found);
      if (is_side || it->plan->bodies[place - 6].kind != GAB_SCALAR_CONDUCTS) continue;
      snprintf(names[0], sizeof names[0], "mean_%s", where);
      snprintf(names[1], sizeof names[1], "max_%s", where);
      gab_json_real(json, names[0], mean_in(it, &it->bodies[place - 6]));
      gab_json_real(json, names[1], it->bodies[place - 6].most + it->plan->reference);
    }
    gab_json_close(json);
  }
  gab_json_close(json);
}

/* ---------------------------------------------------------------- plan */

gab_status gab_app_flow_scalars_plan(const flow_scalars *all, gab_app_plan *plan)
{
  for (size_t i = 0; all && i < all->plan->count; i++) {
    gab_data_id data[2];
    const gab_ghost_kind ghosts = gab_lbm_scalar_fields(all->items[i].scalar, data);
    gab_app_plan_add_ghosts(plan, &ghosts);
    GAB_TRY(gab_app_plan_add_data(plan, data[0]));
    GAB_TRY(gab_app_plan_add_data(plan, data[1]));
  }
  return GAB_OK;
}

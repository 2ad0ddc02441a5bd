/* SPDX-License-Identifier: Apache-2.0 */
/* Trial of functions of single cells, and of criteria: start, add, quantities, measure. */
#include "apps/driver/stencil/trial_impl.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static const trial_way with_values = {.border = SIZE_MAX};
static const trial_way with_nans = {.poison = TRIAL_NAN, .behind = TRIAL_NAN};
static const trial_way with_huge = {.poison = TRIAL_HUGE, .behind = TRIAL_HUGE};

static void set_all(double *values, int count, double value)
{
  for (int i = 0; i < count; i++) values[i] = value;
}

static int first_difference(const double *a, const double *b, int count)
{
  return (int)gab_app_trial_difference(a, b, (size_t)count);
}

bool gab_app_stencil_is_tried(const stencil_run *run)
{
  const char *told = getenv("GABION_TRIAL");
  return !gab_app_stencil->untried && !(told && strcmp(told, "0") == 0) &&
         gab_forest_block_count(run->base.forest) > 0;
}

/* ---------------------------------------------------------------- start */

/* Elements behind the values of fields must stay unchanged. */
static gab_status check_start_end(const stencil_run *run, const gab_block *block)
{
  enum { VALUES = 2 * GAB_STENCIL_MOST_FIELDS };
  double values[VALUES] = {0}, centre[3];
  const int fields = gab_app_stencil_field_count();
  gab_block_cell_centre(run->base.forest, block, 0, 0, 0, centre);
  set_all(values + fields, VALUES - fields, -1);
  gab_app_stencil->start(run->base.parameters->config, centre, values);
  for (int i = fields; i < VALUES; i++)
    if (values[i] != -1)
      GAB_FAIL(
          GAB_ERR_ARGUMENT,
          "%s: start sets values[%d] of the cell at (%g, %g, %g), but the last field is values[%d]; add a name to "
          "gab_stencil.fields (GABION_TRIAL=0 skips this trial)",
          gab_app_stencil->name, i, centre[0], centre[1], centre[2], fields - 1);
  return GAB_OK;
}

static gab_status check_start_cell(const stencil_run *run, const gab_block *block, const int32_t at[3])
{
  const gab_field *now = gab_block_data(block, run->now);
  const gab_box cells = gab_block_cells(run->base.forest, block);
  const int64_t cell[3] = {cells.lo[0] + at[0], cells.lo[1] + at[1], cells.lo[2] + at[2]};
  double values[GAB_STENCIL_MOST_FIELDS], centre[3];
  gab_app_stencil_start_cell(run->parameters, gab_block_level(run->base.forest, block), cell, values);
  for (int f = 0; f < now->shape.components; f++) {
    const double first = gab_field_get(now, at[0], at[1], at[2], f);
    if (first == values[f] || (isnan(first) && isnan(values[f]))) continue;
    gab_block_cell_centre(run->base.forest, block, at[0], at[1], at[2], centre);
    GAB_FAIL(
        GAB_ERR_ARGUMENT,
        "%s: start gives %s %.17g once and %.17g when called again for the cell at (%g, %g, %g); use no random numbers and "
        "keep nothing in static variables: gab_hash_counter() of the place is random and repeatable (GABION_TRIAL=0 skips "
        "this trial)",
        gab_app_stencil->name, gab_app_stencil->fields[f], first, values[f], centre[0], centre[1], centre[2]);
  }
  return GAB_OK;
}

gab_status gab_app_stencil_try_start(const stencil_run *run)
{
  if (!gab_app_stencil->start || !gab_app_stencil_is_tried(run)) return GAB_OK;
  const gab_block *block = gab_forest_block(run->base.forest, 0);
  const int32_t *cells = run->shape.shape.cells;
  GAB_TRY(check_start_end(run, block));
  for (int32_t z = cells[2] - 1; z >= 0; z--)
    for (int32_t y = cells[1] - 1; y >= 0; y--)
      for (int32_t x = cells[0] - 1; x >= 0; x--)
        GAB_TRY(check_start_cell(run, block, (const int32_t[3]){x, y, z}));
  return GAB_OK;
}

/* ---------------------------------------------------------------- add */

static gab_status check_add(const trial *it, const trial_subject *subject)
{
  const int count = gab_app_stencil_count(gab_app_stencil->sums);
  double values[GAB_STENCIL_MOST_FIELDS], terms[2][GAB_STENCIL_MOST_SUMS];
  char block[TRIAL_TEXT];
  if (!gab_app_stencil->add) return GAB_OK;
  for (size_t cell = 0; cell < it->cells; cell++) {
    for (int f = 0; f < it->layout.shape.components; f++)
      values[f] = subject->given[(size_t)f * it->cells + cell];
    for (int i = 0; i < 2; i++) {
      set_all(terms[i], GAB_STENCIL_MOST_SUMS, i == 0 ? NAN : -1);
      gab_app_stencil->add(values, terms[i]);
    }
    const int wrong = first_difference(terms[0], terms[1], count);
    if (wrong < count)
      GAB_FAIL(
          GAB_ERR_ARGUMENT,
          "%s: add does not set terms[%d], of the sum %s, for a cell of %s, or not to the same number again; set one term for "
          "each name of gab_stencil.sums (GABION_TRIAL=0 skips this trial)",
          gab_app_stencil->name, wrong, gab_app_stencil->sums[wrong],
          gab_app_trial_block(&subject->at, block));
  }
  return GAB_OK;
}

/* ---------------------------------------------------------------- quantities */

enum { MOST_COMPONENTS = 3 };

static void evaluate(const trial *it, const trial_subject *subject, const gab_stencil_quantity *which,
                     const gab_field *now, size_t cell, double unset, double *values)
{
  const trial_place place = gab_app_trial_place_of_value(it, cell);
  set_all(values, MOST_COMPONENTS, unset);
  which->evaluate(&(gab_stencil_cell){.config = subject->at.config,
                                      .forest = subject->at.forest,
                                      .block = subject->at.block,
                                      .time = subject->at.time,
                                      .width = subject->at.width,
                                      .now = now,
                                      .x = place.at[0],
                                      .y = place.at[1],
                                      .z = place.at[2]},
                  values);
}

static gab_status refuse_quantity(const trial_subject *subject, const gab_stencil_quantity *which,
                                  const trial_place *place, int component, const char *why)
{
  char block[TRIAL_TEXT];
  GAB_FAIL(GAB_ERR_ARGUMENT,
           "%s: quantity %s in cell (%" PRId32 ", %" PRId32 ", %" PRId32
           ") of %s: value %d %s (GABION_TRIAL=0 skips this trial)",
           gab_app_stencil->name, which->name, place->at[0], place->at[1], place->at[2],
           gab_app_trial_block(&subject->at, block), component, why);
}

static gab_status check_quantity(trial *it, const trial_subject *subject, const gab_stencil_quantity *which)
{
  double values[MOST_COMPONENTS], again[MOST_COMPONENTS];
  const gab_field now = gab_app_trial_fill(it, subject, &with_values, it->now),
                  other = gab_app_trial_fill(it, subject, &with_nans, it->next);
  for (size_t cell = 0; cell < it->cells; cell++) {
    const trial_place place = gab_app_trial_place_of_value(it, cell);
    evaluate(it, subject, which, &now, cell, NAN, values);
    evaluate(it, subject, which, &now, cell, -1, again);
    int wrong = first_difference(values, again, which->components);
    if (wrong < which->components)
      return refuse_quantity(
          subject, which, &place, wrong,
          "is not set, or not to the same number again; set as many values as it has components");
    evaluate(it, subject, which, &other, cell, NAN, again);
    wrong = first_difference(values, again, which->components);
    if (wrong < which->components)
      return refuse_quantity(
          subject, which, &place, wrong,
          "depends on values of `now` that are not filled; read components of fields, at most one cell "
          "beyond faces, and beyond edges and corners only with gab_stencil.diagonals");
  }
  return GAB_OK;
}

/* ---------------------------------------------------------------- criteria */

static gab_status check_criterion(trial *it, const trial_subject *subject, const gab_stencil_criterion *which)
{
  char block[TRIAL_TEXT];
  for (int field = 0; field < it->layout.shape.components; field++) {
    const gab_field now = gab_app_trial_fill(it, subject, &with_values, it->now),
                    other = gab_app_trial_fill(it, subject, &with_nans, it->next);
    const double measured[2] = {which->measure(&now, field), which->measure(&now, field)};
    const double again[2] = {measured[0], which->measure(&other, field)};
    if (first_difference(measured, again, 2) == 2 && first_difference(measured, &measured[1], 1) == 1)
      continue;
    GAB_FAIL(
        GAB_ERR_ARGUMENT,
        "%s: criterion %s measures %g of %s in %s once, then %g, and %g with other values where ghosts are not filled; it must be "
        "a function of cells and of ghosts beyond faces (GABION_TRIAL=0 skips this trial)",
        gab_app_stencil->name, which->name, measured[0], gab_app_stencil->fields[field],
        gab_app_trial_block(&subject->at, block), measured[1], again[1]);
  }
  return GAB_OK;
}

/* ---------------------------------------------------------------- bound */

static double bound_of(const trial_subject *subject, const gab_field *now)
{
  gab_stencil_block at = subject->at;
  at.now = now;
  at.next = NULL;
  at.dt = 0;
  return gab_app_stencil->bound(&at);
}

static gab_status check_bound(trial *it, const trial_subject *subject)
{
  char block[TRIAL_TEXT];
  gab_field now = gab_app_trial_fill(it, subject, &with_values, it->now),
            other = gab_app_trial_fill(it, subject, &with_nans, it->next);
  double found[4] = {bound_of(subject, &now), bound_of(subject, &now), bound_of(subject, &other)};
  other = gab_app_trial_fill(it, subject, &with_huge, it->next);
  found[3] = bound_of(subject, &other);
  const int wrong = first_difference(found, &found[1], 3);
  if (wrong == 3) return GAB_OK;
  GAB_FAIL(
      GAB_ERR_ARGUMENT,
      "%s: bound gives a time step of %g in %s, then %g %s; it must be a function of cells and of ghosts that are "
      "filled (GABION_TRIAL=0 skips this trial)",
      gab_app_stencil->name, found[wrong], gab_app_trial_block(&subject->at, block), found[wrong + 1],
      wrong == 0 ? "from the same values" : "with other values where ghosts are not filled");
}

gab_status gab_app_trial_cells(trial *it, const stencil_run *run)
{
  const trial_subject *subject = &it->subjects[0];
  GAB_TRY(check_add(it, subject));
  if (run->parameters->cfl > 0) GAB_TRY(check_bound(it, subject));
  for (size_t i = 0; i < gab_app_stencil->quantity_count; i++)
    GAB_TRY(check_quantity(it, subject, &gab_app_stencil->quantities[i]));
  for (size_t i = 0; i < gab_app_stencil->criterion_count && run->parameters->finest > 0; i++)
    GAB_TRY(check_criterion(it, subject, &gab_app_stencil->criteria[i]));
  return GAB_OK;
}

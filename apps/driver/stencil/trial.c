/* SPDX-License-Identifier: Apache-2.0 */
/* The trial of update before the first step of a process (stencil.h, "Trial"). It reads blocks and writes copies. */
#include "apps/driver/stencil/trial_impl.h"

#include <math.h>

/* Copies of larger blocks could exceed the memory of a process. */
enum { MOST_MIB = 256 };

struct gab_stencil_trial {
  trial it;
};

/* ---------------------------------------------------------------- blocks on trial */

static bool is_uniform(const gab_field *now)
{
  const gab_box box = gab_field_interior(now);
  for (int c = 0; c < now->shape.components; c++)
    for (int32_t z = 0; z < box.hi[2]; z++)
      for (int32_t y = 0; y < box.hi[1]; y++)
        for (int32_t x = 0; x < box.hi[0]; x++)
          if (gab_field_get(now, x, y, z, c) != gab_field_get(now, 0, 0, 0, c)) return false;
  return true;
}

/* A block with varying values shows more than one of zeros. */
static size_t first_of(const stencil_run *run)
{
  const size_t count = gab_forest_block_count(run->base.forest);
  for (size_t i = 0; i < count; i++)
    if (!is_uniform(gab_block_data(gab_forest_block(run->base.forest, i), run->now))) return i;
  return 0;
}

/* A block of another level, or the last one. */
static size_t second_of(const stencil_run *run, size_t first)
{
  const gab_forest *forest = run->base.forest;
  const size_t count = gab_forest_block_count(forest);
  const int level = gab_block_level(forest, gab_forest_block(forest, first));
  for (size_t i = 0; i < count; i++)
    if (gab_block_level(forest, gab_forest_block(forest, i)) != level) return i;
  return first == count - 1 ? 0 : count - 1;
}

static gab_status add_subject(const stencil_run *run, trial *it, size_t index, gab_step step)
{
  trial_subject *subject = &it->subjects[it->count++];
  subject->at = gab_app_stencil_block_of(run, index, step);
  GAB_TRY(GAB_NEW_ARRAY(&subject->given, it->values, GAB_MEMORY_OTHER));
  GAB_TRY(GAB_NEW_ARRAY(&subject->first, it->values, GAB_MEMORY_OTHER));
  GAB_TRY(GAB_NEW_ARRAY(&subject->plain, it->values, GAB_MEMORY_OTHER));
  const gab_box box = gab_field_interior(subject->at.now);
  gab_field_pack_box(subject->at.now, &box, NULL, subject->at.now->shape.components, subject->given);
  return GAB_OK;
}

static gab_status allocate(const stencil_run *run, trial *it, gab_step step)
{
  const size_t shifted = it->layout.elements + TRIAL_SHIFT, first = first_of(run),
               second = second_of(run, first);
  if (run->stage > 0) {
    GAB_TRY(GAB_NEW_ARRAY(&it->first, shifted, GAB_MEMORY_OTHER));
    GAB_TRY(GAB_NEW_ARRAY(&it->first_before, it->layout.elements, GAB_MEMORY_OTHER));
  }
  GAB_TRY(GAB_NEW_ARRAY(&it->regions, it->layout.elements, GAB_MEMORY_OTHER));
  for (size_t i = 0; i < it->layout.elements; i++) {
    const trial_place place = gab_app_trial_place(&it->layout, i);
    it->regions[i] = (unsigned char)gab_app_trial_region(&it->layout, &place);
  }
  GAB_TRY(GAB_NEW_ARRAY(&it->now, shifted, GAB_MEMORY_OTHER));
  GAB_TRY(GAB_NEW_ARRAY(&it->next, shifted, GAB_MEMORY_OTHER));
  GAB_TRY(GAB_NEW_ARRAY(&it->before, it->layout.elements, GAB_MEMORY_OTHER));
  for (int i = 0; i < 2; i++) GAB_TRY(GAB_NEW_ARRAY(&it->results[i], it->values, GAB_MEMORY_OTHER));
  GAB_TRY(add_subject(run, it, first, step));
  return second == first ? GAB_OK : add_subject(run, it, second, step);
}

void gab_app_stencil_trial_destroy(gab_stencil_trial **which)
{
  if (!*which) return;
  trial *it = &(*which)->it;
  for (int i = 0; i < TRIAL_SUBJECTS; i++) {
    gab_free(&it->subjects[i].given);
    gab_free(&it->subjects[i].first);
    gab_free(&it->subjects[i].plain);
  }
  for (int i = 0; i < 2; i++) gab_free(&it->results[i]);
  gab_free(&it->regions);
  gab_free(&it->now);
  gab_free(&it->next);
  gab_free(&it->before);
  gab_free(&it->first);
  gab_free(&it->first_before);
  gab_free(which);
}

/* ---------------------------------------------------------------- the calls */

static bool are_finite(const double *values, size_t count, size_t *which)
{
  for (*which = 0; *which < count; ++*which)
    if (!isfinite(values[*which])) return false;
  return true;
}

/* With values first: a dependence on them is found before update reads a NaN, with which a loop may not end. */
static gab_status call_first(trial *it, trial_subject *subject)
{
  const trial_way values = {.border = SIZE_MAX};
  size_t which;
  gab_app_trial_call(it, subject, &values, subject->first);
  GAB_TRY(gab_field_check());
  GAB_TRY(gab_app_trial_report(it, subject));
  if (are_finite(it->before, it->layout.elements, &which) && !are_finite(subject->first, it->values, &which))
    return gab_app_trial_report_infinite(it, subject, which);
  return GAB_OK;
}

static gab_status call_again(trial *it, const trial_subject *subject)
{
  const trial_way nans = {
      .poison = TRIAL_NAN, .behind = TRIAL_NAN, .other_memory = true, .other_thread = true};
  gab_app_trial_call(it, subject, &nans, it->results[0]);
  if (it->fault != TRIAL_LEAVES_OUT || gab_app_trial_is_unset(it, subject, subject->first))
    GAB_TRY(gab_app_trial_report(it, subject));
  if (gab_app_trial_difference(subject->first, it->results[0], it->values) < it->values)
    return gab_app_trial_explain(it, subject);
  return GAB_OK;
}

/* As in the next step: a field that is computed only in some steps must be copied in the others. */
static gab_status call_later(trial *it, const trial_subject *subject)
{
  trial_subject later = *subject;
  later.first = subject->plain;
  later.at.step++;
  later.at.time += later.at.dt;
  GAB_TRY(call_first(it, &later));
  return call_again(it, &later);
}

/* Loops over rows of another alignment may use other instructions at their end, with another last digit. */
static gab_status call_plain(trial *it, trial_subject *subject)
{
  double largest = 0;
  gab_app_trial_call_plain(it, subject, subject->plain);
  for (size_t i = 0; i < it->values; i++) largest = fmax(largest, fabs(subject->first[i]));
  for (size_t i = 0; i < it->values; i++)
    if (!(fabs(subject->plain[i] - subject->first[i]) <= 1e-9 * largest) &&
        !(isnan(subject->plain[i]) && isnan(subject->first[i])) && subject->plain[i] != subject->first[i])
      return gab_app_trial_report_difference(it, subject, i, subject->plain[i], subject->first[i],
                                             "with the layout of the step");
  return GAB_OK;
}

/* The second block is computed after the first one and after itself: data kept between blocks differs. */
static gab_status run_calls(trial *it, const stencil_run *run, gab_step step)
{
  for (int i = 0; i < it->count; i++) GAB_TRY(call_first(it, &it->subjects[i]));
  for (int i = it->count - 1; i >= 0; i--) GAB_TRY(call_again(it, &it->subjects[i]));
  if (step + 1 < run->base.parameters->steps) GAB_TRY(call_later(it, &it->subjects[0]));
  for (int i = 0; i < it->count; i++) GAB_TRY(call_plain(it, &it->subjects[i]));
  return run->stage == 0 ? gab_app_trial_cells(it, run) : GAB_OK;
}

gab_status gab_app_stencil_try(const stencil_run *run, gab_step step, gab_stencil_trial **which)
{
  *which = NULL;
  if (!gab_app_stencil_is_tried(run)) return GAB_OK;
  gab_stencil_trial *made;
  GAB_TRY(GAB_NEW(&made, GAB_MEMORY_OTHER));
  trial *it = &made->it;
  const gab_field *now = gab_block_data(gab_forest_block(run->base.forest, 0), run->now);
  gab_app_trial_layout(now, gab_app_stencil->diagonals, &it->layout);
  it->cells = (size_t)now->shape.cells[0] * (size_t)now->shape.cells[1] * (size_t)now->shape.cells[2];
  it->values = it->cells * (size_t)now->shape.components;
  const size_t copies = run->stage > 0 ? 5 : 3;
  if (it->layout.elements * copies * sizeof(double) > (size_t)MOST_MIB << 20 ||
      allocate(run, it, step) != GAB_OK) {
    gab_error_clear();
    gab_app_stencil_trial_destroy(&made);
    return GAB_OK;
  }
  const gab_status status = run_calls(it, run, step);
  if (status != GAB_OK) gab_app_stencil_trial_destroy(&made);
  *which = made;
  return status;
}

gab_status gab_app_stencil_compare(gab_stencil_trial **which)
{
  gab_status status = GAB_OK;
  if (!*which) return GAB_OK;
  trial *it = &(*which)->it;
  for (int i = 0; i < it->count && status == GAB_OK; i++) {
    const trial_subject *subject = &it->subjects[i];
    const gab_box box = gab_field_interior(subject->at.next);
    gab_field_pack_box(subject->at.next, &box, NULL, subject->at.next->shape.components, it->results[0]);
    const size_t value = gab_app_trial_difference(subject->plain, it->results[0], it->values);
    if (value < it->values)
      status = gab_app_trial_report_difference(it, subject, value, it->results[0][value],
                                               subject->plain[value], "in the step");
  }
  gab_app_stencil_trial_destroy(which);
  return status;
}

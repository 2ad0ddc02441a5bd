/* SPDX-License-Identifier: Apache-2.0 */
/* Messages of a trial: place, cause, remedy. */
#include "apps/driver/stencil/trial_impl.h"

#include <stdarg.h>
#include <stdio.h>

const char *gab_app_trial_name(const trial_layout *layout, const trial_place *place, char text[TRIAL_TEXT])
{
  const bool is_known = place->component >= 0 && place->component < layout->shape.components;
  char z[16] = "", component[24];
  if (layout->shape.ghosts[2] > 0 || place->at[2] != 0) snprintf(z, sizeof z, ", %" PRId32, place->at[2]);
  snprintf(component, sizeof component, "component %d", place->component);
  snprintf(text, TRIAL_TEXT, "%s of cell (%" PRId32 ", %" PRId32 "%s)",
           is_known ? gab_app_stencil->fields[place->component] : component, place->at[0], place->at[1], z);
  return text;
}

trial_place gab_app_trial_place_of_value(const trial *it, size_t value)
{
  const int32_t *cells = it->layout.shape.cells;
  const size_t cell = value % it->cells, row = cell / (size_t)cells[0];
  return (trial_place){.at = {(int32_t)(cell % (size_t)cells[0]), (int32_t)(row % (size_t)cells[1]),
                              (int32_t)(row / (size_t)cells[1])},
                       .component = (int)(value / it->cells)};
}

#define REFUSE(status, ...) return refuse(status, subject, __VA_ARGS__)
static gab_status refuse(gab_status status, const trial_subject *subject, const char *format, ...)
    GAB_PRINTF(3, 4);

const char *gab_app_trial_block(const gab_stencil_block *at, char text[TRIAL_TEXT])
{
  gab_app_stencil_name_block(at, text, TRIAL_TEXT);
  return text;
}

static gab_status refuse(gab_status status, const trial_subject *subject, const char *format, ...)
{
  char block[TRIAL_TEXT], stage[24] = "";
  char text[1024];
  va_list arguments;
  va_start(arguments, format);
  vsnprintf(text, sizeof text, format, arguments);
  va_end(arguments);
  if (subject->at.stage > 0) snprintf(stage, sizeof stage, ", stage %d", subject->at.stage);
  GAB_FAIL(status, "%s: %s of %s in step %" GAB_PRI_STEP "%s: %s (GABION_TRIAL=0 skips this trial)",
           gab_app_stencil->name, gab_app_stencil_function(), gab_app_trial_block(&subject->at, block),
           subject->at.step, stage, text);
}

/* In cells beyond the block. */
static int distance(const trial_layout *layout, const trial_place *place)
{
  int most = 0;
  for (int axis = 0; axis < 3; axis++) {
    const int32_t at = place->at[axis], beyond = at < 0 ? -at : at - layout->shape.cells[axis] + 1;
    if (beyond > most) most = beyond;
  }
  return most;
}

/* Reason why the place does not exist, and the remedy. @param[in] verb  of the remedy */
static const char *outside(const trial_layout *layout, const trial_place *place, bool is_read,
                           char text[TRIAL_TEXT])
{
  const int32_t *cells = layout->shape.cells;
  const char *verb = is_read ? "read" : "set";
  if (gab_app_trial_region(layout, place) == TRIAL_COMPONENT)
    snprintf(text, TRIAL_TEXT,
             "a component that does not exist; %s components 0 to %d, or add a name to gab_stencil.fields",
             verb, layout->shape.components - 1);
  else if (layout->shape.ghosts[2] == 0 && place->at[2] != 0)
    snprintf(text, TRIAL_TEXT, "outside of a grid in 2D; %s z = 0 only", verb);
  else if (is_read)
    snprintf(text, TRIAL_TEXT,
             "outside of the block (%" PRId32 " x %" PRId32 " x %" PRId32
             " cells); set gab_stencil.depth = %d, or read at most %" PRId32 " beyond a face",
             cells[0], cells[1], cells[2], distance(layout, place), layout->shape.ghosts[0]);
  else
    snprintf(text, TRIAL_TEXT,
             "outside of the block (%" PRId32 " x %" PRId32 " x %" PRId32
             " cells); set cells 0 to at->cells - 1 of each axis, x first",
             cells[0], cells[1], cells[2]);
  return text;
}

/* ---------------------------------------------------------------- writing */

gab_status gab_app_trial_report(const trial *it, const trial_subject *subject)
{
  const trial_place place = gab_app_trial_place(&it->layout, it->element);
  char name[TRIAL_TEXT], why[TRIAL_TEXT];
  gab_app_trial_name(&it->layout, &place, name);
  switch (it->fault) {
  case TRIAL_WRITES_NOW:
    REFUSE(GAB_ERR_ARGUMENT, "it writes %s in `now`, which it may only read: write to `next`", name);
  case TRIAL_WRITES_FIRST:
    REFUSE(GAB_ERR_ARGUMENT, "it writes %s in `first`, which it may only read: write to `next`", name);
  case TRIAL_WRITES_OUTSIDE:
    REFUSE(GAB_ERR_ARGUMENT, "it writes %s in `next`, %s", name, outside(&it->layout, &place, false, why));
  case TRIAL_LEAVES_OUT:
    REFUSE(
        GAB_ERR_ARGUMENT,
        "it does not set %s in `next` (%zu of %zu values are not set); set all cells and components, copy from `now` what "
        "does not change",
        name, it->left_out, it->values);
  case TRIAL_FINE:
    break;
  }
  return GAB_OK;
}

/* ---------------------------------------------------------------- reading */

static gab_status report_read(const trial *it, const trial_subject *subject, size_t element, size_t value)
{
  const size_t field = element / it->layout.elements;
  const char *from = field == 2 ? "first" : "now";
  const trial_place place = gab_app_trial_place(&it->layout, element % it->layout.elements),
                    shown = gab_app_trial_place_of_value(it, value);
  char read[TRIAL_TEXT], wrong[TRIAL_TEXT], why[TRIAL_TEXT];
  gab_app_trial_name(&it->layout, &place, read);
  gab_app_trial_name(&it->layout, &shown, wrong);
  if (field == 1)
    REFUSE(GAB_ERR_ARGUMENT, "%s depends on %s in `next` from before the step; read from `now` only", wrong,
           read);
  if (gab_app_trial_region(&it->layout, &place) == TRIAL_UNFILLED)
    REFUSE(GAB_ERR_ARGUMENT,
           "%s depends on %s in `%s`, a ghost beyond an edge or corner, which is not filled; set "
           "gab_stencil.diagonals, or read neighbours across faces only",
           wrong, read, from);
  REFUSE(GAB_ERR_ARGUMENT, "%s depends on %s in `%s`, %s", wrong, read, from,
         outside(&it->layout, &place, true, why));
}

/* Whether poison from an element on changes the result. @param[out] value  index of the changed one */
static bool changes(trial *it, const trial_subject *subject, trial_way how, size_t border, size_t *value)
{
  how.border = border;
  gab_app_trial_call(it, subject, &how, it->results[1]);
  *value = gab_app_trial_difference(it->results[0], it->results[1], it->values);
  return *value < it->values;
}

/* Bisection: the result with poison `behind' from element `border' on changes when the border passes the element that
 * is read. */
static gab_status find_read(trial *it, const trial_subject *subject, trial_way how)
{
  size_t value, same = (it->first ? 3 : 2) * it->layout.elements, other = 0;
  how.border = same;
  gab_app_trial_call(it, subject, &how, it->results[0]);
  if (!changes(it, subject, how, other, &value)) return GAB_OK;
  while (same - other > 1) {
    const size_t middle = other + (same - other) / 2;
    if (changes(it, subject, how, middle, &value)) other = middle;
    else same = middle;
  }
  (void)changes(it, subject, how, other, &value);
  return report_read(it, subject, other, value < it->values ? value : 0);
}

/* ---------------------------------------------------------------- dependence on other inputs */

/* Two calls with copies of the same values. @param[in] between  a block computed between them; may be NULL */
static gab_status compare(trial *it, const trial_subject *subject, const trial_way *other,
                          const trial_subject *between, const char *cause)
{
  const trial_way usual = {.border = SIZE_MAX};
  char name[TRIAL_TEXT];
  gab_app_trial_call(it, subject, &usual, it->results[0]);
  if (between) gab_app_trial_call(it, between, &usual, it->results[1]);
  gab_app_trial_call(it, subject, other, it->results[1]);
  const size_t value = gab_app_trial_difference(it->results[0], it->results[1], it->values);
  if (value == it->values) return GAB_OK;
  const trial_place place = gab_app_trial_place_of_value(it, value);
  REFUSE(GAB_ERR_ARGUMENT, "%s is %.17g once and %.17g when computed again from the same values; %s",
         gab_app_trial_name(&it->layout, &place, name), it->results[0][value], it->results[1][value], cause);
}

gab_status gab_app_trial_explain(trial *it, const trial_subject *subject)
{
  const trial_way usual = {.border = SIZE_MAX}, moved = {.border = SIZE_MAX, .other_memory = true},
                  elsewhere = {.border = SIZE_MAX, .other_thread = true};
  const trial_subject *between = subject == it->subjects ? &it->subjects[it->count - 1] : it->subjects;
  GAB_TRY(compare(it, subject, &usual, NULL,
                  "use no random numbers, clocks or counters, and keep nothing in static variables"));
  if (between != subject)
    GAB_TRY(compare(it, subject, &usual, between,
                    "another block was computed between: keep nothing in static variables"));
  GAB_TRY(
      compare(it, subject, &moved, NULL,
              "memory that it does not set held other bytes: set local variables and allocated memory before "
              "reading them"));
  GAB_TRY(compare(
      it, subject, &elsewhere, NULL,
      "another thread computed it: use neither its number nor variables that differ between threads"));
  GAB_TRY(find_read(it, subject, (trial_way){.behind = TRIAL_OTHER_VALUES}));
  GAB_TRY(find_read(it, subject, (trial_way){.behind = TRIAL_NAN}));
  REFUSE(GAB_ERR_ARGUMENT, "%s",
         "computed several times from the same values it gave different ones; it must be a "
         "function of at->now, at->block, at->step and parameters");
}

gab_status gab_app_trial_report_difference(const trial *it, const trial_subject *subject, size_t value,
                                           double got, double expected, const char *where)
{
  const trial_place place = gab_app_trial_place_of_value(it, value);
  char name[TRIAL_TEXT];
  REFUSE(GAB_ERR_ARGUMENT,
         "%s is %.17g %s, but %.17g when computed alone from the same values; use at->now->map for indices, "
         "keep nothing in static variables, share no memory between threads",
         gab_app_trial_name(&it->layout, &place, name), got, where, expected);
}

gab_status gab_app_trial_report_infinite(const trial *it, const trial_subject *subject, size_t value)
{
  const trial_place place = gab_app_trial_place_of_value(it, value);
  char name[TRIAL_TEXT];
  REFUSE(
      GAB_ERR_DIVERGED,
      "%s becomes NaN or infinite, computed from finite values; look for divisions by zero, and roots and logarithms of "
      "negative numbers",
      gab_app_trial_name(&it->layout, &place, name));
}

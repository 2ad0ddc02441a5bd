/* SPDX-License-Identifier: Apache-2.0 */
#include "field/checked_access.h"

#include "core/base/log.h"
#include "field/field.h"

#include <math.h>
#include <stdatomic.h>
#include <stdio.h>

enum { TEXT = 1024, PLACE = 256 };

/* The first access outside: whoever sets `taken' writes `text', and then sets `is_known'. */
static atomic_flag taken = ATOMIC_FLAG_INIT;
static atomic_bool is_known;
static char text[TEXT];

static _Thread_local struct {
  void (*describe)(const void *what, char *text, size_t capacity);
  const void *what;
} computed;

void gab_field_computes(void (*describe)(const void *what, char *text, size_t capacity), const void *what)
{
  computed.describe = describe;
  computed.what = what;
}

typedef struct call {
  const char *name, *file;
  int line;
  int32_t x, y, z;
  int component;
} call;

static void refuse(const call *from, const char *why)
{
  char place[PLACE] = "";
  if (atomic_flag_test_and_set(&taken)) return;
  if (computed.describe) computed.describe(computed.what, place, sizeof place);
  snprintf(text, sizeof text,
           "%s:%d: %s() of cell (%" PRId32 ", %" PRId32 ", %" PRId32
           "), component %d%s%s: %s; correct the index",
           from->file, from->line, from->name, from->x, from->y, from->z, from->component,
           place[0] ? ", in " : "", place, why);
  if (!computed.describe) gab_log(GAB_LOG_ERROR, "%s", text);
  atomic_store(&is_known, true);
}

gab_status gab_field_check(void)
{
  if (!atomic_load_explicit(&is_known, memory_order_acquire)) return GAB_OK;
  bool known = true; /* one of several threads reports it */
  if (!atomic_compare_exchange_strong(&is_known, &known, false)) return GAB_OK;
  gab_error_set(GAB_ERR_ARGUMENT, __FILE__, __LINE__, "%s", text);
  atomic_flag_clear(&taken);
  return GAB_ERR_ARGUMENT;
}

static bool is_inside(const gab_field *field, const call *from)
{
  const gab_field_shape *shape = &field->shape;
  const int32_t at[3] = {from->x, from->y, from->z};
  char why[PLACE];
  if (from->component < 0 || from->component >= shape->components) {
    snprintf(why, sizeof why, "the field has components 0 to %d", shape->components - 1);
    refuse(from, why);
    return false;
  }
  for (int axis = 0; axis < 3; axis++) {
    const int32_t least = -shape->ghosts[axis], most = shape->cells[axis] + shape->ghosts[axis] - 1;
    if (at[axis] >= least && at[axis] <= most) continue;
    snprintf(why, sizeof why,
             "the field has %c from %" PRId32 " to %" PRId32 " with ghosts, cells 0 to %" PRId32, "xyz"[axis],
             least, most, shape -> cells[axis] - 1);
    refuse(from, why);
    return false;
  }
  return true;
}

/* ---------------------------------------------------------------- behind the macros of field.h, which are off here */

double gab_field_get_checked(const gab_field *field, int32_t x, int32_t y, int32_t z, int component,
                             const char *file, int line)
{
  const call from = {"gab_field_get", file, line, x, y, z, component};
  return is_inside(field, &from) ? gab_field_get(field, x, y, z, component) : NAN;
}

void gab_field_set_checked(gab_field *field, int32_t x, int32_t y, int32_t z, int component, double value,
                           const char *file, int line)
{
  const call from = {"gab_field_set", file, line, x, y, z, component};
  if (is_inside(field, &from)) gab_field_set(field, x, y, z, component, value);
}

size_t gab_field_index_checked(const gab_field_map *map, int32_t x, int32_t y, int32_t z, int component,
                               const char *file, int line)
{
  const call from = {"gab_field_index", file, line, x, y, z, component};
  const size_t index = gab_field_index(map, x, y, z, component);
  if (index < map->elements) return index;
  refuse(&from, "it is outside of the memory of the field");
  return 0;
}

/* SPDX-License-Identifier: Apache-2.0 */
#include "field/field.h"

#include <string.h>

#if defined(__BYTE_ORDER__) && __BYTE_ORDER__ != __ORDER_LITTLE_ENDIAN__
#error "packed fields are little-endian; this host needs a byte swap here"
#endif

/* A box of one component: rows along x, one memcpy each where their values are adjacent. */
typedef struct rows {
  unsigned char *first;
  size_t count[3];   /* of values along the axes */
  ptrdiff_t step[3]; /* bytes from one to the next */
  size_t value_bytes;
} rows;

static rows rows_of(const gab_field *field, const gab_box *box, int component)
{
  size_t bytes = gab_precision_bytes(field->shape.precision);
  rows made = {.value_bytes = bytes};
  made.first = (unsigned char *)field->data + bytes * gab_field_index(&field->map, (int32_t)box->lo[0],
                                                                      (int32_t)box->lo[1],
                                                                      (int32_t)box->lo[2], component);
  for (int axis = 0; axis < 3; axis++) {
    made.count[axis] = (size_t)(box->hi[axis] - box->lo[axis]);
    made.step[axis] = (ptrdiff_t)bytes * field->map.stride[axis];
  }
  return made;
}

/* The same values in the same order, packed. */
static rows packed_like(const rows *like, unsigned char *bytes)
{
  rows made = *like;
  made.first = bytes;
  made.step[0] = (ptrdiff_t)like->value_bytes;
  made.step[1] = made.step[0] * (ptrdiff_t)like->count[0];
  made.step[2] = made.step[1] * (ptrdiff_t)like->count[1];
  return made;
}

/* Values with a fixed distance; the size is a constant in each of the two loops, so that memcpy is a move. */
static void copy_line(unsigned char *to, ptrdiff_t to_step, const unsigned char *from, ptrdiff_t from_step,
                      size_t count, size_t value_bytes)
{
  if (value_bytes == sizeof(double))
    for (size_t i = 0; i < count; i++)
      memcpy(to + (ptrdiff_t)i * to_step, from + (ptrdiff_t)i * from_step, sizeof(double));
  else
    for (size_t i = 0; i < count; i++)
      memcpy(to + (ptrdiff_t)i * to_step, from + (ptrdiff_t)i * from_step, sizeof(float));
}

static void copy_rows(const rows *to, const rows *from)
{
  const size_t *count = from->count, bytes = from->value_bytes;
  bool adjacent = to->step[0] == (ptrdiff_t)bytes && from->step[0] == (ptrdiff_t)bytes && count[0] > 1;
  for (size_t z = 0; z < count[2]; z++) {
    unsigned char *target = to->first + (ptrdiff_t)z * to->step[2];
    const unsigned char *source = from->first + (ptrdiff_t)z * from->step[2];
    if (count[0] == 1) {
      copy_line(target, to->step[1], source, from->step[1], count[1], bytes);
      continue;
    }
    for (size_t y = 0; y < count[1]; y++, target += to->step[1], source += from->step[1])
      if (adjacent) memcpy(target, source, count[0] * bytes);
      else copy_line(target, to->step[0], source, from->step[0], count[0], bytes);
  }
}

size_t gab_field_box_bytes(const gab_field *field, const gab_box *box, int component_count)
{
  return gab_box_count(box) * (size_t)component_count * gab_precision_bytes(field->shape.precision);
}

void gab_field_pack_box(const gab_field *field, const gab_box *box, const int *components,
                        int component_count, void *bytes)
{
  size_t each = gab_field_box_bytes(field, box, 1);
  if (each == 0) return;
  for (int i = 0; i < component_count; i++) {
    rows from = rows_of(field, box, components ? components[i] : i);
    rows to = packed_like(&from, (unsigned char *)bytes + (size_t)i * each);
    copy_rows(&to, &from);
  }
}

void gab_field_unpack_box(gab_field *field, const gab_box *box, const int *components, int component_count,
                          const void *bytes)
{
  size_t each = gab_field_box_bytes(field, box, 1);
  if (each == 0) return;
  for (int i = 0; i < component_count; i++) {
    rows to = rows_of(field, box, components ? components[i] : i);
    /* only read */
    rows from = packed_like(&to, (unsigned char *)(uintptr_t)bytes + (size_t)i * each);
    copy_rows(&to, &from);
  }
}

void gab_field_copy_component(gab_field *to, const gab_box *to_box, int to_component, const gab_field *from,
                              const gab_box *from_box, int from_component)
{
  if (gab_box_count(to_box) == 0) return;
  rows target = rows_of(to, to_box, to_component), source = rows_of(from, from_box, from_component);
  copy_rows(&target, &source);
}

void gab_field_copy_box(gab_field *to, const gab_box *to_box, const gab_field *from, const gab_box *from_box,
                        const int *components, int component_count)
{
  for (int i = 0; i < component_count; i++) {
    int component = components ? components[i] : i;
    gab_field_copy_component(to, to_box, component, from, from_box, component);
  }
}

gab_status gab_field_put(const gab_field *field, gab_buffer *out)
{
  const gab_box box = gab_field_interior(field);
  const size_t bytes = gab_field_box_bytes(field, &box, 1);
  for (int component = 0; component < field->shape.components; component++) {
    void *place;
    GAB_TRY(gab_buffer_extend(out, bytes, &place));
    gab_field_pack_box(field, &box, &component, 1, place);
  }
  return GAB_OK;
}

gab_status gab_field_take(gab_field *field, gab_reader *in)
{
  const gab_box box = gab_field_interior(field);
  gab_reader bytes;
  GAB_TRY(gab_get_view(in, gab_field_box_bytes(field, &box, field->shape.components), &bytes));
  gab_field_unpack_box(field, &box, NULL, field->shape.components, bytes.at);
  return GAB_OK;
}

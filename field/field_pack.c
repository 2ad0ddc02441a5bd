#include "field/field.h"

#include <string.h>

#if defined(__BYTE_ORDER__) && __BYTE_ORDER__ != __ORDER_LITTLE_ENDIAN__
#error "packed fields are little-endian; this host needs a byte swap here"
#endif

/* A row is what lies along x: one memcpy where the values are adjacent, one per value elsewhere. */
typedef struct row_shape {
  size_t count, value_bytes, step_bytes;
} row_shape;

static row_shape row_of(const gab_field *field, const gab_box *box)
{
  size_t bytes = gab_precision_bytes(field->shape.precision);
  return (row_shape){(size_t)(box->hi[0] - box->lo[0]), bytes, bytes * (size_t)field->map.stride[0]};
}

static unsigned char *place_of(const gab_field *field, int64_t x, int64_t y, int64_t z, int component)
{
  return (unsigned char *)field->data +
         gab_precision_bytes(field->shape.precision) *
             gab_field_index(&field->map, (int32_t)x, (int32_t)y, (int32_t)z, component);
}

static void gather_row(unsigned char *to, const unsigned char *from, const row_shape *row)
{
  if (row->step_bytes == row->value_bytes) {
    memcpy(to, from, row->count * row->value_bytes);
    return;
  }
  for (size_t i = 0; i < row->count; ++i)
    memcpy(to + i * row->value_bytes, from + i * row->step_bytes, row->value_bytes);
}

static void scatter_row(unsigned char *to, const unsigned char *from, const row_shape *row)
{
  if (row->step_bytes == row->value_bytes) {
    memcpy(to, from, row->count * row->value_bytes);
    return;
  }
  for (size_t i = 0; i < row->count; ++i)
    memcpy(to + i * row->step_bytes, from + i * row->value_bytes, row->value_bytes);
}

size_t gab_field_box_bytes(const gab_field *field, const gab_box *box, int component_count)
{
  return gab_box_count(box) * (size_t)component_count * gab_precision_bytes(field->shape.precision);
}

void gab_field_pack_box(const gab_field *field, const gab_box *box, const int *components,
                        int component_count, void *bytes)
{
  if (gab_box_count(box) == 0) return;
  row_shape row = row_of(field, box);
  unsigned char *to = bytes;
  for (int i = 0; i < component_count; ++i) {
    int component = components ? components[i] : i;
    for (int64_t z = box->lo[2]; z < box->hi[2]; ++z)
      for (int64_t y = box->lo[1]; y < box->hi[1]; ++y) {
        gather_row(to, place_of(field, box->lo[0], y, z, component), &row);
        to += row.count * row.value_bytes;
      }
  }
}

void gab_field_unpack_box(gab_field *field, const gab_box *box, const int *components, int component_count,
                          const void *bytes)
{
  if (gab_box_count(box) == 0) return;
  row_shape row = row_of(field, box);
  const unsigned char *from = bytes;
  for (int i = 0; i < component_count; ++i) {
    int component = components ? components[i] : i;
    for (int64_t z = box->lo[2]; z < box->hi[2]; ++z)
      for (int64_t y = box->lo[1]; y < box->hi[1]; ++y) {
        scatter_row(place_of(field, box->lo[0], y, z, component), from, &row);
        from += row.count * row.value_bytes;
      }
  }
}

void gab_field_copy_box(gab_field *to, const gab_box *to_box, const gab_field *from, const gab_box *from_box,
                        const int *components, int component_count)
{
  if (gab_box_count(to_box) == 0) return;
  row_shape row = row_of(from, from_box);
  int64_t shift[3];
  for (int axis = 0; axis < 3; ++axis) shift[axis] = to_box->lo[axis] - from_box->lo[axis];
  for (int i = 0; i < component_count; ++i) {
    int component = components ? components[i] : i;
    for (int64_t z = from_box->lo[2]; z < from_box->hi[2]; ++z)
      for (int64_t y = from_box->lo[1]; y < from_box->hi[1]; ++y) {
        const unsigned char *source = place_of(from, from_box->lo[0], y, z, component);
        unsigned char *target =
            place_of(to, from_box->lo[0] + shift[0], y + shift[1], z + shift[2], component);
        if (row.step_bytes == row.value_bytes) {
          memcpy(target, source, row.count * row.value_bytes);
          continue;
        }
        for (size_t k = 0; k < row.count; ++k)
          memcpy(target + k * row.step_bytes, source + k * row.step_bytes, row.value_bytes);
      }
  }
}

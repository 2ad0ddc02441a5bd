/* SPDX-License-Identifier: Apache-2.0 */
/** @file field.h
 *  @brief Ghost-layer arrays: values of some components on the cells of a block and a rim around it.
 *
 *  How the index of a value comes about. Cells are counted from 0 at the lower corner of the interior; ghosts
 *  have indices -ghosts … -1 and cells … cells+ghosts-1. All strides are counted in elements:
 *  @code
 *    value(x, y, z, c) = data[map.origin + x * map.stride[0] + y * map.stride[1] + z * map.stride[2]
 *                                        + c * map.component_stride]
 *  @endcode
 *  - ::GAB_LAYOUT_SOA ("fzyx"): stride[0] is 1, components are far apart. Long rows are padded to full cache
 * lines, so that the first interior cell of every row is aligned to #GAB_ALIGNMENT bytes; rows that would be
 * more than an eighth longer by it (narrow blocks) are not, only the first interior one is aligned. The
 * ghosts at the start of a row live behind the end of the row before. The component stride is an odd number
 * of cache lines, so that the streams of a lattice do not compete for the same cache sets.
 *  - ::GAB_LAYOUT_AOS ("zyxf"): component_stride is 1, stride[0] is the number of components; rows are padded
 *    to full cache lines by the same rule.
 *
 *  In 2D z has one cell and no ghosts.
 *
 *  Stability: stable; extender where marked.
 */
#ifndef GABION_FIELD_FIELD_H
#define GABION_FIELD_FIELD_H

#include "core/base/buffer.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef enum gab_layout { GAB_LAYOUT_SOA = 0, GAB_LAYOUT_AOS } gab_layout;
typedef enum gab_precision { GAB_PRECISION_DOUBLE = 0, GAB_PRECISION_FLOAT } gab_precision;

/** @return bytes of one value */
static inline size_t gab_precision_bytes(gab_precision precision)
{
  return precision == GAB_PRECISION_FLOAT ? sizeof(float) : sizeof(double);
}

/** What a field is to hold. */
typedef struct gab_field_shape {
  int32_t cells[3];  /**< interior cells, each >= 1 */
  int32_t ghosts[3]; /**< ghost layers on both sides of an axis, each in 0 … 8 */
  int components;    /**< values per cell, >= 1 */
  gab_layout layout;
  gab_precision precision;
} gab_field_shape;

/** Where values are, in elements: see the head of this file. */
typedef struct gab_field_map {
  ptrdiff_t stride[3];
  ptrdiff_t component_stride;
  ptrdiff_t origin; /**< of component 0 of interior cell (0, 0, 0) */
  size_t elements;  /**< allocated, padding included */
} gab_field_map;

/** A field. The members may be read (kernels do), but are changed by the functions below only. */
typedef struct gab_field {
  gab_field_shape shape;
  gab_field_map map;
  void *data; /**< owned; map.elements values, aligned to #GAB_ALIGNMENT */
} gab_field;

/** Works out the map of a shape without allocating.
 *  @return ::GAB_ERR_ARGUMENT for a shape that cannot be, or is larger than any memory */
GAB_EXTENDER gab_status gab_field_map_of(const gab_field_shape *shape, gab_field_map *map);

/** Allocates a field of zeros, counted as ::GAB_MEMORY_FIELD. @param[out] field  owned by the caller */
gab_status gab_field_create(const gab_field_shape *shape, gab_field **field);
/** The same but that it may hold anything: for a field in which everything is written before it is read. */
GAB_EXTENDER gab_status gab_field_create_unset(const gab_field_shape *shape, gab_field **field);
void gab_field_destroy(gab_field **field);

/** @return the index of a value in elements */
static inline size_t gab_field_index(const gab_field_map *map, int32_t x, int32_t y, int32_t z, int component)
{
  return (size_t)(map->origin + x * map->stride[0] + y * map->stride[1] + z * map->stride[2] +
                  component * map->component_stride);
}
/** Reads one value, whatever the precision. Interior or ghost. */
static inline double gab_field_get(const gab_field *field, int32_t x, int32_t y, int32_t z, int component)
{
  size_t i = gab_field_index(&field->map, x, y, z, component);
  return field->shape.precision == GAB_PRECISION_FLOAT ? (double)((const float *)field->data)[i]
                                                       : ((const double *)field->data)[i];
}
/** Writes one value, rounded to the precision of the field. */
static inline void gab_field_set(gab_field *field, int32_t x, int32_t y, int32_t z, int component,
                                 double value)
{
  size_t i = gab_field_index(&field->map, x, y, z, component);
  if (field->shape.precision == GAB_PRECISION_FLOAT) ((float *)field->data)[i] = (float)value;
  else ((double *)field->data)[i] = value;
}

/** The interior cells as a box from 0. */
gab_box gab_field_interior(const gab_field *field);
/** The interior cells and all ghosts. */
gab_box gab_field_whole(const gab_field *field);
/** @return the number of cells of a box, 0 if it is empty */
size_t gab_box_count(const gab_box *box);

/** Sets one component (all components: -1) of all cells of a box. */
void gab_field_fill(gab_field *field, int component, const gab_box *box, double value);
/** Copies the values of all cells and components, ghosts included; layouts and precisions may differ.
 *  @return ::GAB_ERR_ARGUMENT if cells, ghosts or components differ, and for a field to itself */
gab_status gab_field_copy(gab_field *to, const gab_field *from);
/** Exchanges the data of two fields of equal shape, by pointer.
 *  @return ::GAB_ERR_ARGUMENT if the shapes differ, and for a field with itself: the step would go nowhere */
gab_status gab_field_swap(gab_field *a, gab_field *b);

/* Canonical order of packed values: listed component by listed component; within one z, y, x, x fastest; in
 * the precision of the field, little-endian. components NULL: all of them. The boxes have to lie inside the
 * whole of the field; the byte counts are those of gab_field_box_bytes(). */
size_t gab_field_box_bytes(const gab_field *field, const gab_box *box, int component_count);
void gab_field_pack_box(const gab_field *field, const gab_box *box, const int *components,
                        int component_count, void *bytes);
void gab_field_unpack_box(gab_field *field, const gab_box *box, const int *components, int component_count,
                          const void *bytes);
/** The interior, all components, appended one after another (so that whoever follows the buffer finds each in the
 * cache), and read back. */
GAB_EXTENDER gab_status gab_field_put(const gab_field *field, gab_buffer *out);
GAB_EXTENDER gab_status gab_field_take(gab_field *field, gab_reader *in);
/** Copies a box of one field to a box of the same size in another one of the same precision and layout. */
GAB_EXTENDER void gab_field_copy_box(gab_field *to, const gab_box *to_box, const gab_field *from,
                                     const gab_box *from_box, const int *components, int component_count);
/** The same for one component, which may be another one in the target. */
GAB_EXTENDER void gab_field_copy_component(gab_field *to, const gab_box *to_box, int to_component,
                                           const gab_field *from, const gab_box *from_box,
                                           int from_component);

#ifdef __cplusplus
}
#endif

#ifdef GABION_CHECKED
#include "field/checked_access.h"
#define gab_field_index(map, x, y, z, component)                                                             \
  gab_field_index_checked((map), (x), (y), (z), (component), __FILE__, __LINE__)
#define gab_field_get(field, x, y, z, component)                                                             \
  gab_field_get_checked((field), (x), (y), (z), (component), __FILE__, __LINE__)
#define gab_field_set(field, x, y, z, component, value)                                                      \
  gab_field_set_checked((field), (x), (y), (z), (component), (value), __FILE__, __LINE__)
#endif
#endif

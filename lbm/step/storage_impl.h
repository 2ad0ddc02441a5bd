/* SPDX-License-Identifier: Apache-2.0 */
/** @file storage_impl.h
 *  @brief Places of the populations of a block in its field: the only file that depends on the streaming patterns.
 *
 *  Code in lbm/ refers to the population that cell x has sent in direction q: its value after collision, which arrives in
 *  cell x + c_q with the next step. Its place depends on the pattern and, in place, on the parity of the number of sweeps:
 *  @code
 *    two grids             (x, q)              each sweep reads one field and fills the other
 *    in place, even        (x, opposite of q)
 *    in place, odd         (x + c_q, q)
 *  @endcode
 *  The lower two are the AA pattern (Bailey et al. 2009): a sweep of cell x reads its arrivals and writes what it sends
 *  into the same Q places, independently of other cells. An even state is read from the neighbours' places and leaves an
 *  odd one in them; an odd state is read from and left in the places of the cell itself.
 *
 *  Each pattern is a bijection between (cell, direction) and places, ghost and boundary cells included. So values sent by
 *  different cells, or in different directions, never share a place; ghost cells can be filled, and boundary cells written,
 *  without touching any other value.
 *
 *  Sparse blocks use the lower two patterns by lists: lbm/sparse/sparse_impl.h.
 *
 *  Stability: internal.
 */
#ifndef GABION_LBM_STORAGE_IMPL_H
#define GABION_LBM_STORAGE_IMPL_H

#include "field/field.h"
#include "lbm/kernels/lattice.h"

typedef struct gab_storage gab_storage;
struct gab_storage {
  /** Population q sent by cell x is component[q] of cell x + shift[q]. */
  int component[GAB_LATTICE_MAX_Q];
  int8_t shift[GAB_LATTICE_MAX_Q][3];
  /** The same as distance in elements from component 0 of cell x. */
  ptrdiff_t sent[GAB_LATTICE_MAX_Q];
  /** Distance to population q that arrives in x: sent by x - c_q. */
  ptrdiff_t arriving[GAB_LATTICE_MAX_Q];
  const gab_storage *next; /**< after one more sweep; itself for two grids */
};

/** Fills the states of a pattern: one for two grids, two in place, the even one first.
 *  @param[in] map  of the fields of all blocks */
void gab_storage_fill(const gab_lattice *lattice, const gab_field_map *map, bool in_place,
                      gab_storage states[2]);

/** The value at an index, in either precision. */
static inline double gab_value_at(const gab_field *field, size_t index)
{
  return field->shape.precision == GAB_PRECISION_FLOAT ? (double)((const float *)field->data)[index]
                                                       : ((const double *)field->data)[index];
}
static inline void gab_value_set(gab_field *field, size_t index, double value)
{
  if (field->shape.precision == GAB_PRECISION_FLOAT) ((float *)field->data)[index] = (float)value;
  else ((double *)field->data)[index] = value;
}
static inline size_t gab_place(size_t cell, ptrdiff_t distance)
{
  return (size_t)((ptrdiff_t)cell + distance);
}

#endif

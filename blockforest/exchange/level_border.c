/* SPDX-License-Identifier: Apache-2.0 */
#include "blockforest/exchange/level_border.h"

/* The axis that a contact crosses, -1 if the blocks touch at an edge or a corner. */
static int crossed_axis(const gab_contact *contact)
{
  int offset[3], axis = -1;
  gab_direction_offset(contact->direction, offset);
  for (int k = 0; k < 3; k++)
    if (offset[k] != 0) axis = axis == -1 ? k : 3;
  return axis == 3 ? -1 : axis;
}

gab_level_border gab_level_border_of(const int32_t cells[3], int dimension, const gab_contact *contact,
                                     bool finer)
{
  int offset[3];
  gab_level_border made = {.axis = crossed_axis(contact)};
  gab_direction_offset(contact->direction, offset);
  const int32_t end = cells[made.axis];
  const bool above = (offset[made.axis] > 0) == finer; /* the other block is above this one */
  made.ghost = above ? end : -1;
  made.first = above ? end - 1 : 0;
  made.second = above ? end - 2 : 1;
  int found = 0;
  for (int axis = 0; axis < 3; axis++) {
    if (axis == made.axis) continue;
    made.lateral[found] = axis;
    made.count[found] = cells[axis];
    made.step[found] = axis < dimension ? 2 : 1;
    made.start[found++] = (int32_t)contact->place[axis] * cells[axis];
  }
  return made;
}

size_t gab_level_border_count(const gab_field_shape *shape, int dimension, const gab_contact *contact,
                              gab_coupling_way way)
{
  const int axis = crossed_axis(contact);
  size_t values = (size_t)shape->components;
  if (way == GAB_COUPLING_ACROSS || axis < 0) return 0;
  for (int k = 0; k < dimension; k++)
    if (k != axis) values *= (size_t)shape->cells[k] / (way == GAB_COUPLING_DOWN ? 1 : 2);
  return values;
}

/* ------------------------------------------------------------------ down */

static double value_at(const gab_field *field, const int32_t cell[3], int component)
{
  return gab_field_get(field, cell[0], cell[1], cell[2], component);
}

/* Difference from a cell to the next one along an axis: central, as far as the neighbours may be read. */
static double slope(const gab_field *field, const int32_t cell[3], int axis, uint32_t unread, int component)
{
  int32_t low[3] = {cell[0], cell[1], cell[2]}, high[3] = {cell[0], cell[1], cell[2]};
  int below[3] = {0, 0, 0}, above[3] = {0, 0, 0};
  below[axis] = -1;
  above[axis] = 1;
  if (cell[axis] > 0 || !(unread >> gab_direction_of(below[0], below[1], below[2]) & 1)) low[axis]--;
  if (cell[axis] + 1 < field->shape.cells[axis] ||
      !(unread >> gab_direction_of(above[0], above[1], above[2]) & 1))
    high[axis]++;
  return (value_at(field, high, component) - value_at(field, low, component)) / (high[axis] - low[axis]);
}

void gab_level_border_pack_down(const gab_field *field, int dimension, const gab_contact *contact,
                                uint32_t unread, double *out)
{
  const gab_level_border at = gab_level_border_of(field->shape.cells, dimension, contact, false);
  for (int32_t j = 0; j < at.count[1]; j++)
    for (int32_t i = 0; i < at.count[0]; i++) {
      const int32_t fine[2] = {i, j};
      int32_t cell[3];
      gab_level_border_cell(&at, at.first, gab_level_border_opposite(&at, 0, i),
                            gab_level_border_opposite(&at, 1, j), cell);
      for (int c = 0; c < field->shape.components; c++) {
        double value = value_at(field, cell, c);
        for (int lateral = 0; lateral < dimension - 1; lateral++)
          value += (fine[lateral] % 2 ? 0.25 : -0.25) * slope(field, cell, at.lateral[lateral], unread, c);
        *out++ = value;
      }
    }
}

void gab_level_border_unpack_down(gab_field *field, int dimension, const gab_contact *contact,
                                  const double *in)
{
  const gab_level_border at = gab_level_border_of(field->shape.cells, dimension, contact, true);
  for (int32_t j = 0; j < at.count[1]; j++)
    for (int32_t i = 0; i < at.count[0]; i++) {
      int32_t ghost[3], first[3], second[3];
      gab_level_border_cell(&at, at.ghost, i, j, ghost);
      gab_level_border_cell(&at, at.first, i, j, first);
      gab_level_border_cell(&at, at.second, i, j, second);
      for (int c = 0; c < field->shape.components; c++) {
        const double near = value_at(field, first, c), far = value_at(field, second, c), beyond = *in++;
        gab_field_set(field, ghost[0], ghost[1], ghost[2], c,
                      near + 8. / 15 * (beyond - near) + 0.2 * (near - far));
      }
    }
}

/* ------------------------------------------------------------------ up */

static double weight_at(const gab_field *weights, const int32_t ghost[3])
{
  return weights ? value_at(weights, ghost, 0) : 1;
}

/* The mean of w (u_1 - u_g) over the fine faces of a coarse cell; in pairs. */
static double mean_difference(const gab_field *field, const gab_field *weights, const gab_level_border *at,
                              int32_t i, int32_t j, int component)
{
  double sum[2] = {0, 0};
  for (int32_t b = 0; b < at->step[1]; b++) {
    double pair[2] = {0, 0};
    for (int32_t a = 0; a < at->step[0]; a++) {
      int32_t ghost[3], first[3];
      gab_level_border_cell(at, at->ghost, i + a, j + b, ghost);
      gab_level_border_cell(at, at->first, i + a, j + b, first);
      pair[a] =
          weight_at(weights, ghost) * (value_at(field, first, component) - value_at(field, ghost, component));
    }
    sum[b] = pair[0] + pair[1];
  }
  return (sum[0] + sum[1]) / (at->step[0] * at->step[1]);
}

void gab_level_border_pack_up(const gab_field *field, const gab_field *weights, int dimension,
                              const gab_contact *contact, double *out)
{
  const gab_level_border at = gab_level_border_of(field->shape.cells, dimension, contact, true);
  for (int32_t j = 0; j < at.count[1]; j += at.step[1])
    for (int32_t i = 0; i < at.count[0]; i += at.step[0])
      for (int c = 0; c < field->shape.components; c++)
        *out++ = mean_difference(field, weights, &at, i, j, c);
}

void gab_level_border_unpack_up(gab_field *field, const gab_field *weights, int dimension,
                                const gab_contact *contact, const double *in)
{
  const gab_level_border at = gab_level_border_of(field->shape.cells, dimension, contact, false);
  for (int32_t j = 0; j < at.count[1]; j += at.step[1])
    for (int32_t i = 0; i < at.count[0]; i += at.step[0]) {
      const int32_t a = gab_level_border_opposite(&at, 0, i), b = gab_level_border_opposite(&at, 1, j);
      int32_t ghost[3], first[3];
      gab_level_border_cell(&at, at.ghost, a, b, ghost);
      gab_level_border_cell(&at, at.first, a, b, first);
      const double weight = weight_at(weights, ghost);
      for (int c = 0; c < field->shape.components; c++, in++)
        gab_field_set(field, ghost[0], ghost[1], ghost[2], c,
                      value_at(field, first, c) + (weight != 0 ? 2 * *in / weight : 0));
    }
}

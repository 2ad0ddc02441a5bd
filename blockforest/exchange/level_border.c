#include "blockforest/exchange/level_border.h"

int gab_level_border_axis(const gab_contact *contact)
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
  gab_level_border made = {.axis = gab_level_border_axis(contact)};
  gab_direction_offset(contact->direction, offset);
  const int32_t end = cells[made.axis];
  const bool above = (offset[made.axis] > 0) == finer; /* the other block lies above this one */
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

/* The mean of u_1 - u_g over the fine faces of a coarse cell; in pairs. */
static double mean_difference(const gab_field *field, const gab_level_border *at, int32_t i, int32_t j,
                              int component)
{
  double sum[2] = {0, 0};
  for (int32_t b = 0; b < at->step[1]; b++) {
    double pair[2] = {0, 0};
    for (int32_t a = 0; a < at->step[0]; a++) {
      int32_t ghost[3], first[3];
      gab_level_border_cell(at, at->ghost, i + a, j + b, ghost);
      gab_level_border_cell(at, at->first, i + a, j + b, first);
      pair[a] = gab_field_get(field, first[0], first[1], first[2], component) -
                gab_field_get(field, ghost[0], ghost[1], ghost[2], component);
    }
    sum[b] = pair[0] + pair[1];
  }
  return (sum[0] + sum[1]) / (at->step[0] * at->step[1]);
}

void gab_level_border_pack_up(const gab_field *field, int dimension, const gab_contact *contact, double *out)
{
  const gab_level_border at = gab_level_border_of(field->shape.cells, dimension, contact, true);
  for (int32_t j = 0; j < at.count[1]; j += at.step[1])
    for (int32_t i = 0; i < at.count[0]; i += at.step[0])
      for (int c = 0; c < field->shape.components; c++) *out++ = mean_difference(field, &at, i, j, c);
}

void gab_level_border_unpack_up(gab_field *field, int dimension, const gab_contact *contact, const double *in)
{
  const gab_level_border at = gab_level_border_of(field->shape.cells, dimension, contact, false);
  for (int32_t j = 0; j < at.count[1]; j += at.step[1])
    for (int32_t i = 0; i < at.count[0]; i += at.step[0]) {
      const int32_t a = gab_level_border_opposite(&at, 0, i), b = gab_level_border_opposite(&at, 1, j);
      int32_t ghost[3], first[3];
      gab_level_border_cell(&at, at.ghost, a, b, ghost);
      gab_level_border_cell(&at, at.first, a, b, first);
      for (int c = 0; c < field->shape.components; c++)
        gab_field_set(field, ghost[0], ghost[1], ghost[2], c,
                      gab_field_get(field, first[0], first[1], first[2], c) + 2 * *in++);
    }
}

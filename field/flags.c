/* SPDX-License-Identifier: Apache-2.0 */
#include "field/flags.h"

#include <string.h>

gab_status gab_flag_register(gab_flag_names *names, const char *name, gab_flag_bits *bit)
{
  *bit = gab_flag_find(names, name);
  if (*bit) return GAB_OK;
  if (name[0] == '\0' || strlen(name) >= GAB_FLAG_NAME_LENGTH)
    GAB_FAIL(GAB_ERR_ARGUMENT, "a flag needs a name of 1 to %d characters", GAB_FLAG_NAME_LENGTH - 1);
  if (names->count >= GAB_FLAG_COUNT)
    GAB_FAIL(GAB_ERR_ARGUMENT, "no bit is left for flag \"%s\": %d are taken", name, GAB_FLAG_COUNT);
  strcpy(names->name[names->count], name);
  *bit = (gab_flag_bits)(1U << names->count++);
  return GAB_OK;
}

gab_flag_bits gab_flag_find(const gab_flag_names *names, const char *name)
{
  for (int i = 0; i < names->count; i++)
    if (strcmp(names->name[i], name) == 0) return (gab_flag_bits)(1U << i);
  return 0;
}

gab_status gab_flags_create(const int32_t cells[3], const int32_t ghosts[3], gab_flags **flags)
{
  *flags = NULL;
  gab_flags made = {.elements = 1};
  for (int axis = 0; axis < 3; axis++) {
    if (cells[axis] < 1 || ghosts[axis] < 0)
      GAB_FAIL(GAB_ERR_ARGUMENT,
               "a flag field cannot have %" PRId32 " cells and %" PRId32 " ghost layers along axis %d",
               cells[axis], ghosts[axis], axis);
    made.cells[axis] = cells[axis];
    made.ghosts[axis] = ghosts[axis];
    made.stride[axis] = (ptrdiff_t)made.elements;
    made.origin += ghosts[axis] * made.stride[axis];
    const size_t along = (size_t)cells[axis] + 2 * (size_t)ghosts[axis];
    if (made.elements > (size_t)PTRDIFF_MAX / sizeof(gab_flag_bits) / along)
      GAB_FAIL(GAB_ERR_ARGUMENT,
               "a flag field of %" PRId32 " x %" PRId32 " x %" PRId32 " cells is larger than any memory",
               cells[0], cells[1], cells[2]);
    made.elements *= along;
  }
  void *memory, *data;
  GAB_TRY(gab_alloc(sizeof made, GAB_MEMORY_FIELD, &memory));
  gab_status status = gab_alloc(made.elements * sizeof(gab_flag_bits), GAB_MEMORY_FIELD, &data);
  if (status != GAB_OK) {
    gab_free(&memory);
    return status;
  }
  made.data = data;
  *flags = memory;
  **flags = made;
  return GAB_OK;
}

void gab_flags_destroy(gab_flags **flags)
{
  if (!*flags) return;
  gab_free(&(*flags)->data);
  gab_free(flags);
}

/* Sets the bits of `on`, clears those of `off` in all cells of the box. */
static void change(gab_flags *flags, const gab_box *box, gab_flag_bits on, gab_flag_bits off)
{
  for (int64_t z = box->lo[2]; z < box->hi[2]; z++)
    for (int64_t y = box->lo[1]; y < box->hi[1]; y++)
      for (int64_t x = box->lo[0]; x < box->hi[0]; x++) {
        gab_flag_bits *bits = &flags->data[gab_flags_index(flags, (int32_t)x, (int32_t)y, (int32_t)z)];
        *bits = (gab_flag_bits)((*bits & ~off) | on);
      }
}

void gab_flags_turn_on(gab_flags *flags, const gab_box *box, gab_flag_bits bits)
{
  change(flags, box, bits, 0);
}

void gab_flags_turn_off(gab_flags *flags, const gab_box *box, gab_flag_bits bits)
{
  change(flags, box, 0, bits);
}

size_t gab_flags_count(const gab_flags *flags, const gab_box *box, gab_flag_bits bits)
{
  size_t count = 0;
  for (int64_t z = box->lo[2]; z < box->hi[2]; z++)
    for (int64_t y = box->lo[1]; y < box->hi[1]; y++)
      for (int64_t x = box->lo[0]; x < box->hi[0]; x++)
        if (gab_flags_are_on(flags, (int32_t)x, (int32_t)y, (int32_t)z, bits)) count++;
  return count;
}

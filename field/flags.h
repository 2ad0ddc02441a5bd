/* SPDX-License-Identifier: Apache-2.0 */
/** @file flags.h
 *  @brief Flag fields: sixteen named bits per cell.
 *
 *  Stability: extender.
 */
#ifndef GABION_FIELD_FLAGS_H
#define GABION_FIELD_FLAGS_H

#include "field/field.h"

#ifdef __cplusplus
extern "C" {
#endif

#define GAB_FLAG_COUNT       16
#define GAB_FLAG_NAME_LENGTH 32

typedef uint16_t gab_flag_bits;

/** Names of the bits of a flag field, in the order of their registration. Zero-initialise. */
typedef struct gab_flag_names {
  char name[GAB_FLAG_COUNT][GAB_FLAG_NAME_LENGTH];
  int count;
} gab_flag_names;

/** Takes the next free bit; a name that is there already gives its bit again.
 *  @return ::GAB_ERR_ARGUMENT if all are taken or the name is empty or too long */
gab_status gab_flag_register(gab_flag_names *names, const char *name, gab_flag_bits *bit);
/** @return the bit of that name, 0 if there is none */
gab_flag_bits gab_flag_find(const gab_flag_names *names, const char *name);

/** Flags on cells and ghosts, x fastest, without padding. */
typedef struct gab_flags {
  int32_t cells[3], ghosts[3];
  ptrdiff_t stride[3];
  ptrdiff_t origin; /**< index of cell (0, 0, 0) */
  size_t elements;
  gab_flag_bits *data; /**< owned */
} gab_flags;

/** All bits off. Counted as ::GAB_MEMORY_FIELD. */
gab_status gab_flags_create(const int32_t cells[3], const int32_t ghosts[3], gab_flags **flags);
void gab_flags_destroy(gab_flags **flags);

static inline size_t gab_flags_index(const gab_flags *flags, int32_t x, int32_t y, int32_t z)
{
  return (size_t)(flags->origin + x * flags->stride[0] + y * flags->stride[1] + z * flags->stride[2]);
}
static inline gab_flag_bits gab_flags_get(const gab_flags *flags, int32_t x, int32_t y, int32_t z)
{
  return flags->data[gab_flags_index(flags, x, y, z)];
}
/** @return true if all of these bits are on; of no bits (what gab_flag_find() gives for an unknown name) none
 * are */
static inline bool gab_flags_are_on(const gab_flags *flags, int32_t x, int32_t y, int32_t z,
                                    gab_flag_bits bits)
{
  return bits != 0 && (gab_flags_get(flags, x, y, z) & bits) == bits;
}
void gab_flags_turn_on(gab_flags *flags, const gab_box *box, gab_flag_bits bits);
void gab_flags_turn_off(gab_flags *flags, const gab_box *box, gab_flag_bits bits);
/** @return how many cells of the box have all of these bits on */
size_t gab_flags_count(const gab_flags *flags, const gab_box *box, gab_flag_bits bits);

#ifdef __cplusplus
}
#endif
#endif

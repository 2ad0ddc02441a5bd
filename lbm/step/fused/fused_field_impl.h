/* SPDX-License-Identifier: Apache-2.0 */
/** @file fused_field_impl.h
 *  @brief Fused fields: their free columns, and the places of blocks in them.
 *
 *  All functions are called by one thread at a time: in the critical section gab_fused_fields, or between
 *  steps.
 *
 *  Stability: internal. */
#ifndef GABION_LBM_FUSED_FIELD_IMPL_H
#define GABION_LBM_FUSED_FIELD_IMPL_H

#include "lbm/step/fused/fused_impl.h"

/* Use of a column of a fused field. */
typedef enum gab_column { GAB_COLUMN_FREE = 0, GAB_COLUMN_COVERED, GAB_COLUMN_AWAITED } gab_column;

typedef struct gab_fused_field {
  gab_field *field; /* NULL: it has no block yet */
  size_t users;     /* blocks in it, and reserved places */
  int32_t covered;  /* columns that are not free */
  int32_t capacity; /* length of the longest free range */
  uint8_t *used;    /* per column, ghosts included: gab_column */
  size_t index;     /* in the list */
} gab_fused_field;

/* Key of a block: its level, and its index along z, y, x. */
typedef struct gab_fused_key {
  int64_t at[4];
} gab_fused_key;

struct gab_fused_place {
  gab_fused_fields *home;
  gab_fused_field *in;
  int32_t column; /* of its first cell; column 0 is a ghost */
  gab_fused_key key;
  const gab_storage *now; /* of its block */
  gab_fused_place *next;  /* in its bucket */
  bool is_awaited;        /* reserved: its block does not exist yet */
};

struct gab_fused_fields {
  gab_field_shape shape;
  int32_t columns, cells; /* of a fused field, with ghosts; of a block */
  gab_fused_field **list;
  size_t count, empty; /* number of fused fields without blocks and reservations, kept for later blocks */
  size_t first_open;   /* no fused field before it has space for a block */
  gab_fused_place **bucket;
  size_t buckets, places_known, awaited;
  bool is_closed;
};

/** Frees all empty fused fields. */
void gab_fused_fields_drop_empty(gab_fused_fields *home);
/** Marks the columns of a block. */
void gab_fused_cover(gab_fused_fields *home, gab_fused_field *in, int32_t column, gab_column as);
/** Allocates the field of a fused field. */
gab_status gab_fused_make_field(const gab_fused_fields *home, gab_fused_field *in);
/** Creates a place for a block, or a reserved one. @param[in] now  its storage state @param[out] made  not yet in the
 *  table */
gab_status gab_fused_fields_add_place(gab_fused_fields *home, const gab_fused_key *key, gab_fused_field *in,
                                      int32_t column, const gab_storage *now, gab_column as,
                                      gab_fused_place **made);
/** Releases a place; frees the fused fields with the last one. */
void gab_fused_fields_remove_place(gab_fused_place **place);
/** Counts one more block in a fused field. */
void gab_fused_come(gab_fused_fields *home, gab_fused_field *in);
/** Counts one less; frees empty fused fields if there are many. */
void gab_fused_go(gab_fused_fields *home, gab_fused_field *from);
/** Finds a fused field with space for `blocks` adjacent blocks, or for half as many, a quarter, …, one; creates one
 *  if there is none.
 *  @param[in] blocks  at least 1 */
gab_status gab_fused_fields_find(gab_fused_fields *home, int blocks, gab_fused_field **in, int32_t *column);
/** Adds a fused field, without allocating its field. */
gab_status gab_fused_fields_add(gab_fused_fields *home, gab_fused_field **added);
/** Finds a column next to the neighbour on the left or right, or between both. @param[out] now  storage state there.
 *  @return false without a neighbour or space */
bool gab_fused_fields_find_beside(gab_fused_fields *home, const gab_fused_key *key, gab_fused_field **in,
                                  int32_t *column, const gab_storage **now);
/** @param[in] cells  of a block */
gab_fused_key gab_fused_key_of(const gab_lbm_block *block, const int32_t cells[3]);
/** The entry of a block in the hash table; it points at NULL if the block has no place. */
gab_fused_place **gab_fused_fields_place_of(gab_fused_fields *home, const gab_fused_key *key);
/** A block that moves to another place. */
typedef struct gab_fused_move {
  gab_lbm_block *block;
  gab_fused_field *in; /* has a field */
  int32_t column;
  const gab_storage *now; /* its storage state there */
} gab_fused_move;
/** Moves blocks, or none if memory is short. The target of one block may be the present place of another one. Uses all
 *  threads, and additional memory for two directions of the moved cells. Afterwards set `left` and `right` again, and
 *  clear the ghosts of all blocks in these fused fields. */
gab_status gab_fused_fields_move(const gab_lbm_model *model, const gab_fused_move *moves, size_t count);
/** The field of a block: a view of the fused field that begins at its place. @param[in] shape  of a block */
void gab_fused_view(const gab_fused_place *place, const gab_field_shape *shape, gab_field *view);

#endif

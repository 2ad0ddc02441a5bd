/* SPDX-License-Identifier: Apache-2.0 */
/** @file fused_field_impl.h
 *  @brief Fused fields as such: where there is space in them, and who lies where.
 *
 *  All of it by one thread at a time: within the critical section gab_fused_fields, or between steps.
 *
 *  Stability: internal.
 */
#ifndef GABION_LBM_FUSED_FIELD_IMPL_H
#define GABION_LBM_FUSED_FIELD_IMPL_H

#include "lbm/step/fused/fused_impl.h"

/* What a column of a fused field is to the cells of blocks. */
typedef enum gab_column { GAB_COLUMN_FREE = 0, GAB_COLUMN_COVERED, GAB_COLUMN_AWAITED } gab_column;

typedef struct gab_fused_field {
  gab_field *field; /* NULL: no block has come yet */
  size_t users;     /* blocks in it, or awaited */
  int32_t covered;  /* columns that are not free */
  int32_t capacity; /* the most columns that still fit */
  uint8_t *used;    /* per column, ghosts included: gab_column */
  size_t index;     /* in the list */
} gab_fused_field;

/* Of a block on its level: the level, and its index along z, y, x. */
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
  bool is_awaited;        /* its block has not come yet */
};

struct gab_fused_fields {
  gab_field_shape shape;
  int32_t columns, cells; /* of a fused field, with ghosts; of a block */
  gab_fused_field **list;
  size_t count, empty; /* those in which no block lies, nor is awaited: kept for those that come next */
  size_t first_open;   /* none before it has capacity for a block */
  gab_fused_place **bucket;
  size_t buckets, places_known, awaited;
  bool is_closed;
};

/** Frees all fused fields that hold nothing. */
void gab_fused_fields_drop_empty(gab_fused_fields *home);
/** Marks the columns of a block. */
void gab_fused_cover(gab_fused_fields *home, gab_fused_field *in, int32_t column, gab_column as);
/** A fused field has its field from now on. */
gab_status gab_fused_make_field(const gab_fused_fields *home, gab_fused_field *in);
/** A place that a block is to have, or that one is awaited in. @param[in] now  the state that it is in
 *  @param[out] made  in no table yet */
gab_status gab_fused_fields_add_place(gab_fused_fields *home, const gab_fused_key *key, gab_fused_field *in,
                                      int32_t column, const gab_storage *now, gab_column as,
                                      gab_fused_place **made);
/** Gives it up; frees the fused fields if it was the last. */
void gab_fused_fields_remove_place(gab_fused_place **place);
/** One block more in a fused field. */
void gab_fused_come(gab_fused_fields *home, gab_fused_field *in);
/** One less; fused fields that hold nothing are freed if there are many. */
void gab_fused_go(gab_fused_fields *home, gab_fused_field *from);
/** A fused field with capacity for some blocks side by side, or for half as many, a quarter, …, one; made if there is none.
 *  @param[in] blocks  at least 1 */
gab_status gab_fused_fields_find(gab_fused_fields *home, int blocks, gab_fused_field **in, int32_t *column);
/** One fused field more, without a field. */
gab_status gab_fused_fields_add(gab_fused_fields *home, gab_fused_field **added);
/** Behind the neighbour on the left, or ahead of that on the right, or between the two. @param[out] now  the state
 *  that the field is in there. @return false if there is no neighbour, or no space */
bool gab_fused_fields_find_beside(gab_fused_fields *home, const gab_fused_key *key, gab_fused_field **in,
                                  int32_t *column, const gab_storage **now);
/** @param[in] cells  of a block */
gab_fused_key gab_fused_key_of(const gab_lbm_block *block, const int32_t cells[3]);
/** Where the place of a block is noted in the table, or would be: then what it points at is NULL. */
gab_fused_place **gab_fused_fields_place_of(gab_fused_fields *home, const gab_fused_key *key);
/** A block that goes somewhere else. */
typedef struct gab_fused_move {
  gab_lbm_block *block;
  gab_fused_field *in; /* has a field */
  int32_t column;
  const gab_storage *now; /* the state that it is in there */
} gab_fused_move;
/** Moves blocks, all or, without memory, none: where one comes may lie another one that goes. In threads; takes so much more
 *  memory as two directions of their cells. `left` and `right` have to be set anew, ghosts of all blocks in these fused fields to
 *  be cleared. */
gab_status gab_fused_fields_move(const gab_lbm_model *model, const gab_fused_move *moves, size_t count);
/** The field of a block: a view of the fused field from its place on. @param[in] shape  of a block */
void gab_fused_view(const gab_fused_place *place, const gab_field_shape *shape, gab_field *view);

#endif

/** @file strip_room_impl.h
 *  @brief Strips as such: where there is space in them, and who lies where.
 *
 *  All of it by one thread at a time: within the critical section gab_strips, or between steps.
 *
 *  Tier: internal.
 */
#ifndef GABION_LBM_STRIP_ROOM_IMPL_H
#define GABION_LBM_STRIP_ROOM_IMPL_H

#include "lbm/step/strips/strip_impl.h"

/* What a column of a strip is to the cells of blocks. */
typedef enum gab_column { GAB_COLUMN_FREE = 0, GAB_COLUMN_COVERED, GAB_COLUMN_AWAITED } gab_column;

typedef struct gab_strip {
  gab_field *field; /* NULL: no block has come yet */
  size_t users;     /* blocks in it, or awaited */
  int32_t covered;  /* columns that are not free */
  int32_t capacity; /* the most columns that still fit */
  uint8_t *used;    /* per column, ghosts included: gab_column */
  size_t index;     /* in the list */
} gab_strip;

/* Of a block on its level: the level, and its index along z, y, x. */
typedef struct gab_strip_key {
  int64_t at[4];
} gab_strip_key;

struct gab_strip_place {
  gab_strips *home;
  gab_strip *in;
  int32_t column; /* of its first cell; column 0 is a ghost */
  gab_strip_key key;
  const gab_storage *now; /* of its block */
  gab_strip_place *next;  /* in its bucket */
  bool is_awaited;        /* its block has not come yet */
};

struct gab_strips {
  gab_field_shape shape;
  int32_t columns, cells; /* of a strip, with ghosts; of a block */
  gab_strip **list;
  size_t count, empty; /* those in which no block lies, nor is awaited: kept for those that come next */
  size_t first_open;   /* none before it has capacity for a block */
  gab_strip_place **bucket;
  size_t buckets, places_known, awaited;
  bool is_closed;
};

/** Frees all strips that hold nothing. */
void gab_strips_drop_empty(gab_strips *home);
/** Marks the columns of a block. */
void gab_strip_cover(gab_strips *home, gab_strip *in, int32_t column, gab_column as);
/** A strip has its field from now on. */
gab_status gab_strip_make_field(const gab_strips *home, gab_strip *in);
/** A place that a block is to have, or that one is awaited in. @param[in] now  the state that it is in
 *  @param[out] made  in no table yet */
gab_status gab_strips_add_place(gab_strips *home, const gab_strip_key *key, gab_strip *in, int32_t column,
                                const gab_storage *now, gab_column as, gab_strip_place **made);
/** Gives it up; frees the strips if it was the last. */
void gab_strips_remove_place(gab_strip_place **place);
/** One block more in a strip. */
void gab_strip_come(gab_strips *home, gab_strip *in);
/** One less; strips that hold nothing are freed if there are many. */
void gab_strip_go(gab_strips *home, gab_strip *from);
/** A strip with capacity for some blocks side by side, or for half as many, a quarter, …, one; made if there is none.
 *  @param[in] blocks  at least 1 */
gab_status gab_strips_find(gab_strips *home, int blocks, gab_strip **in, int32_t *column);
/** One strip more, without a field. */
gab_status gab_strips_add(gab_strips *home, gab_strip **added);
/** Behind the neighbour on the left, or ahead of that on the right, or between the two. @param[out] now  the state
 *  that the field is in there. @return false if there is no neighbour, or no space */
bool gab_strips_find_beside(gab_strips *home, const gab_strip_key *key, gab_strip **in, int32_t *column,
                            const gab_storage **now);
/** @param[in] cells  of a block */
gab_strip_key gab_strip_key_of(const gab_lbm_block *block, const int32_t cells[3]);
/** Where the place of a block is noted in the table, or would be: then what it points at is NULL. */
gab_strip_place **gab_strips_place_of(gab_strips *home, const gab_strip_key *key);
/** A block that goes somewhere else. */
typedef struct gab_strip_move {
  gab_lbm_block *block;
  gab_strip *in; /* has a field */
  int32_t column;
  const gab_storage *now; /* the state that it is in there */
} gab_strip_move;
/** Moves blocks, all or, without memory, none: where one comes may lie another one that goes. In threads; takes so much more
 *  memory as two directions of their cells. `left` and `right` have to be set anew, ghosts of all blocks in these strips to be
 *  cleared. */
gab_status gab_strips_move(const gab_lbm_model *model, const gab_strip_move *moves, size_t count);
/** The field of a block: a view of the strip from its place on. @param[in] shape  of a block */
void gab_strip_view(const gab_strip_place *place, const gab_field_shape *shape, gab_field *view);

#endif

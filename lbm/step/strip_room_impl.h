/** @file strip_room_impl.h
 *  @brief Strips as such: where there is room in them, and who lies where.
 *
 *  All of it by one thread at a time: within the critical section gab_strips, or between steps.
 *
 *  Tier: internal.
 */
#ifndef GABION_LBM_STRIP_ROOM_IMPL_H
#define GABION_LBM_STRIP_ROOM_IMPL_H

#include "lbm/step/strip_impl.h"

typedef struct gab_strip {
  gab_field *field;
  size_t users;
  int32_t covered; /* columns, by the cells of blocks */
  int32_t room;    /* the most columns that still fit */
  uint8_t *used;   /* per column, ghosts included: covered by the cells of a block */
  size_t index;    /* in the list */
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
};

struct gab_strips {
  gab_field_shape shape;
  int32_t columns, cells; /* of a strip, with ghosts; of a block */
  gab_strip **list;
  size_t count, empty; /* those in which no block lies: kept for those that come next */
  size_t first_open;   /* none before it has room for a block */
  size_t first_empty;  /* none before it is empty */
  gab_strip_place **bucket;
  size_t buckets, places_known;
  bool is_closed;
};

/** Frees all strips that hold nothing. */
void gab_strips_drop_empty(gab_strips *home);
/** Frees everything, if the flow has gone and the last block too. */
void gab_strips_free_if_empty(gab_strips *strips);
/** Marks the columns of a block as covered, or as free. */
void gab_strip_cover(gab_strips *home, gab_strip *in, int32_t column, bool covers);
/** One block more in a strip. */
void gab_strip_come(gab_strips *home, gab_strip *in);
/** One less; strips that hold nothing are freed if there are many. */
void gab_strip_go(gab_strips *home, gab_strip *from);
/** Enters a place in the table, unless there is one of the same block that it is to replace. */
void gab_strips_know(gab_strips *home, gab_strip_place *place);
/** Takes it out. */
void gab_strips_forget(gab_strips *home, const gab_strip_place *place);
/** A strip with room for a block, made if there is none. */
gab_status gab_strips_find(gab_strips *home, gab_strip **in, int32_t *column);
/** A strip in which no block lies, made if there is none. The next call gives another one. */
gab_status gab_strips_find_empty(gab_strips *home, gab_strip **in);
/** Behind the neighbour on the left, or ahead of that on the right, or between the two. @param[out] now  the state
 *  that the field is in there. @return false if there is no neighbour, or no room */
bool gab_strips_find_beside(gab_strips *home, const gab_strip_key *key, gab_strip **in, int32_t *column,
                            const gab_storage **now);
/** @param[in] cells  of a block */
gab_strip_key gab_strip_key_of(const gab_lbm_block *block, const int32_t cells[3]);
/** Where the place of a block is noted in the table, or would be: then what it points at is NULL. */
gab_strip_place **gab_strips_place_of(gab_strips *home, const gab_strip_key *key);
/** The field of a block: a view of the strip from its place on. @param[in] shape  of a block */
void gab_strip_view(const gab_strip_place *place, const gab_field_shape *shape, gab_field *view);

#endif

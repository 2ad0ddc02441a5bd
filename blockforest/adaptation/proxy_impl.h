/* SPDX-License-Identifier: Apache-2.0 */
/** @file proxy_impl.h
 * @brief Internal declarations of proxies.
 *
 * Proxies have no separate allocations: all proxies of a process are in one array, all rows of their tables in another
 * one, in the order of the proxies. A change rebuilds both arrays.
 *
 * Stability: internal, never installed.
 */
#ifndef GABION_BLOCKFOREST_PROXY_IMPL_H
#define GABION_BLOCKFOREST_PROXY_IMPL_H

#include "blockforest/adaptation/proxy.h"
#include "core/messages/port.h"

struct gab_proxies {
  gab_world *world;
  gab_forest_options options;
  gab_topology topology;
  gab_proxy *proxies; /* ascending by id */
  size_t count;
  gab_neighbour *rows; /* of all proxies, in their order */
  size_t row_count;
  gab_port *port;
  bool owns_port;  /* else it is that of the forest */
  gab_epoch epoch; /* epoch of their creation; a failed change breaks the world, which ends the epoch */
};

/** gab_proxies_create(). @param[in] port NULL: opens a separate one */
gab_status gab_proxies_create_on(gab_world *world, const gab_forest_options *options, gab_port *port,
                                 gab_proxies **proxies);
/** Calls gab_forest_options.exists. */
bool gab_proxy_exists(const gab_proxies *all, gab_block_id id);
/** Calls gab_forest_options.weight. */
uint64_t gab_proxy_weight(const gab_proxies *all, gab_block_id id);
/** @return GAB_OK if the proxies are usable; ::GAB_ERR_FAULT in a broken world, ::GAB_ERR_STATE after a
 *  repair */
gab_status gab_proxies_check(const gab_proxies *all);
/** After an error of this process in a collective call: breaks the world and releases all buffers. */
gab_status gab_proxies_abandon(gab_proxies *all, gab_status status);

/* ---- known local and remote blocks, ascending by id */

typedef struct gab_known_block {
  gab_block_id id;
  int32_t value; /* its owner, or an index */
} gab_known_block;

typedef struct gab_known {
  gab_known_block *blocks;
  size_t count;
} gab_known;

/** Sorts and removes duplicates. */
void gab_known_sort(gab_known *known);
/** Finds a block, starting at the end of the last search with this finger. Successive searches for neighbours
 *  end near each other, so their time does not grow with the number of blocks. @return its index, SIZE_MAX if
 *  unknown */
size_t gab_known_find(const gab_known *known, gab_block_id id, size_t *finger);

/* ---- tables */

/** Creates the tables of `count` proxies from the known blocks. @param[in,out] proxies ascending by id; their
 *  neighbours are set
 *  @param[out] rows  gab_free() */
gab_status gab_proxy_tables_make(const gab_topology *topology, const gab_known *known, gab_proxy *proxies,
                                 size_t count, gab_neighbour **rows, size_t *row_count);
/** Sets the pointer of each proxy to its rows, which are in the order of the proxies. */
void gab_proxy_tables_attach(gab_proxy *proxies, size_t count, gab_neighbour *rows);

/* ---- messages about proxies at the border */

/** Proxies at the border to one other rank. */
typedef struct gab_talk {
  gab_rank rank;
  size_t first, count;             /* in `ours` */
  size_t their_first, their_count; /* in `theirs` */
  bool sends, receives;            /* for messages that only some pairs exchange */
  gab_buffer out, in;
} gab_talk;

/** A remote neighbour. */
typedef struct gab_stranger {
  gab_rank rank;
  gab_block_id id;
} gab_stranger;

/** The border of the local part. Blocks are numbered: local ones by their index, followed by those of
 *  `theirs`. */
typedef struct gab_border {
  size_t *ours;         /* numbers, by rank, then id: one entry per neighbouring rank */
  gab_stranger *theirs; /* by rank, then id */
  size_t ours_count, theirs_count;
  gab_talk *talks; /* ascending by rank */
  size_t talk_count;
  int32_t *links; /* number of the block of each row */
} gab_border;

/** @param[out] border  gab_border_release(), also after a failure */
gab_status gab_border_make(const gab_proxies *all, gab_border *border);
void gab_border_release(gab_border *border);
/** @return NULL unless the rank is a neighbour */
gab_talk *gab_border_talk(const gab_border *border, gab_rank rank);
/** @return the number of the block of a row of proxy `index` */
static inline size_t gab_border_link(const gab_proxies *all, const gab_border *border, size_t index,
                                     size_t row)
{
  return (size_t)border->links[(size_t)(all->proxies[index].neighbours - all->rows) + row];
}
/** Exchanges values of border blocks: one message per neighbouring
 *  rank. Collective. @param[in,out] values `bytes` bytes per
 *  number */
gab_status gab_border_exchange(gab_proxies *all, gab_border *border, void *values, size_t bytes);
/** Sends the out buffers of sending talks, and fills the in buffers of receiving ones. */
gab_status gab_border_talk_all(gab_proxies *all, gab_border *border);

/* ---- holes: placeholders of missing children while levels are decided and changed */

/** Direction of rows whose block is a hole; rows of holes have other directions. */
#define GAB_DIRECTION_HOLE GAB_DIRECTION_CENTRE

static inline bool gab_proxy_is_hole(const gab_proxy *proxy) { return proxy->weight == 0; }

/** Proxies and holes. */
typedef struct gab_widened {
  gab_proxies proxies; /**< borrows everything except `proxies` and `rows` */
  gab_mark *marks;     /**< holes agree to be merged */
  int8_t *least;       /**< lowest level that each of them may reach by merging */
  bool is_wide;        /**< false: no holes are needed, and no copy was made */
} gab_widened;

/** If any block may merge: adds holes in the places of missing children, on the rank of their first sibling, and rows
 *  between holes and adjacent blocks. Collective.
 *  @param[out] wide  gab_widened_release(), also after a failure */
gab_status gab_proxies_widen(const gab_proxies *all, const gab_mark *marks, gab_widened *wide);
void gab_widened_release(gab_widened *wide);

/* ---- refinement */

/** The successors of a block. */
typedef struct gab_fate {
  gab_rank holder;  /* rank of the successors */
  int8_t change;    /* change of its level */
  uint8_t children; /* bit c: child c exists; split blocks only */
  uint8_t unused[2];
} gab_fate;

/** Splits and merges according to the levels. Collective. */
gab_status gab_proxies_change(gab_proxies *all, gab_border *border, const int8_t *now, const int8_t *levels);

/** Expensive check of the local part: ids ascend and do not overlap; adjacent local blocks satisfy 2:1 and are in
 *  the tables; rows are possible and on live ranks. @return false with an error message */
bool gab_proxies_are_valid(const gab_proxies *proxies);

#endif

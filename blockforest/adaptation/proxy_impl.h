/* SPDX-License-Identifier: Apache-2.0 */
/** @file proxy_impl.h
 *  @brief The inside of proxies, shared by the files that work on them.
 *
 *  A proxy costs no allocation of its own: all proxies of a process lie in one array, all rows of their
 * tables in another one, in the order of the proxies. Whoever changes them makes both anew.
 *
 *  Stability: internal, never installed.
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
  gab_epoch epoch; /* in which they were made; a failed change breaks the world, so it ends with the epoch */
};

/** gab_proxies_create(). @param[in] port  to talk through; NULL: one of their own is opened */
gab_status gab_proxies_create_on(gab_world *world, const gab_forest_options *options, gab_port *port,
                                 gab_proxies **proxies);
/** Asks gab_forest_options.exists. */
bool gab_proxy_exists(const gab_proxies *all, gab_block_id id);
/** Asks gab_forest_options.weight. */
uint64_t gab_proxy_weight(const gab_proxies *all, gab_block_id id);
/** GAB_OK if they can be worked with: ::GAB_ERR_FAULT in a broken world, ::GAB_ERR_STATE if that was
 * repaired. */
gab_status gab_proxies_check(const gab_proxies *all);
/** After a failure while others count on this process: breaks the world and lets go of all buffers. */
gab_status gab_proxies_abandon(gab_proxies *all, gab_status status);

/* ---- what this process knows of blocks here and elsewhere, ascending by id */

typedef struct gab_known_block {
  gab_block_id id;
  int32_t value; /* its owner, or where to find more about it */
} gab_known_block;

typedef struct gab_known {
  gab_known_block *blocks;
  size_t count;
} gab_known;

/** Sorts and drops doubles. */
void gab_known_sort(gab_known *known);
/** Looks for a block, from where the last search with this finger ended: searches for the neighbours of one
 *  block after the other end near each other, so that they take no time that grows with the number of blocks.
 *  @return its index, SIZE_MAX if it is unknown */
size_t gab_known_find(const gab_known *known, gab_block_id id, size_t *finger);

/* ---- tables */

/** Makes the tables of `count` proxies out of what is known of the blocks here and around.
 *  @param[in,out] proxies  ascending by id; their neighbours are set
 *  @param[out] rows  gab_free() */
gab_status gab_proxy_tables_make(const gab_topology *topology, const gab_known *known, gab_proxy *proxies,
                                 size_t count, gab_neighbour **rows, size_t *row_count);
/** Lets each proxy point to its rows, which lie in the order of the proxies. */
void gab_proxy_tables_attach(gab_proxy *proxies, size_t count, gab_neighbour *rows);

/* ---- who talks to whom about which proxies */

/** What this process and one other tell each other about. */
typedef struct gab_talk {
  gab_rank rank;
  size_t first, count;             /* in `ours` */
  size_t their_first, their_count; /* in `theirs` */
  bool sends, receives;            /* for messages that not every pair exchanges */
  gab_buffer out, in;
} gab_talk;

/** A neighbour that another rank holds. */
typedef struct gab_stranger {
  gab_rank rank;
  gab_block_id id;
} gab_stranger;

/** The border of this process's part. Numbers of blocks: local ones as they stand in the array, then those of
 *  `theirs`. */
typedef struct gab_border {
  size_t *ours;         /* numbers; by rank, then id: one entry for each rank that is interested */
  gab_stranger *theirs; /* by rank, then id */
  size_t ours_count, theirs_count;
  gab_talk *talks; /* ascending by rank */
  size_t talk_count;
  int32_t *links; /* for each row the number of its block */
} gab_border;

/** @param[out] border  gab_border_release(), also after a failure */
gab_status gab_border_make(const gab_proxies *all, gab_border *border);
void gab_border_release(gab_border *border);
/** NULL if there is no such neighbour rank. */
gab_talk *gab_border_talk(const gab_border *border, gab_rank rank);
/** Number of the block of a row of proxy `index`. */
static inline size_t gab_border_link(const gab_proxies *all, const gab_border *border, size_t index,
                                     size_t row)
{
  return (size_t)border->links[(size_t)(all->proxies[index].neighbours - all->rows) + row];
}
/** Tells the others the values of local blocks, and gets those of the blocks of `theirs`: one message per
 *  neighbour rank. Collective.
 *  @param[in,out] values  one of `bytes` bytes for each number */
gab_status gab_border_exchange(gab_proxies *all, gab_border *border, void *values, size_t bytes);
/** Sends the out buffers of all talks that send, and fills the in buffers of those that receive. */
gab_status gab_border_talk_all(gab_proxies *all, gab_border *border);

/* ---- holes: missing children, for as long as levels are decided and changed */

/** Stands in rows whose block is a hole; those of holes themselves have any other direction. */
#define GAB_DIRECTION_HOLE GAB_DIRECTION_CENTRE

static inline bool gab_proxy_is_hole(const gab_proxy *proxy) { return proxy->weight == 0; }

/** Proxies and holes. */
typedef struct gab_widened {
  gab_proxies proxies; /**< borrows all but `proxies` and `rows` */
  gab_mark *marks;     /**< those of holes agree to be merged */
  int8_t *least;       /**< levels below which each of them must not come by merging */
  bool is_wide;        /**< false: there is nothing to be looked for, no copy was made */
} gab_widened;

/** If any block may merge: holes in the places of missing children, held where the first of their siblings
 * is, and rows between these and all that they touch. Collective.
 *  @param[out] wide  gab_widened_release(), also after a failure */
gab_status gab_proxies_widen(const gab_proxies *all, const gab_mark *marks, gab_widened *wide);
void gab_widened_release(gab_widened *wide);

/* ---- refinement */

/** What a block becomes. */
typedef struct gab_fate {
  gab_rank holder;  /* of what it becomes */
  int8_t change;    /* of its level */
  uint8_t children; /* bit c: child c exists; only of blocks that are split */
  uint8_t unused[2];
} gab_fate;

/** Splits and merges as the levels say. Collective. */
gab_status gab_proxies_change(gab_proxies *all, gab_border *border, const int8_t *now, const int8_t *levels);

/** Expensive check of the local part: ids ascend and do not overlap, whatever is here and touches is 2:1 and
 *  in the tables, rows are possible and held by the living. @return false with an error message */
bool gab_proxies_are_valid(const gab_proxies *proxies);

#endif

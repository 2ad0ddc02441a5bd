/* SPDX-License-Identifier: Apache-2.0 */
/** @file diffusion_impl.h
 *  @brief Data of diffusion: a graph of the blocks of some parts, and a graph of the parts.
 *
 *  In a run each process has one part. A process that plans has all of them, and reads the data that is otherwise sent by
 *  messages.
 *
 *  Stability: internal, never installed.
 */
#ifndef GABION_LOADBALANCE_DIFFUSION_IMPL_H
#define GABION_LOADBALANCE_DIFFUSION_IMPL_H

#include "core/messages/port.h"
#include "loadbalance/balance_impl.h"

#define GAB_NOT_HERE UINT32_MAX

/** Two blocks that touch. */
typedef struct gab_link {
  uint32_t other; /* vertex; GAB_NOT_HERE: in `part` */
  int32_t part;
  uint32_t contact;
} gab_link;

/** Messages to and from a neighbour part. */
typedef struct gab_border_mail {
  gab_rank rank;
  gab_buffer out, in;
} gab_border_mail;

typedef struct gab_load_graph {
  gab_proxies *proxies; /* NULL: vertices were set elsewhere */
  gab_world *world;
  gab_port *port;      /* of the proxies; NULL when planning: everything is local */
  int32_t parts;       /* of all */
  int32_t first, held; /* parts first … first + held - 1 are local */
  int classes;         /* balanced separately: levels, or one for all */

  /* Vertices: local proxies, in their order (by id). */
  uint32_t count;
  uint64_t *weight;
  uint8_t *kind;   /* class */
  int32_t *part;   /* now */
  int32_t *next;   /* after this iteration */
  size_t *link_at; /* count + 1 */
  gab_link *links;

  /* Parts: their blocks, and their adjacent parts, ascending. */
  size_t *block_at; /* held + 1 */
  uint32_t *blocks;
  size_t *border_at; /* held + 1 */
  int32_t *borders;
  size_t border_capacity;
  gab_border_mail *mail; /* one per border; none when planning */
  size_t mail_count;
} gab_load_graph;

/** @param[in] options  as completed by gab_balance_proxies() */
void gab_load_graph_init(gab_load_graph *graph, const gab_balance_options *options, gab_proxies *proxies);
void gab_load_graph_release(gab_load_graph *graph);
/** Reads the local proxies. @param[in] part  their owners, NULL: this process. Local. */
gab_status gab_load_graph_read(gab_load_graph *graph, const int32_t *part);
/** Capacity for `count` vertices and all their links. */
gab_status gab_load_graph_make(gab_load_graph *graph, size_t count, size_t links);
/** Computes blocks and borders of the parts from `part`. Local. */
gab_status gab_load_graph_sort(gab_load_graph *graph);
/** Makes the next state the present one: moves proxies, reads and sorts again. Collective. @param[in,out] moved  increased
 * by the number of all moved blocks */
gab_status gab_load_graph_advance(gab_load_graph *graph, uint64_t *moved);
/** Maximum over all processes; no effect when planning. Collective. */
gab_status gab_load_graph_max(gab_load_graph *graph, uint64_t *values, size_t count);
/** Sends `width` numbers of each local part to its adjacent parts. @param[in] values  [held][width] @param[out] theirs
 * [borders][width] */
gab_status gab_load_graph_swap(gab_load_graph *graph, const uint64_t *values, size_t width, uint64_t *theirs);

/** Chooses blocks of one class of part `p` for its neighbour `q` (sets next): first those with the largest contact with q
 * and the smallest with the rest of p, so that parts stay connected. If none touches q, the least attached one is the seed
 * of a new piece. @param[in] capacity  maximum weight to move; with `single` one block of any weight @param[in,out] left
 * remaining blocks of p; the last one stays @param[out] given  moved weight */
typedef struct gab_pick {
  int32_t p, q;
  int kind;
  bool single;
  uint64_t capacity;
} gab_pick;
gab_status gab_load_graph_pick(gab_load_graph *graph, const gab_pick *pick, size_t *left, uint64_t *given);

/** Diffusion from the present state, in which no part is empty. Collective. @param[out] even  whether all keep the limit of
 * diffusion.c */
gab_status gab_load_graph_even_out(gab_load_graph *graph, const gab_balance_options *options,
                                   gab_balance_report *report, bool *even);

#endif

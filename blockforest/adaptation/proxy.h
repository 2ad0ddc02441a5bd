/* SPDX-License-Identifier: Apache-2.0 */
/** @file proxy.h
 *  @brief Proxy blocks: the grid as it is going to be, without any data (Schornbaum & Rüde 2018, section 3).
 *
 *  Refining, coarsening and balancing first happen to proxies: id, weight, neighbours, and where the data
 * will have to come from, a few hundred bytes each. Only when the grid and its distribution are decided does
 *  data move, once: gab_forest_apply_regrid() (blockforest/adaptation/adapt.h). The same proxies let a laptop plan a run of
 * many processes, for which no data is ever made.
 *
 *  Proxies are distributed as blocks are: each process holds its own and knows of the neighbours of those the
 * id and the rank that holds them. Nothing grows with the number of all blocks or ranks.
 *
 *  Stability: extender.
 */
#ifndef GABION_BLOCKFOREST_PROXY_H
#define GABION_BLOCKFOREST_PROXY_H

#include "blockforest/forest/forest.h"
#include "blockforest/forest/topology.h"
#include "core/messages/port.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct gab_proxies gab_proxies;

/** Where the data of a block that a proxy stands for is going to come from. */
typedef enum gab_origin {
  GAB_ORIGIN_NONE = 0, /**< from nowhere: created and initialised */
  GAB_ORIGIN_SELF,     /**< the block of the same id */
  GAB_ORIGIN_PARENT,   /**< split from the block one level up */
  GAB_ORIGIN_CHILDREN  /**< merged from the blocks one level down */
} gab_origin;

typedef struct gab_proxy {
  gab_block_id id;
  uint64_t weight;           /**< > 0; gab_forest_options.weight, or what the caller has set */
  gab_neighbour *neighbours; /**< in the order of direction, then id; owner: who holds that proxy now.
                              *   Borrowed: the rows of all proxies lie in one array */
  size_t neighbour_count;
  gab_origin origin;
  /** Who has the data: sources[0], or one per child for ::GAB_ORIGIN_CHILDREN; else GAB_NO_RANK. */
  gab_rank sources[GAB_CHILDREN_MAX];
} gab_proxy;

/* A failure of one process in one of the collective calls below, lack of memory say, breaks the world
 * (gab_world_raise()). Proxies do not outlive a repair: then they are only good to be destroyed
 * (::GAB_ERR_STATE). */

/** Proxies of the root blocks that exist, an equal piece of the root grid on each process: of the places in
 *  the order of ids. Collective (opens a port); sends nothing.
 *  @param[in] options  copied; weight is asked for each block here, exists for these and the places around
 *  @return ::GAB_ERR_INPUT for a root grid that cannot be */
gab_status gab_proxies_create(gab_world *world, const gab_forest_options *options, gab_proxies **proxies);
/** Proxies of the blocks of a forest as it is, each where its block is (origin: self). Collective; sends
 *  nothing. The forest has to outlive them: they talk through its port.
 *  @return ::GAB_ERR_STATE if the forest is torn */
gab_status gab_proxies_of_forest(gab_forest *forest, gab_proxies **proxies);
void gab_proxies_destroy(gab_proxies **proxies);

size_t gab_proxies_count(const gab_proxies *proxies); /**< local */
/** Local proxies are ordered by id. The pointer holds until the next call that changes them. The caller may
 *  change the weight (> 0), nothing else. */
gab_proxy *gab_proxies_get(gab_proxies *proxies, size_t index);
gab_world *gab_proxies_world(const gab_proxies *proxies);
/** The port that they talk through, for strategies to use between two calls. */
gab_port *gab_proxies_port(const gab_proxies *proxies);
const gab_forest_options *gab_proxies_options(const gab_proxies *proxies);
int gab_proxies_level(const gab_proxies *proxies, gab_block_id id);
/** The cells of the place `id`, in cell indices of its level. Pure. */
gab_box gab_proxies_cells(const gab_proxies *proxies, gab_block_id id);
/** Bytes that the local proxies take. */
size_t gab_proxies_bytes(const gab_proxies *proxies);

/** What a block wants to become. */
typedef enum gab_mark { GAB_MARK_COARSEN = -1, GAB_MARK_KEEP = 0, GAB_MARK_REFINE = 1 } gab_mark;

typedef struct gab_refine_report {
  uint64_t split, merged; /**< blocks split; blocks that came out of merging */
  uint64_t forced;        /**< split although not marked: for 2:1 */
  uint64_t refused;       /**< marked to coarsen, no root, but siblings or neighbours were against it */
  uint64_t blocks;        /**< of all ranks, afterwards */
  int rounds; /**< of messages between neighbours until nothing changed any more; at most twice the
               *   number of levels, and a few */
} gab_refine_report;

/** Changes levels by at most one per block. Refinement always wins: a block beside one that becomes two
 *  levels finer is split too, whatever its mark. A block is coarsened only if all its siblings want it and no
 *  neighbour forbids it; all that may be coarsened are. Decided by messages between neighbours, and beside
 *  missing children with ranks at which those who touch their place meet; the same for any number of processes. The
 *  merged block's proxy goes to who holds the first child's; the split ones stay. Collective. Announces
 *  ::GAB_FAULT_POINT_ADAPT_MARK.
 *
 *  Splitting a block makes all its children that exist (gab_forest_options.exists), none if none does: then
 * it is gone for good. Merging asks those that exist, and brings back their parent, as a whole; a later split
 * makes the same children again. So that this is possible, 2:1 also holds between the parent of a missing
 * child and what is beyond: a block that touches the place of a missing child does not become coarser than
 * one level below that parent, and the parent does not come back beside a block that is two levels finer.
 *
 *  Weights of new proxies: gab_forest_options.weight.
 *
 *  Origins: children of a block that has its data (self) come from the parent, a block merged out of such
 *  comes from its children. Merging what was split, or splitting what was merged, before data has moved gives
 *  self again. Splitting or merging a second time in the same direction before data has moved is refused.
 *  Without data (none) there is no limit.
 *  @param[in] marks  one gab_mark per local proxy; a root block cannot be coarsened, one of max_level or
 * finer not refined: they stay, which counts as nothing
 *  @param[in] max_level  no finer; 0 … gab_root_grid_max_level(); the same on all processes
 *  @param[out] report  of all processes; may be NULL
 *  @return ::GAB_ERR_INPUT for a level that is negative or beyond what ids allow, ::GAB_ERR_STATE if a block
 *          would be split or merged twice: on all processes, and nothing has changed */
gab_status gab_proxies_refine(gab_proxies *proxies, const gab_mark *marks, int max_level,
                              gab_refine_report *report);

/** Packed bytes that one process sends at once while proxies move (a single larger proxy excepted). */
#define GAB_PROXY_MOVE_BYTES ((size_t)8 << 20)

/** Hands proxy i to targets[i], any living rank; tables follow. Collective. Announces
 *  ::GAB_FAULT_POINT_ADAPT_BALANCE.
 *
 *  Memory beyond the proxies that were here and those that are to be, both of which exist for a moment: at
 * most #GAB_PROXY_MOVE_BYTES to send, shared by the targets, and from each rank that sends to this one its
 * share; some bytes for each proxy that leaves. */
gab_status gab_proxies_move(gab_proxies *proxies, const gab_rank *targets);

#ifdef __cplusplus
}
#endif
#endif

/* SPDX-License-Identifier: Apache-2.0 */
/** @file proxy.h
 * @brief Proxy blocks: the future grid without data (Schornbaum & Rüde 2018, section 3).
 *
 * Refinement, coarsening and balancing operate on proxies: id, weight, neighbours, and sources of the data, a
 * few hundred bytes each. Data moves once, after the grid and its distribution are final:
 * gab_forest_apply_regrid() (blockforest/adaptation/adapt.h). With proxies a laptop can plan a run of many
 * processes, without data.
 *
 * Proxies are distributed like blocks: each process holds its own and knows id and rank of their neighbours.
 * Nothing grows with the number of all blocks or ranks.
 *
 * Stability: extender.
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

/** Origin of the data of the block of a proxy. */
typedef enum gab_origin {
  GAB_ORIGIN_NONE = 0, /**< none: created and initialised */
  GAB_ORIGIN_SELF,     /**< the block of the same id */
  GAB_ORIGIN_PARENT,   /**< split from the block one level up */
  GAB_ORIGIN_CHILDREN  /**< merged from the blocks one level down */
} gab_origin;

typedef struct gab_proxy {
  gab_block_id id;
  uint64_t weight;           /**< > 0; gab_forest_options.weight, or what the caller has set */
  gab_neighbour *neighbours; /**< ordered by direction, then id; owner: present rank of that proxy.
                              Borrowed: the rows of all proxies are in one array */
  size_t neighbour_count;
  gab_origin origin;
  /** Ranks that have the data: sources[0], or one per child for ::GAB_ORIGIN_CHILDREN; else GAB_NO_RANK. */
  gab_rank sources[GAB_CHILDREN_MAX];
} gab_proxy;

/* An error of one process in one of the collective calls below, e.g. lack of memory, breaks
 * the world (gab_world_raise()). After a repair, proxies can only be destroyed
 * (::GAB_ERR_STATE). */

/** Creates proxies of the existing root blocks, an equal piece of the root grid on each process, in the
 *  order of ids. Collective (opens a port); sends nothing. @param[in] options copied; weight is called for
 *  each local block, exists for these and adjacent places @return ::GAB_ERR_INPUT for an impossible root
 *  grid */
gab_status gab_proxies_create(gab_world *world, const gab_forest_options *options, gab_proxies **proxies);
/** Creates proxies of the present blocks of a forest, on their ranks (origin: self). Collective; sends
 *  nothing. The forest must outlive them, since they use its port. @return ::GAB_ERR_STATE if the forest is
 *  incomplete */
gab_status gab_proxies_of_forest(gab_forest *forest, gab_proxies **proxies);
void gab_proxies_destroy(gab_proxies **proxies);

size_t gab_proxies_count(const gab_proxies *proxies); /**< local */
/** Local proxies, ordered by id. The pointer is valid until the next call that changes them. The caller may change
 *  only the weight (> 0). */
gab_proxy *gab_proxies_get(gab_proxies *proxies, size_t index);
gab_world *gab_proxies_world(const gab_proxies *proxies);
/** The port of the proxies, for use by strategies between two calls. */
gab_port *gab_proxies_port(const gab_proxies *proxies);
const gab_forest_options *gab_proxies_options(const gab_proxies *proxies);
int gab_proxies_level(const gab_proxies *proxies, gab_block_id id);
/** The cells of the place `id`, in cell indices of its level. Pure. */
gab_box gab_proxies_cells(const gab_proxies *proxies, gab_block_id id);
/** Memory of the local proxies in bytes. */
size_t gab_proxies_bytes(const gab_proxies *proxies);

/** Requested change of a block. */
typedef enum gab_mark { GAB_MARK_COARSEN = -1, GAB_MARK_KEEP = 0, GAB_MARK_REFINE = 1 } gab_mark;

typedef struct gab_refine_report {
  uint64_t split, merged; /**< number of split blocks; number of blocks created by merging */
  uint64_t forced;        /**< split without a mark, for 2:1 */
  uint64_t refused;       /**< marked to coarsen, not a root, but refused by siblings or neighbours */
  uint64_t blocks;        /**< of all ranks, afterwards */
  int rounds;             /**< rounds of messages between neighbours until convergence;
               at most about twice the number of levels */
} gab_refine_report;

/** Changes levels by at most one per block. Refinement has precedence: a block next to one that
 * becomes two levels finer is split, too. A block is coarsened if and only if all its siblings
 * request it and no neighbour forbids it. Decided by messages between neighbours, and at missing
 * children through rendezvous ranks; the result does not depend on the number of processes. The proxy
 * of a merged block is on the rank of the first child; split ones stay. Collective. Enters
 * ::GAB_FAULT_POINT_ADAPT_MARK.
 *
 * Splitting a block creates its existing children (gab_forest_options.exists); without any, the block
 * disappears for good. Merging needs the consent of the existing children and restores the whole
 * parent; a later split creates the same children again. For this, 2:1 also holds across missing
 * children: a block that touches the place of a missing child does not become coarser than one level
 * below the parent, and the parent is not restored next to a block that is two levels finer.
 *
 * Weights of new proxies: gab_forest_options.weight.
 *
 * Origins: children of a block with data (self) have origin parent; a block merged from blocks with
 * data has origin children. The reverse change before data has moved gives self again. A second
 * change in the same direction before data has moved is refused. Without data (none) there is no
 * limit.
 * @param[in] marks one gab_mark per local proxy; marks to coarsen a root block, or to refine beyond
 * max_level, are ignored
 * @param[in] max_level finest level, 0 … gab_root_grid_max_level(); the same on all processes
 * @param[out] report  of all processes; may be NULL
 * @return on all processes, without changes: ::GAB_ERR_INPUT for a level that is negative or too
 * large for ids, ::GAB_ERR_STATE if a block would be split or merged twice */
gab_status gab_proxies_refine(gab_proxies *proxies, const gab_mark *marks, int max_level,
                              gab_refine_report *report);

/** Limit of packed bytes that a process sends at once while proxies move (except a single larger proxy). */
#define GAB_PROXY_MOVE_BYTES ((size_t)8 << 20)

/** Moves proxy i to targets[i], any live rank, with its tables. Collective. Enters
 * ::GAB_FAULT_POINT_ADAPT_BALANCE.
 *
 * Memory besides the old and the new local proxies, which coexist temporarily: at most
 * #GAB_PROXY_MOVE_BYTES to send, divided among the targets, the same share of each sending rank, and some
 * bytes per leaving proxy. */
gab_status gab_proxies_move(gab_proxies *proxies, const gab_rank *targets);

#ifdef __cplusplus
}
#endif
#endif

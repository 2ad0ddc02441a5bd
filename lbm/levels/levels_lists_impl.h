/* SPDX-License-Identifier: Apache-2.0 */
/** @file levels_lists_impl.h
 *  @brief Declarations shared by the files that build the lists of a block between levels.
 *
 *  - levels_lists.c: keys, and functions for both sides; levels_storage.c: entry point;
 *  - levels_lists_fine.c: lists of a block next to coarser ones; levels_lists_coarse.c: next to finer ones;
 *  - levels_slopes.c: slopes of children; levels_balance.c: missing mass of moving sides.
 *
 *  Each value that crosses between blocks has a key that both ends can build: the contact, the cell counted from the
 *  block's own corner, the direction. The corners differ by a constant, so sorting gives both ends the same order.
 *
 *  Stability: internal.
 */
#ifndef GABION_LBM_LEVELS_LISTS_IMPL_H
#define GABION_LBM_LEVELS_LISTS_IMPL_H

#include "lbm/levels/level_interface_impl.h"

/* Kinds of values. Below GAB_CHILD_COUNT_MAX: the population of a child of a coarse cell. */
enum {
  GAB_LEVEL_KEY_ARRIVES = GAB_CHILD_COUNT_MAX,
  GAB_LEVEL_KEY_ACROSS,
  GAB_LEVEL_KEY_SUM,
  GAB_LEVEL_KEY_CARRY,
  GAB_LEVEL_KEY_EXTENDED,                                                 /* plus the number of the child */
  GAB_LEVEL_KEY_OPEN_PLACE = GAB_LEVEL_KEY_EXTENDED + GAB_CHILD_COUNT_MAX /* plus the number of the place */
};

typedef struct gab_level_key {
  int32_t group;   /* first: groups become the parts */
  int32_t z, y, x; /* a coarse cell; across: a fine one */
  int32_t q, what; /* populations of the children of one population are adjacent */
} gab_level_key;

typedef struct gab_level_keys {
  gab_level_key *item;
  size_t count, capacity;
} gab_level_keys;

/** Reserves capacity for one more. @param[in,out] items  grows by doubling */
gab_status gab_level_list_grow(void **items, size_t count, size_t *capacity, size_t bytes_each);
gab_status gab_level_keys_add(gab_level_keys *list, gab_level_key made);
/** Sorts in ascending order and removes duplicates. */
void gab_level_keys_sort(gab_level_keys *list);
/** @param[in] list  sorted, contains the key */
uint32_t gab_level_keys_index(const gab_level_keys *list, const gab_level_key *wanted);
/** Makes parts of the groups first_group <= group < end; parts count from the first key of all. */
gab_status gab_level_keys_parts(const gab_level_keys *list, int32_t first_group, int32_t end,
                                gab_level_interface_parts *parts);

/* A list under construction, with the keys of its items; one entry each. */
typedef struct gab_level_explosion_draft {
  gab_level_interface_explosion explosion;
  gab_level_key first, second, extended;
} gab_level_explosion_draft;
typedef struct gab_level_coalescence_draft {
  gab_level_interface_coalescence coalescence;
  gab_level_key sum;
} gab_level_coalescence_draft;

typedef struct gab_level_carry_draft {
  gab_level_interface_carry carry;
  gab_level_key sum;
} gab_level_carry_draft;
typedef struct gab_level_gain_draft {
  gab_level_interface_gain gain;
  gab_level_key sum;
} gab_level_gain_draft;

typedef struct gab_level_outgoing_draft {
  gab_level_key name;
  gab_level_interface_outgoing outgoing;
} gab_level_outgoing_draft;

typedef struct gab_level_maker {
  const gab_lbm_model *model;
  const gab_lbm_block *block;
  gab_level_interface *interface;
  gab_level_view view;
  gab_paths paths;
  gab_level_keys keys, outgoing_list; /* values received; values sent */
  gab_level_explosion_draft *explosions;
  gab_level_coalescence_draft *coalescences[2];
  gab_level_carry_draft *carries;
  gab_level_key *order;
  gab_level_gain_draft *gains;
  gab_level_outgoing_draft *drafts;
  size_t draft_count, draft_capacity;
  size_t explosion_capacity, coalescence_capacity[2], order_capacity, arrival_capacity, term_capacity;
  size_t carry_capacity, gain_capacity, replacement_capacity, wall_capacity;
} gab_level_maker;

/* On the finer side, groups from here on are contacts between fine blocks, by direction of the sender. */
enum { GAB_LEVEL_ACROSS = GAB_DIRECTIONS };
/* Sub-steps of an impulse. */
enum { GAB_LEVEL_IN_FIRST = 1, GAB_LEVEL_IN_SECOND = 2, GAB_LEVEL_IN_EACH = 3 };

static inline uint32_t gab_level_index_of(const gab_level_maker *by, const int32_t cell[3])
{
  return (uint32_t)gab_field_index(&by->model->map, cell[0], cell[1], cell[2], 0);
}

static inline void gab_level_parent_of(const gab_level_maker *by, const int32_t cell[3], int32_t parent[3])
{
  gab_path_parent(&by->paths, cell, parent);
}

static inline gab_level_key gab_level_key_of(int32_t group, const int32_t cell[3], int what, int q)
{
  return (gab_level_key){.group = group, .z = cell[2], .y = cell[1], .x = cell[0], .what = what, .q = q};
}

/** The fine block of a fine place, in fine blocks. */
void gab_level_place_of(const gab_level_maker *by, const int32_t cell[3], int8_t place[3]);
/** Direction from the fine block at `place` to coarse cell `coarse`; `place` is in fine blocks from the origin of cells. */
int gab_level_seen_from(const gab_level_maker *by, const int32_t coarse[3], const int8_t place[3]);
gab_status gab_level_append_term(gab_level_interface_term **terms, size_t *count,
                                 gab_level_interface_term made);
/** Adds the term of a moving wall to explosion or arrival `at`; omitted if zero. @param[in] wall  place */
gab_status gab_level_add_term(gab_level_maker *by, gab_level_interface_term **terms, size_t *count,
                              uint32_t at, const int32_t wall[3], int q, double share);
/** Adds an impulse; omitted if the wall does not belong to a body. @param[in] wall  place; sets the members of `made` that
 * follow from it @param[in] middle  a point of the path to the wall, in cells from the corner of the view; NULL: the centre
 * of `wall` @param[in] moves  include the term of a moving wall */
gab_status gab_level_add_impulse(gab_level_maker *by, gab_level_interface_impulse made, const int32_t wall[3],
                                 const double middle[3], bool moves);

/** Where a border ends at an edge of a moving side: adds the missing terms, so that mass is conserved; see
 * levels_balance.c. @param[in] first  of the arrivals of the cell, which are the last in the list */
gab_status gab_level_balance_edges(gab_level_maker *by, const int32_t coarse[3], size_t first);
/** Where a border ends at a side with a ramp: adds the missing terms of its growth within a step; the same parameters. */
gab_status gab_level_balance_ramps(gab_level_maker *by, const int32_t coarse[3], size_t first);

/** Adds the contribution of a fine block to the exchange along a border; see levels_carry.c. */
gab_status gab_level_draft_carries(gab_level_maker *by);
/** The arrival of (X, q); added to the list if it is ordinary streaming. @param[in] first  of the cell */
gab_status gab_level_arrival_of(gab_level_maker *by, const int32_t coarse[3], int q, size_t first,
                                uint32_t *found);
/** Adds the exchange to the arrivals of a coarse cell. @param[in] first  of the arrivals of the cell, which are the last in
 * the list */
gab_status gab_level_draft_gains(gab_level_maker *by, const int32_t coarse[3], size_t first);

/** Whether a coarse cell, a neighbour, or a fine cell in their place is solid by an interpolated body; false if the rate is
 * too high for levels_interpolated.c. */
bool gab_level_is_near_interpolated(const gab_level_maker *by, const int32_t coarse[3]);
/** The first such body; -1: none. */
int gab_level_body_near(const gab_level_maker *by, const int32_t coarse[3]);
static inline bool gab_level_is_interpolated(const gab_level_maker *by, int body)
{
  return body >= 0 && gab_geometry_body(by->model->geometry, (size_t)body)->wall == GAB_WALL_INTERPOLATED;
}
/** Converts a coarse cell to its position in the domain. */
static inline void gab_level_coarse_of_domain(const gab_level_maker *by, const int32_t coarse[3],
                                              int64_t cell[3])
{
  for (int axis = 0; axis < 3; axis++)
    cell[axis] = axis < by->model->lattice->dimension ? by->view.origin[axis] / 2 + coarse[axis]
                                                      : by->view.origin[axis] + coarse[axis];
}
/** Whether a child of a coarse cell sends an extended population into a fine cell; see levels_interpolated.c. Both sides of
 * the border get the same answer. @param[in] at  the child and its direction */
bool gab_level_is_extended(const gab_level_maker *by, const gab_path_state *at);
/** Fine side: adds the values received where fine fluid is next to coarse solid cells, see gab_level_is_open_place().
 * Coarse side: adds the values sent. */
gab_status gab_level_draft_open_places(gab_level_maker *by);
gab_status gab_level_give_open_places(gab_level_maker *by, const int32_t coarse[3]);
/** Adds an explosion and the keys of its values. */
gab_status gab_level_add_explosion(gab_level_maker *by, const gab_level_explosion_draft *made);
/** Key of a population of a coarse cell that a fine cell receives, or the reverse. */
gab_level_key gab_level_coarse_key(const gab_level_maker *by, const int32_t fine[3], const int32_t coarse[3],
                                   int what, int q);
/** Adds a value that a coarse cell sends to a fine one. @param[in] fine  that cell */
gab_status gab_level_add_outgoing(gab_level_maker *by, const int32_t fine[3], const int32_t coarse[3],
                                  int what, const gab_level_interface_outgoing *outgoing);
/** Adds the wall next to a coarse cell, once. @param[out] is_found  false if there is no interpolated wall with a normal */
gab_status gab_level_add_wall(gab_level_maker *by, const int32_t coarse[3], bool *is_found);
/** Adds replacements of arrivals of a coarse cell. @param[in] first  of the arrivals of the cell, which are the last in the
 * list */
gab_status gab_level_draft_replacements(gab_level_maker *by, const int32_t coarse[3], size_t first);

gab_status gab_level_make_finer_side(gab_level_maker *by);
gab_status gab_level_make_coarser_side(gab_level_maker *by);

#endif

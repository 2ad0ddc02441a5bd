/* SPDX-License-Identifier: Apache-2.0 */
/* Communication partners of a rank under local recovery: owners of adjacent blocks, the tree of reductions, and ranks whose images
 * it stores. */
#include "resilience/local/local_run_impl.h"
#include "resilience/schemes/placement_impl.h"

gab_rank gab_local_place(const gab_local_run *run, gab_rank rank)
{
  return (gab_rank)gab_members_index(&run->members, rank);
}

static gab_status add(gab_local_ranks *list, gab_rank place)
{
  for (size_t i = 0; i < list->count; i++)
    if (list->ranks[i] == place) return GAB_OK;
  GAB_TRY(gab_list_reserve(&list->ranks, list->count, sizeof place));
  list->ranks[list->count++] = place;
  return GAB_OK;
}

static gab_status add_protected(void *user, gab_rank rank, int copy)
{
  gab_local_ranks *list = user;
  return copy == 0 ? add(list, gab_local_place(list->run, rank)) : GAB_OK;
}

/* Adds owners of blocks adjacent to own blocks. */
static gab_status add_owners(gab_local_ranks *list)
{
  const gab_forest *forest = list->run->loop->forest;
  for (size_t i = 0; i < gab_forest_block_count(forest); i++) {
    const gab_block *block = gab_forest_block(forest, i);
    for (size_t k = 0; k < gab_block_neighbour_count(block); k++) {
      const gab_rank owner = gab_block_neighbours(block)[k].owner;
      if (owner != gab_world_rank(list->run->world)) GAB_TRY(add(list, gab_local_place(list->run, owner)));
    }
  }
  return GAB_OK;
}

/* Adds the neighbours in the binomial tree of core/messages/collective.c: parent at the lowest set bit, children
 * below it. */
static gab_status add_tree(gab_local_ranks *list)
{
  const gab_rank count = (gab_rank)gab_members_count(&list->run->members);
  const gab_rank me = gab_local_place(list->run, gab_world_rank(list->run->world));
  for (gab_rank mask = 1; mask < count; mask <<= 1) {
    if (me & mask) return add(list, me - mask);
    if (me + mask < count) GAB_TRY(add(list, me + mask));
  }
  return GAB_OK;
}

gab_status gab_local_list_neighbours(gab_local_ranks *list)
{
  GAB_TRY(add_owners(list));
  return add_tree(list);
}

gab_status gab_local_look_near(const gab_local_run *run, const gab_local_ranks *list)
{
  for (size_t i = 0; i < list->count; i++)
    GAB_TRY(gab_reliable_channel_add_near(run->channel, list->ranks[i]));
  return GAB_OK;
}

gab_status gab_local_list_protected(gab_local_ranks *list)
{
  const gab_local_run *run = list->run;
  return gab_placement_each_kept(&run->placement, gab_world_rank(run->world), add_protected, list);
}

static bool is_near(const void *user, gab_process place)
{
  const gab_local_run *run = user;
  return place >= (gab_process)gab_members_count(&run->members) ||
         gab_local_is_partner(run->machine, (gab_rank)place);
}

gab_status gab_local_change_grid(gab_local_run *run)
{
  gab_checkpoint *checkpoint = run->loop->protection->checkpoint;
  gab_local_ranks neighbours = {.run = run};
  GAB_TRY(gab_forest_global_blocks(run->loop->forest, &checkpoint->forest_blocks));
  gab_status status = gab_local_list_neighbours(&neighbours);
  if (status == GAB_OK) status = gab_local_look_near(run, &neighbours);
  if (status == GAB_OK)
    status = gab_local_set_neighbours(run->machine, neighbours.ranks, (int32_t)neighbours.count);
  if (status == GAB_OK) gab_reliable_channel_keep_near(run->channel, is_near, run);
  gab_free(&neighbours.ranks);
  run->revision = gab_forest_revision(run->loop->forest);
  return status;
}

/* SPDX-License-Identifier: Apache-2.0 */
/* Validity check of the local proxies. */
#include "blockforest/adaptation/proxy_impl.h"
#include "core/base/lower_bound_impl.h"
#include "blockforest/forest/topology_impl.h"

static bool is_here(const gab_proxies *all, gab_block_id id)
{
  size_t at = 0;
  GAB_LOWER_BOUND(size_t, at, all->count, i, all->proxies[i].id < id);
  return at < all->count && all->proxies[at].id == id;
}

static bool has_row(const gab_proxy *proxy, gab_block_id id, int direction)
{
  for (size_t r = 0; r < proxy->neighbour_count; r++)
    if (proxy->neighbours[r].id == id && proxy->neighbours[r].direction == direction) return true;
  return false;
}

static gab_status check_rows(const gab_proxies *all, const gab_proxy *proxy)
{
  const gab_rank me = gab_world_rank(all->world);
  for (size_t r = 0; r < proxy->neighbour_count; r++) {
    const gab_neighbour *row = &proxy->neighbours[r];
    if (!gab_topology_row_is_possible(&all->topology, proxy->id, row))
      GAB_FAIL(GAB_ERR_STATE,
               "proxy " GAB_PRI_BLOCK ": impossible neighbour " GAB_PRI_BLOCK " in direction %d", proxy->id,
               row->id, row->direction);
    if (r > 0 && (row[-1].direction > row->direction ||
                  (row[-1].direction == row->direction && row[-1].id >= row->id)))
      GAB_FAIL(GAB_ERR_STATE, "proxy " GAB_PRI_BLOCK ": neighbours out of order", proxy->id);
    if (!gab_members_has(gab_world_members(all->world), row->owner))
      GAB_FAIL(GAB_ERR_STATE,
               "proxy " GAB_PRI_BLOCK ": neighbour " GAB_PRI_BLOCK " is held by rank %" GAB_PRI_RANK
               ", which is gone",
               proxy->id, row->id, row->owner);
    if ((row->owner == me) != is_here(all, row->id))
      GAB_FAIL(GAB_ERR_STATE, "proxy " GAB_PRI_BLOCK ": neighbour " GAB_PRI_BLOCK " is %s, against the table",
               proxy->id, row->id, row->owner == me ? "not here" : "here");
  }
  return GAB_OK;
}

/* Each adjacent local proxy must be in the table and not too coarse; too fine ones are found from their side. */
static gab_status check_around(const gab_proxies *all, const gab_proxy *proxy, int direction)
{
  gab_block_id children[GAB_CHILDREN_MAX];
  gab_block_id next = gab_topology_next_to(&all->topology, proxy->id, direction);
  if (next == GAB_NO_BLOCK) return GAB_OK;
  int count = gab_topology_touching_children(&all->topology, proxy->id, direction, children);
  for (int c = 0; c < count; c++)
    if (is_here(all, children[c]) && !has_row(proxy, children[c], direction))
      GAB_FAIL(GAB_ERR_STATE,
               "proxy " GAB_PRI_BLOCK ": neighbour " GAB_PRI_BLOCK " is here but not in the table", proxy->id,
               children[c]);
  for (int above = 0; next != GAB_NO_BLOCK; above++, next = gab_block_id_parent(&all->options.grid, next)) {
    if (!is_here(all, next)) continue;
    if (above > 1)
      GAB_FAIL(GAB_ERR_STATE, "proxies " GAB_PRI_BLOCK " and " GAB_PRI_BLOCK " touch, %d levels apart",
               proxy->id, next, above);
    if (!has_row(proxy, next, direction))
      GAB_FAIL(GAB_ERR_STATE,
               "proxy " GAB_PRI_BLOCK ": neighbour " GAB_PRI_BLOCK " is here but not in the table", proxy->id,
               next);
  }
  return GAB_OK;
}

static gab_status check_proxy(const gab_proxies *all, const gab_proxy *proxy)
{
  if (!gab_block_id_is_valid(&all->options.grid, proxy->id))
    GAB_FAIL(GAB_ERR_STATE, "proxy of the impossible block " GAB_PRI_BLOCK, proxy->id);
  if (proxy->weight == 0) GAB_FAIL(GAB_ERR_STATE, "proxy " GAB_PRI_BLOCK " has no weight", proxy->id);
  gab_block_id above = gab_block_id_parent(&all->options.grid, proxy->id);
  for (; above != GAB_NO_BLOCK; above = gab_block_id_parent(&all->options.grid, above))
    if (is_here(all, above))
      GAB_FAIL(GAB_ERR_STATE, "proxy " GAB_PRI_BLOCK " is a part of proxy " GAB_PRI_BLOCK, proxy->id, above);
  GAB_TRY(check_rows(all, proxy));
  for (int direction = 0; direction < GAB_DIRECTIONS; direction++)
    GAB_TRY(check_around(all, proxy, direction));
  return GAB_OK;
}

static gab_status check_part(const gab_proxies *all)
{
  GAB_TRY(gab_proxies_check(all));
  const gab_neighbour *rows = all->rows;
  for (size_t i = 0; i < all->count; i++) {
    const gab_proxy *proxy = &all->proxies[i];
    if (i > 0 && all->proxies[i - 1].id >= proxy->id)
      GAB_FAIL(GAB_ERR_STATE, "proxies out of order at " GAB_PRI_BLOCK, proxy->id);
    if (proxy->neighbours != rows)
      GAB_FAIL(GAB_ERR_STATE, "proxy " GAB_PRI_BLOCK ": its rows are not in their place", proxy->id);
    rows += proxy->neighbour_count;
    GAB_TRY(check_proxy(all, proxy));
  }
  return GAB_OK;
}

bool gab_proxies_are_valid(const gab_proxies *proxies) { return check_part(proxies) == GAB_OK; }

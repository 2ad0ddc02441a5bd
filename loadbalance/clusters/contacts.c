/* SPDX-License-Identifier: Apache-2.0 */
/* Messages between processes that follow from a planned distribution. */
#include "loadbalance/diffusion_impl.h"

static gab_status visit_block(const gab_load_graph *graph, uint32_t vertex, gab_contact_fn visit, void *user)
{
  const gab_proxy *proxy = gab_proxies_get(graph->proxies, vertex);
  const gab_link *link = &graph->links[graph->link_at[vertex]];
  for (size_t i = 0; i < proxy->neighbour_count; i++) {
    if (proxy->neighbours[i].id == proxy->id) continue; /* has no link */
    int32_t other = graph->part[link++->other];
    if (other != graph->part[vertex])
      GAB_TRY(visit(user, graph->part[vertex], proxy, &proxy->neighbours[i], other));
  }
  return GAB_OK;
}

static gab_status visit_all(gab_load_graph *graph, const int32_t *plan, int32_t *partners,
                            gab_contact_fn visit, void *user)
{
  GAB_TRY(gab_load_graph_read(graph, plan));
  GAB_TRY(gab_load_graph_sort(graph));
  for (int32_t p = 0; p < graph->parts; p++)
    partners[p] = (int32_t)(graph->border_at[p + 1] - graph->border_at[p]);
  for (uint32_t v = 0; v < graph->count && visit; v++) GAB_TRY(visit_block(graph, v, visit, user));
  return GAB_OK;
}

gab_status gab_balance_contacts(gab_proxies *proxies, const int32_t *plan, int32_t parts, int32_t *partners,
                                gab_contact_fn visit, void *user)
{
  gab_world *world = gab_proxies_world(proxies);
  if (gab_members_count(gab_world_members(world)) > 1)
    GAB_FAIL(GAB_ERR_ARGUMENT, "planning is for one process");
  for (size_t i = 0; i < gab_proxies_count(proxies); i++)
    if (plan[i] < 0 || plan[i] >= parts)
      GAB_FAIL(GAB_ERR_ARGUMENT, "the plan gives a block to part %" PRId32 " of %" PRId32, plan[i], parts);
  gab_load_graph graph = {.proxies = proxies, .world = world, .parts = parts, .held = parts, .classes = 1};
  gab_status status = visit_all(&graph, plan, partners, visit, user);
  gab_load_graph_release(&graph);
  return status;
}

/* SPDX-License-Identifier: Apache-2.0 */
/* A process whose strategy fails alone takes the others along, instead of leaving them waiting: all see a
 * broken world, whose repair tells all what happened. A refusal that is the same everywhere breaks nothing.
 */
/* gabion-test: np=1,2,5 timeout=30 needs=ulfm */
#include "core/messages/collective.h"
#include "loadbalance/balance.h"
#include "tests/mpi_test.h"

#include <stdio.h>
#include <string.h>

/* @param[in] user  of the options: whether all fail */
static gab_status fail(const gab_balance_options *options, gab_proxies *proxies, int32_t **part,
                       gab_balance_report *report)
{
  const bool *refuses = options->user;
  gab_world *world = gab_proxies_world(proxies);
  if (*refuses) GAB_FAIL(GAB_ERR_INPUT, "not such a grid");
  if (gab_world_rank(world) == gab_world_members(world)->ranks - 1) GAB_FAIL(GAB_ERR_MEMORY, "no capacity");
  return gab_balancer_hilbert.assign(options, proxies, part, report);
}

static void run(gab_world *world)
{
  const gab_balancer weak = {.name = "weak", .doc = "fails", .is_built = true, .assign = fail};
  const gab_forest_options domain = {
      .grid = {.dimension = 3, .roots = {4, 3, 2}}, .cells = {4, 4, 4}, .dx = 1};
  bool refuses = true;
  const gab_balance_options options = {.balancer = &weak, .user = &refuses};
  gab_proxies *proxies;
  gab_status abort_request;
  REQUIRE(gab_proxies_create(world, &domain, &proxies) == GAB_OK);
  REQUIRE(gab_balance_proxies(proxies, &options, NULL) == GAB_ERR_INPUT);
  REQUIRE(gab_world_check(world) == GAB_OK);
  /* Nobody fails before all have come so far; but who is late may learn of the failure here already. */
  gab_status status = gab_world_barrier(world);
  refuses = false;
  if (status == GAB_OK) status = gab_balance_proxies(proxies, &options, NULL);
  REQUIRE(status == GAB_ERR_FAULT);
  REQUIRE(gab_world_repair(world, &abort_request) == GAB_OK);
  REQUIRE(abort_request == GAB_ERR_MEMORY);
  REQUIRE(strstr(gab_error_message(), "no capacity"));
  gab_proxies_destroy(&proxies);
}

int main(int argc, char **argv)
{
  gab_world *world;
  REQUIRE_OK(gab_world_create(&argc, &argv, &world));
  run(world);
  return test_end(&world);
}

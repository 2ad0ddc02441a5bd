/* SPDX-License-Identifier: Apache-2.0 */
/* One process plans for many parts: bounds as in a run, nothing moves; diffusion starts from any
 * distribution that it is given, ends on its own feet, keeps most blocks where they are, and stops when it
 * is told to. */
/* gabion-test: np=1 timeout=60 labels=quick */
#include "tests/loadbalance/proxies_common.h"

enum { GRIDS = 24 };

/* A distribution along the curve in pieces of random length; nobody is empty. */
static void start_unevenly(gab_proxies *proxies, uint64_t seed, int32_t parts, int32_t *plan)
{
  gab_balance_options options = {.by = GAB_BALANCE_TOTAL, .plan = plan, .parts = parts};
  uint64_t most = 1 + gab_hash_counter(seed, 60, 0) % 50;
  for (size_t i = 0; i < gab_proxies_count(proxies); i++) {
    gab_proxy *proxy = gab_proxies_get(proxies, i);
    gab_block_place place = gab_block_id_place(&gab_proxies_options(proxies)->grid, proxy->id);
    uint64_t region = (uint64_t)(place.at[0] >> place.level) / 2;
    proxy->weight = 1 + gab_hash_counter(seed, 61, region) % most;
  }
  REQUIRE_OK(gab_balance_proxies(proxies, &options, NULL));
  for (size_t i = 0; i < gab_proxies_count(proxies); i++) gab_proxies_get(proxies, i)->weight = 1;
}

static void check_plan(gab_proxies *proxies, const int32_t *plan, int32_t parts, bool per_level,
                       const gab_balance_report *report)
{
  listing all = listing_make(proxies, &gab_curve_morton, plan, per_level);
  check_promises(&all, parts, per_level, report);
  free(all.block);
}

/* Either the imbalance that was asked for, or what is always promised. */
static void check_goal(const gab_balance_report *report, double goal, int32_t parts, gab_balance_by by)
{
  if (by == GAB_BALANCE_TOTAL) {
    REQUIRE(report->imbalance <= goal || report->weight_max <= 1 + report->weight_total / (uint64_t)parts);
    return;
  }
  for (int l = 0; l < report->levels; l++) {
    const gab_balance_share *share = &report->level[l];
    double mean = (double)share->weight_total / parts;
    REQUIRE(share->imbalance <= goal || (double)share->weight_max <= mean + (double)share->heaviest);
  }
}

static void try_diffusion(gab_proxies *proxies, uint64_t seed, int32_t parts, gab_balance_by by)
{
  size_t count = gab_proxies_count(proxies), moved = 0;
  int32_t *plan = calloc(count + 1, sizeof *plan), *start = calloc(count + 1, sizeof *start);
  gab_balance_options options = {.balancer = &gab_balancer_diffusion, .by = by, .plan = plan, .parts = parts};
  gab_balance_report report;
  start_unevenly(proxies, seed, parts, start);
  memcpy(plan, start, count * sizeof *plan);
  REQUIRE_OK(gab_balance_proxies(proxies, &options, &report));
  check_plan(proxies, plan, parts, by == GAB_BALANCE_PER_LEVEL, &report);
  for (size_t i = 0; i < count; i++) moved += plan[i] != start[i];
  REQUIRE(moved <= report.blocks_moved);
  REQUIRE(!report.by_curve || count < (size_t)parts);
  int iterations = report.iterations;

  REQUIRE_OK(gab_balance_proxies(proxies, &options, &report)); /* it is even already */
  REQUIRE(count < (size_t)parts || (report.iterations == 0 && report.blocks_moved == 0));

  memcpy(plan, start, count * sizeof *plan);
  options.goal = 3;
  REQUIRE_OK(gab_balance_proxies(proxies, &options, &report));
  check_goal(&report, 3, parts, by);

  memcpy(plan, start, count * sizeof *plan);
  options.goal = 0;
  options.most_iterations = 1;
  REQUIRE_OK(gab_balance_proxies(proxies, &options, &report)); /* a curve has the last word */
  check_plan(proxies, plan, parts, by == GAB_BALANCE_PER_LEVEL, &report);
  REQUIRE(report.iterations <= 1 && (report.by_curve || iterations <= 1));
  if (gab_balancer_graph.is_built) {
    options.balancer = &gab_balancer_graph;
    REQUIRE_OK(gab_balance_proxies(proxies, &options, &report));
    check_plan(proxies, plan, parts, by == GAB_BALANCE_PER_LEVEL, &report);
    options.balancer = &gab_balancer_diffusion;
  }

  memcpy(plan, start, count * sizeof *plan);
  options.stop_early = true;
  REQUIRE_OK(gab_balance_proxies(proxies, &options, &report));
  REQUIRE(report.iterations <= 1);
  free(plan);
  free(start);
}

static void try_all_on_one(gab_proxies *proxies, int32_t parts, const gab_balancer *balancer,
                           gab_balance_by by)
{
  size_t count = gab_proxies_count(proxies);
  int32_t *plan = calloc(count + 1, sizeof *plan);
  gab_balance_options options = {.balancer = balancer, .by = by, .plan = plan, .parts = parts};
  gab_balance_report report;
  REQUIRE_OK(gab_balance_proxies(proxies, &options, &report));
  check_plan(proxies, plan, parts, by == GAB_BALANCE_PER_LEVEL, &report);
  REQUIRE(gab_proxies_count(proxies) == count);
  free(plan);
}

/* Diffusion touches fewer blocks than a new cut of the curve when a distribution is nearly even. */
static void try_small_change(gab_world *world)
{
  random_domain domain;
  gab_proxies *proxies;
  domain_make(&domain, 1);
  domain.options.grid = (gab_root_grid){2, {64, 64, 1}};
  domain.options.cells[0] = domain.options.cells[1] = 8;
  domain.options.cells[2] = 1;
  domain.options.exists = NULL;
  REQUIRE_OK(gab_proxies_create(world, &domain.options, &proxies));
  size_t count = gab_proxies_count(proxies), by_diffusion = 0, by_curve = 0;
  int32_t *start = calloc(count, sizeof *start), *plan = calloc(count, sizeof *plan);
  gab_balance_options options = {.plan = start, .parts = 64};
  REQUIRE_OK(gab_balance_proxies(proxies, &options, NULL));
  for (size_t i = 0; i < count; i++) /* part 5 has died, 37 has adopted its blocks */
    if (start[i] == 5) start[i] = 37;
  for (size_t i = 0; i < count; i++) start[i] -= start[i] > 5;
  options.plan = plan;
  options.parts = 63;
  REQUIRE_OK(gab_balance_proxies(proxies, &options, NULL));
  for (size_t i = 0; i < count; i++) by_curve += plan[i] != start[i];
  memcpy(plan, start, count * sizeof *plan);
  options.balancer = &gab_balancer_diffusion;
  gab_balance_report report;
  REQUIRE_OK(gab_balance_proxies(proxies, &options, &report));
  for (size_t i = 0; i < count; i++) by_diffusion += plan[i] != start[i];
  check_plan(proxies, plan, 63, true, &report);
  REQUIRE(!report.by_curve && by_diffusion < by_curve);
  free(start);
  free(plan);
  gab_proxies_destroy(&proxies);
}

/* Fewer blocks of each level than parts, but enough in all: nobody is empty. */
static void try_few_of_each_level(gab_world *world)
{
  random_domain domain;
  gab_proxies *proxies;
  domain_make(&domain, 1);
  domain.options.grid = (gab_root_grid){2, {2, 2, 1}};
  for (int axis = 0; axis < 3; axis++) domain.options.cells[axis] = axis < 2 ? 8 : 1;
  domain.options.exists = NULL;
  REQUIRE_OK(gab_proxies_create(world, &domain.options, &proxies));
  gab_mark marks[4] = {GAB_MARK_KEEP, GAB_MARK_REFINE, GAB_MARK_KEEP, GAB_MARK_KEEP};
  REQUIRE_OK(gab_proxies_refine(proxies, marks, 1, NULL));
  REQUIRE(gab_proxies_count(proxies) == 7);
  for (int32_t parts = 5; parts <= 7; parts++)
    for (int k = 0; gab_balancer_at(k); k++)
      if (gab_balancer_at(k)->is_built)
        try_all_on_one(proxies, parts, gab_balancer_at(k), GAB_BALANCE_PER_LEVEL);
  gab_proxies_destroy(&proxies);
}

int main(int argc, char **argv)
{
  gab_world *world;
  REQUIRE_OK(gab_world_create(&argc, &argv, &world));
  for (uint64_t seed = 0; seed < GRIDS; seed++) {
    random_domain domain;
    gab_proxies *proxies = grid_make(world, &domain, seed, 1 + (int)(seed % 4));
    int32_t parts = 1 + (int32_t)(gab_hash_counter(seed, 62, 0) % 70);
    for (int by = GAB_BALANCE_PER_LEVEL; by <= GAB_BALANCE_TOTAL; by++) {
      for (int k = 0; gab_balancer_at(k); k++)
        if (gab_balancer_at(k)->is_built)
          try_all_on_one(proxies, parts, gab_balancer_at(k), (gab_balance_by)by);
      try_diffusion(proxies, seed, parts, (gab_balance_by)by);
    }
    gab_balance_options none = {.plan = &(int32_t){0}, .parts = 0};
    REQUIRE(gab_balance_proxies(proxies, &none, NULL) == GAB_ERR_ARGUMENT);
    gab_proxies_destroy(&proxies);
  }
  try_small_change(world);
  try_few_of_each_level(world);
  return test_end(&world);
}

/* SPDX-License-Identifier: Apache-2.0 */
/* gabion-test: np=1,2,3 quick=2 timeout=60 */
/* Calls that lbm.h forbids are refused, on all ranks alike, by a message with the reason, and a misused flow
 * continues unchanged. They are: sweeps without their exchange, calls of a step in another order, forests without
 * blocks, with other data, or changed during a step; blocks of another forest. */
#include "core/base/log.h"
#include "lbm_common.h"
#include "tests/misuse.h"

struct subject {
  gab_world *world;
  flow it, other; /* the same flow twice */
  gab_lbm *early; /* of a forest without blocks */
  gab_forest *empty;
};

static const flow_case given = {
    .dimension = 2, .cells = {24, 8, 1}, .block = {8, 8, 1}, .options = {.omega = 1.2, .velocity = {0.05}}};

/* ---- order of calls */

static gab_status collide_without_exchange(subject *it) { return gab_lbm_collide(it->it.lbm); }
static gab_status collide_twice(subject *it)
{
  REQUIRE_OK(gab_lbm_step(it->it.lbm));
  REQUIRE_OK(gab_lbm_step(it->other.lbm));
  return gab_lbm_collide(it->it.lbm);
}
/* Completes the step and returns the refusal with its message. */
static gab_status end_step(subject *it, bool finish, gab_status refusal)
{
  char words[512];
  snprintf(words, sizeof words, "%s", gab_error_message());
  if (finish) REQUIRE_OK(gab_lbm_exchange_finish(it->it.lbm));
  REQUIRE_OK(gab_lbm_collide(it->it.lbm));
  REQUIRE_OK(gab_lbm_step(it->other.lbm));
  return refusal == GAB_OK ? GAB_OK : gab_error_set(refusal, __FILE__, __LINE__, "%s", words);
}
static gab_status collide_before_finish(subject *it)
{
  REQUIRE_OK(gab_lbm_exchange_start(it->it.lbm));
  return end_step(it, true, gab_lbm_collide(it->it.lbm));
}
static gab_status start_twice(subject *it)
{
  REQUIRE_OK(gab_lbm_exchange_start(it->it.lbm));
  return end_step(it, true, gab_lbm_exchange_start(it->it.lbm));
}
static gab_status finish_without_start(subject *it) { return gab_lbm_exchange_finish(it->it.lbm); }
static gab_status inner_cells_without_start(subject *it) { return gab_lbm_collide_inner(it->it.lbm); }
static gab_status inner_cells_after_finish(subject *it)
{
  REQUIRE_OK(gab_lbm_exchange_start(it->it.lbm));
  REQUIRE_OK(gab_lbm_exchange_finish(it->it.lbm));
  return end_step(it, false, gab_lbm_collide_inner(it->it.lbm));
}
static gab_status forces_that_nobody_asked_for(subject *it)
{
  double force[3];
  return gab_lbm_force(it->it.lbm, 0, force);
}

/* ---- forests */

static gab_status step_without_blocks(subject *it) { return gab_lbm_step(it->early); }
static gab_status two_flows_on_a_forest(subject *it)
{
  gab_lbm *made;
  const gab_status status = gab_lbm_create(it->empty, NULL, &given.options, &made);
  REQUIRE(!made);
  return status;
}
static gab_status flow_after_the_blocks(subject *it)
{
  gab_lbm *made;
  const gab_status status = gab_lbm_create(it->it.forest, NULL, &given.options, &made);
  REQUIRE(!made);
  return status;
}
static gab_status geometry_of_another_domain(subject *it)
{
  gab_lbm *made;
  gab_geometry *geometry;
  gab_domain domain = gab_lbm_domain(gab_forest_get_options(it->empty));
  domain.cells[0] += 8;
  REQUIRE_OK(gab_geometry_create(&domain, NULL, 0, &geometry));
  const gab_status status = gab_lbm_create(it->empty, geometry, &given.options, &made);
  gab_geometry_destroy(&geometry);
  return status;
}

/* ---- blocks, boxes, bodies */

static gab_status look(subject *it, const gab_block *block, gab_box box)
{
  double density[64];
  return gab_lbm_macroscopic(it->it.lbm, block, &box, density, NULL);
}
static gab_status block_of_another_forest(subject *it)
{
  return look(it, gab_forest_block(it->other.forest, 0), (gab_box){{0, 0, 0}, {8, 8, 1}});
}
static gab_status mask_of_another_forest(subject *it)
{
  uint8_t fluid[64];
  const gab_box box = {{0, 0, 0}, {8, 8, 1}};
  return gab_lbm_fluid_mask(it->it.lbm, gab_forest_block(it->other.forest, 0), &box, fluid);
}
static gab_status box_beyond_the_block(subject *it)
{
  return look(it, gab_forest_block(it->it.forest, 0), (gab_box){{1, 0, 0}, {9, 8, 1}});
}
static gab_status more_than_all_blocks_twice(subject *it)
{
  return gab_lbm_request_recomputation(it->it.lbm, 1.5);
}
static gab_status no_share_of_blocks_twice(subject *it)
{
  return gab_lbm_request_recomputation(it->it.lbm, (double)NAN);
}

static const misuse misuses[] = {
    MISUSE(inner_cells_without_start, STATE, "between start and finish"),
    MISUSE(collide_without_exchange, STATE, "without an exchange"),
    MISUSE(collide_twice, STATE, "without an exchange"),
    MISUSE(collide_before_finish, STATE, "without an exchange"),
    MISUSE(start_twice, STATE, "started twice"),
    MISUSE(finish_without_start, STATE, "without a start"),
    MISUSE(inner_cells_after_finish, STATE, "between start and finish"),
    MISUSE(forces_that_nobody_asked_for, STATE, "no step has been asked"),
    MISUSE(step_without_blocks, STATE, "no blocks"),
    MISUSE(two_flows_on_a_forest, ARGUMENT, "registered twice"),
    MISUSE(flow_after_the_blocks, STATE, "after the forest was populated"),
    MISUSE(geometry_of_another_domain, INPUT, NULL),
    MISUSE(more_than_all_blocks_twice, ARGUMENT, "share"),
    MISUSE(no_share_of_blocks_twice, ARGUMENT, "share"),
};
/* Without blocks these calls cannot be tried. */
static const misuse misuses_of_blocks[] = {
    MISUSE(block_of_another_forest, ARGUMENT, "another forest"),
    MISUSE(mask_of_another_forest, ARGUMENT, "another forest"),
    MISUSE(box_beyond_the_block, ARGUMENT, NULL),
};

int main(int argc, char **argv)
{
  subject it = {.world = NULL};
  REQUIRE_OK(gab_world_create(&argc, &argv, &it.world));
  gab_log_set_level((gab_log_level)-1, (gab_log_level)-1); /* handles are complained of in the log, too */
  flow_case periodic = given;
  it.it = flow_open(it.world, &periodic);
  it.other = flow_open(it.world, &periodic);
  const gab_forest_options options = *gab_forest_get_options(it.it.forest);
  REQUIRE_OK(gab_forest_create(
      it.world,
      &(gab_forest_options){
          .grid = options.grid, .cells = {8, 8, 1}, .dx = 1, .periodic = {true, true, false}},
      &it.empty));
  REQUIRE_OK(gab_lbm_create(it.empty, NULL, &given.options, &it.early));
  are_refused(&it, misuses, sizeof misuses / sizeof misuses[0]);
  if (gab_forest_block_count(it.it.forest) > 0)
    are_refused(&it, misuses_of_blocks, sizeof misuses_of_blocks / sizeof misuses_of_blocks[0]);
  flow_run(&it.it, 3);
  flow_run(&it.other, 3);
  uint64_t sums[2];
  REQUIRE_OK(gab_forest_checksum(it.it.forest, &sums[0]));
  REQUIRE_OK(gab_forest_checksum(it.other.forest, &sums[1]));
  CHECK(gab_lbm_get_step(it.it.lbm) == gab_lbm_get_step(it.other.lbm) && sums[0] == sums[1]);
  REQUIRE_OK(gab_world_check(it.world)); /* nothing of it broke the world */
  gab_lbm_destroy(&it.early);
  gab_forest_destroy(&it.empty);
  flow_close(&it.it);
  flow_close(&it.other);
  return test_end(&it.world);
}

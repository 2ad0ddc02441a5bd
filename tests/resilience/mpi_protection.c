/* SPDX-License-Identifier: Apache-2.0 */
/* Behind a recovery everything is protected again at once, not only with the next checkpoint: there is a
 * snapshot of the restored step, of those that are left and all of them; what the scheme wants to be kept of
 * each of them is kept, by another one, to the last bit. So the next death, of one that held what the first
 * had left, costs nothing, and a copy that has changed since is found and replaced. */
/* gabion-test: np=4,5,8 quick=4 timeout=60 needs=ulfm */
#include "tests/faults/automaton.c"
#include "tests/mpi_test.h"

#include "core/messages/collective.h"
#include "core/base/log.h"
#include "resilience/checkpoint/checkpoint_impl.h"
#include "resilience/loop/timeloop_impl.h"

enum { STEPS = 30, MOST_RANKS = 8 };

typedef struct witness {
  automaton *app;
  gab_timeloop *loop;
  int recoveries;
  uint64_t serial;   /* of the last snapshot seen */
  uint64_t replaced; /* of what lies here, so far */
  gab_rank spoiled;  /* whose first copy gets a wrong bit behind the first recovery; GAB_NO_RANK: nobody's */
  bool right;
} witness;

/* The hash in front of an image stands for it. */
static uint64_t checksum_of(const gab_buffer *image)
{
  uint64_t checksum = 0;
  gab_reader in = gab_message_reader(image);
  CHECK(gab_get_u64(&in, &checksum) == GAB_OK);
  in = gab_message_reader(image);
  CHECK(gab_checksum_matches(&in));
  return checksum;
}

static void copies_are_where_they_belong(const witness *w, const gab_snapshot *snapshot)
{
  uint64_t checksums[MOST_RANKS] = {0}, kept[MOST_RANKS] = {0};
  const gab_members *now = gab_world_members(w->app->world);
  const gab_rank me = gab_world_rank(w->app->world);
  checksums[me] = checksum_of(&snapshot->own);
  CHECK(gab_world_sum_u64(w->app->world, checksums, MOST_RANKS) == GAB_OK);
  for (int i = 0; i < snapshot->copy_count; i++) {
    const gab_copy *copy = &snapshot->copies[i];
    CHECK(copy->rank != me && gab_members_has(now, copy->rank));
    CHECK(checksum_of(&copy->image) == checksums[copy->rank]);
    CHECK(gab_placement_holder(&snapshot->placement, copy->rank, copy->number) == me);
    kept[copy->rank]++;
  }
  CHECK(gab_world_sum_u64(w->app->world, kept, MOST_RANKS) == GAB_OK);
  const int copies = gab_placement_copies(&snapshot->placement);
  CHECK(snapshot->placement.scheme->kind == GAB_SCHEME_GROUPS || copies > 0);
  for (gab_rank rank = 0; rank < now->ranks; rank++)
    CHECK(kept[rank] == (gab_members_has(now, rank) ? (uint64_t)copies : 0));
}

/* The next death needs it: another copy has to be found instead. */
static void spoil_a_copy(witness *w, gab_snapshot *snapshot)
{
  for (int i = 0; i < snapshot->copy_count; i++) {
    gab_copy *copy = &snapshot->copies[i];
    if (copy->rank != w->spoiled || copy->number != 0) continue;
    copy->image.data[copy->image.size - copy->image.size / 3] ^= 0x40;
    w->replaced++;
  }
}

/* The callback of the loop: on all that live, right behind the recovery. */
static void look_at_protection(void *user, const gab_fault *fault)
{
  witness *w = user;
  const gab_checkpoint *checkpoint = w->loop->protection->checkpoint;
  gab_snapshot *snapshot = &w->loop->protection->checkpoint->snapshots[checkpoint->valid];
  const gab_members *now = gab_world_members(w->app->world);
  bool beyond = true;
  uint64_t highest = snapshot->serial;
  w->recoveries++;
  CHECK(snapshot->complete && snapshot->step == fault->restored_step && snapshot->serial > w->serial);
  w->serial = snapshot->serial;
  CHECK(gab_world_max_u64(w->app->world, &highest, 1) == GAB_OK && highest == snapshot->serial);
  CHECK(gab_members_count(&snapshot->members) == gab_members_count(now));
  for (gab_rank rank = 0; rank < now->ranks; rank++)
    CHECK(gab_members_has(&snapshot->members, rank) == gab_members_has(now, rank));
  copies_are_where_they_belong(w, snapshot);
  CHECK(gab_checkpoint_scrub(w->loop->protection->checkpoint, &beyond) == GAB_OK && !beyond);
  CHECK(gab_checkpoint_get_stats(checkpoint).replaced == w->replaced);
  if (w->recoveries == 1) spoil_a_copy(w, snapshot);
}

static gab_status judge(void *user, gab_step step)
{
  witness *w = user;
  uint64_t right = automaton_is_right(w->app, step), blocks;
  GAB_TRY(gab_world_min_u64(w->app->world, &right, 1));
  GAB_TRY(gab_forest_global_blocks(w->app->forest, &blocks));
  w->right = right && blocks == 18;
  return GAB_OK;
}

/* Only the checkpoint of step 0 is taken by the clock. */
static gab_status run(automaton *app, const gab_redundancy *redundancy, const gab_fault_injection *injections,
                      size_t count, witness *w)
{
  const gab_entity entity = automaton_entity(app);
  gab_protection protection = {.every = {.steps = 1000},
                               .redundancy = *redundancy,
                               .injections = injections,
                               .injection_count = count,
                               .rebalance = automaton_rebalance};
  w->app = app;
  GAB_TRY(gab_timeloop_create(app->forest, STEPS, &w->loop));
  gab_status status = gab_timeloop_add_entity(w->loop, &entity);
  if (status == GAB_OK) status = gab_timeloop_add_task(w->loop, "automaton", automaton_step, app);
  if (status == GAB_OK)
    status = gab_timeloop_add_action(w->loop, "sum", automaton_sum_due, automaton_sum, app);
  if (status == GAB_OK) status = gab_timeloop_add_finish(w->loop, "judge", judge, w);
  if (status == GAB_OK) status = gab_timeloop_protect(w->loop, &protection);
  gab_timeloop_on_fault(w->loop, look_at_protection, w);
  if (status == GAB_OK) status = gab_timeloop_run(w->loop);
  gab_timeloop_destroy(&w->loop);
  return status;
}

/* Rank 1; then the one that restored it; then, of those left, any other. */
static void one_death_after_another(automaton *app, const gab_redundancy *redundancy)
{
  gab_placement placement;
  gab_members first;
  const gab_rank ranks = gab_world_members(app->world)->ranks;
  gab_members_init(&first, ranks);
  gab_placement_init(&placement);
  CHECK(gab_placement_make(&placement, redundancy, &first, NULL) == GAB_OK);
  CHECK(gab_members_remove(&first, 1) == GAB_OK);
  const gab_rank heir = gab_placement_restorer(&placement, &first, 1);
  gab_placement_release(&placement);
  gab_members_release(&first);
  const gab_rank third = heir == 2 ? 3 : 2;
  const gab_fault_injection injections[] = {
      {.step = 8, .point = GAB_FAULT_POINT_COMPUTE, .visit = 1, .rank_count = 1, .ranks = {1}},
      {.step = 10, .point = GAB_FAULT_POINT_EXCHANGE, .visit = 1, .rank_count = 1, .ranks = {heir}},
      {.step = 12, .point = GAB_FAULT_POINT_COMPUTE, .visit = 1, .rank_count = 1, .ranks = {third}}};
  witness w = {.spoiled = redundancy->copies > 1 ? heir : GAB_NO_RANK};
  test_doom(1);
  test_doom(heir);
  if (ranks > 4) test_doom(third);
  const size_t deaths = ranks > 4 ? 3 : 2; /* parity groups: of two that are left either is enough */
  CHECK(run(app, redundancy, injections, deaths, &w) == GAB_OK);
  CHECK(w.recoveries == (int)deaths && w.right);
}

int main(int argc, char **argv)
{
  gab_world *world;
  automaton app;
  REQUIRE_OK(gab_world_create(&argc, &argv, &world));
  gab_log_set_level(GAB_LOG_ERROR, GAB_LOG_ERROR); /* the warnings are wanted */
  const gab_rank ranks = gab_world_members(world)->ranks;
  const gab_redundancy of_ranks[] = {[4] = {.scheme = &gab_scheme_pairwise},
                                     [5] = {.scheme = &gab_scheme_ring, .copies = 2},
                                     [8] = {.scheme = &gab_scheme_reed_solomon, .group = 4, .losses = 1}};
  CHECK(automaton_create(&app, world, (int32_t[]){3, 3, 2}) == GAB_OK);
  one_death_after_another(&app, &of_ranks[ranks]);
  automaton_destroy(&app);
  return test_end(&world);
}

/* SPDX-License-Identifier: Apache-2.0 */
/* Two neighbours recover at the same time, one from an earlier checkpoint, since its holder does not know yet that the
 * later one is committed. It lacks messages that no rank has any more, fetches the later image, and continues from there.
 * No other rank rolls back, and the result is that of the undisturbed run.
 *
 * Ranks 0 and 2 store each other's images, and so do 1 and 3. In the (binary) tree of acknowledgements 1 and 2 are children
 * of 0, and 3 of 1; no rank waits for a commit. After the checkpoint of step 20, in this order: 0 learns from 1 that 1 and
 * 3 have their images; 1 dies before it learns of the commit, so 3 does not learn of it either; 0, which stores the image
 * of 2, knows of the commit; 2 dies; 3 sends the image of 1 to a spare; 0 sends that of 2.
 *
 * GABION_TEST_AT_ONCE: the spare for 1 reads its messages only after all that, so that it learns that it needs the later
 * image before it restores the earlier one; its holder answers only after the spare has read them. */
/* gabion-test: np=6 timeout=120 needs=ulfm */
/* gabion-test: np=6 env=GABION_TEST_AT_ONCE=1 */
#include "tests/faults/automaton.c"
#include "tests/mpi_test.h"

#include "tests/faults/local/local_order.h"

enum { LATER = 20 };

static bool at_once;

/* ---------------------------------------------------------------- sequence of events */

static bool child_has(const gab_local *local) { return gab_local_find(local, 1)->have >= LATER; }
/* The rank, its descendants, and the ranks whose images it stores, which would wait for its message. */
static bool subtree_has(const gab_local *local)
{
  for (size_t i = 0; i < local->partner_count; i++) {
    const gab_local_partner *protected = &local->partners[i];
    const gab_local_images *images = &protected->images;
    if (!(protected->roles & ROLE_PROTECTED)) continue;
    if (images->count == 0 || images->list[images->count - 1].checkpoint < LATER) return false;
  }
  return local->reported_have >= LATER;
}
static bool is_committed(const gab_local *local) { return local->committed >= LATER; }
static bool protected_is_given(const gab_local *local) { return gab_local_incarnation_of(local, 1) > 0; }

static gab_status root_part(const local_order *order)
{
  GAB_TRY(order_serve(order, child_has));
  order_tell(order, "child has");
  GAB_TRY(order_serve(order, is_committed));
  order_tell(order, "committed");
  order_wait(order, "given");
  return GAB_OK;
}

static gab_status part(local_order *order, gab_rank rank)
{
  if (rank == 0) return root_part(order);
  if (rank == 2) order_wait(order, "1 dies");
  GAB_TRY(order_serve(order, subtree_has));
  if (rank == 1) {
    order_wait(order, "child has");
    order_die(order, "1 dies");
  }
  if (rank == 2) {
    order_wait(order, "committed");
    order_die(order, "2 dies");
  }
  order_wait(order, "2 dies");
  GAB_TRY(order_serve(order, protected_is_given));
  order_tell(order, "given");
  if (rank == 3 && at_once) order_wait(order, "looked");
  return GAB_OK;
}

/* Replaces gab_local_rest(): the spare for rank 1 reads again only after all these events. */
static gab_status rest(void *user, bool *took_rank)
{
  local_order *order = user;
  gab_local_run *run = order->loop->protection->local;
  bool is_late = false;
  *took_rank = false;
  if (run->machine && gab_local_state_of(run->machine) == GAB_LOCAL_SPARE) {
    GAB_TRY(gab_reliable_channel_serve(run->channel));
    if (gab_local_state_of(run->machine) == GAB_LOCAL_SPARE) return GAB_OK;
    is_late = gab_local_rank(run->machine) == 1;
  }
  for (int looks = 0; is_late && gab_local_statistics(run->machine).jumps == 0;
       gab_world_pause(run->world, &looks))
    GAB_TRY(gab_reliable_channel_serve(run->channel));
  const gab_status status = gab_local_rest(run, took_rank);
  if (is_late) order_tell(order, *took_rank ? "took over" : "waited");
  if (is_late || (*took_rank && gab_local_rank(run->machine) == 1)) order_tell(order, "looked");
  return status;
}

int main(int argc, char **argv)
{
  static const char *const events[] = {"child has", "committed", "1 dies", "2 dies", "given",
                                       "took over", "waited",    "looked", NULL};
  local_order order = {.at = LATER, .part = part, .commit_wait = -1, .commit_children = 2};
  gab_run_stats stats;
  at_once = getenv("GABION_TEST_AT_ONCE") != NULL;
  REQUIRE_OK(order_create(&order, argc, argv));
  if (at_once) gab_world_set_rest(order.app.world, rest, &order);
  REQUIRE_OK(gab_timeloop_run(order.loop));
  test_doom(1), test_doom(2);
  if (at_once && gab_world_rank(order.app.world) == 0)
    CHECK(order_has(&order, "waited") && !order_has(&order, "took over"));
  gab_world *world = order_end(&order, &stats, events);
  CHECK(stats.local.jumps == (gab_world_rank(world) == 1));
  return test_end(&world);
}

/* Two neighbours come back at once, one from an earlier checkpoint than the other: its holder does not know yet that the later one
 * is committed. It lacks messages that nobody has any more, fetches the later image, and goes on from there. Nobody else goes
 * back, and the result is that of the undisturbed run.
 *
 * Slots 0 and 2 keep each other's images, and 1 and 3. In the tree of acknowledgements, of two below each slot here, 1 and 2
 * stand below 0, and 3 below 1; nobody waits for a commit. Behind the checkpoint of step 20 each step of this comes when the one before has happened: 1 dies when 0 has heard from
 * it that it and 3 have their images, and before it hears of the commit, which 3 so does not hear of either; 2 dies when 0,
 * which keeps its image, knows of the commit; then 3 gives 1 to a spare, and then 0 does so with 2. */
/* gabion-test: np=6 timeout=120 labels=quick needs=ulfm */
#include "tests/faults/automaton.c"
#include "tests/mpi_test.h"

#include "tests/faults/local_order.h"

enum { LATER = 20 };

/* ---------------------------------------------------------------- what happens when */

static bool child_has(const gab_local *local) { return gab_local_find(local, 1)->have >= LATER; }
/* The slot, those below it, and those whose images it keeps, which would wait for its word. */
static bool subtree_has(const gab_local *local)
{
  for (size_t i = 0; i < local->partner_count; i++) {
    const gab_local_partner *ward = &local->partners[i];
    const gab_local_images *images = &ward->images;
    if (!(ward->roles & ROLE_WARD)) continue;
    if (images->count == 0 || images->list[images->count - 1].checkpoint < LATER) return false;
  }
  return local->told_have >= LATER;
}
static bool is_committed(const gab_local *local) { return local->committed >= LATER; }
static bool ward_is_given(const gab_local *local) { return gab_local_incarnation_of(local, 1) > 0; }

static gab_status root_part(const local_order *order)
{
  GAB_TRY(order_serve(order, child_has));
  order_tell(order, "child has");
  GAB_TRY(order_serve(order, is_committed));
  order_tell(order, "committed");
  order_wait(order, "given");
  return GAB_OK;
}

static gab_status part(local_order *order, gab_slot slot)
{
  if (slot == 0) return root_part(order);
  if (slot == 2) order_wait(order, "1 dies");
  GAB_TRY(order_serve(order, subtree_has));
  if (slot == 1) {
    order_wait(order, "child has");
    order_die(order, "1 dies");
  }
  if (slot == 2) {
    order_wait(order, "committed");
    order_die(order, "2 dies");
  }
  order_wait(order, "2 dies");
  GAB_TRY(order_serve(order, ward_is_given));
  order_tell(order, "given");
  return GAB_OK;
}

int main(int argc, char **argv)
{
  static const char *const events[] = {"child has", "committed", "1 dies", "2 dies", "given", NULL};
  local_order order = {.at = LATER, .part = part, .commit_wait = -1, .commit_children = 2};
  gab_run_stats stats;
  REQUIRE_OK(order_create(&order, argc, argv));
  REQUIRE_OK(gab_timeloop_run(order.loop));
  test_doom(1), test_doom(2);
  gab_world *world = order_end(&order, &stats, events);
  CHECK(stats.local.jumps == (gab_world_slot(world) == 1));
  return test_end(&world);
}

/* Two neighbours come back at once, one from an earlier checkpoint than the other: its holder does not know yet that the later one
 * is committed. It lacks messages that nobody has any more, fetches the later image, and goes on from there. Nobody else goes
 * back, and the result is that of the undisturbed run.
 *
 * Slots 0 and 2 keep each other's images, and 1 and 3. In the tree of acknowledgements 1 and 2 stand below 0, and 3
 * below 1. Behind the checkpoint of step 20 each step of this comes when the one before has happened: 1 dies when 0 has heard from
 * it that it and 3 have their images, and before it hears of the commit, which 3 so does not hear of either; 2 dies when 0,
 * which keeps its image, knows of the commit; then 3 gives 1 to a spare, and then 0 does so with 2. */
/* gabion-test: np=6 timeout=120 labels=quick needs=ulfm */
#include "tests/faults/automaton.c"
#include "tests/mpi_test.h"

#include "core/collective.h"
#include "core/log.h"
#include "resilience/beacon.h"
#include "resilience/local_impl.h"
#include "resilience/local_run_impl.h"

enum { PLAYERS = 4, SPARES = 2, EVERY = 10, STEPS = 40, LATER = 20 };

typedef struct jumping {
  automaton app;
  gab_timeloop *loop;
  char folder[64]; /* in which the slots tell each other how far they are */
  bool was_spare, right;
  gab_step computed; /* the last step that this process has computed; -1: none */
  int again;
} jumping;

/* ---------------------------------------------------------------- what happens when */

static const gab_local *machine_of(const jumping *life) { return life->loop->guard->local->machine; }

static bool child_has(const gab_local *local) { return gab_local_find(local, 1)->have >= LATER; }
static bool subtree_has(const gab_local *local) { return local->told_have >= LATER; }
static bool is_committed(const gab_local *local) { return local->committed >= LATER; }
static bool ward_is_given(const gab_local *local) { return gab_local_incarnation_of(local, 1) > 0; }

/* Looks after others until then. */
static gab_status serve_until(const jumping *life, bool (*happened)(const gab_local *local))
{
  while (!happened(machine_of(life))) GAB_TRY(gab_local_help(life->loop));
  return GAB_OK;
}

static void name_of(const jumping *life, const char *event, char *path, size_t room)
{
  snprintf(path, room, "%s/%s", life->folder, event);
}

static void tell(const jumping *life, const char *event)
{
  char path[96];
  name_of(life, event, path, sizeof path);
  FILE *file = fopen(path, "w");
  if (!file || fclose(file)) fprintf(stderr, "cannot write %s\n", path);
}

/* Hears nothing from the others meanwhile. */
static void wait_for(const jumping *life, const char *event)
{
  char path[96];
  name_of(life, event, path, sizeof path);
  while (access(path, F_OK) != 0) usleep(1000);
}

static void die(const jumping *life, const char *event)
{
  tell(life, event);
  raise(SIGKILL);
}

static gab_status root_part(const jumping *life)
{
  GAB_TRY(serve_until(life, child_has));
  tell(life, "child has");
  GAB_TRY(serve_until(life, is_committed));
  tell(life, "committed");
  wait_for(life, "given");
  return GAB_OK;
}

static gab_status part_of(const jumping *life, gab_slot slot)
{
  if (slot == 0) return root_part(life);
  if (slot == 2) wait_for(life, "1 dies");
  GAB_TRY(serve_until(life, subtree_has));
  if (slot == 1) {
    wait_for(life, "child has");
    die(life, "1 dies");
  }
  if (slot == 2) {
    wait_for(life, "committed");
    die(life, "2 dies");
  }
  wait_for(life, "2 dies");
  GAB_TRY(serve_until(life, ward_is_given));
  tell(life, "given");
  return GAB_OK;
}

/* ---------------------------------------------------------------- the application */

static gab_status compute(void *user, gab_step step)
{
  jumping *life = user;
  if (step == 0) GAB_TRY(automaton_sum(&life->app, 0));
  if (step == LATER && !life->was_spare) GAB_TRY(part_of(life, gab_world_slot(life->app.world)));
  GAB_TRY(automaton_step(&life->app, step));
  life->again += step <= life->computed;
  life->computed = step;
  return automaton_sum_due(&life->app, step + 1) ? automaton_sum(&life->app, step + 1) : GAB_OK;
}

static gab_status judge_result(void *user, gab_step step)
{
  jumping *life = user;
  uint64_t wrong = automaton_is_right(&life->app, STEPS) && step == STEPS ? 0 : 1;
  GAB_TRY(gab_world_sum_u64(life->app.world, &wrong, 1));
  life->right = wrong == 0;
  return GAB_OK;
}

static gab_status run(jumping *life)
{
  const gab_protection protection = {.every = {.steps = EVERY}, .strategies = {&gab_strategy_local}};
  const gab_entity total = automaton_entity(&life->app);
  GAB_TRY(gab_timeloop_create(life->app.forest, STEPS, &life->loop));
  GAB_TRY(gab_timeloop_add_task(life->loop, "automaton", compute, life));
  GAB_TRY(gab_timeloop_add_finish(life->loop, "judge", judge_result, life));
  GAB_TRY(gab_timeloop_add_entity(life->loop, &total));
  GAB_TRY(gab_timeloop_protect(life->loop, &protection));
  return gab_timeloop_run(life->loop);
}

/* One folder for all, made by slot 0. */
static gab_status agree_on_folder(jumping *life)
{
  gab_world *world = life->app.world;
  gab_buffer name;
  gab_buffer_init(&name, GAB_MEMORY_OTHER);
  snprintf(life->folder, sizeof life->folder, "/tmp/gabion-jump.XXXXXX");
  gab_status status = GAB_OK;
  if (gab_world_is_root(world)) {
    if (!mkdtemp(life->folder)) status = GAB_ERR_IO;
    if (status == GAB_OK) status = gab_put_bytes(&name, life->folder, strlen(life->folder) + 1);
  }
  if (status == GAB_OK) status = gab_world_broadcast(world, gab_world_root(world), &name);
  if (status == GAB_OK) snprintf(life->folder, sizeof life->folder, "%s", (const char *)name.data);
  gab_buffer_release(&name);
  return status;
}

static void remove_folder(const jumping *life)
{
  static const char *const events[] = {"child has", "committed", "1 dies", "2 dies", "given"};
  char path[96];
  for (size_t i = 0; i < sizeof events / sizeof *events; i++) {
    name_of(life, events[i], path, sizeof path);
    unlink(path);
  }
  rmdir(life->folder);
}

int main(int argc, char **argv)
{
  jumping life = {.computed = -1};
  gab_world *world;
  setenv("GABION_SPARES", "2", 1);
  REQUIRE_OK(gab_world_create(&argc, &argv, &world));
  gab_log_set_level(GAB_LOG_ERROR, GAB_LOG_ERROR);
  REQUIRE(gab_world_members(world)->slots == PLAYERS && gab_world_spares(world) == SPARES);
  life.was_spare = gab_world_is_spare(world);
  REQUIRE_OK(automaton_create(&life.app, world, (int32_t[]){8, 4, 4}));
  REQUIRE_OK(agree_on_folder(&life));
  REQUIRE_OK(run(&life));
  test_doom(1), test_doom(2);
  if (gab_world_slot(world) == 0) remove_folder(&life);
  REQUIRE(life.right);
  const gab_run_stats stats = gab_timeloop_get_stats(life.loop);
  CHECK(gab_members_count(gab_world_members(world)) == PLAYERS);
  CHECK(stats.fault_count == 2 && stats.local.faults == 2);
  CHECK(stats.local.jumps == (gab_world_slot(world) == 1));
  CHECK(stats.local.meetings == 0);
  if (!life.was_spare) CHECK(life.again == 0 && stats.local.steps_again == 0);
  gab_timeloop_destroy(&life.loop);
  REQUIRE(gab_beacon_complete(world, 0) == 0);
  automaton_destroy(&life.app);
  return test_end(&world);
}

/* SPDX-License-Identifier: Apache-2.0 */
/* Rows of a series that are appended in the steps, with message logs, survive a root that rolls back alone: the file is
 * that of an undisturbed run, byte for byte, and is not truncated when the root rolls back. The root dies between two rows,
 * or with half a row in the file. */
/* gabion-test: np=5 timeout=120 needs=ulfm */
/* Bits of GABION_TEST_WAY: 1 each row is written at once, not with the checkpoint, so rows exist already when they are
 * recomputed; 2 half a row is written when the root dies; 4 clusters of two; 8 another rank of its cluster dies, and the
 * root rolls back with it. */
/* gabion-test: np=5 env=GABION_TEST_WAY=1 */
/* gabion-test: np=5 env=GABION_TEST_WAY=2 */
/* gabion-test: np=5 env=GABION_TEST_WAY=3 */
/* gabion-test: np=5 env=GABION_TEST_WAY=5 */
/* gabion-test: np=5 env=GABION_TEST_WAY=7 */
/* gabion-test: np=5 env=GABION_TEST_WAY=12 */
/* gabion-test: np=5 env=GABION_TEST_WAY=13 */
#include "tests/faults/automaton.c"
#include "tests/mpi_test.h"

#include "blockforest/output/csv.h"
#include "core/base/log.h"
#include "core/messages/collective.h"
#include "resilience/reports/completion.h"

#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

enum { ACTIVE = 4, EVERY = 10, STEPS = 60, DEATH = 27 };
enum { AT_ONCE = 1, HALF = 2, CLUSTERS = 4, OTHER = 8 };

typedef struct row_life {
  automaton app;
  gab_timeloop *loop;
  gab_series *series;
  char path[128];
  int way;
  int went_back, shortened, overlaps; /* on the process that is root: withdrawn rows, and state of the file */
  bool right, same;
} row_life;

/* Set if this process dies in the next write. */
static bool dies_writing;

/* Replaces the function of the C library for all writes of this program. Writes half of the bytes, then the process dies. */
ssize_t pwrite(int descriptor, const void *bytes, size_t count, off_t offset)
{
  const char *text = bytes;
  if (dies_writing) {
    size_t half = count / 2;
    while (half > 1 && text[half - 1] == '\n') half--;
    syscall(SYS_pwrite64, descriptor, bytes, half, offset);
    raise(SIGKILL);
  }
  return syscall(SYS_pwrite64, descriptor, bytes, count, offset);
}

static gab_status append(gab_series *series, gab_step step)
{
  const double values[2] = {(double)(step * step) / 8, -1.0 / (double)(step + 3)};
  return gab_series_append(series, step, 0.5 * (double)step, values);
}

static gab_status compute(void *user, gab_step step)
{
  row_life *life = user;
  if (step == 0) GAB_TRY(automaton_sum(&life->app, 0));
  GAB_TRY(automaton_step(&life->app, step));
  GAB_TRY(append(life->series, step));
  /* Deferred rows are written with the next checkpoint. */
  const bool last = life->way & AT_ONCE ? step == DEATH : step > DEATH;
  dies_writing = (life->way & HALF) && last && gab_world_process(life->app.world) == 0;
  if (life->way & AT_ONCE) GAB_TRY(gab_series_flush(life->series));
  return automaton_sum_due(&life->app, step + 1) ? automaton_sum(&life->app, step + 1) : GAB_OK;
}

static gab_status pack_rows(void *user, gab_buffer *out)
{
  const row_life *life = user;
  return gab_series_pack(life->series, out);
}

static off_t length_of(const char *path)
{
  struct stat info;
  return stat(path, &info) == 0 ? info.st_size : 0;
}

static gab_status unpack_rows(void *user, gab_reader *in)
{
  row_life *life = user;
  const off_t before = length_of(life->path);
  GAB_TRY(gab_series_unpack(life->series, in));
  if (!gab_world_is_root(life->app.world)) return GAB_OK;
  life->went_back++;
  life->overlaps += (uint64_t)before > gab_series_cursor(life->series);
  life->shortened += length_of(life->path) < before;
  return GAB_OK;
}

static bool are_the_same(const char *one, const char *other)
{
  FILE *a = fopen(one, "rb"), *b = fopen(other, "rb");
  bool same = a && b && length_of(one) > 100;
  for (int c = 0, d; same && c != EOF;) {
    c = getc(a);
    d = getc(b);
    same = c == d;
  }
  if (a) fclose(a);
  if (b) fclose(b);
  return same;
}

/* The rows of a run without a death. */
static gab_status compare_rows(row_life *life)
{
  static const char *const columns[] = {"square", "inverse"};
  char path[160];
  gab_series *undisturbed;
  snprintf(path, sizeof path, "%s.undisturbed", life->path);
  GAB_TRY(gab_series_create(life->app.world, path, columns, 2, &undisturbed));
  gab_status status = GAB_OK;
  for (gab_step step = 0; step < STEPS && status == GAB_OK; step++) status = append(undisturbed, step);
  if (status == GAB_OK) status = gab_series_flush(undisturbed);
  gab_series_destroy(&undisturbed);
  GAB_TRY(status);
  life->same = are_the_same(life->path, path);
  unlink(path);
  return GAB_OK;
}

static gab_status judge_result(void *user, gab_step step)
{
  row_life *life = user;
  uint64_t wrong = automaton_is_right(&life->app, STEPS) && step == STEPS ? 0 : 1;
  GAB_TRY(gab_world_sum_u64(life->app.world, &wrong, 1));
  life->right = wrong == 0;
  GAB_TRY(gab_series_flush(life->series));
  return gab_world_is_root(life->app.world) ? compare_rows(life) : GAB_OK;
}

static gab_status run(row_life *life, const gab_protection *protection)
{
  const gab_entity total = automaton_entity(&life->app);
  const gab_entity rows = {
      .name = "rows", .kind = GAB_ENTITY_REPLICATED, .user = life, .pack = pack_rows, .unpack = unpack_rows};
  GAB_TRY(gab_timeloop_create(life->app.forest, STEPS, &life->loop));
  GAB_TRY(gab_timeloop_add_task(life->loop, "automaton", compute, life));
  GAB_TRY(gab_timeloop_add_finish(life->loop, "judge", judge_result, life));
  GAB_TRY(gab_timeloop_add_entity(life->loop, &total));
  GAB_TRY(gab_timeloop_add_entity(life->loop, &rows));
  GAB_TRY(gab_timeloop_protect(life->loop, protection));
  return gab_timeloop_run(life->loop);
}

static void check_rows(const row_life *life)
{
  CHECK(life->same);
  CHECK(life->went_back > 0 && life->shortened == 0);
  if (life->way & (AT_ONCE | HALF)) CHECK(life->overlaps > 0);
}

int main(int argc, char **argv)
{
  static const char *const columns[] = {"square", "inverse"};
  const char *way = getenv("GABION_TEST_WAY");
  row_life life = {.way = way ? atoi(way) : 0};
  const gab_rank dies = life.way & OTHER ? 1 : 0;
  const gab_fault_injection injection = {
      .step = DEATH, .point = GAB_FAULT_POINT_EXCHANGE, .visit = 1, .rank_count = 1, .ranks = {dies}};
  const gab_protection protection = {.every = {.steps = EVERY},
                                     .verify = GAB_VERIFY_ALWAYS,
                                     .local_clusters = life.way & CLUSTERS ? "2" : NULL,
                                     .injections = &injection,
                                     .injection_count = life.way & HALF ? 0 : 1,
                                     .strategies = {&gab_strategy_local}};
  gab_world *world;
  setenv("GABION_SPARES", "1", 1);
  REQUIRE_OK(gab_world_create(&argc, &argv, &world));
  gab_log_set_level(GAB_LOG_ERROR, GAB_LOG_ERROR);
  REQUIRE(gab_world_members(world)->ranks == ACTIVE && gab_world_spares(world) == 1);
  snprintf(life.path, sizeof life.path, "local-rows-%d.csv", life.way);
  REQUIRE_OK(gab_series_create(world, life.path, columns, 2, &life.series));
  REQUIRE_OK(automaton_create(&life.app, world, (int32_t[]){8, 4, 4}));
  REQUIRE_OK(run(&life, &protection));
  test_doom(dies);
  REQUIRE(life.right);
  const gab_run_stats stats = gab_timeloop_get_stats(life.loop);
  CHECK(stats.fault_count == 1 && stats.local.faults == 1 && stats.local.meetings == 0);
  CHECK(stats.local.steps_again == 0);
  if (gab_world_is_root(world)) check_rows(&life);
  gab_timeloop_destroy(&life.loop);
  gab_series_destroy(&life.series);
  if (gab_world_is_root(world)) unlink(life.path);
  REQUIRE(gab_report_completion(world, 0) == 0);
  automaton_destroy(&life.app);
  return test_end(&world);
}

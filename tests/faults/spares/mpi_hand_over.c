/* SPDX-License-Identifier: Apache-2.0 */
/* A replacement process dies while it receives the image of its rank, and so does the next one, each later in the transfer.
 * The donor still holds the image after every death, so the last spare process gets it and the result is right.
 *
 *   mpi_hand_over MOMENTS [donor]
 *
 * MOMENTS spare processes die, spread over the chunks of the image; one more lives. With `donor' the donor dies as soon as
 * that one has the image, before the next snapshot: then the replacement process holds the only one. */
/* gabion-test: np=9 timeout=120 needs=ulfm labels=quick args=5 */
/* gabion-test: np=9 env=GABION_TEST_WAY=share */
/* gabion-test: np=9 env=GABION_TEST_WAY=send */
#include "tests/faults/automaton.c"
#include "tests/mpi_test.h"

#include "core/base/log.h"
#include "core/world/world_impl.h"
#include "resilience/reports/completion.h"

enum { EVERY = 4, STEPS = 14, ACTIVE = 3, VICTIM = 1, DONOR = 2, DIES_AT = 6 };
/* One chunk per chunk of the image, and one for the rest of the image. */
enum { CHUNKS = 20, NOTE_BYTES = CHUNKS * 768 * 1024, MOST_SPARES = 40 };

/* ---------------------------------------------------------------- a death between two chunks of an image */

static int fatal_chunk = -1, chunks_here; /* this process dies after this number of chunks */
static bool receives;                     /* between the first and the last poll for the image */

static void count_chunk(void)
{
  if (receives && ++chunks_here == fatal_chunk) raise(SIGKILL);
}

int MPI_Test(MPI_Request *request, int *done, MPI_Status *status)
{
  const int code = PMPI_Test(request, done, status);
  if (code == MPI_SUCCESS && *done) count_chunk();
  return code;
}

int MPI_Waitall(int count, MPI_Request *requests, MPI_Status *statuses)
{
  for (int i = 0; receives && i < count; i++)
    for (int done = requests[i] == MPI_REQUEST_NULL; !done;) {
      const int code = MPI_Test(&requests[i], &done, MPI_STATUS_IGNORE);
      if (code != MPI_SUCCESS) return code;
    }
  return PMPI_Waitall(count, requests, statuses);
}

/* ---------------------------------------------------------------- the program: blocks, and a long note of each rank */

typedef struct life {
  automaton app;
  int moments, recoveries;
  int32_t rounds, returned;
  bool right;
  size_t bytes; /* of the note; none before the first step */
  unsigned char *note;
} life;

static unsigned char note_byte(gab_rank rank, size_t at)
{
  return (unsigned char)(at * 31 + at / 255 + (size_t)rank * 101);
}

static gab_status write_note(void *user, gab_step step)
{
  life *l = user;
  void *memory = l->note;
  (void)step;
  if (l->bytes > 0) return GAB_OK;
  GAB_TRY(gab_realloc(NOTE_BYTES, GAB_MEMORY_OTHER, &memory));
  l->note = memory;
  l->bytes = NOTE_BYTES;
  for (size_t i = 0; i < l->bytes; i++) l->note[i] = note_byte(gab_world_rank(l->app.world), i);
  return GAB_OK;
}

static gab_status pack_note(void *user, gab_buffer *out)
{
  const life *l = user;
  return gab_put_bytes(out, l->note, l->bytes);
}

static gab_status unpack_note(void *user, gab_reader *in)
{
  life *l = user;
  gab_reader bytes;
  void *memory = l->note;
  GAB_TRY(gab_get_view(in, gab_reader_left(in), &bytes));
  l->bytes = gab_reader_left(&bytes);
  GAB_TRY(gab_realloc(l->bytes + 1, GAB_MEMORY_OTHER, &memory));
  l->note = memory;
  for (size_t i = 0; i < l->bytes; i++) l->note[i] = bytes.at[i];
  return GAB_OK;
}

static bool note_is_right(const life *l)
{
  size_t right = 0;
  while (right < l->bytes && l->note[right] == note_byte(gab_world_rank(l->app.world), right)) right++;
  return right == NOTE_BYTES;
}

static gab_status judge_result(void *user, gab_step step)
{
  life *l = user;
  uint64_t wrong = automaton_is_right(&l->app, STEPS) && note_is_right(l) && step == STEPS ? 0 : 1;
  GAB_TRY(gab_world_sum_u64(l->app.world, &wrong, 1));
  l->right = wrong == 0;
  return GAB_OK;
}

/* ---------------------------------------------------------------- deaths */

static bool donor_dies;

static void on_phase(void *user, gab_world *world, gab_fault_point point)
{
  (void)user;
  receives = point == GAB_FAULT_POINT_HAND_OVER && gab_world_process(world) >= ACTIVE;
  if (receives && fatal_chunk == 0) raise(SIGKILL);
  if (point == GAB_FAULT_POINT_COMPUTE && gab_world_step(world) == DIES_AT &&
      gab_world_process(world) == VICTIM)
    raise(SIGKILL);
  if (donor_dies && point == GAB_FAULT_POINT_SNAPSHOT && gab_world_process(world) == DONOR &&
      gab_world_incarnation(world, VICTIM) > 0)
    raise(SIGKILL);
}

/* Spares get their rank in order, the first dies first. */
static void doom(const gab_world *world, const life *l)
{
  const gab_process me = gab_world_process(world);
  test_doom(VICTIM);
  if (donor_dies) test_doom(DONOR);
  for (int i = 0; i < l->moments; i++) {
    test_doom(ACTIVE + i);
    if (me == ACTIVE + i) fatal_chunk = l->moments == 1 ? CHUNKS / 2 : i * CHUNKS / (l->moments - 1);
  }
}

static void count_recovery(void *user, const gab_fault *fault)
{
  life *l = user;
  l->recoveries++;
  l->rounds += fault->rounds;
  l->returned += fault->returned;
}

/* Source of the image for the replacement process: a copy, by one of its transports, or parities. */
static void choose_way(gab_protection *protection)
{
  const char *way = getenv("GABION_TEST_WAY");
  if (!way) return;
  if (strcmp(way, "share") == 0) protection->within_node = GAB_WITHIN_NODE_SHARE;
  else if (strcmp(way, "send") == 0) protection->within_node = GAB_WITHIN_NODE_SEND;
  else if (strcmp(way, "compressed") == 0) protection->compression = GAB_COMPRESSION_LZ4;
  else if (strcmp(way, "parity") == 0) protection->redundancy.scheme = gab_scheme_by_name("parity");
  else REQUIRE(!"a way");
}

static gab_status run(life *l, const gab_protection *protection)
{
  gab_timeloop *loop;
  const gab_entity note = {
      .name = "note", .kind = GAB_ENTITY_PER_RANK, .user = l, .pack = pack_note, .unpack = unpack_note};
  GAB_TRY(gab_timeloop_create(l->app.forest, STEPS, &loop));
  gab_status status = gab_timeloop_add_task(loop, "note", write_note, l);
  if (status == GAB_OK) status = automaton_add(&l->app, loop);
  if (status == GAB_OK) status = gab_timeloop_add_entity(loop, &note);
  if (status == GAB_OK) status = gab_timeloop_add_finish(loop, "judge", judge_result, l);
  if (status == GAB_OK) status = gab_timeloop_protect(loop, protection);
  gab_timeloop_on_fault(loop, count_recovery, l);
  if (status == GAB_OK) status = gab_timeloop_run(loop);
  if (status != GAB_OK) fprintf(stderr, "%s: %s\n", gab_status_name(status), gab_error_message());
  gab_timeloop_destroy(&loop);
  return status;
}

int main(int argc, char **argv)
{
  static const gab_strategy *const by_spares_alone = &gab_strategy_spare;
  life l = {.moments = argc > 1 ? atoi(argv[1]) : 0};
  char spares[16];
  gab_world *world;
  donor_dies = argc > 2;
  snprintf(spares, sizeof spares, "%d", l.moments + 1 + donor_dies);
  setenv("GABION_SPARES", spares, 1);
  REQUIRE_OK(gab_world_create(&argc, &argv, &world));
  gab_log_set_level(GAB_LOG_ERROR, GAB_LOG_ERROR);
  REQUIRE(l.moments > 0 && l.moments < MOST_SPARES && gab_world_members(world)->ranks == ACTIVE);
  doom(world, &l);
  gab_world_set_fault_point_hook(world, on_phase, NULL);
  gab_protection protection = {.every = {.steps = EVERY}, .strategies = {by_spares_alone}};
  choose_way(&protection);
  REQUIRE_OK(automaton_create(&l.app, world, (int32_t[]){3, 2, 2}));
  REQUIRE_OK(run(&l, &protection));
  REQUIRE(l.right);
  REQUIRE(gab_members_count(gab_world_members(world)) == ACTIVE && gab_world_spares(world) == 0);
  if (gab_world_process(world) < ACTIVE)
    REQUIRE(l.recoveries == 1 && l.rounds >= l.moments + 1 + donor_dies && l.returned == 1 + donor_dies);
  REQUIRE(gab_report_completion(world, 0) == 0);
  automaton_destroy(&l.app);
  gab_free(&l.note);
  return test_end(&world);
}

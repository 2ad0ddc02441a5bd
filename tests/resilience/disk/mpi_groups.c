/* SPDX-License-Identifier: Apache-2.0 */
/* Every scheme at work on images of random sizes: what is kept, what that costs in memory and on the network,
 * and what comes back when random ranks lose theirs. Nobody dies: those that are to be dead just take no
 * part. */
/* gabion-test: np=1,2,3,5,8 quick=5 timeout=120 */
#include "resilience/schemes/redundancy_impl.h"
#include "tests/mpi_test.h"

#include "core/messages/collective.h"
#include "core/base/hash.h"
#include "core/base/log.h"
#include "resilience/schemes/placement_impl.h"

#include <stdlib.h>
#include <string.h>

/* ---------------------------------------------------------------- what goes over the network */

static size_t network_bytes;

/* Intercepts the call of the MPI library. */
int MPI_Isend(const void *data, int count, MPI_Datatype type, int target, int tag, MPI_Comm comm,
              MPI_Request *request)
{
  int size = 0;
  MPI_Type_size(type, &size);
  network_bytes += (size_t)count * (size_t)size;
  return PMPI_Isend(data, count, type, target, tag, comm, request);
}

/* ---------------------------------------------------------------- images */

/* Pseudo-random bytes known to all ranks. */
static size_t image_size(uint64_t seed, gab_rank rank, size_t most)
{
  uint64_t random = gab_hash_counter(seed, 1, (uint64_t)rank);
  if (most >= 1u << 20) return most - random % 1000;
  return random % 8 == 0 ? random % 3 : (size_t)(random % most);
}

static void image_bytes(uint64_t seed, gab_rank rank, unsigned char *bytes, size_t count)
{
  uint64_t value = gab_hash_counter(seed, 2, (uint64_t)rank);
  for (size_t i = 0; i < count; i++) {
    value = value * UINT64_C(6364136223846793005) + 1442695040888963407u;
    bytes[i] = (unsigned char)(value >> 56);
  }
}

static bool is_image_of(const gab_buffer *message, uint64_t seed, gab_rank rank, size_t most)
{
  size_t size = image_size(seed, rank, most) + sizeof(uint64_t);
  if (gab_message_bytes(message) != size) return false;
  gab_reader in = gab_message_reader(message);
  if (!gab_checksum_matches(&in)) return false;
  void *due;
  if (gab_alloc(size, GAB_MEMORY_OTHER, &due) != GAB_OK) return false;
  image_bytes(seed, rank, due, gab_reader_left(&in));
  bool same = memcmp(due, in.at, gab_reader_left(&in)) == 0;
  gab_free(&due);
  return same;
}

static void make_image(gab_snapshot *snapshot, uint64_t seed, gab_rank me, size_t most)
{
  void *place;
  size_t size = image_size(seed, me, most);
  CHECK(gab_buffer_fit(&snapshot->own, GAB_ENVELOPE_BYTES + sizeof(uint64_t) + size) == GAB_OK);
  CHECK(gab_message_begin(&snapshot->own) == GAB_OK);
  CHECK(gab_checksum_begin(&snapshot->own) == GAB_OK);
  CHECK(gab_buffer_extend(&snapshot->own, size, &place) == GAB_OK);
  image_bytes(seed, me, place, size);
  gab_checksum_end(&snapshot->own, GAB_ENVELOPE_BYTES, NULL);
}

/* ---------------------------------------------------------------- one case */

typedef struct bench {
  gab_world *world;
  gab_checkpoint checkpoint; /* world, ports and redundancy only */
  gab_snapshot *snapshot;
  gab_rank me;
  uint64_t seed;
  size_t most;
} bench;

static void take(bench *b)
{
  gab_snapshot *snapshot = b->snapshot;
  CHECK(gab_members_copy(&snapshot->members, gab_world_members(b->world)) == GAB_OK);
  make_image(snapshot, b->seed, b->me, b->most);
  CHECK(gab_redundancy_plan(&b->checkpoint, snapshot, b->checkpoint.domains) == GAB_OK);
  network_bytes = 0;
  CHECK(gab_redundancy_exchange(&b->checkpoint, snapshot) == GAB_OK);
  size_t sent = gab_redundancy_sent(snapshot, b->me), peers = (size_t)gab_members_count(&snapshot->members);
  size_t chunks = sent / gab_code_chunk(&(gab_group){.count = 8, .parities = 4}, 1 << 20) + 4;
  size_t heads = GAB_ENVELOPE_BYTES * peers * (chunks + 2) + 8 * peers;
  CHECK(network_bytes >= sent && network_bytes <= sent + heads);
  if (b->most >= 1u << 20) CHECK((double)network_bytes <= 1.02 * (double)sent);
  for (int i = 0; i < snapshot->copy_count; i++)
    CHECK(is_image_of(&snapshot->copies[i].image, b->seed, snapshot->copies[i].rank, b->most));
}

static void check_memory(const bench *b)
{
  gab_placement_costs costs = gab_placement_get_costs(&b->snapshot->placement, (double)b->most);
  double held = (double)gab_memory_now(GAB_MEMORY_SNAPSHOT), due = (double)b->most + costs.kept;
  uint64_t most = (uint64_t)held;
  CHECK(gab_world_max_u64(b->world, &most, 1) ==
        GAB_OK);                                       /* the formula holds for the rank that stores most */
  if (b->checkpoint.redundancy.scheme->holder) return; /* the formula holds for the mean there */
  CHECK((double)most <= 1.02 * due && (double)most >= 0.98 * due);
}

static uint64_t draw(const bench *b, uint64_t what) { return gab_hash_counter(b->seed, 3, what); }

/* Dead ranks and changed bytes, the same on all members of the group. */
static void draw_losses(const bench *b, const gab_group *group, gab_group_losses *losses)
{
  *losses = (gab_group_losses){{false}, {false}, {false}, {0}};
  for (int i = 0; i < group->count; i++) losses->living[i] = true;
  int count = (int)(draw(b, 0) % (uint64_t)(group->parities + 1));
  for (int k = 0; k < count; k++) {
    int i = (int)(draw(b, 1 + (uint64_t)k) % (uint64_t)group->count);
    uint64_t kind = draw(b, 100 + (uint64_t)k) % 4;
    if (kind < 2) losses->living[i] = false;
    if (kind < 3) losses->image_gone[i] = true;
    if (kind != 2) losses->parity_gone[i] = true;
  }
  for (int i = 0; i < group->count; i++) {
    losses->target[i] = -1;
    if (losses->image_gone[i])
      losses->target[i] = losses->living[i] ? i : gab_group_restorer(group, losses->living, i);
  }
}

static void lose_and_rebuild(bench *b)
{
  const gab_group *group = &b->snapshot->parities.group;
  gab_group_losses losses;
  gab_buffer images[GAB_MOST_GROUP];
  draw_losses(b, group, &losses);
  CHECK(gab_group_can_rebuild(group, &losses));
  if (!losses.living[group->index]) return;
  if (losses.image_gone[group->index]) memset(b->snapshot->own.data, 0x55, b->snapshot->own.size);
  if (losses.parity_gone[group->index])
    memset(b->snapshot->parities.rows.data, 0xaa, b->snapshot->parities.rows.size);
  for (int i = 0; i < GAB_MOST_GROUP; i++) gab_buffer_init(&images[i], GAB_MEMORY_SNAPSHOT);
  CHECK(gab_group_rebuild(&b->checkpoint, b->snapshot, &losses, images) == GAB_OK);
  for (int i = 0; i < group->count; i++) {
    if (losses.target[i] == group->index) CHECK(is_image_of(&images[i], b->seed, group->ranks[i], b->most));
    gab_buffer_release(&images[i]);
  }
}

/* A user-defined scheme: two members with enough memory store the images of all. It needs only this table (and
 * gab_scheme_register(), to be chosen by name). */
static int one_copy(int32_t count) { return count > 1; }
static int32_t at_the_servers(const gab_scheme_places *places, int32_t place, int copy, int copies)
{
  (void)places, (void)copy, (void)copies;
  return place % 2 == 0; /* even places at the second one, odd ones at the first */
}
static const gab_scheme servers = {.name = "servers",
                                   .doc = "whole images at the first two members",
                                   .most_copies = one_copy,
                                   .holder = at_the_servers};

static const gab_redundancy schemes[] = {
    {.scheme = &servers},
    {.scheme = &gab_scheme_pairwise},
    {.scheme = &gab_scheme_ring, .copies = 2},
    {.scheme = &gab_scheme_none},
    {.scheme = &gab_scheme_parity, .group = 8},
    {.scheme = &gab_scheme_parity, .group = 3},
    {.scheme = &gab_scheme_reed_solomon, .group = 8, .losses = 2},
    {.scheme = &gab_scheme_reed_solomon, .group = 4, .losses = 2},
    {.scheme = &gab_scheme_reed_solomon, .group = 8, .losses = 4},
};
enum { SCHEMES = sizeof schemes / sizeof schemes[0] };

static void begin(bench *b, gab_snapshot *snapshot, const gab_redundancy *redundancy)
{
  *snapshot = (gab_snapshot){.serial = 1};
  gab_buffer_init(&snapshot->own, GAB_MEMORY_SNAPSHOT);
  gab_buffer_init(&snapshot->parities.rows, GAB_MEMORY_SNAPSHOT);
  gab_members_init(&snapshot->members, 0);
  gab_placement_init(&snapshot->placement);
  b->snapshot = snapshot;
  b->checkpoint.redundancy = *redundancy;
}

static void end(bench *b)
{
  gab_buffer_release(&b->snapshot->own);
  gab_redundancy_release(b->snapshot);
  gab_members_release(&b->snapshot->members);
  gab_placement_release(&b->snapshot->placement);
}

static void random_losses_come_back(bench *b, int cases)
{
  static gab_snapshot snapshot;
  for (int s = 0; s < SCHEMES; s++) {
    begin(b, &snapshot, &schemes[s]);
    for (int i = 0; i < cases; i++) {
      b->seed++;
      b->most = i % 20 == 19 ? 400 * 1024 : i % 2 ? 5000 : 40;
      take(b);
      if (snapshot.parities.group.parities > 0) lose_and_rebuild(b);
      CHECK(gab_world_barrier(b->world) == GAB_OK);
    }
    end(b);
  }
}

/* Kohl et al. 2017, eq. 2, for one snapshot. */
static void memory_and_network_are_those_of_the_formula(bench *b)
{
  static gab_snapshot snapshot;
  for (int s = 0; s < SCHEMES; s++) {
    begin(b, &snapshot, &schemes[s]);
    for (int i = 0; i < 3; i++) {
      b->seed++;
      b->most = (size_t)(2 + (i == 1)) << 20; /* must grow once */
      take(b);
      check_memory(b);
    }
    end(b);
  }
}

int main(int argc, char **argv)
{
  static bench b;
  REQUIRE_OK(gab_world_create(&argc, &argv, &b.world));
  b.me = gab_world_rank(b.world);
  b.checkpoint.world = b.world;
  CHECK(gab_port_create(b.world, "bench", &b.checkpoint.port) == GAB_OK);
  CHECK(gab_port_create(b.world, "copies", &b.checkpoint.transfer.moves.port) == GAB_OK);
  random_losses_come_back(&b, argc > 1 ? atoi(argv[1]) : 21);
  memory_and_network_are_those_of_the_formula(&b);
  gab_port_destroy(&b.checkpoint.transfer.moves.port);
  gab_port_destroy(&b.checkpoint.port);
  return test_end(&b.world);
}

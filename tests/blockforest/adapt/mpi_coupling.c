/* SPDX-License-Identifier: Apache-2.0 */
/* A message from a block to one of a neighbouring level arrives there and only there: for every contact and way, in
 * random forests of up to four levels with random owners, again after migrations.
 * gabion-test: np=1,2,4 quick=2 timeout=60 threads=2 */
#include "blockforest/exchange/coupling.h"
#include "core/messages/collective.h"
#include "tests/blockforest/random_domain.h"
#include "tests/blockforest/random_levels.h"
#include "blockforest/forest/topology_impl.h"

enum { FORESTS = 24, MOST_WORDS = 4 };

typedef struct mailbox {
  gab_block_id id;
  uint64_t seen[GAB_COUPLING_WAYS]; /* sums of the hashes of the contacts that arrived */
} mailbox;

static gab_status box_create(void *user, const gab_forest *forest, const gab_block *block, void **data)
{
  (void)user;
  (void)forest;
  mailbox *made = calloc(1, sizeof *made);
  REQUIRE(made);
  made->id = gab_block_get_id(block);
  *data = made;
  return GAB_OK;
}
static void box_destroy(void *user, void *data)
{
  (void)user;
  free(data);
}

static uint64_t contact_hash(gab_coupling_way way, const gab_contact *contact)
{
  const uint64_t words[] = {contact->fine, contact->other, (uint64_t)contact->direction, (uint64_t)way};
  return gab_hash64(words, sizeof words, 5);
}

/* The finer block lies at the place that the contact gives. */
static void check_place(const gab_topology *topology, const gab_contact *contact)
{
  gab_block_place fine = gab_block_id_place(&topology->grid, contact->fine);
  gab_block_place coarse = gab_block_id_place(&topology->grid, contact->other);
  REQUIRE(fine.level == coarse.level + 1);
  int offset[3];
  gab_direction_offset(contact->direction, offset);
  for (int axis = 0; axis < topology->grid.dimension; axis++) {
    int64_t extent = (int64_t)topology->grid.roots[axis] << fine.level;
    int64_t apart = (int64_t)2 * coarse.at[axis] + contact->place[axis] - fine.at[axis];
    REQUIRE(topology->periodic[axis] ? apart % extent == 0 : apart == 0);
    REQUIRE(contact->place[axis] + offset[axis] >= 0 && contact->place[axis] + offset[axis] <= 1);
  }
}

static size_t letter_size(void *user, const void *data, gab_coupling_way way, const gab_contact *contact,
                          bool sends)
{
  const mailbox *box = data;
  if (way != GAB_COUPLING_ACROSS) check_place(user, contact);
  bool is_fine = way == GAB_COUPLING_DOWN ? !sends : sends;
  REQUIRE(box->id == (is_fine ? contact->fine : contact->other));
  return sizeof(uint64_t) * (size_t)(contact_hash(way, contact) % MOST_WORDS);
}

static void letter_pack(void *user, const void *data, gab_coupling_way way, const gab_contact *contact,
                        void *bytes)
{
  size_t words = letter_size(user, data, way, contact, true) / sizeof(uint64_t);
  uint64_t hash = contact_hash(way, contact);
  for (size_t i = 0; i < words; i++) memcpy((uint64_t *)bytes + i, &hash, sizeof hash);
}

static void letter_unpack(void *user, void *data, gab_coupling_way way, const gab_contact *contact,
                          const void *bytes)
{
  mailbox *box = data;
  size_t words = letter_size(user, data, way, contact, false) / sizeof(uint64_t);
  uint64_t hash = contact_hash(way, contact);
  for (size_t i = 0; i < words; i++) REQUIRE(memcmp((const uint64_t *)bytes + i, &hash, sizeof hash) == 0);
#pragma omp atomic
  box->seen[way] += hash;
}

/* Expected arrivals at a block, from the list of all blocks. */
static void expect_of(const leaves *all, const mailbox *box, uint64_t due[GAB_COUPLING_WAYS],
                      size_t *contacts)
{
  const gab_topology *topology = &all->topology;
  memset(due, 0, GAB_COUPLING_WAYS * sizeof *due);
  for (size_t i = 0; i < all->count; i++)
    for (int direction = 0; direction < GAB_DIRECTIONS; direction++) {
      gab_contact contact = {.fine = all->id[i], .direction = direction};
      gab_block_id next = gab_topology_next_to(topology, contact.fine, direction);
      int offset[3], zeros = 0;
      gab_direction_offset(direction, offset);
      for (int axis = 0; axis < 3; axis++) zeros += offset[axis] == 0;
      if (next == GAB_NO_BLOCK) continue;
      gab_coupling_way ways[2] = {GAB_COUPLING_DOWN, GAB_COUPLING_UP};
      if (leaves_have(all, next)) {
        contact.other = next;
        ways[0] = ways[1] = GAB_COUPLING_ACROSS;
        if (zeros > 1) continue;
      } else {
        contact.other = gab_block_id_parent(&topology->grid, next);
        if (!leaves_have(all, contact.other)) continue;
      }
      for (int w = 0; w < 2; w++) {
        gab_block_id receiver = ways[w] == GAB_COUPLING_DOWN ? contact.fine : contact.other;
        if (receiver != box->id || (w == 1 && ways[1] == ways[0])) continue;
        ++*contacts;
        if (contact_hash(ways[w], &contact) % MOST_WORDS > 0) due[ways[w]] += contact_hash(ways[w], &contact);
      }
    }
}

static void run_all(const leaves *all, gab_forest *forest, gab_coupling *coupling, gab_data_id id,
                    size_t *contacts)
{
  for (size_t b = 0; b < gab_forest_block_count(forest); b++)
    memset(((mailbox *)gab_block_data(gab_forest_block(forest, b), id))->seen, 0,
           sizeof(uint64_t[GAB_COUPLING_WAYS]));
  for (int level = 3; level >= 0; level--)
    for (int way = 0; way < GAB_COUPLING_WAYS; way++) {
      REQUIRE_OK(gab_coupling_start(coupling, (gab_coupling_way)way, level));
      REQUIRE_OK(gab_coupling_finish(coupling));
    }
  for (size_t b = 0; b < gab_forest_block_count(forest); b++) {
    const mailbox *box = gab_block_data(gab_forest_block(forest, b), id);
    uint64_t due[GAB_COUPLING_WAYS];
    expect_of(all, box, due, contacts);
    REQUIRE(memcmp(due, box->seen, sizeof due) == 0);
  }
}

static void migrate(gab_forest *forest, uint64_t seed)
{
  size_t count = gab_forest_block_count(forest);
  gab_rank *targets = malloc((count + 1) * sizeof *targets);
  REQUIRE(targets);
  for (size_t i = 0; i < count; i++)
    targets[i] = leaves_owner(forest, gab_block_get_id(gab_forest_block(forest, i)), seed);
  REQUIRE_OK(gab_forest_migrate(forest, targets));
  free(targets);
}

static size_t try_forest(gab_world *world, uint64_t seed)
{
  random_domain domain;
  domain_make(&domain, seed);
  gab_forest_options options = domain.options;
  for (int axis = 0; axis < options.grid.dimension; axis++) {
    options.cells[axis] = 4;
    if (options.grid.roots[axis] > 3) options.grid.roots[axis] = 3;
  }
  gab_block_data_kind kind = {.name = "mail", .create = box_create, .destroy = box_destroy};
  gab_coupling_kind letters = {
      .name = "letters", .size = letter_size, .pack = letter_pack, .unpack = letter_unpack};
  gab_forest *forest;
  gab_coupling *coupling;
  gab_data_id id;
  size_t contacts = 0;
  REQUIRE_OK(gab_forest_create(world, &options, &forest));
  REQUIRE_OK(gab_forest_add_data(forest, &kind, &id));
  leaves all = leaves_make(&options, seed, options.grid.dimension == 3 ? 2 : 3, 30);
  leaves_drop_empty(&all, forest);
  REQUIRE_OK(leaves_populate(&all, forest, seed));
  REQUIRE(gab_forest_is_valid(forest));
  letters.user = &all.topology;
  REQUIRE_OK(gab_coupling_create(forest, id, &letters, &coupling));
  REQUIRE(gab_coupling_finish(coupling) == GAB_ERR_STATE);
  run_all(&all, forest, coupling, id, &contacts);
  migrate(forest, seed + 500);
  run_all(&all, forest, coupling, id, &contacts);
  REQUIRE_OK(gab_coupling_start(coupling, GAB_COUPLING_DOWN, 0));
  REQUIRE(gab_coupling_start(coupling, GAB_COUPLING_UP, 0) == GAB_ERR_STATE);
  REQUIRE_OK(gab_coupling_finish(coupling));
  gab_coupling_destroy(&coupling);
  gab_forest_destroy(&forest);
  leaves_release(&all);
  return contacts;
}

int main(int argc, char **argv)
{
  gab_world *world;
  uint64_t contacts = 0;
  REQUIRE_OK(gab_world_create(&argc, &argv, &world));
  for (uint64_t seed = 0; seed < FORESTS; seed++) contacts += try_forest(world, seed);
  REQUIRE_OK(gab_world_sum_u64(world, &contacts, 1));
  REQUIRE(contacts > 1000);
  return test_end(&world);
}

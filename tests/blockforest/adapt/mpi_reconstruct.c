/* SPDX-License-Identifier: Apache-2.0 */
/* Lost blocks are approximated from known blocks around them, independent of owners, as a model of the whole grid
 * predicts.
 * gabion-test: np=1,2,3,6 quick=3 timeout=60 */
#include "blockforest/exchange/exchange.h"
#include "blockforest/migration/reconstruct.h"
#include "core/messages/collective.h"
#include "tests/blockforest/random_domain.h"

enum { DOMAINS = 60, MOST_PLACES = 125 };

/* ---- data: a number, and those of the neighbours */

typedef struct mark {
  uint64_t value, beside[GAB_DIRECTIONS];
} mark;

static gab_exchange *exchange;

static gab_status make(void *user, const gab_forest *forest, const gab_block *block, void **data)
{
  (void)user, (void)forest, (void)block;
  return gab_alloc(sizeof(mark), GAB_MEMORY_OTHER, data);
}
static void unmake(void *user, void *data)
{
  (void)user;
  gab_free(&data);
}
static uint64_t first_value(gab_block_id id) { return gab_hash_counter(7, 8, id); }
static gab_status begin(void *user, const gab_forest *forest, const gab_block *block, void *data)
{
  (void)user, (void)forest;
  ((mark *)data)->value = first_value(gab_block_get_id(block));
  return GAB_OK;
}
static size_t size_of(void *user, const void *data)
{
  (void)user, (void)data;
  return sizeof(uint64_t);
}
static gab_status pack(void *user, const void *data, gab_buffer *out)
{
  (void)user;
  return gab_put_u64(out, ((const mark *)data)->value);
}
static gab_status unpack(void *user, void *data, gab_reader *in)
{
  (void)user;
  return gab_get_u64(in, &((mark *)data)->value);
}
static gab_status gather(void *user)
{
  (void)user;
  GAB_TRY(gab_exchange_start(exchange));
  return gab_exchange_finish(exchange);
}
static uint64_t approximated(uint64_t before, int direction, uint64_t beside)
{
  return before * 31 + (uint64_t)(direction + 1) * beside;
}
static gab_status reconstruct(void *user, const gab_forest *forest, const gab_block *block, void *data,
                              uint32_t known)
{
  (void)user, (void)forest, (void)block;
  mark *it = data;
  it->value = 1;
  for (int d = 0; d < GAB_DIRECTIONS; d++)
    if (known >> d & 1) it->value = approximated(it->value, d, it->beside[d]);
  return GAB_OK;
}

static size_t ghost_size(void *user, int direction)
{
  (void)user, (void)direction;
  return sizeof(uint64_t);
}
static void ghost_pack(void *user, const void *data, int direction, void *bytes)
{
  (void)user, (void)direction;
  memcpy(bytes, &((const mark *)data)->value, sizeof(uint64_t));
}
static void ghost_unpack(void *user, void *data, int direction, const void *bytes)
{
  (void)user;
  memcpy(&((mark *)data)->beside[gab_direction_opposite(direction)], bytes, sizeof(uint64_t));
}

static gab_data_id register_marks(gab_forest *forest, bool replaceable)
{
  gab_data_id id;
  gab_block_data_kind kind = {.name = "marks",
                              .create = make,
                              .destroy = unmake,
                              .initialise = begin,
                              .packed_size = size_of,
                              .pack = pack,
                              .unpack = unpack};
  if (replaceable) {
    kind.gather = gather;
    kind.reconstruct = reconstruct;
  }
  REQUIRE_OK(gab_forest_add_data(forest, &kind, &id));
  return id;
}

/* ---- losses: blocks of the upper half of the ranks */

typedef struct losses {
  uint64_t seed, share; /* of 16 blocks, a number */
  int32_t ranks;
} losses;

static bool is_lost(const losses *which, gab_block_id id)
{
  return which->ranks == 1 || gab_hash_counter(which->seed, 3, id) % 16 < which->share;
}
static gab_rank owner_of(const void *rule, gab_block_id id)
{
  const losses *which = rule;
  const int32_t lower = which->ranks / 2;
  const uint64_t drawn = gab_hash_counter(which->seed, 4, id);
  if (which->ranks == 1) return 0;
  return is_lost(which, id) ? lower + (gab_rank)(drawn % (uint64_t)(which->ranks - lower))
                            : (gab_rank)(drawn % (uint64_t)lower);
}

/* ---- the model */

typedef struct place {
  int32_t at[3];
  gab_block_id id;
  uint64_t value;
  uint32_t there, known; /* directions */
  bool unknown, due;
} place;

typedef struct model {
  place places[MOST_PLACES];
  size_t count;
  gab_reconstruction report;
} model;

static place *model_find(model *all, gab_block_id id)
{
  for (size_t i = 0; i < all->count; i++)
    if (all->places[i].id == id) return &all->places[i];
  return NULL;
}

static int faces_of(uint32_t directions)
{
  int faces = 0, offset[3];
  for (int d = 0; d < GAB_DIRECTIONS; d++) {
    gab_direction_offset(d, offset);
    faces += (directions >> d & 1) && abs(offset[0]) + abs(offset[1]) + abs(offset[2]) == 1;
  }
  return faces;
}

static place *model_next(const random_domain *domain, model *all, const place *from, int direction)
{
  int step[3];
  int32_t next[3];
  gab_direction_offset(direction, step);
  const bool flat = domain->options.grid.dimension == 2 && step[2] != 0;
  if (direction == GAB_DIRECTION_CENTRE || flat || !domain_next(domain, from->at, step, next)) return NULL;
  return model_find(all, domain_id(domain, next));
}

static void model_round(const random_domain *domain, model *all)
{
  int best = 0;
  for (size_t i = 0; i < all->count; i++) {
    place *p = &all->places[i];
    p->known = 0;
    for (int d = 0; d < GAB_DIRECTIONS; d++) {
      const place *next = model_next(domain, all, p, d);
      if (next && !next->unknown) p->known |= UINT32_C(1) << d;
    }
    if (p->unknown && faces_of(p->known) > best) best = faces_of(p->known);
  }
  for (size_t i = 0; i < all->count; i++) {
    place *p = &all->places[i];
    p->due = p->unknown && faces_of(p->known) == best;
    if (!p->due) continue;
    p->value = 1;
    all->report.blind += best == 0;
    for (int d = 0; d < GAB_DIRECTIONS; d++)
      if (p->known >> d & 1) p->value = approximated(p->value, d, model_next(domain, all, p, d)->value);
  }
  for (size_t i = 0; i < all->count; i++)
    if (all->places[i].due) all->places[i].unknown = false;
  all->report.rounds++;
}

static void model_run(const random_domain *domain, const losses *lost, model *all)
{
  const int32_t *roots = domain->options.grid.roots;
  int32_t at[3];
  *all = (model){.count = 0};
  for (at[2] = 0; at[2] < roots[2]; at[2]++)
    for (at[1] = 0; at[1] < roots[1]; at[1]++)
      for (at[0] = 0; at[0] < roots[0]; at[0]++) {
        if (!domain_has(domain, at)) continue;
        const gab_block_id id = domain_id(domain, at);
        all->places[all->count++] =
            (place){{at[0], at[1], at[2]}, id, first_value(id), 0, 0, is_lost(lost, id), false};
        all->report.blocks += is_lost(lost, id);
      }
  for (uint64_t left = all->report.blocks; left > 0;) {
    model_round(domain, all);
    left = 0;
    for (size_t i = 0; i < all->count; i++) left += all->places[i].unknown;
  }
}

/* ---- the claim */

/* The upper half keeps only metadata images. */
static void lose(gab_forest *forest, const losses *lost)
{
  const bool loses = lost->ranks == 1 || gab_world_rank(gab_forest_world(forest)) >= lost->ranks / 2;
  gab_buffer image;
  gab_buffer_init(&image, GAB_MEMORY_SNAPSHOT);
  REQUIRE_OK(loses ? gab_forest_pack_metadata(forest, &image) : gab_forest_pack(forest, &image));
  gab_reader in = gab_reader_of_buffer(&image);
  gab_reader wrong = in;
  const gab_forest_parts swapped = loses ? (gab_forest_parts){.images = &wrong, .image_count = 1}
                                         : (gab_forest_parts){.metadata_images = &wrong, .metadata_count = 1};
  REQUIRE(gab_forest_restore_parts(forest, &swapped, NULL, NULL) == GAB_ERR_CORRUPT);
  const gab_forest_parts parts = loses ? (gab_forest_parts){.metadata_images = &in, .metadata_count = 1}
                                       : (gab_forest_parts){.images = &in, .image_count = 1};
  REQUIRE_OK(gab_forest_restore_parts(forest, &parts, NULL, NULL));
  gab_buffer_clear(&image);
  if (loses && gab_forest_block_count(forest) > 0) REQUIRE(gab_forest_pack(forest, &image) == GAB_ERR_STATE);
  gab_buffer_release(&image);
}

static void try_domain(gab_world *world, uint64_t seed)
{
  static model all;
  const gab_ghost_kind ghosts = {
      .name = "marks", .size = ghost_size, .pack = ghost_pack, .unpack = ghost_unpack};
  random_domain domain;
  domain_make(&domain, seed);
  const losses lost = {seed, 4 + 4 * (seed % 3), gab_world_members(world)->ranks};
  gab_forest *forest;
  gab_reconstruction report;
  REQUIRE_OK(gab_forest_create(world, &domain.options, &forest));
  const bool replaceable = seed != 1;
  const gab_data_id id = register_marks(forest, replaceable);
  REQUIRE_OK(gab_exchange_create(forest, id, &ghosts, &exchange));
  domain_populate(forest, owner_of, &lost);
  REQUIRE((gab_forest_irreplaceable(forest) == NULL) == replaceable);
  lose(forest, &lost);
  const gab_status status = gab_forest_reconstruct(forest, &report);
  REQUIRE(status == (replaceable ? GAB_OK : GAB_ERR_STATE));
  model_run(&domain, &lost, &all);
  if (replaceable)
    REQUIRE(report.blocks == all.report.blocks && report.rounds == all.report.rounds &&
            report.blind == all.report.blind);
  for (size_t i = 0; i < gab_forest_block_count(forest) && replaceable; i++) {
    const gab_block *block = gab_forest_block(forest, i);
    REQUIRE(((mark *)gab_block_data(block, id))->value == model_find(&all, gab_block_get_id(block))->value);
  }
  gab_exchange_destroy(&exchange);
  gab_forest_destroy(&forest);
}

int main(int argc, char **argv)
{
  gab_world *world;
  REQUIRE_OK(gab_world_create(&argc, &argv, &world));
  for (uint64_t seed = 0; seed < DOMAINS; seed++) try_domain(world, seed);
  REQUIRE_OK(gab_world_barrier(world));
  return test_end(&world);
}

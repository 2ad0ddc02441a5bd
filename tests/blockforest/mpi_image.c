/* SPDX-License-Identifier: Apache-2.0 */
/* Images restore their forest, in place or on another rank, and corrupt images are refused.
 * gabion-test: np=1,2,3,4,7 quick=3 timeout=60 */
#include "core/messages/collective.h"
#include "tests/blockforest/adapt/hand_over.h"

enum { DOMAINS = 30 };

static gab_rank even_owner(const void *rule, gab_block_id id) { return even(NULL, random_owner(rule, id)); }

static void come_back(gab_forest *forest, gab_data_id id, const gab_buffer *image, uint64_t expected)
{
  uint64_t checksum;
  void *data = gab_forest_block_count(forest) ? gab_block_data(gab_forest_block(forest, 0), id) : NULL;
  stones_change(forest, id);
  gab_reader in = gab_reader_of_buffer(image);
  REQUIRE_OK(gab_forest_restore(forest, &in, 1, NULL, NULL));
  REQUIRE(gab_reader_left(&in) == 0);
  REQUIRE_OK(gab_forest_checksum(forest, &checksum));
  REQUIRE(checksum == expected);
  REQUIRE(!data || gab_block_data(gab_forest_block(forest, 0), id) == data); /* in place */
}

static void adopt(const random_domain *domain, gab_forest *forest, gab_data_id id, gab_port *port,
                  const gab_buffer *image, const random_owners *owners, uint64_t expected)
{
  stones_change(forest, id);
  restore_on_even(forest, port, image);
  uint64_t checksum;
  REQUIRE_OK(gab_forest_checksum(forest, &checksum));
  REQUIRE(checksum == expected);
  domain_check(domain, forest, even_owner, owners);
  signs_check(forest, id);
}

static void refuse_damaged(gab_forest *forest, const gab_buffer *image)
{
  gab_reader twice[2] = {gab_reader_of_buffer(image), gab_reader_of_buffer(image)};
  if (gab_forest_block_count(forest) > 0) {
    REQUIRE(gab_forest_restore(forest, twice, 2, NULL, NULL) == GAB_ERR_CORRUPT);
    REQUIRE(gab_forest_block_count(forest) == 0);
  }
  size_t step = 1 + image->size / 97;
  for (size_t size = 0; size < image->size; size += step) {
    gab_reader cut = gab_reader_of(image->data, size);
    REQUIRE(gab_forest_restore(forest, &cut, 1, NULL, NULL) == GAB_ERR_CORRUPT);
    REQUIRE(gab_forest_block_count(forest) == 0);
  }
  gab_reader in = gab_reader_of_buffer(image);
  REQUIRE_OK(gab_forest_restore(forest, &in, 1, NULL, NULL));
}

static void refuse_another_forest(gab_world *world, const random_domain *domain, const gab_buffer *image)
{
  uint64_t seed = domain->seed;
  gab_forest_options options = domain->options;
  options.cells[0] += 1;
  for (int what = 0; what < 2; what++) {
    gab_forest *forest;
    REQUIRE_OK(gab_forest_create(world, what == 0 ? &options : &domain->options, &forest));
    if (what == 0) stones_register(forest, &seed); /* else: no data at all */
    gab_reader in = gab_reader_of_buffer(image);
    REQUIRE(gab_forest_restore(forest, &in, 1, NULL, NULL) == GAB_ERR_CORRUPT);
    gab_forest_destroy(&forest);
  }
}

static void try_domain(gab_world *world, gab_port *port, uint64_t seed)
{
  random_domain domain;
  domain_make(&domain, seed);
  random_owners owners = owners_make(world, seed);
  gab_forest *forest;
  REQUIRE_OK(gab_forest_create(world, &domain.options, &forest));
  gab_data_id id = stones_register(forest, &seed);
  domain_populate(forest, random_owner, &owners);
  stones_change(forest, id);
  uint64_t checksum;
  gab_buffer image;
  gab_buffer_init(&image, GAB_MEMORY_SNAPSHOT);
  REQUIRE_OK(gab_forest_checksum(forest, &checksum));
  REQUIRE_OK(gab_put_u32(&image, 7)); /* an image may follow other data */
  REQUIRE_OK(gab_forest_pack(forest, &image));
  REQUIRE(image.size == 4 + gab_forest_packed_size(forest));
  memmove(image.data, image.data + 4, image.size -= 4);
  come_back(forest, id, &image, checksum);
  domain_check(&domain, forest, random_owner, &owners);
  refuse_damaged(forest, &image);
  domain_check(&domain, forest, random_owner, &owners);
  refuse_another_forest(world, &domain, &image);
  adopt(&domain, forest, id, port, &image, &owners, checksum);
  gab_buffer_release(&image);
  gab_forest_destroy(&forest);
}

int main(int argc, char **argv)
{
  gab_world *world;
  gab_port *port;
  REQUIRE_OK(gab_world_create(&argc, &argv, &world));
  REQUIRE_OK(gab_port_create(world, "images", &port));
  for (uint64_t seed = 0; seed < DOMAINS; seed++) try_domain(world, port, seed);
  gab_port_destroy(&port);
  REQUIRE_OK(gab_world_barrier(world));
  return test_end(&world);
}

/* SPDX-License-Identifier: Apache-2.0 */
/* Random grids of several levels: tables are correct, sums are kept, blocks that stay are not touched, results do not
 * depend on owners, and images restore earlier grids.
 * gabion-test: np=1,2,3,4,7 quick=3 long=4 timeout=90 */
#include "tests/blockforest/adapt/adapting.h"
#include "tests/blockforest/adapt/hand_over.h"

enum { DOMAINS = 8, ROUNDS = 6 };

typedef struct subject {
  random_domain domain;
  random_owners owners;
  random_marks marks;
  gab_forest *forest;
  adapting_fields fields;
} subject;

static void build(subject *it, gab_world *world, uint64_t seed, gab_distribute_fn distribute)
{
  gab_block_data_kind derived = {.name = "sign", .create = sign_create, .destroy = sign_destroy};
  gab_data_id sign;
  gab_refine_report report;
  uint64_t blocks;
  REQUIRE_OK(gab_forest_create(world, &it->domain.options, &it->forest));
  REQUIRE_OK(gab_forest_add_data(it->forest, &derived, &sign));
  fields_register(it->forest, &it->fields);
  it->marks = (random_marks){seed, 0};
  REQUIRE_OK(
      gab_forest_build(it->forest, random_mark_place, &it->marks, 1, distribute, &it->owners, &report));
  REQUIRE_OK(gab_forest_global_blocks(it->forest, &blocks));
  REQUIRE(report.blocks == blocks);
  grid_check(it->forest);
}

static gab_adapt_options options_of(subject *it, gab_distribute_fn distribute)
{
  return (gab_adapt_options){.max_level = 5 - it->domain.options.grid.dimension,
                             .mark = random_mark,
                             .user = &it->marks,
                             .distribute = distribute,
                             .distribute_context = &it->owners};
}

static uint64_t checksum_of(gab_forest *forest)
{
  uint64_t checksum;
  REQUIRE_OK(gab_forest_checksum(forest, &checksum));
  return checksum;
}

/* ---- one adaptation */

typedef struct before {
  size_t count;
  gab_block_id *ids;
  void **data;
  double plain[2], sloped[2];
  uint64_t revision;
} before;

static before look(subject *it)
{
  gab_forest *forest = it->forest;
  before then = {.count = gab_forest_block_count(forest), .revision = gab_forest_revision(forest)};
  then.ids = malloc((then.count + 1) * sizeof *then.ids);
  then.data = malloc((then.count + 1) * sizeof *then.data);
  for (size_t i = 0; i < then.count; i++) {
    then.ids[i] = gab_block_get_id(gab_forest_block(forest, i));
    then.data[i] = gab_block_data(gab_forest_block(forest, i), it->fields.plain_id);
  }
  for (int c = 0; c < 2; c++) {
    then.plain[c] = field_total(forest, it->fields.plain_id, c);
    then.sloped[c] = field_total(forest, it->fields.sloped_id, c);
  }
  return then;
}

/* A split loses the data of excluded places. */
static void sums_are_kept(subject *it, const before *then)
{
  if (it->domain.options.exists) return;
  for (int c = 0; c < 2; c++) {
    REQUIRE(field_total(it->forest, it->fields.plain_id, c) == then->plain[c]);
    double sloped = field_total(it->forest, it->fields.sloped_id, c);
    REQUIRE(fabs(sloped - then->sloped[c]) <= 1e-12 * (1 + fabs(then->sloped[c])));
  }
}

/* Blocks that stay keep their data in place. @return number of these blocks */
static size_t stayers_are_untouched(subject *it, const before *then)
{
  size_t stayed = 0;
  for (size_t i = 0; i < then->count; i++) {
    const gab_block *block = gab_forest_find(it->forest, then->ids[i]);
    if (!block) continue;
    REQUIRE(gab_block_data(block, it->fields.plain_id) == then->data[i]);
    stayed++;
  }
  return stayed;
}

static void adapt_once(subject *it, gab_distribute_fn distribute)
{
  gab_adapt_options options = options_of(it, distribute);
  gab_adapt_report report;
  before then = look(it);
  REQUIRE_OK(gab_forest_adapt(it->forest, &options, &report));
  grid_check(it->forest);
  signs_check(it->forest, it->fields.plain_id);
  sums_are_kept(it, &then);
  size_t stayed = stayers_are_untouched(it, &then);
  REQUIRE(report.changed == (report.grid.split + report.grid.merged > 0));
  REQUIRE((gab_forest_revision(it->forest) != then.revision) == report.changed);
  if (!report.changed) REQUIRE(stayed == then.count && report.moved_bytes == 0);
  if (gab_world_members(gab_forest_world(it->forest))->ranks == 1) REQUIRE(report.moved_bytes == 0);
  free(then.ids);
  free(then.data);
}

/* Values that depend on the position, so that the next adaptation mixes different values. */
static void stir(subject *it, uint64_t round)
{
  for (size_t b = 0; b < gab_forest_block_count(it->forest); b++) {
    const gab_block *block = gab_forest_block(it->forest, b);
    gab_field *field = gab_block_data(block, it->fields.sloped_id);
    const int32_t *n = field->shape.cells;
    uint64_t which = gab_hash_counter(round, 60, gab_block_get_id(block)), cell = 0;
    for (int32_t z = 0; z < n[2]; z++)
      for (int32_t y = 0; y < n[1]; y++)
        for (int32_t x = 0; x < n[0]; x++) {
          double change = (double)(gab_hash_counter(which, 61, cell++) % 1000) / 7;
          gab_field_set(field, x, y, z, 0, gab_field_get(field, x, y, z, 0) + change);
        }
  }
}

/* ---- images */

/* @param[in] image  of an earlier grid */
static void back_and_forth(subject *it, gab_port *port, const gab_buffer *image, uint64_t earlier,
                           gab_distribute_fn distribute)
{
  uint64_t now = checksum_of(it->forest);
  gab_reader in = gab_reader_of_buffer(image);
  REQUIRE_OK(gab_forest_restore(it->forest, &in, 1, NULL, NULL));
  REQUIRE(gab_reader_left(&in) == 0);
  grid_check(it->forest);
  signs_check(it->forest, it->fields.plain_id);
  REQUIRE(checksum_of(it->forest) == earlier);
  restore_on_even(it->forest, port, image); /* other owners */
  grid_check(it->forest);
  REQUIRE(checksum_of(it->forest) == earlier);
  gab_adapt_options options = options_of(it, distribute);
  REQUIRE_OK(gab_forest_adapt(it->forest, &options, NULL));
  grid_check(it->forest);
  REQUIRE(checksum_of(it->forest) == now);
}

static void migrate(subject *it, uint64_t seed)
{
  size_t count = gab_forest_block_count(it->forest);
  gab_rank *targets = malloc((count + 1) * sizeof *targets);
  random_owners owners = owners_make(gab_forest_world(it->forest), seed);
  uint64_t checksum = checksum_of(it->forest);
  for (size_t i = 0; i < count; i++)
    targets[i] = random_owner(&owners, gab_block_get_id(gab_forest_block(it->forest, i)));
  REQUIRE_OK(gab_forest_migrate(it->forest, targets));
  grid_check(it->forest);
  signs_check(it->forest, it->fields.plain_id);
  REQUIRE(checksum_of(it->forest) == checksum);
  free(targets);
}

/* ---- the same grids with other owners */

/* @param[in,out] checksums  of all rounds: the first rule writes them, the others compare with them */
static void run_rounds(gab_world *world, gab_port *port, uint64_t seed, int rule, uint64_t *checksums)
{
  subject it = {0};
  adapting_domain(&it.domain, seed);
  gab_rank ranks = gab_world_members(world)->ranks;
  /* all on one rank, as with one process; random; children on the rank of their parent */
  it.owners = rule == 0 ? (random_owners){seed, 1, 0} : (random_owners){seed, ranks, 0};
  gab_distribute_fn distribute = rule == 2 ? NULL : distribute_by_rule;
  build(&it, world, seed, distribute_by_rule);
  for (uint64_t round = 0; round < ROUNDS; round++) {
    gab_buffer image;
    it.marks.round = round;
    it.owners.seed = gab_hash_counter(seed, 70, round);
    stir(&it, round);
    if (rule == 1) migrate(&it, gab_hash_counter(seed, 71, round));
    gab_buffer_init(&image, GAB_MEMORY_SNAPSHOT);
    REQUIRE_OK(gab_forest_pack(it.forest, &image));
    uint64_t earlier = checksum_of(it.forest);
    adapt_once(&it, distribute);
    uint64_t later = checksum_of(it.forest);
    if (rule == 0) checksums[round] = later;
    REQUIRE(checksums[round] == later);
    if (rule > 0) back_and_forth(&it, port, &image, earlier, distribute);
    gab_buffer_release(&image);
  }
  gab_forest_destroy(&it.forest);
}

/* ---- positions of values */

static gab_status refine_all(void *user, const gab_forest *forest, const gab_block *block, gab_mark *mark)
{
  (void)user, (void)forest, (void)block;
  *mark = GAB_MARK_REFINE;
  return GAB_OK;
}

static gab_status coarsen_all(void *user, const gab_forest *forest, const gab_block *block, gab_mark *mark)
{
  (void)user, (void)forest, (void)block;
  *mark = GAB_MARK_COARSEN;
  return GAB_OK;
}

static const double gradient[3] = {1, -3, 0.25};

static double linear_at(const double at[3])
{
  return gradient[0] * at[0] + gradient[1] * at[1] + gradient[2] * at[2];
}

/* Largest distance of a field from the linear function; fills it first if requested.
 * @param[out] off  number of wrong cells; may be NULL */
static double linear_distance(gab_forest *forest, gab_data_id id, bool fill, uint64_t *off)
{
  double distance = 0;
  uint64_t wrong = 0;
  for (size_t b = 0; b < gab_forest_block_count(forest); b++) {
    const gab_block *block = gab_forest_block(forest, b);
    gab_field *field = gab_block_data(block, id);
    const int32_t *n = field->shape.cells;
    for (int32_t z = 0; z < n[2]; z++)
      for (int32_t y = 0; y < n[1]; y++)
        for (int32_t x = 0; x < n[0]; x++) {
          double at[3];
          gab_block_cell_centre(forest, block, x, y, z, at);
          if (n[2] == 1) at[2] = 0;
          if (fill) gab_field_set(field, x, y, z, 1, linear_at(at));
          double error = fabs(gab_field_get(field, x, y, z, 1) - linear_at(at));
          distance = fmax(distance, error);
          wrong += error > 1e-12;
        }
  }
  REQUIRE_OK(gab_world_max_f64(gab_forest_world(forest), &distance, 1));
  REQUIRE_OK(gab_world_sum_u64(gab_forest_world(forest), &wrong, 1));
  if (off) *off = wrong;
  return distance;
}

/* The centres of the children's cells are a quarter of the parent's cell off its centre, along each axis. With slopes
 * only children of cells at the border of a parent deviate. */
static void values_stay_where_they_are(gab_world *world, int dimension)
{
  subject it = {0};
  it.domain.options = (gab_forest_options){.grid = {dimension, {2, 3, dimension == 3 ? 2 : 1}},
                                           .cells = {4, 6, dimension == 3 ? 4 : 1},
                                           .dx = 0.5};
  it.owners = (random_owners){7, gab_world_members(world)->ranks, 0};
  REQUIRE_OK(gab_forest_create(world, &it.domain.options, &it.forest));
  fields_register(it.forest, &it.fields);
  REQUIRE_OK(gab_forest_build(it.forest, NULL, NULL, 0, distribute_by_rule, &it.owners, NULL));
  REQUIRE(linear_distance(it.forest, it.fields.plain_id, true, NULL) == 0);
  REQUIRE(linear_distance(it.forest, it.fields.sloped_id, true, NULL) == 0);
  gab_adapt_options options = options_of(&it, distribute_by_rule);
  double quarter = 0;
  uint64_t plain_off, sloped_off;
  for (int axis = 0; axis < dimension; axis++) quarter += 0.25 * 0.5 * fabs(gradient[axis]);
  options.max_level = 1;
  options.mark = refine_all;
  REQUIRE_OK(gab_forest_adapt(it.forest, &options, NULL));
  double plain = linear_distance(it.forest, it.fields.plain_id, false, &plain_off);
  double sloped = linear_distance(it.forest, it.fields.sloped_id, false, &sloped_off);
  REQUIRE(fabs(plain - quarter) < 1e-12 && fabs(sloped - quarter) < 1e-12);
  uint64_t cells = dimension == 3 ? 4 * 6 * 4 : 4 * 6, inner = dimension == 3 ? 2 * 4 * 2 : 2 * 4;
  REQUIRE(plain_off > 0 && sloped_off * cells == plain_off * (cells - inner));
  linear_distance(it.forest, it.fields.plain_id, true, NULL);
  options.mark = coarsen_all;
  it.owners.seed = 8;
  REQUIRE_OK(gab_forest_adapt(it.forest, &options, NULL));
  REQUIRE(linear_distance(it.forest, it.fields.plain_id, false, NULL) < 1e-12);
  REQUIRE(linear_distance(it.forest, it.fields.sloped_id, false, NULL) < 1e-12);
  gab_forest_destroy(&it.forest);
}

/* ---- incomplete families */

/* The last child of each block of level 0 is excluded. */
static bool all_but_last(void *user, int level, const gab_box *cells)
{
  const random_domain *domain = user;
  bool is_last = level == 1;
  for (int axis = 0; axis < domain->options.grid.dimension; axis++)
    is_last = is_last && cells->lo[axis] / domain->options.cells[axis] % 2 == 1;
  return !is_last;
}

/* Cells without a child keep their initial value, the others have the values of the children's cells. */
static void check_partial(gab_forest *forest, const gab_block *block, gab_data_id id)
{
  const gab_field *field = gab_block_data(block, id);
  const int32_t *n = field->shape.cells;
  for (int32_t z = 0; z < n[2]; z++)
    for (int32_t y = 0; y < n[1]; y++)
      for (int32_t x = 0; x < n[0]; x++) {
        double at[3], value = gab_field_get(field, x, y, z, 1);
        gab_block_cell_centre(forest, block, x, y, z, at);
        const double start = floor(1 + at[0] * 2 + 0.5 * at[1] * at[1] + 0.25 * at[2]);
        if (n[2] == 1) at[2] = 0;
        const bool is_missing = x >= n[0] / 2 && y >= n[1] / 2 && z >= n[2] / 2;
        REQUIRE(is_missing ? value == start : fabs(value - linear_at(at)) < 1e-12);
      }
}

static void what_was_left_out_comes_back_as_at_the_start(gab_world *world, int dimension)
{
  subject it = {0};
  uint64_t blocks;
  it.domain.options = (gab_forest_options){.grid = {dimension, {3, 2, dimension == 3 ? 2 : 1}},
                                           .cells = {4, 6, dimension == 3 ? 4 : 1},
                                           .dx = 0.5,
                                           .exists = all_but_last,
                                           .user = &it.domain};
  it.owners = (random_owners){5, gab_world_members(world)->ranks, 0};
  REQUIRE_OK(gab_forest_create(world, &it.domain.options, &it.forest));
  fields_register(it.forest, &it.fields);
  REQUIRE_OK(gab_forest_build(it.forest, NULL, NULL, 0, distribute_by_rule, &it.owners, NULL));
  gab_adapt_options options = options_of(&it, distribute_by_rule);
  options.max_level = 1;
  options.mark = refine_all;
  REQUIRE_OK(gab_forest_adapt(it.forest, &options, NULL));
  REQUIRE_OK(gab_forest_global_blocks(it.forest, &blocks));
  REQUIRE(blocks == (dimension == 3 ? 12 * 7 : 6 * 3));
  linear_distance(it.forest, it.fields.plain_id, true, NULL);
  options.mark = coarsen_all;
  it.owners.seed = 6;
  REQUIRE_OK(gab_forest_adapt(it.forest, &options, NULL));
  grid_check(it.forest);
  REQUIRE_OK(gab_forest_global_blocks(it.forest, &blocks));
  REQUIRE(blocks == (dimension == 3 ? 12 : 6));
  for (size_t i = 0; i < gab_forest_block_count(it.forest); i++)
    check_partial(it.forest, gab_forest_block(it.forest, i), it.fields.plain_id);
  gab_forest_destroy(&it.forest);
}

/* ---- memory: all blocks leave the first rank, and some of them split on the way */

enum { BIG_BYTES = GAB_MIGRATION_BYTES / 8 };

static size_t big_size(void *user, const void *data)
{
  (void)user, (void)data;
  return BIG_BYTES;
}

static gab_status big_create(void *user, const gab_forest *forest, const gab_block *block, void **data)
{
  (void)user, (void)forest;
  GAB_TRY(gab_alloc(BIG_BYTES, GAB_MEMORY_FIELD, data));
  memset(*data, (int)(gab_block_get_id(block) % 251), BIG_BYTES);
  return GAB_OK;
}

static void big_destroy(void *user, void *data)
{
  (void)user;
  gab_free(&data);
}

static gab_status big_pack(void *user, const void *data, gab_buffer *out)
{
  return gab_put_bytes(out, data, big_size(user, data));
}

static gab_status big_unpack(void *user, void *data, gab_reader *in)
{
  return gab_get_bytes(in, data, big_size(user, data));
}

static gab_status big_split(void *user, const gab_forest *forest, const gab_block *parent,
                            const void *parent_data, const gab_block *const *children,
                            void *const *children_data)
{
  (void)user, (void)forest, (void)parent, (void)children;
  for (int c = 0; c < GAB_CHILDREN_MAX; c++)
    if (children_data[c]) memcpy(children_data[c], parent_data, BIG_BYTES);
  return GAB_OK;
}

static gab_status refine_few(void *user, const gab_forest *forest, const gab_block *block, gab_mark *mark)
{
  (void)user, (void)forest;
  *mark = gab_block_get_id(block) % 8 == 0 ? GAB_MARK_REFINE : GAB_MARK_KEEP;
  return GAB_OK;
}

static void memory_stays_within_bounds(gab_world *world)
{
  random_domain domain = {.options = {.grid = {2, {8, 3, 1}}, .cells = {4, 4, 1}, .dx = 1}};
  gab_rank ranks = gab_world_members(world)->ranks, me = gab_world_rank(world);
  random_owners first = {0, 1, 0}, others = {9, ranks, 1};
  gab_block_data_kind kind = {.name = "big",
                              .create = big_create,
                              .destroy = big_destroy,
                              .packed_size = big_size,
                              .pack = big_pack,
                              .unpack = big_unpack,
                              .split = big_split};
  gab_adapt_options options = {
      .max_level = 1, .mark = refine_few, .distribute = distribute_by_rule, .distribute_context = &others};
  gab_adapt_report report;
  gab_forest *forest;
  gab_data_id id;
  REQUIRE_OK(gab_forest_create(world, &domain.options, &forest));
  REQUIRE_OK(gab_forest_add_data(forest, &kind, &id));
  domain_populate(forest, random_owner, &first);
  REQUIRE_OK(gab_forest_adapt(forest, &options, &report));
  grid_check(forest);
  REQUIRE(report.grid.split == 3 && report.moved_bytes >= (uint64_t)24 * BIG_BYTES);
  REQUIRE(report.moved_bytes < (uint64_t)34 * BIG_BYTES); /* parents once per rank, not all their children */
  REQUIRE((me == 0) == (gab_forest_block_count(forest) == 0));
  if (me == 0) REQUIRE(report.peak_bytes >= GAB_MIGRATION_BYTES / 2);
  REQUIRE(report.peak_bytes <= GAB_MIGRATION_BYTES + 2 * (size_t)BIG_BYTES);
  for (size_t i = 0; i < gab_forest_block_count(forest); i++) {
    const gab_block *block = gab_forest_block(forest, i);
    gab_block_id parent = gab_block_id_parent(&domain.options.grid, gab_block_get_id(block));
    const unsigned char *data = gab_block_data(block, id);
    gab_block_id source = parent == GAB_NO_BLOCK ? gab_block_get_id(block) : parent;
    REQUIRE(data[0] == source % 251 && data[BIG_BYTES - 1] == source % 251);
  }
  gab_forest_destroy(&forest);
}

/* ---- invalid calls */

static void what_cannot_split_stays(gab_world *world)
{
  random_domain domain = {.options = {.grid = {2, {3, 2, 1}}, .cells = {4, 4, 1}, .dx = 1}};
  random_owners owners = {1, gab_world_members(world)->ranks, 0};
  gab_adapt_options options = {.max_level = 1, .mark = refine_all};
  uint64_t seed = 3;
  gab_forest *forest;
  for (int odd = 0; odd < 2; odd++) {
    domain.options.cells[0] = odd ? 5 : 4;
    REQUIRE_OK(gab_forest_create(world, &domain.options, &forest));
    stones_register(forest, &seed);
    domain_populate(forest, random_owner, &owners);
    uint64_t revision = gab_forest_revision(forest), checksum = checksum_of(forest);
    REQUIRE(gab_forest_adapt(forest, &options, NULL) == (odd ? GAB_ERR_INPUT : GAB_ERR_STATE));
    REQUIRE(strstr(gab_error_message(), odd ? "5 cells in x" : "`stones'"));
    REQUIRE(gab_forest_revision(forest) == revision);
    domain_check(&domain, forest, random_owner, &owners);
    REQUIRE(checksum_of(forest) == checksum);
    gab_forest_destroy(&forest);
  }
}

int main(int argc, char **argv)
{
  gab_world *world;
  gab_port *port;
  uint64_t checksums[ROUNDS];
  size_t held = 0;
  REQUIRE_OK(gab_world_create(&argc, &argv, &world));
  REQUIRE_OK(gab_port_create(world, "images", &port));
  /* buffers kept by the world have their final size after the first round */
  for (int time = 0; time < 2; time++) {
    for (uint64_t seed = 0; seed < (time ? 2 : DOMAINS); seed++)
      for (int rule = 0; rule < 3; rule++) run_rounds(world, port, seed, rule, checksums);
    if (time) REQUIRE(gab_memory_now(GAB_MEMORY_USE_COUNT) <= held);
    held = gab_memory_now(GAB_MEMORY_USE_COUNT);
  }
  if (gab_world_members(world)->ranks > 1) memory_stays_within_bounds(world);
  values_stay_where_they_are(world, 2);
  values_stay_where_they_are(world, 3);
  what_was_left_out_comes_back_as_at_the_start(world, 2);
  what_was_left_out_comes_back_as_at_the_start(world, 3);
  what_cannot_split_stays(world);
  gab_port_destroy(&port);
  REQUIRE_OK(gab_world_barrier(world));
  return test_end(&world);
}

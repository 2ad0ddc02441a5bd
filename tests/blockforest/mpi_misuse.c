/* SPDX-License-Identifier: Apache-2.0 */
/* gabion-test: np=1,2,5 quick=2 timeout=60 */
/* Calls that the headers of field/ and blockforest/ forbid are refused, on all ranks alike, by a message with the
 * reason. They are: handles that were never given, or of another forest; fields that do not fit the blocks; calls in
 * the wrong order; sizes beyond any memory. */
#include "blockforest/exchange/coupling.h"
#include "blockforest/output/output.h"
#include "core/base/log.h"
#include "field/flags.h"
#include "tests/blockforest/adapt/adapting.h"

/* Blocks as in a bug report: twice as long as the cube for which the field was made. */
enum { WIDE = 8, LONG = 16 };

typedef struct subject {
  gab_world *world;
  gab_block_field field;
  gab_forest *forest, *empty, *other; /* of two blocks; of none; of another time */
  gab_data_id id, next, id_of_other;
  gab_exchange *exchange;
  gab_coupling *coupling;
  gab_output *output;
} subject;

static gab_status everything(void *user, const gab_forest *forest, const gab_block *block, double *values)
{
  (void)user;
  const gab_quantity one = {.name = "one", .components = 1};
  for (size_t i = 0; i < gab_quantity_block_values(forest, &one); i++)
    values[i] = (double)gab_block_get_id(block);
  return GAB_OK;
}

static size_t no_size(void *user, const void *data, gab_coupling_way way, const gab_contact *contact,
                      bool sends)
{
  (void)user, (void)data, (void)way, (void)contact, (void)sends;
  return 0;
}
static void no_pack(void *user, const void *data, gab_coupling_way way, const gab_contact *contact,
                    void *bytes)
{
  (void)user, (void)data, (void)way, (void)contact, (void)bytes;
}
static void no_unpack(void *user, void *data, gab_coupling_way way, const gab_contact *contact,
                      const void *bytes)
{
  (void)user, (void)data, (void)way, (void)contact, (void)bytes;
}
static const gab_coupling_kind silence = {
    .name = "silence", .size = no_size, .pack = no_pack, .unpack = no_unpack};

/* ---- fields that do not fit */

static gab_status add_field(subject *it, gab_field_shape shape)
{
  gab_data_id id = {7, 7};
  static gab_block_field field; /* not stored: it is refused */
  field = (gab_block_field){.shape = shape};
  const gab_block_data_kind kind = gab_block_field_data(&field, "crooked");
  const gab_status status = gab_forest_add_data(it->empty, &kind, &id);
  REQUIRE(id.forest == 0 && id.index == 0);
  return status;
}

static gab_status a_cube_on_longer_blocks(subject *it)
{
  return add_field(it, (gab_field_shape){.cells = {WIDE, WIDE, WIDE}, .ghosts = {1, 1, 1}, .components = 1});
}
static gab_status more_ghosts_across(subject *it)
{
  return add_field(it, (gab_field_shape){.cells = {WIDE, WIDE, LONG}, .ghosts = {1, 2, 1}, .components = 1});
}
static gab_status fewer_ghosts_across(subject *it)
{
  return add_field(it, (gab_field_shape){.cells = {WIDE, WIDE, LONG}, .ghosts = {2, 1, 2}, .components = 1});
}
static gab_status no_component(subject *it)
{
  return add_field(it, (gab_field_shape){.cells = {WIDE, WIDE, LONG}, .ghosts = {1, 1, 1}});
}

static gab_status flat_forest(subject *it, int32_t cells, gab_field_shape shape)
{
  gab_forest *flat;
  gab_data_id id;
  const gab_forest_options options = {.grid = {2, {2, 2, 1}}, .cells = {cells, cells, 1}, .dx = 1};
  const gab_block_field field = {.shape = shape};
  const gab_block_data_kind kind = gab_block_field_data(&field, "flat");
  REQUIRE_OK(gab_forest_create(it->world, &options, &flat));
  const gab_status status = gab_forest_add_data(flat, &kind, &id);
  gab_forest_destroy(&flat);
  return status;
}
static gab_status ghosts_in_z_of_a_plane(subject *it)
{
  return flat_forest(it, 4, (gab_field_shape){.cells = {4, 4, 1}, .ghosts = {1, 1, 1}, .components = 1});
}
static gab_status more_ghosts_than_cells(subject *it)
{
  return flat_forest(it, 1, (gab_field_shape){.cells = {1, 1, 1}, .ghosts = {2, 2, 0}, .components = 1});
}

/* ---- handles */

static gab_status create_exchange(subject *it, gab_data_id id, int level)
{
  gab_exchange *made = it->exchange;
  const gab_ghost_kind ghosts = gab_block_field_ghosts(&it->field);
  const gab_status status = gab_exchange_create_on_level(it->forest, id, &ghosts, level, &made);
  REQUIRE(!made);
  return status;
}
static gab_status exchange_of_no_data(subject *it) { return create_exchange(it, (gab_data_id){0}, -1); }
static gab_status exchange_of_data_of_another_forest(subject *it)
{
  return create_exchange(it, it->id_of_other, -1);
}
static gab_status exchange_of_a_forged_handle(subject *it)
{
  return create_exchange(it, (gab_data_id){it->id.forest, 3}, -1);
}
static gab_status exchange_on_no_level(subject *it) { return create_exchange(it, it->id, -2); }
static gab_status exchange_on_too_deep_a_level(subject *it) { return create_exchange(it, it->id, 99); }
static gab_status exchange_that_cannot_pack(subject *it)
{
  gab_exchange *made;
  gab_ghost_kind ghosts = gab_block_field_ghosts(&it->field);
  ghosts.pack = NULL;
  return gab_exchange_create(it->forest, it->id, &ghosts, &made);
}
static gab_status coupling_of_no_data(subject *it)
{
  gab_coupling *made;
  return gab_coupling_create(it->forest, (gab_data_id){0}, &silence, &made);
}
static gab_status coupling_of_another_forest(subject *it)
{
  gab_coupling *made;
  return gab_coupling_create(it->forest, it->id_of_other, &silence, &made);
}

static gab_field *field_of(const subject *it, gab_data_id id)
{
  return gab_forest_block_count(it->forest) ? gab_block_data(gab_forest_block(it->forest, 0), id) : NULL;
}
/* As in a step with one forgotten handle: {0} was the handle of the first data, so no block moved. */
static gab_status swap_with_a_handle_never_given(subject *it)
{
  return gab_field_swap(field_of(it, it->id), field_of(it, (gab_data_id){0}));
}
static gab_status swap_with_itself(subject *it)
{
  return gab_field_swap(field_of(it, it->id), field_of(it, it->id));
}
static gab_status copy_to_itself(subject *it)
{
  return gab_field_copy(field_of(it, it->id), field_of(it, it->id));
}
static gab_status data_of_another_forest(subject *it)
{
  return field_of(it, it->id_of_other) ? GAB_OK : GAB_ERR_ARGUMENT;
}
static gab_status block_behind_the_last(subject *it)
{
  return gab_forest_block(it->forest, gab_forest_block_count(it->forest)) ? GAB_OK : GAB_ERR_ARGUMENT;
}

/* ---- order of calls */

/* Also on ranks without blocks. */
static gab_status data_after_blocks(subject *it)
{
  gab_data_id id;
  const gab_block_data_kind kind = gab_block_field_data(&it->field, "late");
  return gab_forest_add_data(it->forest, &kind, &id);
}
static gab_status data_twice(subject *it)
{
  gab_data_id id;
  const gab_block_data_kind kind = gab_block_field_data(&it->field, "u");
  REQUIRE_OK(gab_forest_add_data(it->empty, &kind, &id));
  return gab_forest_add_data(it->empty, &kind, &id);
}
static gab_status build_twice(subject *it)
{
  const random_owners owners = {1, gab_world_members(it->world)->ranks, 0};
  return gab_forest_build(it->forest, NULL, NULL, 0, distribute_by_rule, (void *)(uintptr_t)&owners, NULL);
}
static gab_status finish_without_start(subject *it) { return gab_exchange_finish(it->exchange); }
static gab_status progress_without_start(subject *it) { return gab_exchange_progress(it->exchange, NULL); }
static gab_status start_twice(subject *it)
{
  REQUIRE_OK(gab_exchange_start(it->exchange));
  const gab_status status = gab_exchange_start(it->exchange);
  char words[512];
  snprintf(words, sizeof words, "%s", gab_error_message());
  REQUIRE_OK(gab_exchange_finish(it->exchange));
  return gab_error_set(status, __FILE__, __LINE__, "%s", words);
}
static gab_status coupling_without_start(subject *it) { return gab_coupling_finish(it->coupling); }
static gab_status coupling_of_no_way(subject *it)
{
  return gab_coupling_start(it->coupling, GAB_COUPLING_WAYS, 0);
}
static gab_status coupling_of_no_level(subject *it)
{
  return gab_coupling_start(it->coupling, GAB_COUPLING_UP, -1);
}

/* ---- output */

static gab_status add_slice(subject *it, gab_schedule schedule)
{
  const gab_quantity one = {.name = "one", .components = 1, .evaluate = everything};
  return gab_output_add_slice(
      it->output, schedule, &(gab_slice_options){.quantity = &one, .name = "one", .axis = 2, .position = 1});
}
static gab_status two_slices_of_one_name(subject *it)
{
  if (!gab_slice_is_built()) GAB_FAIL(GAB_ERR_ARGUMENT, "already");
  REQUIRE_OK(add_slice(it, (gab_schedule){.every = 1}));
  return add_slice(it, (gab_schedule){.every = 2});
}
static gab_status two_series_of_one_name(subject *it)
{
  const char *const columns[] = {"u"};
  REQUIRE_OK(
      gab_output_add_series(it->output, (gab_schedule){.every = 1}, "series", columns, 1, NULL, NULL, NULL));
  return gab_output_add_series(it->output, (gab_schedule){.every = 1}, "series", columns, 1, NULL, NULL,
                               NULL);
}
static gab_status output_before_the_first_step(subject *it)
{
  const char *const columns[] = {"u"};
  return gab_output_add_series(it->output, (gab_schedule){.every = -1}, "never", columns, 1, NULL, NULL,
                               NULL);
}

/* ---- sizes */

static gab_status field_larger_than_memory(subject *it)
{
  (void)it;
  gab_field_map map;
  const int32_t most = INT32_MAX;
  return gab_field_map_of(&(gab_field_shape){.cells = {most, most, most}, .components = 19}, &map);
}
static gab_status flags_larger_than_memory(subject *it)
{
  (void)it;
  gab_flags *flags;
  const int32_t most = INT32_MAX;
  return gab_flags_create((int32_t[]){most, most, most}, (int32_t[]){1, 1, 1}, &flags);
}
static gab_status flags_of_no_name(subject *it)
{
  (void)it;
  gab_flags *flags;
  gab_flag_names names = {.count = 0};
  const gab_box all = {{0, 0, 0}, {2, 2, 2}};
  REQUIRE_OK(gab_flags_create((int32_t[]){2, 2, 2}, (int32_t[]){0, 0, 0}, &flags));
  const size_t count = gab_flags_count(flags, &all, gab_flag_find(&names, "fluid"));
  gab_flags_destroy(&flags);
  return count ? GAB_OK : GAB_ERR_ARGUMENT;
}

/* ---- all calls */

typedef struct misuse {
  const char *what;
  gab_status (*call)(subject *it);
  gab_status expected;
  const char *says;  /* part of the message; NULL: no message */
  bool needs_blocks; /* without blocks the call cannot be tried */
} misuse;

#define ARGUMENT(call, says)                                                                                 \
  {                                                                                                          \
#call, call, GAB_ERR_ARGUMENT, says, false                                                               \
  }
#define ARGUMENT_OF_BLOCK(call, says)                                                                        \
  {                                                                                                          \
#call, call, GAB_ERR_ARGUMENT, says, true                                                                \
  }
#define STATE(call, says)                                                                                    \
  {                                                                                                          \
#call, call, GAB_ERR_STATE, says, false                                                                  \
  }
static const misuse misuses[] = {
    ARGUMENT(a_cube_on_longer_blocks,
             "data `crooked': a field of 8 x 8 x 8 cells is not for blocks of 8 x 8 x 16"),
    ARGUMENT(more_ghosts_across, "2 ghost layers in y, 1 in x"),
    ARGUMENT(fewer_ghosts_across, "1 ghost layers in y, 2 in x"),
    ARGUMENT(no_component, "0 components"),
    ARGUMENT(ghosts_in_z_of_a_plane, "1 ghost layers in z"),
    ARGUMENT(more_ghosts_than_cells, "2 ghost layers, but a neighbour has 1 cells"),
    ARGUMENT(exchange_of_no_data, "exchange `field': data that is not registered"),
    ARGUMENT(exchange_of_data_of_another_forest, "another forest"),
    ARGUMENT(exchange_of_a_forged_handle, "number 3 of 2"),
    ARGUMENT(exchange_on_no_level, "level -2"),
    ARGUMENT(exchange_on_too_deep_a_level, "level 99"),
    ARGUMENT(exchange_that_cannot_pack, "pack"),
    ARGUMENT(coupling_of_no_data, "not registered"),
    ARGUMENT(coupling_of_another_forest, "another forest"),
    ARGUMENT_OF_BLOCK(swap_with_a_handle_never_given, "no field"),
    ARGUMENT_OF_BLOCK(swap_with_itself, "with itself"),
    ARGUMENT_OF_BLOCK(copy_to_itself, "to itself"),
    ARGUMENT_OF_BLOCK(data_of_another_forest, "of another forest"),
    ARGUMENT(block_behind_the_last, NULL),
    STATE(data_after_blocks, "after the forest was populated"),
    ARGUMENT(data_twice, "registered twice"),
    STATE(build_twice, "has blocks already"),
    STATE(finish_without_start, "without a start"),
    STATE(progress_without_start, "without a start"),
    STATE(start_twice, "started twice"),
    STATE(coupling_without_start, "without a start"),
    ARGUMENT(coupling_of_no_way, "no way 3"),
    ARGUMENT(coupling_of_no_level, "level -1"),
    {"two_slices_of_one_name", two_slices_of_one_name, GAB_ERR_INPUT, "which is called 'one' as well", false},
    {"two_series_of_one_name", two_series_of_one_name, GAB_ERR_INPUT, "which is called 'series' as well",
     false},
    ARGUMENT(output_before_the_first_step, "not a valid schedule"),
    ARGUMENT(field_larger_than_memory, "larger than any memory"),
    ARGUMENT(flags_larger_than_memory, "larger than any memory"),
    ARGUMENT(flags_of_no_name, NULL),
};

static void prepare(gab_world *world, subject *it)
{
  const random_owners owners = {1, gab_world_members(world)->ranks, 0};
  const gab_forest_options options = {.grid = {3, {2, 1, 1}}, .cells = {WIDE, WIDE, LONG}, .dx = 1};
  *it = (subject){.world = world};
  it->field.shape = (gab_field_shape){.cells = {WIDE, WIDE, LONG}, .ghosts = {1, 1, 1}, .components = 1};
  const gab_block_data_kind u = gab_block_field_data(&it->field, "u"),
                            next = gab_block_field_scratch(&it->field, "next");
  const gab_ghost_kind ghosts = gab_block_field_ghosts(&it->field);
  gab_forest **forests[] = {&it->forest, &it->empty, &it->other};
  for (int i = 0; i < 3; i++) REQUIRE_OK(gab_forest_create(world, &options, forests[i]));
  REQUIRE_OK(gab_forest_add_data(it->forest, &u, &it->id));
  REQUIRE_OK(gab_forest_add_data(it->forest, &next, &it->next));
  REQUIRE_OK(gab_forest_add_data(it->other, &u, &it->id_of_other));
  REQUIRE_OK(gab_exchange_create(it->forest, it->id, &ghosts, &it->exchange));
  REQUIRE_OK(gab_coupling_create(it->forest, it->id, &silence, &it->coupling));
  REQUIRE_OK(
      gab_forest_build(it->forest, NULL, NULL, 0, distribute_by_rule, (void *)(uintptr_t)&owners, NULL));
  REQUIRE_OK(gab_output_create(it->forest, "misuse", &it->output));
}

static void release(subject *it)
{
  gab_output_destroy(&it->output);
  gab_coupling_destroy(&it->coupling);
  gab_exchange_destroy(&it->exchange);
  gab_forest_destroy(&it->forest);
  gab_forest_destroy(&it->empty);
  gab_forest_destroy(&it->other);
}

static void is_refused(subject *it, const misuse *one)
{
  gab_error_clear();
  const gab_status status = one->call(it);
  const bool refused = status == one->expected && (!one->says || strstr(gab_error_message(), one->says));
  if (!refused) fprintf(stderr, "%s: %s (%s)\n", one->what, gab_status_name(status), gab_error_message());
  CHECK(refused);
}

int main(int argc, char **argv)
{
  gab_world *world;
  subject it;
  REQUIRE_OK(gab_world_create(&argc, &argv, &world));
  gab_log_set_level((gab_log_level)-1, (gab_log_level)-1); /* handles are complained of in the log, too */
  prepare(world, &it);
  for (size_t i = 0; i < sizeof misuses / sizeof misuses[0]; i++)
    if (!misuses[i].needs_blocks || gab_forest_block_count(it.forest) > 0) is_refused(&it, &misuses[i]);
  REQUIRE_OK(gab_world_check(world)); /* nothing of it broke the world */
  release(&it);
  return test_end(&world);
}

/* SPDX-License-Identifier: Apache-2.0 */
/* gabion-test: np=1 timeout=240 labels=quick */
/* A flow in the memory of a device has the bits of the flows of gab_lbm, and with walls those of a plain loop: in
 * double, float and mixed precision, with and without a force, after even and odd numbers of steps, in one block and
 * in several. With OpenCL; skipped, with a message, without it. */
#include "lbm/device/device_flow.h"
#include "lbm/lbm_impl.h"
#include "tests/lbm/lbm_common.h"

enum { CELLS = 16, STEPS = 5 };

/* Populations sent by the cells of the block, as packed: direction by direction, z, y, x. */
static void sent_of(const flow *it, gab_buffer *sent)
{
  REQUIRE(gab_forest_block_count(it->forest) == 1);
  gab_buffer_clear(sent);
  REQUIRE_OK(
      gab_lbm_pack(&it->lbm->model, gab_block_data(gab_forest_block(it->forest, 0), it->lbm->data), sent));
}

static void expect_same(const void *found, const void *expected, size_t bytes, const char *what, int step)
{
  if (memcmp(found, expected, bytes) == 0) return;
  fprintf(stderr, "%s, step %d: other bits\n", what, step);
  REQUIRE(!"the device has other bits");
}

typedef struct model {
  const gab_lattice *lattice;
  gab_device_collision collision;
  gab_kernel_reals reals;
  bool forced;
  int block;
} model;

static flow_case case_of(const model *wanted)
{
  static const gab_collision *const collisions[] = {&gab_collision_trt, &gab_collision_mrt, &gab_collision_rr,
                                                    &gab_collision_smagorinsky};
  const int dimension = wanted->lattice->dimension, z = dimension == 3 ? CELLS : 1;
  flow_case given = {.dimension = dimension, .cells = {CELLS, CELLS, z}, .block = {CELLS, CELLS, z}};
  given.options.omega = 1.6;
  given.options.lattice = wanted->lattice;
  given.options.collision = collisions[wanted->collision];
  given.options.kernel = "in_place";
  given.options.precision = wanted->reals == GAB_REALS_DOUBLE ? GAB_PRECISION_DOUBLE : GAB_PRECISION_FLOAT;
  given.options.mixed = wanted->reals == GAB_REALS_MIXED;
  given.options.force[1] = wanted->forced ? 1e-4 : 0;
  given.options.initial = dimension == 3 ? noisy_state : noisy_plane;
  return given;
}

static void has_the_bits_of_a_flow(gab_world *world, gab_device *device, const model *wanted)
{
  const flow_case given = case_of(wanted);
  const int block = wanted->block;
  flow it = flow_open(world, &given);
  const gab_lbm_block *only = gab_block_data(gab_forest_block(it.forest, 0), it.lbm->data);
  const gab_device_flow_options box = {.cells = {block, block, given.cells[2]},
                                       .blocks = {CELLS / block, CELLS / block, 1},
                                       .lattice = wanted->lattice,
                                       .collision = wanted->collision,
                                       .reals = wanted->reals,
                                       .rates = only->at->rates};
  gab_device_flow *on_device;
  gab_buffer sent = {0};
  sent_of(&it, &sent);
  REQUIRE(sent.size == gab_device_flow_bytes(&box));
  void *found = malloc(sent.size);
  REQUIRE(found);
  REQUIRE_OK(gab_device_flow_create(device, &box, &on_device));
  REQUIRE_OK(gab_device_flow_put(on_device, sent.data));
  for (int step = 1; step <= STEPS; step++) {
    flow_run(&it, 1);
    REQUIRE_OK(gab_device_flow_step(on_device, 1));
    REQUIRE_OK(gab_device_flow_get(on_device, found));
    sent_of(&it, &sent);
    expect_same(found, sent.data, sent.size, gab_lbm_kernel_name(it.lbm), step);
  }
  REQUIRE(gab_device_flow_steps(on_device) == STEPS);
  gab_device_flow_destroy(&on_device);
  free(found);
  gab_buffer_release(&sent);
  flow_close(&it);
}

/* A restored state counts its steps from an even number. */
static void starts_again_where_it_is_put(gab_device *device)
{
  const gab_device_flow_options box = {
      .cells = {8, 4, 4}, .blocks = {1, 2, 1}, .reals = GAB_REALS_FLOAT, .rates = {.even = 1.2, .odd = 1}};
  const size_t bytes = gab_device_flow_bytes(&box);
  float *start = malloc(bytes), *middle = malloc(bytes), *end = malloc(bytes), *found = malloc(bytes);
  gab_device_flow *it;
  REQUIRE(start && middle && end && found);
  gab_device_flow_wave(&box, 3, start);
  REQUIRE_OK(gab_device_flow_create(device, &box, &it));
  REQUIRE_OK(gab_device_flow_put(it, start));
  REQUIRE_OK(gab_device_flow_get(it, found));
  expect_same(found, start, bytes, "what was put", 0);
  REQUIRE_OK(gab_device_flow_step(it, 3));
  REQUIRE_OK(gab_device_flow_get(it, middle));
  REQUIRE_OK(gab_device_flow_step(it, 2));
  REQUIRE_OK(gab_device_flow_get(it, end));
  REQUIRE(memcmp(middle, end, bytes) != 0);
  REQUIRE_OK(gab_device_flow_put(it, middle));
  gab_device_flow_set_group(it, 32);
  REQUIRE_OK(gab_device_flow_step(it, 2));
  REQUIRE_OK(gab_device_flow_get(it, found));
  expect_same(found, end, bytes, "put again", 5);
  gab_device_flow_destroy(&it);
  free(start);
  free(middle);
  free(end);
  free(found);
}

static void the_wrong_is_refused(gab_device *device)
{
  gab_device_flow *it;
  const gab_device_flow_options empty = {.cells = {8, 0, 4}, .blocks = {1, 1, 1}},
                                huge = {.cells = {1 << 10, 1 << 10, 1 << 10}, .blocks = {1, 1, 1}},
                                deep = {
                                    .cells = {8, 8, 2}, .blocks = {1, 1, 1}, .lattice = &gab_lattice_d2q9};
  REQUIRE(gab_device_flow_create(device, &empty, &it) == GAB_ERR_ARGUMENT && !it);
  REQUIRE(gab_device_flow_create(device, &huge, &it) == GAB_ERR_ARGUMENT && !it);
  REQUIRE(gab_device_flow_create(device, &deep, &it) == GAB_ERR_ARGUMENT && !it);
}

int main(int argc, char **argv)
{
  gab_world *world;
  gab_device *device;
  int count = 0;
  REQUIRE_OK(gab_world_create(&argc, &argv, &world));
  if (gab_device_count("opencl", &count) != GAB_OK || count == 0) {
    printf("no OpenCL device here: left out\n");
    return test_end(&world);
  }
  REQUIRE_OK(gab_device_open("opencl", 0, &device));
  REQUIRE_OK(gab_lbm_check_device(device));
  const model models[] = {{&gab_lattice_d3q19, GAB_DEVICE_TRT, GAB_REALS_DOUBLE, false, 8},
                          {&gab_lattice_d2q9, GAB_DEVICE_MRT, GAB_REALS_MIXED, true, 4},
                          {&gab_lattice_d2q9, GAB_DEVICE_SMAGORINSKY, GAB_REALS_DOUBLE, true, 8},
                          {&gab_lattice_d3q27, GAB_DEVICE_RR, GAB_REALS_FLOAT, true, 8}};
  for (size_t i = 0; i < sizeof models / sizeof models[0]; i++)
    if (gab_device_of(device)->has_double) has_the_bits_of_a_flow(world, device, &models[i]);
  starts_again_where_it_is_put(device);
  the_wrong_is_refused(device);
  gab_device_close(&device);
  return test_end(&world);
}

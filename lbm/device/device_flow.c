/* SPDX-License-Identifier: Apache-2.0 */
#include "lbm/device/device_flow.h"

#include "core/memory/memory.h"

#include <stdio.h>
#include <string.h>

extern const char gab_device_sweep_text[]; /* made of device_sweep_text.inc by the build */

enum { GROUP_USUAL = 128, AROUND = 27, OPTIONS_CAPACITY = 256 };

struct gab_device_flow {
  gab_device *device;
  gab_device_program *program;
  gab_device_memory *field, *walls, *neighbours, *numbers;
  gab_device_flow_options box;
  uint32_t *walls_here; /* as on the device: block after block */
  int64_t steps;
};

static size_t cells_of_block(const gab_device_flow_options *box)
{
  return (size_t)box->cells[0] * (size_t)box->cells[1] * (size_t)box->cells[2];
}

static size_t blocks_of(const gab_device_flow_options *box)
{
  return (size_t)box->blocks[0] * (size_t)box->blocks[1] * (size_t)box->blocks[2];
}

size_t gab_device_flow_cells(const gab_device_flow_options *box)
{
  return cells_of_block(box) * blocks_of(box);
}

static const gab_lattice *lattice_of(const gab_device_flow_options *box)
{
  return box->lattice ? box->lattice : &gab_lattice_d3q19;
}

int gab_device_flow_directions(const gab_device_flow_options *box) { return lattice_of(box)->q; }

size_t gab_device_flow_real(const gab_device_flow_options *box)
{
  return box->reals == GAB_REALS_DOUBLE ? sizeof(double) : sizeof(float);
}

size_t gab_device_flow_bytes(const gab_device_flow_options *box)
{
  return gab_device_flow_cells(box) * (size_t)lattice_of(box)->q * gab_device_flow_real(box);
}

/* Index in the whole box of the cell at a place of a block and shift; periodic. */
static size_t global_cell(const gab_device_flow_options *box, size_t block, size_t cell,
                          const int8_t shift[3])
{
  size_t index = 0, stride = 1;
  for (int axis = 0; axis < 3; axis++) {
    const size_t n = (size_t)box->cells[axis], blocks = (size_t)box->blocks[axis], all = n * blocks;
    const size_t x = block % blocks * n + cell % n;
    index += (x + all + (size_t)(ptrdiff_t)shift[axis]) % all * stride;
    stride *= all;
    block /= blocks;
    cell /= n;
  }
  return index;
}

/* Block and cell of a cell of the whole box, as one index of block after block. */
static size_t local_cell(const gab_device_flow_options *box, size_t global)
{
  size_t block = 0, cell = 0, block_stride = 1, cell_stride = 1;
  for (int axis = 0; axis < 3; axis++) {
    const size_t n = (size_t)box->cells[axis], blocks = (size_t)box->blocks[axis], x = global % (n * blocks);
    block += x / n * block_stride;
    cell += x % n * cell_stride;
    block_stride *= blocks;
    cell_stride *= n;
    global /= n * blocks;
  }
  return block * cells_of_block(box) + cell;
}

/* ---------------------------------------------------------------- making */

static gab_status upload(gab_device *device, const void *host, size_t bytes, gab_device_memory **memory)
{
  GAB_TRY(gab_device_alloc(device, bytes, memory));
  return gab_device_write(*memory, 0, host, bytes);
}

static gab_status make_walls(gab_device_flow *it, const uint8_t *solid)
{
  const gab_device_flow_options *box = &it->box;
  const size_t inside = cells_of_block(box), all = gab_device_flow_cells(box);
  GAB_TRY(GAB_NEW_ARRAY(&it->walls_here, all, GAB_MEMORY_OTHER));
  if (solid) {
#pragma omp parallel for schedule(static)
    for (size_t i = 0; i < all; i++) {
      uint32_t wall = 0;
      for (int d = 0; d < lattice_of(box)->q; d++)
        if (solid[global_cell(box, i / inside, i % inside, lattice_of(box)->c[d])]) wall |= 1u << d;
      it->walls_here[i] = wall;
    }
  }
  return upload(it->device, it->walls_here, all * sizeof *it->walls_here, &it->walls);
}

static gab_status make_neighbours(gab_device_flow *it)
{
  const int *n = it->box.blocks;
  const size_t blocks = blocks_of(&it->box);
  uint32_t *table = NULL;
  GAB_TRY(GAB_NEW_ARRAY(&table, blocks * AROUND, GAB_MEMORY_OTHER));
  for (size_t b = 0; b < blocks; b++)
    for (int k = 0; k < AROUND; k++) {
      const int x = (int)(b % (size_t)n[0]) + k % 3 - 1,
                y = (int)(b / (size_t)n[0] % (size_t)n[1]) + k / 3 % 3 - 1;
      const int z = (int)(b / (size_t)n[0] / (size_t)n[1]) + k / 9 - 1;
      table[b * AROUND + (size_t)k] =
          (uint32_t)(((z + n[2]) % n[2] * n[1] + (y + n[1]) % n[1]) * n[0] + (x + n[0]) % n[0]);
    }
  const gab_status status = upload(it->device, table, blocks * AROUND * sizeof *table, &it->neighbours);
  gab_free(&table);
  return status;
}

/* In the order of gab_rates in device_sweep_text.inc. */
static gab_status make_numbers(gab_device_flow *it)
{
  const gab_collision_rates *rates = &it->box.rates;
  const double numbers[] = {rates->even,     rates->odd,    rates->force[0],      rates->force[1],
                            rates->force[2], rates->energy, rates->energy_square, rates->stress,
                            rates->third,    rates->eddies};
  return upload(it->device, numbers, sizeof numbers, &it->numbers);
}

static bool is_forced(const gab_device_flow_options *box)
{
  return box->rates.force[0] != 0 || box->rates.force[1] != 0 || box->rates.force[2] != 0;
}

static gab_status build(gab_device_flow *it)
{
  static const char *const arithmetic[] = {"double", "float", "double"}, *const stored[] = {"double", "float",
                                                                                            "float"};
  char options[OPTIONS_CAPACITY];
  const int *n = it->box.cells;
  const gab_lattice *lattice = lattice_of(&it->box);
  snprintf(
      options, sizeof options,
      "-DLATTICE=%s -DDIRECTIONS=%d -DCOLLISION=%d -DREAL=%s -DSTORED=%s -DNX=%d -DNY=%d -DNZ=%d -DFORCED=%d",
      lattice->name, lattice->q, (int)it->box.collision, arithmetic[it->box.reals], stored[it->box.reals],
      n[0], n[1], n[2], is_forced(&it->box));
  return gab_device_build(it->device, gab_device_sweep_text, options, &it->program);
}

static gab_status check(const gab_device *device, const gab_device_flow_options *box)
{
  size_t cells = 1, blocks = 1;
  for (int axis = 0; axis < 3; axis++) {
    if (box->cells[axis] < 1 || box->blocks[axis] < 1)
      GAB_FAIL(GAB_ERR_ARGUMENT, "a box of %d blocks of %d cells along axis %d", box->blocks[axis],
               box->cells[axis], axis);
    cells *= (size_t)box->cells[axis];
    blocks *= (size_t)box->blocks[axis];
    if (cells > UINT32_MAX / GAB_LATTICE_MAX_Q || blocks > INT32_MAX)
      GAB_FAIL(GAB_ERR_ARGUMENT, "a box of too many cells of a block, or blocks");
  }
  const gab_lattice *lattice = lattice_of(box);
  if (lattice != &gab_lattice_d2q9 && lattice != &gab_lattice_d3q19 && lattice != &gab_lattice_d3q27)
    GAB_FAIL(GAB_ERR_ARGUMENT, "no kernel for devices on the lattice %s: D2Q9, D3Q19 and D3Q27 have one",
             lattice->name);
  if (lattice->dimension == 2 && box->cells[2] * box->blocks[2] != 1)
    GAB_FAIL(GAB_ERR_ARGUMENT, "%s with %d cells along z: expected 1", lattice->name,
             box->cells[2] * box->blocks[2]);
  if (box->collision == GAB_DEVICE_MRT && lattice == &gab_lattice_d3q27)
    GAB_FAIL(GAB_ERR_ARGUMENT, "MRT is not defined on D3Q27");
  if (box->reals != GAB_REALS_FLOAT && !gab_device_of(device)->has_double)
    GAB_FAIL(GAB_ERR_INPUT, "%s has no double precision: choose float", gab_device_of(device)->name);
  return GAB_OK;
}

static gab_status make(gab_device_flow *it)
{
  GAB_TRY(build(it));
  GAB_TRY(make_numbers(it));
  GAB_TRY(make_walls(it, it->box.solid));
  GAB_TRY(make_neighbours(it));
  it->box.solid = NULL;
  return gab_device_alloc(it->device, gab_device_flow_bytes(&it->box), &it->field);
}

gab_status gab_device_flow_create(gab_device *device, const gab_device_flow_options *box,
                                  gab_device_flow **flow)
{
  gab_device_flow *made = NULL;
  *flow = NULL;
  GAB_TRY(check(device, box));
  GAB_TRY(GAB_NEW(&made, GAB_MEMORY_OTHER));
  made->device = device;
  made->box = *box;
  if (made->box.group == 0) made->box.group = GROUP_USUAL;
  const gab_status status = make(made);
  *flow = made;
  if (status != GAB_OK) gab_device_flow_destroy(flow);
  return status;
}

void gab_device_flow_destroy(gab_device_flow **flow)
{
  gab_device_flow *gone = *flow;
  if (!gone) return;
  gab_device_free(&gone->field);
  gab_device_free(&gone->walls);
  gab_device_free(&gone->neighbours);
  gab_device_free(&gone->numbers);
  gab_free(&gone->walls_here);
  gab_free(flow);
}

/* ---------------------------------------------------------------- states */

/* Returns the index of the population that a cell has sent in a direction. In an even state, and next to a wall in
 * an odd one, it is in the cell itself under the opposite direction; otherwise in the next cell. */
static size_t place_of(const gab_device_flow *it, size_t local, int q)
{
  const gab_device_flow_options *box = &it->box;
  const size_t inside = cells_of_block(box);
  const bool is_own = it->steps % 2 == 0 || it->walls_here[local] >> q & 1;
  const size_t holder =
      is_own ? local
             : local_cell(box, global_cell(box, local / inside, local % inside, lattice_of(box)->c[q]));
  const size_t direction = (size_t)(is_own ? gab_lattice_opposite(q) : q);
  return (holder / inside * (size_t)lattice_of(box)->q + direction) * inside + holder % inside;
}

/* Copies between the exchanged order and that of the device. */
static void arrange(const gab_device_flow *it, void *sent, void *field, bool to_field)
{
  static const int8_t nowhere[3] = {0, 0, 0};
  const size_t all = gab_device_flow_cells(&it->box), inside = cells_of_block(&it->box),
               real = gab_device_flow_real(&it->box);
#pragma omp parallel for schedule(static)
  for (size_t local = 0; local < all; local++) {
    const size_t global = global_cell(&it->box, local / inside, local % inside, nowhere);
    const bool is_solid = it->walls_here[local] & 1;
    for (int q = 0; q < lattice_of(&it->box)->q && !(is_solid && to_field); q++) {
      char *out = (char *)sent + ((size_t)q * all + global) * real;
      char *in = is_solid ? NULL : (char *)field + place_of(it, local, q) * real;
      if (is_solid) memset(out, 0, real);
      else memcpy(to_field ? in : out, to_field ? out : in, real);
    }
  }
}

gab_status gab_device_flow_put(gab_device_flow *flow, const void *sent)
{
  const size_t bytes = gab_device_bytes(flow->field);
  void *field = NULL;
  GAB_TRY(gab_alloc(bytes, GAB_MEMORY_OTHER, &field));
  flow->steps = 0;
  arrange(flow, (void *)(uintptr_t)sent, field, true);
  const gab_status status = gab_device_write(flow->field, 0, field, bytes);
  gab_free(&field);
  return status;
}

gab_status gab_device_flow_get(gab_device_flow *flow, void *sent)
{
  const size_t bytes = gab_device_bytes(flow->field);
  void *field = NULL;
  GAB_TRY(gab_alloc(bytes, GAB_MEMORY_OTHER, &field));
  const gab_status status = gab_device_read(flow->field, 0, field, bytes);
  if (status == GAB_OK) arrange(flow, sent, field, false);
  gab_free(&field);
  return status;
}

gab_status gab_device_flow_step(gab_device_flow *flow, int steps)
{
  gab_device_flow *it = flow;
  const uint64_t count = gab_device_flow_cells(&it->box);
  const gab_device_argument arguments[] = {GAB_DEVICE_BUFFER(it->field), GAB_DEVICE_BUFFER(it->walls),
                                           GAB_DEVICE_BUFFER(it->neighbours), GAB_DEVICE_BUFFER(it->numbers),
                                           GAB_DEVICE_VALUE(count)};
  for (int i = 0; i < steps; i++) {
    GAB_TRY(gab_device_launch(it->program, it->steps % 2 == 0 ? "gab_sweep_neighbours" : "gab_sweep_own",
                              count, (size_t)it->box.group, arguments,
                              sizeof arguments / sizeof arguments[0]));
    it->steps++;
  }
  return GAB_OK;
}

void gab_device_flow_set_group(gab_device_flow *flow, int group) { flow->box.group = group; }

int64_t gab_device_flow_steps(const gab_device_flow *flow) { return flow->steps; }

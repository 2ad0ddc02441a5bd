/* SPDX-License-Identifier: Apache-2.0 */
/* A field with known values everywhere, and its ghost exchange, for tests. */
#ifndef GABION_TESTS_RANDOM_GHOSTS_H
#define GABION_TESTS_RANDOM_GHOSTS_H

#include "blockforest/exchange/exchange.h"
#include "tests/blockforest/random_domain.h"

typedef struct ghost_setup {
  const random_domain *domain;
  int width;
  uint64_t seed, time; /* values depend on them */
  bool sparse;         /* some directions have no messages */
} ghost_setup;

static const uint64_t untouched = 0xdeadbeefULL;

typedef struct cell_field {
  const ghost_setup *setup;
  int64_t extent[3]; /* with ghosts */
  uint64_t value[];
} cell_field;

static inline int ghosts_in(const ghost_setup *setup, int axis)
{
  return axis < setup->domain->options.grid.dimension ? setup->width : 0;
}

static inline uint64_t *cell_at(const cell_field *field, int64_t x, int64_t y, int64_t z)
{
  int64_t i = x + ghosts_in(field->setup, 0), j = y + ghosts_in(field->setup, 1),
          k = z + ghosts_in(field->setup, 2);
  return (uint64_t *)(uintptr_t)&field->value[i + field->extent[0] * (j + field->extent[1] * k)];
}

static inline gab_status cells_create(void *user, const gab_forest *forest, const gab_block *block,
                                      void **data)
{
  (void)forest;
  (void)block;
  const ghost_setup *setup = user;
  int64_t extent[3], count = 1;
  for (int axis = 0; axis < 3; axis++) {
    extent[axis] = setup->domain->options.cells[axis] + 2 * ghosts_in(setup, axis);
    count *= extent[axis];
  }
  cell_field *field = malloc(sizeof *field + (size_t)count * sizeof field->value[0]);
  field->setup = setup;
  memcpy(field->extent, extent, sizeof extent);
  *data = field;
  return GAB_OK;
}

static inline void cells_destroy(void *user, void *data)
{
  (void)user;
  free(data);
}

/* 2D fields have no ghosts in z, so only boxes of z offset 0 exist. */
static inline size_t ghosts_size(void *user, int direction)
{
  const ghost_setup *setup = user;
  if (setup->sparse && gab_hash_counter(setup->seed, 11, (uint64_t)direction) % 3 == 0) return 0;
  gab_box box = gab_direction_send_box(direction, setup->domain->options.cells, setup->width);
  return sizeof(uint64_t) *
         (size_t)((box.hi[0] - box.lo[0]) * (box.hi[1] - box.lo[1]) * (box.hi[2] - box.lo[2]));
}

#define FOR_BOX(box, x, y, z)                                                                                \
  for (int64_t z = (box).lo[2]; z < (box).hi[2]; z++)                                                        \
    for (int64_t y = (box).lo[1]; y < (box).hi[1]; y++)                                                      \
      for (int64_t x = (box).lo[0]; x < (box).hi[0]; x++)

static inline void ghosts_pack(void *user, const void *data, int direction, void *bytes)
{
  const ghost_setup *setup = user;
  gab_box box = gab_direction_send_box(direction, setup->domain->options.cells, setup->width);
  unsigned char *to = bytes;
  FOR_BOX(box, x, y, z)
  {
    memcpy(to, cell_at(data, x, y, z), sizeof(uint64_t));
    to += sizeof(uint64_t);
  }
}

static inline void ghosts_unpack(void *user, void *data, int direction, const void *bytes)
{
  const ghost_setup *setup = user;
  gab_box box = gab_direction_receive_box(gab_direction_opposite(direction), setup->domain->options.cells,
                                          setup->width);
  const unsigned char *from = bytes;
  FOR_BOX(box, x, y, z)
  {
    memcpy(cell_at(data, x, y, z), from, sizeof(uint64_t));
    from += sizeof(uint64_t);
  }
}

static inline void ghosts_copy(void *user, const void *from, void *to, int direction)
{
  const ghost_setup *setup = user;
  const int32_t *cells = setup->domain->options.cells;
  gab_box send = gab_direction_send_box(direction, cells, setup->width);
  gab_box receive = gab_direction_receive_box(gab_direction_opposite(direction), cells, setup->width);
  FOR_BOX(send, x, y, z)
  *cell_at(to, x - send.lo[0] + receive.lo[0], y - send.lo[1] + receive.lo[1],
           z - send.lo[2] + receive.lo[2]) = *cell_at(from, x, y, z);
}

static inline gab_ghost_kind ghosts_kind(ghost_setup *setup, bool copies)
{
  return (gab_ghost_kind){.name = "cells",
                          .user = setup,
                          .size = ghosts_size,
                          .pack = ghosts_pack,
                          .unpack = ghosts_unpack,
                          .copy = copies ? ghosts_copy : NULL};
}

/* The value of a cell of the domain; coordinates may lie over a periodic border. */
static inline uint64_t true_value(const ghost_setup *setup, const int64_t cell[3])
{
  uint64_t place = 0;
  for (int axis = 2; axis >= 0; axis--) {
    int64_t cells = (int64_t)setup->domain->options.grid.roots[axis] * setup->domain->options.cells[axis];
    place = place * 1000 + (uint64_t)((cell[axis] + cells) % cells);
  }
  return gab_hash_counter(setup->seed, setup->time, place);
}

static inline void cells_fill(const gab_forest *forest, gab_data_id id)
{
  for (size_t b = 0; b < gab_forest_block_count(forest); b++) {
    const gab_block *block = gab_forest_block(forest, b);
    cell_field *field = gab_block_data(block, id);
    gab_box mine = gab_block_cells(forest, block);
    for (int64_t i = 0; i < field->extent[0] * field->extent[1] * field->extent[2]; i++)
      field->value[i] = untouched;
    FOR_BOX(mine, x, y, z)
    {
      const int64_t cell[3] = {x, y, z};
      *cell_at(field, x - mine.lo[0], y - mine.lo[1], z - mine.lo[2]) = true_value(field->setup, cell);
    }
  }
}

/* Checks every cell and ghost cell of every block. */
static inline void cells_check(const gab_forest *forest, gab_data_id id)
{
  for (size_t b = 0; b < gab_forest_block_count(forest); b++) {
    const gab_block *block = gab_forest_block(forest, b);
    const cell_field *field = gab_block_data(block, id);
    const random_domain *domain = field->setup->domain;
    gab_box mine = gab_block_cells(forest, block);
    gab_block_place place = gab_block_id_place(&domain->options.grid, gab_block_get_id(block));
    for (int direction = 0; direction < GAB_DIRECTIONS; direction++) {
      int step[3] = {direction % 3 - 1, direction / 3 % 3 - 1, direction / 9 - 1};
      int32_t next[3];
      if (domain->options.grid.dimension == 2 && step[2] != 0) continue;
      bool filled = direction == 13;
      if (!filled && domain_next(domain, place.at, step, next))
        filled = ghosts_size((void *)(uintptr_t)field->setup, 26 - direction) > 0;
      gab_box box = gab_direction_receive_box(direction, domain->options.cells, field->setup->width);
      FOR_BOX(box, x, y, z)
      {
        const int64_t cell[3] = {mine.lo[0] + x, mine.lo[1] + y, mine.lo[2] + z};
        REQUIRE(*cell_at(field, x, y, z) == (filled ? true_value(field->setup, cell) : untouched));
      }
    }
  }
}

#endif

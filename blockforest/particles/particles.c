/* SPDX-License-Identifier: Apache-2.0 */
#include "blockforest/particles/particles.h"

#include "blockforest/forest/position.h"
#include "blockforest/particles/particles_impl.h"
#include "core/messages/collective.h"
#include "core/messages/logged/message_logger.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_RECORD_BYTES = 4096 };

/* ---------------------------------------------------------------- bags */

static gab_status reserve(const gab_particles *particles, gab_particles_bag *to, size_t count)
{
  if (count <= to->capacity) return GAB_OK;
  const size_t capacity = count + count / 2 + 16;
  GAB_TRY(GAB_RESIZE_ARRAY(&to->records, capacity * particles->record_bytes, GAB_MEMORY_FIELD));
  to->capacity = capacity;
  return GAB_OK;
}

static gab_status append(const gab_particles *particles, gab_particles_bag *to, const void *records,
                         size_t count)
{
  if (count == 0) return GAB_OK;
  GAB_TRY(reserve(particles, to, to->count + count));
  memcpy(to->records + to->count * particles->record_bytes, records, count * particles->record_bytes);
  to->count += count;
  return GAB_OK;
}

/* Records begin with their id. */
static int by_id(const void *a, const void *b)
{
  const uint64_t left = ((const gab_particle *)a)->id, right = ((const gab_particle *)b)->id;
  return left < right ? -1 : left > right;
}

/* Most bags are in order already: nothing came, or only one from behind. */
static void sort(const gab_particles *particles, gab_particles_bag *which)
{
  size_t ordered = 1;
  while (ordered < which->count && by_id(which->records + (ordered - 1) * particles->record_bytes,
                                         which->records + ordered * particles->record_bytes) <= 0)
    ordered++;
  if (ordered < which->count) qsort(which->records, which->count, particles->record_bytes, by_id);
}

static gab_status create(void *user, const gab_forest *forest, const gab_block *block, void **data)
{
  (void)user, (void)forest, (void)block;
  gab_particles_bag *made;
  GAB_TRY(GAB_NEW(&made, GAB_MEMORY_FIELD));
  *made = (gab_particles_bag){0};
  *data = made;
  return GAB_OK;
}

static void destroy(void *user, void *data)
{
  (void)user;
  gab_particles_bag *gone = data;
  gab_free(&gone->records);
  gab_free(&gone);
}

static size_t packed_size(void *user, const void *data)
{
  const gab_particles_bag *of = data;
  return sizeof(uint64_t) + of->count * ((const gab_particles *)user)->record_bytes;
}

static gab_status pack(void *user, const void *data, gab_buffer *out)
{
  const gab_particles_bag *of = data;
  GAB_TRY(gab_put_u64(out, of->count));
  return of->count > 0
             ? gab_put_bytes(out, of->records, of->count * ((const gab_particles *)user)->record_bytes)
             : GAB_OK;
}

static gab_status unpack(void *user, void *data, gab_reader *in)
{
  gab_particles_bag *to = data;
  gab_reader records;
  size_t count;
  GAB_TRY(gab_get_count(in, ((const gab_particles *)user)->record_bytes, &count));
  GAB_TRY(gab_get_view(in, count * ((const gab_particles *)user)->record_bytes, &records));
  to->count = 0;
  return append(user, to, records.at, count);
}

static uint64_t work(void *user, void *data, bool forget)
{
  gab_particles_bag *of = data;
  const uint64_t spent = of->work;
  (void)user;
  if (forget) of->work = 0;
  return spent;
}

void gab_particles_add_work(gab_particles *particles, const gab_block *block, uint64_t nanoseconds)
{
  gab_particles_bag *of = gab_block_data(block, particles->data);
  if (of) of->work += nanoseconds;
}

/* ---------------------------------------------------------------- splitting and merging */

static gab_status split(void *user, const gab_forest *forest, const gab_block *parent,
                        const void *parent_data, const gab_block *const *children, void *const *children_data)
{
  const gab_particles *particles = user;
  const gab_particles_bag *from = parent_data;
  (void)parent;
  for (int c = 0; c < gab_topology_child_count(gab_forest_topology(forest)); c++) {
    if (!children_data[c]) continue;
    const gab_box cells = gab_block_cells(forest, children[c]);
    const int level = gab_block_level(forest, children[c]);
    for (size_t i = 0; i < from->count; i++) {
      const unsigned char *record = from->records + i * particles->record_bytes;
      if (gab_cells_contain(forest, level, &cells, ((const gab_particle *)(const void *)record)->at))
        GAB_TRY(append(particles, children_data[c], record, 1));
    }
  }
  return GAB_OK;
}

static gab_status merge(void *user, const gab_forest *forest, const gab_block *const *children,
                        const void *const *children_data, const gab_block *parent, void *parent_data)
{
  const gab_particles *particles = user;
  (void)children, (void)parent;
  for (int c = 0; c < gab_topology_child_count(gab_forest_topology(forest)); c++) {
    const gab_particles_bag *from = children_data[c];
    if (from) GAB_TRY(append(particles, parent_data, from->records, from->count));
  }
  sort(particles, parent_data);
  return GAB_OK;
}

/* ---------------------------------------------------------------- made and unmade */

gab_status gab_particles_create(gab_forest *forest, const gab_particle_kind *kind, gab_particles **particles)
{
  *particles = NULL;
  if (!kind->name || kind->record_bytes < sizeof(gab_particle) || kind->record_bytes > MOST_RECORD_BYTES ||
      kind->record_bytes % 8 != 0)
    GAB_FAIL(GAB_ERR_ARGUMENT, "particles `%s' of %zu bytes: a multiple of 8 from %zu to %d is possible",
             kind->name ? kind->name : "", kind->record_bytes, sizeof(gab_particle), (int)MOST_RECORD_BYTES);
  gab_particles *made;
  GAB_TRY(GAB_NEW(&made, GAB_MEMORY_OTHER));
  *made = (gab_particles){.forest = forest, .record_bytes = kind->record_bytes};
  gab_buffer_init(&made->here, GAB_MEMORY_MESSAGE);
  const gab_block_data_kind data = {.name = kind->name,
                                    .user = made,
                                    .create = create,
                                    .destroy = destroy,
                                    .packed_size = packed_size,
                                    .pack = pack,
                                    .unpack = unpack,
                                    .split = split,
                                    .merge = merge,
                                    .work = work};
  gab_status status = gab_forest_add_data(forest, &data, &made->data);
  if (status == GAB_OK) status = gab_port_create(gab_forest_world(forest), kind->name, &made->port);
  if (status == GAB_OK) gab_port_set_logged(made->port);
  else gab_free(&made);
  *particles = made;
  return status;
}

static void drop_channels(gab_particles *particles)
{
  for (size_t c = 0; c < particles->channel_count; c++) {
    gab_buffer_release(&particles->channels[c].out);
    gab_buffer_release(&particles->channels[c].in);
  }
  gab_free(&particles->channels);
  particles->channel_count = 0;
  particles->has_channels = false;
}

void gab_particles_destroy(gab_particles **particles)
{
  if (!*particles) return;
  gab_port_destroy(&(*particles)->port); /* first: it may still borrow the buffers */
  drop_channels(*particles);
  gab_buffer_release(&(*particles)->here);
  gab_free(particles);
}

/* ---------------------------------------------------------------- records */

void *gab_particles_of(const gab_particles *particles, const gab_block *block, size_t *count)
{
  const gab_particles_bag *of = gab_block_data(block, particles->data);
  *count = of ? of->count : 0;
  return of && of->count > 0 ? of->records : NULL;
}

void gab_particles_keep(gab_particles *particles, const gab_block *block, size_t count)
{
  gab_particles_bag *of = gab_block_data(block, particles->data);
  if (of && count < of->count) of->count = count;
}

gab_status gab_particles_add(gab_particles *particles, const void *record, bool *added)
{
  const gab_forest *forest = particles->forest;
  double at[3];
  memcpy(at, ((const gab_particle *)record)->at, sizeof at);
  if (added) *added = false;
  if (!gab_forest_wrap(forest, at))
    GAB_FAIL(GAB_ERR_INPUT, "particle %" PRIu64 " at (%g, %g, %g) is outside the domain",
             ((const gab_particle *)record)->id, at[0], at[1], at[2]);
  const gab_block *block = gab_forest_block_at(forest, at);
  if (!block) return GAB_OK;
  gab_particles_bag *to = gab_block_data(block, particles->data);
  GAB_TRY(append(particles, to, record, 1));
  unsigned char *last = to->records + (to->count - 1) * particles->record_bytes;
  memcpy(((gab_particle *)(void *)last)->at, at, sizeof at);
  if (to->count > 1 && by_id(last - particles->record_bytes, last) > 0) sort(particles, to);
  if (added) *added = true;
  return GAB_OK;
}

size_t gab_particles_record_bytes(const gab_particles *particles) { return particles->record_bytes; }

gab_status gab_particles_count(const gab_particles *particles, uint64_t *count)
{
  *count = 0;
  for (size_t i = 0; i < gab_forest_block_count(particles->forest); i++)
    *count +=
        ((const gab_particles_bag *)gab_block_data(gab_forest_block(particles->forest, i), particles->data))
            ->count;
  return gab_world_sum_u64(gab_forest_world(particles->forest), count, 1);
}

/* ---------------------------------------------------------------- a move */

static int by_rank(const void *a, const void *b)
{
  const gab_particles_channel *left = a, *right = b;
  return left->rank < right->rank ? -1 : left->rank > right->rank;
}

gab_particles_channel *gab_particles_channel_to(const gab_particles *particles, gab_rank rank)
{
  const gab_particles_channel wanted = {.rank = rank};
  return particles->channel_count > 0
             ? bsearch(&wanted, particles->channels, particles->channel_count, sizeof wanted, by_rank)
             : NULL;
}

/* One channel per rank that owns a neighbour. Both ends find each other, since neighbourhood is mutual. */
gab_status gab_particles_open_channels(gab_particles *particles)
{
  const gab_forest *forest = particles->forest;
  const gab_world *world = gab_forest_world(forest);
  const gab_rank me = gab_world_rank(world);
  if (particles->has_channels && particles->revision == gab_forest_revision(forest) &&
      particles->epoch == gab_world_epoch(world))
    return GAB_OK;
  drop_channels(particles);
  for (size_t i = 0; i < gab_forest_block_count(forest); i++) {
    const gab_block *block = gab_forest_block(forest, i);
    for (size_t r = 0; r < gab_block_neighbour_count(block); r++) {
      const gab_rank owner = gab_block_neighbours(block)[r].owner;
      if (owner == me || gab_particles_channel_to(particles, owner)) continue;
      GAB_TRY(GAB_RESIZE_ARRAY(&particles->channels, particles->channel_count + 1, GAB_MEMORY_OTHER));
      gab_particles_channel *made = &particles->channels[particles->channel_count++];
      *made = (gab_particles_channel){.rank = owner};
      gab_buffer_init(&made->out, GAB_MEMORY_MESSAGE);
      gab_buffer_init(&made->in, GAB_MEMORY_MESSAGE);
      qsort(particles->channels, particles->channel_count, sizeof *made, by_rank);
    }
  }
  particles->has_channels = true;
  particles->revision = gab_forest_revision(forest);
  particles->epoch = gab_world_epoch(world);
  return GAB_OK;
}

static gab_status send_record(gab_particles *particles, const gab_block *block, const gab_particle *record)
{
  const gab_neighbour *to = gab_block_neighbour_at(particles->forest, block, record->at);
  if (!to)
    GAB_FAIL(GAB_ERR_ARGUMENT,
             "particle %" PRIu64 " has moved to (%g, %g, %g), beyond all neighbours of block " GAB_PRI_BLOCK
             ": in a step it may cross one block at most",
             record->id, record->at[0], record->at[1], record->at[2], gab_block_get_id(block));
  gab_particles_channel *by = gab_particles_channel_to(particles, to->owner);
  gab_buffer *out = by ? &by->out : &particles->here;
  GAB_TRY(gab_put_u64(out, to->id));
  return gab_put_bytes(out, record, particles->record_bytes);
}

static bool is_finite(const gab_particles *particles, const gab_particle *record)
{
  for (int axis = 0; axis < gab_forest_get_options(particles->forest)->grid.dimension; axis++)
    if (!isfinite(record->at[axis])) return false;
  return true;
}

/* Sends what has left a block; the others move up. */
static gab_status sort_out(gab_particles *particles, const gab_block *block, uint64_t *removed)
{
  gab_particles_bag *from = gab_block_data(block, particles->data);
  const gab_box cells = gab_block_cells(particles->forest, block);
  const int level = gab_block_level(particles->forest, block);
  const size_t bytes = particles->record_bytes;
  size_t kept = 0;
  for (size_t i = 0; i < from->count; i++) {
    gab_particle *record = (gab_particle *)(void *)(from->records + i * bytes);
    if (!is_finite(particles, record))
      GAB_FAIL(GAB_ERR_ARGUMENT, "particle %" PRIu64 " is at (%g, %g, %g)", record->id, record->at[0],
               record->at[1], record->at[2]);
    if (!gab_forest_wrap(particles->forest, record->at)) {
      ++*removed;
    } else if (!gab_cells_contain(particles->forest, level, &cells, record->at)) {
      GAB_TRY(send_record(particles, block, record));
    } else {
      if (kept < i) memmove(from->records + kept * bytes, record, bytes);
      kept++;
    }
  }
  from->count = kept;
  return GAB_OK;
}

static gab_status take_in(gab_particles *particles, gab_reader in)
{
  while (gab_reader_left(&in) > 0) {
    uint64_t id;
    gab_reader record;
    GAB_TRY(gab_get_u64(&in, &id));
    GAB_TRY(gab_get_view(&in, particles->record_bytes, &record));
    const gab_block *block = gab_forest_find(particles->forest, id);
    if (!block)
      GAB_FAIL(GAB_ERR_CORRUPT, "a particle came for block " GAB_PRI_BLOCK ", which is not here", id);
    GAB_TRY(append(particles, gab_block_data(block, particles->data), record.at, 1));
  }
  return GAB_OK;
}

gab_status gab_particles_begin_messages(gab_particles *particles)
{
  for (size_t c = 0; c < particles->channel_count; c++)
    GAB_TRY(gab_message_begin(&particles->channels[c].out));
  gab_buffer_clear(&particles->here);
  return GAB_OK;
}

gab_status gab_particles_swap_messages(gab_particles *particles)
{
  for (size_t c = 0; c < particles->channel_count; c++) {
    gab_particles_channel *by = &particles->channels[c];
    GAB_TRY(gab_port_receive(particles->port, by->rank, &by->in, GAB_SIZE_UNKNOWN));
    GAB_TRY(gab_port_send(particles->port, by->rank, &by->out));
  }
  return gab_port_finish(particles->port);
}

gab_status gab_particles_abandon(gab_particles *particles, gab_status status)
{
  if (status != GAB_ERR_FAULT) status = gab_world_raise(gab_forest_world(particles->forest), status);
  (void)gab_port_finish(particles->port);
  return status;
}

static gab_status move(gab_particles *particles, uint64_t *removed)
{
  const gab_forest *forest = particles->forest;
  GAB_TRY(gab_particles_open_channels(particles));
  GAB_TRY(gab_particles_begin_messages(particles));
  for (size_t i = 0; i < gab_forest_block_count(forest); i++)
    GAB_TRY(sort_out(particles, gab_forest_block(forest, i), removed));
  GAB_TRY(gab_particles_swap_messages(particles));
  GAB_TRY(take_in(particles, gab_reader_of_buffer(&particles->here)));
  for (size_t c = 0; c < particles->channel_count; c++)
    GAB_TRY(take_in(particles, gab_message_reader(&particles->channels[c].in)));
  for (size_t i = 0; i < gab_forest_block_count(forest); i++)
    sort(particles, gab_block_data(gab_forest_block(forest, i), particles->data));
  return GAB_OK;
}

gab_status gab_particles_move(gab_particles *particles, uint64_t *removed)
{
  gab_world *world = gab_forest_world(particles->forest);
  uint64_t count = 0;
  GAB_TRY(gab_world_check(world));
  gab_world_enter(world, GAB_FAULT_POINT_EXCHANGE);
  const gab_status status = move(particles, &count);
  if (removed) *removed = count;
  return status == GAB_OK ? GAB_OK : gab_particles_abandon(particles, status);
}

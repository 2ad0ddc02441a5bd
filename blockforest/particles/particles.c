/* SPDX-License-Identifier: Apache-2.0 */
#include "blockforest/particles/particles.h"

#include "blockforest/forest/forest_impl.h"
#include "core/messages/collective.h"
#include "core/messages/logged/message_logger.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_RECORD_BYTES = 4096 };

/* The data of a block. */
typedef struct bag {
  unsigned char *records; /* ascending by id */
  size_t count, capacity;
} bag;

/* What goes to one rank. */
typedef struct channel {
  gab_rank rank;
  gab_buffer out, in; /* block (u64) and record, one after another */
} channel;

struct gab_particles {
  gab_forest *forest;
  size_t record_bytes;
  gab_data_id data;
  gab_port *port;
  gab_buffer here;   /* as a channel, for blocks of this process */
  channel *channels; /* ascending by rank */
  size_t channel_count;
  bool has_channels; /* of this revision of the forest and epoch of the world */
  uint64_t revision;
  gab_epoch epoch;
};

/* ---------------------------------------------------------------- bags */

static gab_status reserve(const gab_particles *particles, bag *to, size_t count)
{
  if (count <= to->capacity) return GAB_OK;
  const size_t capacity = count + count / 2 + 16;
  GAB_TRY(GAB_RESIZE_ARRAY(&to->records, capacity * particles->record_bytes, GAB_MEMORY_FIELD));
  to->capacity = capacity;
  return GAB_OK;
}

static gab_status append(const gab_particles *particles, bag *to, const void *records, size_t count)
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
static void sort(const gab_particles *particles, bag *which)
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
  bag *made;
  GAB_TRY(GAB_NEW(&made, GAB_MEMORY_FIELD));
  *made = (bag){0};
  *data = made;
  return GAB_OK;
}

static void destroy(void *user, void *data)
{
  (void)user;
  bag *gone = data;
  gab_free(&gone->records);
  gab_free(&gone);
}

static size_t packed_size(void *user, const void *data)
{
  const bag *of = data;
  return sizeof(uint64_t) + of->count * ((const gab_particles *)user)->record_bytes;
}

static gab_status pack(void *user, const void *data, gab_buffer *out)
{
  const bag *of = data;
  GAB_TRY(gab_put_u64(out, of->count));
  return of->count > 0
             ? gab_put_bytes(out, of->records, of->count * ((const gab_particles *)user)->record_bytes)
             : GAB_OK;
}

static gab_status unpack(void *user, void *data, gab_reader *in)
{
  bag *to = data;
  gab_reader records;
  size_t count;
  GAB_TRY(gab_get_count(in, ((const gab_particles *)user)->record_bytes, &count));
  GAB_TRY(gab_get_view(in, count * ((const gab_particles *)user)->record_bytes, &records));
  to->count = 0;
  return append(user, to, records.at, count);
}

/* ---------------------------------------------------------------- places */

/* Cell of a level that contains a position, by exact scaling, so that all levels agree on which block that is. */
static bool is_in(const gab_forest *forest, int level, const gab_box *cells, const double at[3])
{
  const gab_forest_options *options = gab_forest_get_options(forest);
  for (int axis = 0; axis < options->grid.dimension; axis++) {
    const double cell = floor(ldexp((at[axis] - options->origin[axis]) / options->dx, level));
    if (!(cell >= (double)cells->lo[axis] && cell < (double)cells->hi[axis])) return false;
  }
  return true;
}

static bool block_has(const gab_forest *forest, const gab_block *block, const double at[3])
{
  const gab_box cells = gab_block_cells(forest, block);
  return is_in(forest, gab_block_level(forest, block), &cells, at);
}

typedef enum where { INSIDE, OUTSIDE, NOWHERE } where;

/* Wraps a position at periodic sides. */
static where wrap(const gab_forest *forest, double at[3])
{
  const gab_forest_options *options = gab_forest_get_options(forest);
  const gab_box all = gab_forest_domain_cells(forest);
  for (int axis = 0; axis < options->grid.dimension; axis++) {
    const double origin = options->origin[axis], cells = (double)all.hi[axis];
    double cell = (at[axis] - origin) / options->dx;
    if (!isfinite(cell)) return NOWHERE;
    if (cell >= 0 && cell < cells) continue;
    if (!options->periodic[axis]) return OUTSIDE;
    at[axis] = origin + (cell - cells * floor(cell / cells)) * options->dx;
    cell = (at[axis] - origin) / options->dx;
    if (!(cell >= 0 && cell < cells)) at[axis] = origin; /* rounded up to the other side */
  }
  return INSIDE;
}

/* ---------------------------------------------------------------- splitting and merging */

static gab_status split(void *user, const gab_forest *forest, const gab_block *parent,
                        const void *parent_data, const gab_block *const *children, void *const *children_data)
{
  const gab_particles *particles = user;
  const bag *from = parent_data;
  (void)parent;
  for (int c = 0; c < gab_topology_child_count(gab_forest_topology(forest)); c++) {
    if (!children_data[c]) continue;
    for (size_t i = 0; i < from->count; i++) {
      const unsigned char *record = from->records + i * particles->record_bytes;
      if (block_has(forest, children[c], ((const gab_particle *)(const void *)record)->at))
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
    const bag *from = children_data[c];
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
                                    .merge = merge};
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
  const bag *of = gab_block_data(block, particles->data);
  *count = of ? of->count : 0;
  return of && of->count > 0 ? of->records : NULL;
}

void gab_particles_keep(gab_particles *particles, const gab_block *block, size_t count)
{
  bag *of = gab_block_data(block, particles->data);
  if (of && count < of->count) of->count = count;
}

gab_status gab_particles_add(gab_particles *particles, const void *record, bool *added)
{
  const gab_forest *forest = particles->forest;
  double at[3];
  memcpy(at, ((const gab_particle *)record)->at, sizeof at);
  if (added) *added = false;
  if (wrap(forest, at) != INSIDE)
    GAB_FAIL(GAB_ERR_INPUT, "particle %" PRIu64 " at (%g, %g, %g) is outside the domain",
             ((const gab_particle *)record)->id, at[0], at[1], at[2]);
  for (size_t i = 0; i < gab_forest_block_count(forest); i++) {
    const gab_block *block = gab_forest_block(forest, i);
    bag *to = gab_block_data(block, particles->data);
    if (!block_has(forest, block, at)) continue;
    GAB_TRY(append(particles, to, record, 1));
    unsigned char *last = to->records + (to->count - 1) * particles->record_bytes;
    memcpy(((gab_particle *)(void *)last)->at, at, sizeof at);
    if (to->count > 1 && by_id(last - particles->record_bytes, last) > 0) sort(particles, to);
    if (added) *added = true;
    return GAB_OK;
  }
  return GAB_OK;
}

gab_status gab_particles_count(const gab_particles *particles, uint64_t *count)
{
  *count = 0;
  for (size_t i = 0; i < gab_forest_block_count(particles->forest); i++)
    *count += ((const bag *)gab_block_data(gab_forest_block(particles->forest, i), particles->data))->count;
  return gab_world_sum_u64(gab_forest_world(particles->forest), count, 1);
}

/* ---------------------------------------------------------------- a move */

static int by_rank(const void *a, const void *b)
{
  const channel *left = a, *right = b;
  return left->rank < right->rank ? -1 : left->rank > right->rank;
}

static channel *channel_to(const gab_particles *particles, gab_rank rank)
{
  const channel wanted = {.rank = rank};
  return particles->channel_count > 0
             ? bsearch(&wanted, particles->channels, particles->channel_count, sizeof wanted, by_rank)
             : NULL;
}

/* One channel per rank that owns a neighbour. Both ends find each other, since neighbourhood is mutual. */
static gab_status open_channels(gab_particles *particles)
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
      if (owner == me || channel_to(particles, owner)) continue;
      GAB_TRY(GAB_RESIZE_ARRAY(&particles->channels, particles->channel_count + 1, GAB_MEMORY_OTHER));
      channel *made = &particles->channels[particles->channel_count++];
      *made = (channel){.rank = owner};
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

/* The neighbour that contains a position; NULL: none does. */
static const gab_neighbour *neighbour_at(const gab_forest *forest, const gab_block *block, const double at[3])
{
  for (size_t r = 0; r < gab_block_neighbour_count(block); r++) {
    const gab_neighbour *row = &gab_block_neighbours(block)[r];
    const gab_box cells = gab_forest_place_cells(forest, row->id);
    if (is_in(forest, gab_block_id_level(&gab_forest_get_options(forest)->grid, row->id), &cells, at))
      return row;
  }
  return NULL;
}

static gab_status send_record(gab_particles *particles, const gab_block *block, const gab_particle *record)
{
  const gab_neighbour *to = neighbour_at(particles->forest, block, record->at);
  if (!to)
    GAB_FAIL(GAB_ERR_ARGUMENT,
             "particle %" PRIu64 " has moved to (%g, %g, %g), beyond all neighbours of block " GAB_PRI_BLOCK
             ": in a step it may cross one block at most",
             record->id, record->at[0], record->at[1], record->at[2], gab_block_get_id(block));
  channel *by = channel_to(particles, to->owner);
  gab_buffer *out = by ? &by->out : &particles->here;
  GAB_TRY(gab_put_u64(out, to->id));
  return gab_put_bytes(out, record, particles->record_bytes);
}

/* Sends what has left a block; the others move up. */
static gab_status sort_out(gab_particles *particles, const gab_block *block, uint64_t *removed)
{
  bag *from = gab_block_data(block, particles->data);
  const size_t bytes = particles->record_bytes;
  const gab_box cells = gab_block_cells(particles->forest, block);
  const int level = gab_block_level(particles->forest, block);
  size_t kept = 0;
  for (size_t i = 0; i < from->count; i++) {
    gab_particle *record = (gab_particle *)(void *)(from->records + i * bytes);
    const where is = wrap(particles->forest, record->at);
    if (is == NOWHERE)
      GAB_FAIL(GAB_ERR_ARGUMENT, "particle %" PRIu64 " is at (%g, %g, %g)", record->id, record->at[0],
               record->at[1], record->at[2]);
    if (is == OUTSIDE) {
      ++*removed;
    } else if (!is_in(particles->forest, level, &cells, record->at)) {
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

static gab_status move(gab_particles *particles, uint64_t *removed)
{
  const gab_forest *forest = particles->forest;
  GAB_TRY(open_channels(particles));
  for (size_t c = 0; c < particles->channel_count; c++)
    GAB_TRY(gab_message_begin(&particles->channels[c].out));
  gab_buffer_clear(&particles->here);
  for (size_t i = 0; i < gab_forest_block_count(forest); i++)
    GAB_TRY(sort_out(particles, gab_forest_block(forest, i), removed));
  for (size_t c = 0; c < particles->channel_count; c++) {
    channel *by = &particles->channels[c];
    GAB_TRY(gab_port_receive(particles->port, by->rank, &by->in, GAB_SIZE_UNKNOWN));
    GAB_TRY(gab_port_send(particles->port, by->rank, &by->out));
  }
  GAB_TRY(take_in(particles, gab_reader_of_buffer(&particles->here)));
  GAB_TRY(gab_port_finish(particles->port));
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
  gab_status status = move(particles, &count);
  if (removed) *removed = count;
  if (status == GAB_OK) return GAB_OK;
  if (status != GAB_ERR_FAULT) status = gab_world_raise(world, status);
  (void)gab_port_finish(particles->port);
  return status;
}

/* ---------------------------------------------------------------- fields */

double gab_field_interpolate(const gab_forest *forest, const gab_block *block, const gab_field *field,
                             int component, const double at[3])
{
  const gab_forest_options *options = gab_forest_get_options(forest);
  const gab_box cells = gab_block_cells(forest, block);
  const int level = gab_block_level(forest, block), dimension = options->grid.dimension;
  int32_t low[3] = {0, 0, 0};
  double share[3] = {0, 0, 0}, sum = 0;
  for (int axis = 0; axis < dimension; axis++) {
    const double place =
        ldexp((at[axis] - options->origin[axis]) / options->dx, level) - (double)cells.lo[axis] - 0.5;
    low[axis] = (int32_t)floor(place);
    share[axis] = place - low[axis];
  }
  for (int corner = 0; corner < 1 << dimension; corner++) {
    double weight = 1;
    int32_t cell[3] = {0, 0, 0};
    for (int axis = 0; axis < dimension; axis++) {
      const int upper = corner >> axis & 1;
      cell[axis] = low[axis] + upper;
      weight *= upper ? share[axis] : 1 - share[axis];
    }
    sum += weight * gab_field_get(field, cell[0], cell[1], cell[2], component);
  }
  return sum;
}

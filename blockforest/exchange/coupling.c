/* SPDX-License-Identifier: Apache-2.0 */
/* A stage is one direction of one level. Its plan has, per neighbour rank, the data to send and to receive, with offsets in the
 * message. Both ends order it by (receiver, sender, direction), which follows from their tables alone. Data that stays on a rank
 * uses a buffer as well. */
#include "blockforest/exchange/coupling.h"

#include "blockforest/forest/forest_impl.h"
#include "core/messages/logged/message_logger.h"
#include "blockforest/forest/topology_impl.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* One contact and way, at one of its ends. */
typedef struct crossing {
  gab_rank peer;
  gab_contact contact;
  gab_block_id receiver, sender;
  void *data; /* of the block at this end */
  size_t offset, bytes;
} crossing;

typedef struct crossings {
  crossing *item;
  size_t count, capacity;
} crossings;

typedef struct channel {
  gab_rank rank;
  size_t first_send, sends, send_bytes;
  size_t first_receive, receives, receive_bytes;
  gab_buffer out, in;
} channel;

typedef struct stage {
  int level;
  gab_coupling_way way;
  crossings sends, receives;
  channel *channels;
  size_t channel_count;
} stage;

struct gab_coupling {
  gab_forest *forest;
  gab_data_id data;
  gab_coupling_kind kind;
  gab_port *port;
  /* the plan, and the state for which it was made */
  stage *stages;
  size_t stage_count;
  bool planned;
  uint64_t revision;
  gab_epoch epoch;
  bool started;
  uint64_t resets; /* of the ports of the world then */
  stage *now;      /* in progress; NULL: this process takes no part */
};

/* ------------------------------------------------------------------ contacts of a block */

/* Meaning of a row of the table for one block. */
typedef struct lister {
  gab_coupling *coupling;
  gab_block *block;
  const gab_neighbour *row;
} lister;

static gab_block_place place_of(const gab_coupling *coupling, gab_block_id id)
{
  return gab_block_id_place(&coupling->forest->options.grid, id);
}

static stage *stage_of(gab_coupling *coupling, gab_coupling_way way, int level)
{
  for (size_t i = 0; i < coupling->stage_count; i++)
    if (coupling->stages[i].way == way && coupling->stages[i].level == level) return &coupling->stages[i];
  return NULL;
}

static gab_status need_stage(gab_coupling *coupling, gab_coupling_way way, int level, stage **found)
{
  *found = stage_of(coupling, way, level);
  if (*found) return GAB_OK;
  GAB_TRY(GAB_RESIZE_ARRAY(&coupling->stages, coupling->stage_count + 1, GAB_MEMORY_OTHER));
  *found = &coupling->stages[coupling->stage_count++];
  **found = (stage){.level = level, .way = way};
  return GAB_OK;
}

static gab_status append(crossings *list, const crossing *item)
{
  if (list->count == list->capacity) {
    size_t capacity = list->capacity ? 2 * list->capacity : 16;
    GAB_TRY(GAB_RESIZE_ARRAY(&list->item, capacity, GAB_MEMORY_OTHER));
    list->capacity = capacity;
  }
  list->item[list->count++] = *item;
  return GAB_OK;
}

/* One end of a contact and way. */
static gab_status add(const lister *by, gab_coupling_way way, int level, const gab_contact *contact,
                      bool sends)
{
  const gab_coupling_kind *kind = &by->coupling->kind;
  crossing made = {
      .peer = by->row->owner, .contact = *contact, .data = gab_block_data(by->block, by->coupling->data)};
  made.bytes = kind->size(kind->user, made.data, way, contact, sends);
  if (made.bytes == 0) return GAB_OK;
  made.receiver = way == GAB_COUPLING_DOWN ? contact->fine : contact->other;
  made.sender = way == GAB_COUPLING_DOWN ? contact->other : contact->fine;
  stage *found;
  GAB_TRY(need_stage(by->coupling, way, level, &found));
  return append(sends ? &found->sends : &found->receives, &made);
}

/* The block is the finer one. */
static gab_status add_coarser(const lister *by)
{
  const gab_topology *topology = &by->coupling->forest->topology;
  gab_block_place fine = place_of(by->coupling, by->block->id);
  gab_contact contact = {.fine = by->block->id, .other = by->row->id, .direction = by->row->direction};
  int seen[3];
  gab_direction_offset(gab_topology_back_direction(topology, by->block->id, by->row->direction), seen);
  for (int axis = 0; axis < topology->grid.dimension; axis++)
    contact.place[axis] = (int8_t)(2 * seen[axis] + (fine.at[axis] & 1));
  GAB_TRY(add(by, GAB_COUPLING_UP, fine.level - 1, &contact, true));
  return add(by, GAB_COUPLING_DOWN, fine.level - 1, &contact, false);
}

/* The block is the coarser one: it may be in several directions of the finer one. */
static gab_status add_finer(const lister *by)
{
  const int dimension = by->coupling->forest->topology.grid.dimension;
  gab_block_place fine = place_of(by->coupling, by->row->id);
  gab_contact contact = {.fine = by->row->id, .other = by->block->id};
  int seen[3], offset[3];
  gab_direction_offset(by->row->direction, seen);
  for (int axis = 0; axis < dimension; axis++)
    contact.place[axis] = (int8_t)(2 * seen[axis] + (fine.at[axis] & 1));
  for (int direction = 0; direction < GAB_DIRECTIONS; direction++) {
    gab_direction_offset(direction, offset);
    bool lies_here = direction != GAB_DIRECTION_CENTRE && (dimension == 3 || offset[2] == 0);
    for (int axis = 0; axis < dimension && lies_here; axis++) {
      int half = contact.place[axis] + offset[axis];
      lies_here = half == 0 || half == 1;
    }
    contact.direction = direction;
    if (!lies_here) continue;
    GAB_TRY(add(by, GAB_COUPLING_DOWN, fine.level - 1, &contact, true));
    GAB_TRY(add(by, GAB_COUPLING_UP, fine.level - 1, &contact, false));
  }
  return GAB_OK;
}

static gab_status add_same(const lister *by)
{
  int offset[3];
  gab_direction_offset(by->row->direction, offset);
  if (abs(offset[0]) + abs(offset[1]) + abs(offset[2]) < 2) return GAB_OK;
  int level = place_of(by->coupling, by->block->id).level;
  gab_contact out = {.fine = by->block->id, .other = by->row->id, .direction = by->row->direction};
  gab_contact in = {
      .fine = by->row->id, .other = by->block->id, .direction = gab_direction_opposite(by->row->direction)};
  GAB_TRY(add(by, GAB_COUPLING_ACROSS, level, &out, true));
  return add(by, GAB_COUPLING_ACROSS, level, &in, false);
}

static gab_status list_block(gab_coupling *coupling, gab_block *block)
{
  int level = place_of(coupling, block->id).level;
  for (size_t r = 0; r < block->neighbour_count; r++) {
    const lister by = {.coupling = coupling, .block = block, .row = &block->neighbours[r]};
    int other = place_of(coupling, by.row->id).level;
    if (other < level) GAB_TRY(add_coarser(&by));
    else if (other > level) GAB_TRY(add_finer(&by));
    else GAB_TRY(add_same(&by));
  }
  return GAB_OK;
}

/* ------------------------------------------------------------------ plan */

static int in_common_order(const void *a, const void *b)
{
  const crossing *left = a, *right = b;
  if (left->peer != right->peer) return left->peer < right->peer ? -1 : 1;
  if (left->receiver != right->receiver) return left->receiver < right->receiver ? -1 : 1;
  if (left->sender != right->sender) return left->sender < right->sender ? -1 : 1;
  return left->contact.direction - right->contact.direction;
}

static void drop_plan(gab_coupling *coupling)
{
  for (size_t s = 0; s < coupling->stage_count; s++) {
    stage *gone = &coupling->stages[s];
    for (size_t c = 0; c < gone->channel_count; c++) {
      gab_buffer_release(&gone->channels[c].out);
      gab_buffer_release(&gone->channels[c].in);
    }
    gab_free(&gone->channels);
    gab_free(&gone->sends.item);
    gab_free(&gone->receives.item);
  }
  gab_free(&coupling->stages);
  coupling->stage_count = 0;
  coupling->planned = coupling->started = false;
  coupling->now = NULL;
}

/* Both lists are ordered by peer: gives each peer its part of them. */
static gab_status make_channels(stage *made)
{
  GAB_TRY(GAB_NEW_ARRAY(&made->channels, made->sends.count + made->receives.count, GAB_MEMORY_OTHER));
  size_t s = 0, r = 0;
  while (s < made->sends.count || r < made->receives.count) {
    channel *one = &made->channels[made->channel_count++];
    gab_buffer_init(&one->out, GAB_MEMORY_MESSAGE);
    gab_buffer_init(&one->in, GAB_MEMORY_MESSAGE);
    bool from_sends = r == made->receives.count ||
                      (s < made->sends.count && made->sends.item[s].peer < made->receives.item[r].peer);
    one->rank = from_sends ? made->sends.item[s].peer : made->receives.item[r].peer;
    one->first_send = s;
    for (; s < made->sends.count && made->sends.item[s].peer == one->rank; s++, one->sends++) {
      made->sends.item[s].offset = one->send_bytes;
      one->send_bytes += made->sends.item[s].bytes;
    }
    one->first_receive = r;
    for (; r < made->receives.count && made->receives.item[r].peer == one->rank; r++, one->receives++) {
      made->receives.item[r].offset = one->receive_bytes;
      one->receive_bytes += made->receives.item[r].bytes;
    }
  }
  return GAB_OK;
}

static gab_status make_plan(gab_coupling *coupling)
{
  for (size_t i = 0; i < coupling->forest->block_count; i++)
    GAB_TRY(list_block(coupling, coupling->forest->blocks[i]));
  for (size_t s = 0; s < coupling->stage_count; s++) {
    crossings *lists[] = {&coupling->stages[s].sends, &coupling->stages[s].receives};
    for (int l = 0; l < 2; l++)
      if (lists[l]->count > 1) qsort(lists[l]->item, lists[l]->count, sizeof(crossing), in_common_order);
    GAB_TRY(make_channels(&coupling->stages[s]));
  }
  return GAB_OK;
}

/* Rebuilds the plan if the forest or the world has changed. */
static gab_status update_plan(gab_coupling *coupling)
{
  uint64_t revision = gab_forest_revision(coupling->forest);
  gab_epoch epoch = gab_world_epoch(coupling->forest->world);
  if (coupling->planned && coupling->revision == revision && coupling->epoch == epoch) return GAB_OK;
  drop_plan(coupling);
  gab_status status = make_plan(coupling);
  if (status != GAB_OK) {
    drop_plan(coupling);
    return status;
  }
  coupling->planned = true;
  coupling->revision = revision;
  coupling->epoch = epoch;
  return GAB_OK;
}

/* ------------------------------------------------------------------ life */

static gab_status check_new(const gab_forest *forest, gab_data_id data, const gab_coupling_kind *kind)
{
  char whose[96];
  if (!kind->name || !kind->size || !kind->pack || !kind->unpack)
    GAB_FAIL(GAB_ERR_ARGUMENT, "coupling `%s' has no name, size, pack or unpack",
             kind->name ? kind->name : "");
  snprintf(whose, sizeof whose, "coupling `%s'", kind->name);
  return gab_forest_check_data(forest, data, whose);
}

gab_status gab_coupling_create(gab_forest *forest, gab_data_id data, const gab_coupling_kind *kind,
                               gab_coupling **coupling)
{
  *coupling = NULL;
  GAB_TRY(check_new(forest, data, kind));
  gab_coupling *made;
  GAB_TRY(GAB_NEW(&made, GAB_MEMORY_OTHER));
  made->forest = forest;
  made->data = data;
  made->kind = *kind;
  gab_status status = gab_port_create(forest->world, kind->name, &made->port);
  if (status != GAB_OK) {
    gab_free(&made);
    return status;
  }
  gab_port_set_logged(made->port);
  *coupling = made;
  return GAB_OK;
}

void gab_coupling_destroy(gab_coupling **coupling)
{
  if (!*coupling) return;
  gab_port_destroy(&(*coupling)->port); /* first: it may still borrow the buffers */
  drop_plan(*coupling);
  gab_free(coupling);
}

/* ------------------------------------------------------------------ start and finish */

static bool is_here(const gab_coupling *coupling, const channel *one)
{
  return one->rank == gab_world_rank(coupling->forest->world);
}

static gab_status post_receives(gab_coupling *coupling, stage *now)
{
  for (size_t c = 0; c < now->channel_count; c++) {
    channel *from = &now->channels[c];
    if (from->receive_bytes > 0 && !is_here(coupling, from))
      GAB_TRY(gab_port_receive(coupling->port, from->rank, &from->in, from->receive_bytes));
  }
  return GAB_OK;
}

static gab_status reserve_capacity(stage *now)
{
  for (size_t c = 0; c < now->channel_count; c++) {
    void *ignored;
    if (now->channels[c].send_bytes == 0) continue;
    GAB_TRY(gab_message_begin(&now->channels[c].out));
    GAB_TRY(gab_buffer_extend(&now->channels[c].out, now->channels[c].send_bytes, &ignored));
  }
  return GAB_OK;
}

/* For a few contacts a team of threads costs more than it saves. */
enum { FEW = 4 };

static bool ends_agree(const channel *here)
{
  return here->sends == here->receives && here->send_bytes == here->receive_bytes;
}

static void pack_all(gab_coupling *coupling, stage *now)
{
  const gab_coupling_kind *kind = &coupling->kind;
  for (size_t c = 0; c < now->channel_count; c++) {
    channel *to = &now->channels[c];
    if (to->send_bytes == 0) continue;
    unsigned char *place = to->out.data + (to->out.size - to->send_bytes);
    /* Local data is unpacked at once, while it is in the cache: both lists have the same order. Packing never reads what
     * unpacking writes. */
    const bool stays = is_here(coupling, to) && ends_agree(to);
#pragma omp parallel for schedule(dynamic, 4) if (to->sends > FEW)
    for (size_t i = 0; i < to->sends; i++) {
      const crossing *item = &now->sends.item[to->first_send + i];
      kind->pack(kind->user, item->data, now->way, &item->contact, place + item->offset);
      if (!stays) continue;
      const crossing *other = &now->receives.item[to->first_receive + i];
      kind->unpack(kind->user, other->data, now->way, &other->contact, place + item->offset);
    }
  }
}

static gab_status send_all(gab_coupling *coupling, stage *now)
{
  for (size_t c = 0; c < now->channel_count; c++) {
    channel *to = &now->channels[c];
    if (to->send_bytes > 0 && !is_here(coupling, to))
      GAB_TRY(gab_port_send(coupling->port, to->rank, &to->out));
  }
  return GAB_OK;
}

static gab_status unpack_all(gab_coupling *coupling, stage *now)
{
  const gab_coupling_kind *kind = &coupling->kind;
  for (size_t c = 0; c < now->channel_count; c++) {
    channel *from = &now->channels[c];
    if (is_here(coupling, from)) {
      if (ends_agree(from)) continue;
      GAB_FAIL(GAB_ERR_STATE, "coupling `%s': the ends of a contact disagree by %zu to %zu bytes", kind->name,
               from->send_bytes, from->receive_bytes);
    }
    if (from->receive_bytes == 0) continue;
    const unsigned char *arrived = gab_message_reader(&from->in).at;
#pragma omp parallel for schedule(dynamic, 4) if (from->receives > FEW)
    for (size_t i = from->first_receive; i < from->first_receive + from->receives; i++) {
      const crossing *item = &now->receives.item[i];
      kind->unpack(kind->user, item->data, now->way, &item->contact, arrived + item->offset);
    }
  }
  return GAB_OK;
}

/* Ends a failed exchange: breaks the world if it is still intact, so that no process waits for this one and the port
 * releases the buffers. */
static gab_status abandon(gab_coupling *coupling, gab_status status)
{
  if (status != GAB_ERR_FAULT) status = gab_world_raise(coupling->forest->world, status);
  (void)gab_port_finish(coupling->port);
  coupling->started = false;
  return status;
}

static bool is_under_way(const gab_coupling *coupling)
{
  const gab_world *world = coupling->forest->world;
  return coupling->started && coupling->epoch == gab_world_epoch(world) &&
         coupling->resets == gab_world_port_resets(world);
}

gab_status gab_coupling_start(gab_coupling *coupling, gab_coupling_way way, int level)
{
  gab_world *world = coupling->forest->world;
  GAB_TRY(gab_world_check(world));
  if (is_under_way(coupling))
    GAB_FAIL(GAB_ERR_STATE, "coupling `%s' is started twice without a finish", coupling->kind.name);
  const int deepest = gab_root_grid_max_level(&coupling->forest->options.grid);
  if ((int)way < 0 || way >= GAB_COUPLING_WAYS || level < 0 || level > deepest)
    GAB_FAIL(GAB_ERR_ARGUMENT, "coupling `%s': no way %d of level %d (there are %d ways, and levels 0 to %d)",
             coupling->kind.name, (int)way, level, (int)GAB_COUPLING_WAYS, deepest);
  gab_world_enter(world, GAB_FAULT_POINT_EXCHANGE);
  gab_status status = update_plan(coupling);
  if (status != GAB_OK) return abandon(coupling, status);
  stage *now = coupling->now = stage_of(coupling, way, level);
  coupling->started = true;
  coupling->resets = gab_world_port_resets(world);
  if (!now) return GAB_OK;
  status = post_receives(coupling, now);
  if (status == GAB_OK) status = reserve_capacity(now);
  if (status != GAB_OK) return abandon(coupling, status);
  pack_all(coupling, now);
  status = send_all(coupling, now);
  return status == GAB_OK ? GAB_OK : abandon(coupling, status);
}

gab_status gab_coupling_finish(gab_coupling *coupling)
{
  GAB_TRY(gab_world_check(coupling->forest->world));
  if (!is_under_way(coupling))
    GAB_FAIL(GAB_ERR_STATE, "coupling `%s' is finished without a start", coupling->kind.name);
  if (coupling->revision != gab_forest_revision(coupling->forest))
    GAB_FAIL(GAB_ERR_STATE, "the forest changed while coupling `%s' was under way", coupling->kind.name);
  gab_status status = GAB_OK;
  if (coupling->now) status = gab_port_finish(coupling->port);
  if (coupling->now && status == GAB_OK) status = unpack_all(coupling, coupling->now);
  if (status != GAB_OK) return abandon(coupling, status);
  coupling->started = false;
  return GAB_OK;
}

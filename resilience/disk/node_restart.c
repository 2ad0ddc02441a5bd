/* SPDX-License-Identifier: Apache-2.0 */
#include "resilience/disk/node_restart.h"

#include "core/base/checkpoint_format.h"
#include "core/messages/collective.h"
#include "core/base/log.h"
#include "core/memory/node_memory.h"
#include "core/messages/port.h"
#include "resilience/disk/restart_impl.h"

#include <string.h>

/* A file of node memory with an image or replicated entities. */
typedef struct piece {
  gab_left_memory left;
  gab_image_header header;
} piece;

struct gab_node_restart {
  gab_world *world;
  gab_port *port;
  piece *pieces;
  size_t count;
  /* The chosen snapshot; step -1: none. */
  uint64_t age, serial;
  uint64_t highest; /* highest serial in the files */
  gab_step step;
  gab_members then;
  gab_buffer replicated;
};

/* ---------------------------------------------------------------- what lies here */

/* Messages begin with space for an envelope, replicated entities do not. */
static bool recognise(const gab_left_memory *left, gab_image_header *header)
{
  gab_reader bytes = gab_reader_of(left->content, left->content_bytes), behind;
  if (gab_image_recognise(bytes, header)) return true;
  return gab_get_view(&bytes, GAB_ENVELOPE_BYTES, &behind) == GAB_OK && gab_image_recognise(bytes, header);
}

static gab_status add_piece(gab_node_restart *node_restart, gab_left_memory *left)
{
  gab_image_header header;
  if (!recognise(left, &header)) { /* incomplete, or a parity */
    gab_left_memory_release(left, true);
    return GAB_OK;
  }
  GAB_TRY(gab_list_reserve(&node_restart->pieces, node_restart->count, sizeof(piece)));
  node_restart->pieces[node_restart->count++] = (piece){*left, header};
  return GAB_OK;
}

static gab_status claim_all(gab_node_restart *node_restart, const char *folder, gab_memory_key key)
{
  for (;;) {
    gab_left_memory left;
    GAB_TRY(gab_node_memory_claim(folder, key, &left));
    if (left.refused > 0)
      gab_log_all(GAB_LOG_WARNING,
                  "%d file%s in %s: not of this run and case, or not of this user alone; not used",
                  left.refused, left.refused == 1 ? "" : "s", folder);
    if (!left.mapped) return GAB_OK;
    gab_status status = add_piece(node_restart, &left);
    if (status != GAB_OK) {
      gab_left_memory_release(&left, false);
      return status;
    }
  }
}

/* Identifies a snapshot, and is greater for newer ones: a recovery may have reused a serial. */
static uint64_t age_of(const gab_image_header *header)
{
  enum { SERIAL_BITS = 40 };
  return header->epoch << SERIAL_BITS | (header->serial & ((UINT64_C(1) << SERIAL_BITS) - 1));
}

/* @param[in] rank  GAB_NO_RANK: the replicated entities */
static const piece *find_piece(const gab_node_restart *node_restart, gab_rank rank, uint64_t age)
{
  for (size_t i = 0; i < node_restart->count; i++)
    if (node_restart->pieces[i].header.rank == rank && age_of(&node_restart->pieces[i].header) == age)
      return &node_restart->pieces[i];
  return NULL;
}

/* ---------------------------------------------------------------- which snapshot is whole */

/* The newest before `limit` with replicated entities on any rank; 0: none. */
static gab_status newest_before(gab_node_restart *node_restart, uint64_t limit, uint64_t *age)
{
  *age = 0;
  for (size_t i = 0; i < node_restart->count; i++) {
    const gab_image_header *header = &node_restart->pieces[i].header;
    if (header->rank == GAB_NO_RANK && age_of(header) < limit && age_of(header) > *age) *age = age_of(header);
  }
  return gab_world_max_u64(node_restart->world, age, 1);
}

/* The lowest rank with the replicated entities broadcasts them; they contain the members of the snapshot. */
static gab_status share_replicated(gab_node_restart *node_restart, uint64_t age)
{
  const piece *mine = find_piece(node_restart, GAB_NO_RANK, age);
  uint64_t from = mine ? (uint64_t)gab_world_rank(node_restart->world) : UINT64_MAX;
  GAB_TRY(gab_world_min_u64(node_restart->world, &from, 1));
  gab_buffer_clear(&node_restart->replicated);
  if (from == (uint64_t)gab_world_rank(node_restart->world)) {
    const gab_reader bytes = mine->header.bytes;
    GAB_TRY(gab_put_bytes(&node_restart->replicated, bytes.at, gab_reader_left(&bytes)));
  }
  GAB_TRY(gab_world_broadcast(node_restart->world, (gab_rank)from, &node_restart->replicated));
  gab_image_header header;
  gab_reader in = gab_reader_of_buffer(&node_restart->replicated);
  uint64_t checksum;
  if (!gab_image_recognise(in, &header))
    GAB_FAIL(GAB_ERR_CORRUPT, "the replicated entities of a snapshot came over damaged");
  GAB_TRY(gab_get_u64(&in, &checksum));
  GAB_TRY(gab_replicated_cut(&in, GAB_CHECKPOINT_FORMAT, &node_restart->then));
  node_restart->age = age;
  node_restart->serial = header.serial;
  node_restart->step = header.step;
  return GAB_OK;
}

/* Member i of the snapshot is handled by present member i mod m, its rendezvous ("home"), which knows the holder of its
 * image. */
typedef struct home {
  gab_rank *holders; /* of members me, me + m, …; GAB_NO_RANK: none */
  int32_t count;
} home;

static int32_t my_index(const gab_node_restart *node_restart)
{
  return gab_members_index(gab_world_members(node_restart->world), gab_world_rank(node_restart->world));
}

/* Message between homes, holders and the ranks to which images are assigned. */
typedef struct notice {
  int32_t index;  /* of the member of the snapshot */
  gab_rank other; /* rank to which the image is assigned, or its holder */
} notice;

static gab_status send_notices(gab_node_restart *node_restart, const notice *notices, const gab_rank *targets,
                               size_t count, gab_buffer *received, size_t *received_count)
{
  return gab_world_route(node_restart->world, notices, targets, count, sizeof(notice), received,
                         received_count);
}

static gab_status next_notice(gab_reader *in, gab_rank *from, notice *what)
{
  int32_t source;
  GAB_TRY(gab_get_i32(in, &source));
  *from = source;
  return gab_get_bytes(in, what, sizeof *what);
}

/* All ranks report their images of the snapshot to the homes. */
static gab_status report_images(gab_node_restart *node_restart, notice *notices, gab_rank *targets,
                                gab_buffer *received, size_t *count)
{
  const gab_members *now = gab_world_members(node_restart->world);
  size_t made = 0;
  for (size_t i = 0; i < node_restart->count; i++) {
    const gab_image_header *header = &node_restart->pieces[i].header;
    if (header->rank == GAB_NO_RANK || age_of(header) != node_restart->age) continue;
    const int32_t index = gab_members_index(&node_restart->then, header->rank);
    if (index < 0) continue;
    targets[made] = gab_members_rank(now, index % gab_members_count(now));
    notices[made++] = (notice){.index = index, .other = GAB_NO_RANK};
  }
  return send_notices(node_restart, notices, targets, made, received, count);
}

static gab_status fill_home(const gab_node_restart *node_restart, gab_reader reports, size_t count,
                            home *here)
{
  const int32_t now = gab_members_count(gab_world_members(node_restart->world)), me = my_index(node_restart);
  const int32_t then = gab_members_count(&node_restart->then);
  here->count = then > me ? (then - me + now - 1) / now : 0;
  GAB_TRY(GAB_NEW_ARRAY(&here->holders, (size_t)here->count + 1, GAB_MEMORY_OTHER));
  for (int32_t k = 0; k < here->count; k++) here->holders[k] = GAB_NO_RANK;
  for (size_t i = 0; i < count; i++) {
    gab_rank from;
    notice what;
    GAB_TRY(next_notice(&reports, &from, &what));
    gab_rank *holder = &here->holders[what.index / now];
    const gab_rank falls_to =
        gab_members_rank(gab_world_members(node_restart->world), gab_falls_to(what.index, then, now));
    /* Preferably the rank to which it is assigned; else the first to report: reports arrive in order of ranks. */
    if (*holder == GAB_NO_RANK || from == falls_to) *holder = from;
  }
  return GAB_OK;
}

/* Whether there is an image of every member. */
static gab_status is_whole(gab_node_restart *node_restart, home *here, bool *whole)
{
  notice *notices = NULL;
  gab_rank *targets = NULL;
  gab_buffer received = {0};
  size_t count = 0;
  gab_status status = GAB_NEW_ARRAY(&notices, node_restart->count + 1, GAB_MEMORY_OTHER);
  if (status == GAB_OK) status = GAB_NEW_ARRAY(&targets, node_restart->count + 1, GAB_MEMORY_OTHER);
  if (status == GAB_OK) status = report_images(node_restart, notices, targets, &received, &count);
  if (status == GAB_OK) status = fill_home(node_restart, gab_reader_of_buffer(&received), count, here);
  gab_buffer_release(&received);
  gab_free(&notices);
  gab_free(&targets);
  GAB_TRY(status);
  uint64_t missing = 0;
  for (int32_t k = 0; k < here->count; k++) missing += here->holders[k] == GAB_NO_RANK;
  GAB_TRY(gab_world_sum_u64(node_restart->world, &missing, 1));
  *whole = missing == 0;
  if (missing > 0)
    gab_log(GAB_LOG_INFO,
            "the snapshot of step %" GAB_PRI_STEP " is not whole in the memory of the nodes: %" PRIu64
            " of %" PRId32 " images are gone",
            node_restart->step, missing, gab_members_count(&node_restart->then));
  return GAB_OK;
}

/* The next snapshot gets a serial above all of these, since epochs begin again with each job. */
static gab_status find_highest(gab_node_restart *node_restart)
{
  for (size_t i = 0; i < node_restart->count; i++)
    if (node_restart->pieces[i].header.serial > node_restart->highest)
      node_restart->highest = node_restart->pieces[i].header.serial;
  return gab_world_max_u64(node_restart->world, &node_restart->highest, 1);
}

static gab_status find_whole(gab_node_restart *node_restart)
{
  bool whole = false;
  GAB_TRY(find_highest(node_restart));
  for (uint64_t limit = UINT64_MAX; !whole;) {
    uint64_t age;
    home here = {0};
    GAB_TRY(newest_before(node_restart, limit, &age));
    if (age == 0) break;
    gab_status status = share_replicated(node_restart, age);
    if (status == GAB_OK) status = is_whole(node_restart, &here, &whole);
    gab_free(&here.holders);
    GAB_TRY(status);
    limit = age;
  }
  if (!whole) node_restart->step = -1;
  return GAB_OK;
}

gab_status gab_node_restart_find(gab_world *world, const char *folder, gab_memory_key key,
                                 gab_node_restart **node_restart)
{
  *node_restart = NULL;
  gab_node_restart *made;
  GAB_TRY(GAB_NEW(&made, GAB_MEMORY_OTHER));
  made->world = world;
  made->step = -1;
  gab_members_init(&made->then, 0);
  gab_status status = gab_port_create(world, "node restart", &made->port);
  /* Data that one process cannot read counts as missing, as if its node had died. */
  if (status == GAB_OK && claim_all(made, folder, key) != GAB_OK)
    gab_log_all(GAB_LOG_WARNING, "memory of the node: %s", gab_error_message());
  if (status == GAB_OK) status = find_whole(made);
  if (status != GAB_OK) gab_node_restart_destroy(&made, false);
  *node_restart = made;
  return status;
}

void gab_node_restart_destroy(gab_node_restart **node_restart, bool spent)
{
  gab_node_restart *gone = *node_restart;
  if (!gone) return;
  gab_port_destroy(&gone->port);
  for (size_t i = 0; i < gone->count; i++) gab_left_memory_release(&gone->pieces[i].left, spent);
  gab_free(&gone->pieces);
  gab_members_release(&gone->then);
  gab_buffer_release(&gone->replicated);
  gab_free(node_restart);
}

gab_step gab_node_restart_step(const gab_node_restart *node_restart)
{
  return node_restart ? node_restart->step : -1;
}

/* ---------------------------------------------------------------- bringing images to where they fall */

typedef struct arrival {
  gab_rank from;
  gab_buffer message;
} arrival;

typedef struct transfers {
  arrival *arrivals; /* of the images assigned to this rank, in order */
  int32_t first, count;
  gab_reader *images;
  gab_rank *ranks;
  gab_buffer departures; /* notices: images to be sent from here */
  size_t departure_count;
  int32_t rounds; /* maximum number of images assigned to a rank */
} transfers;

/* The homes inform the holders of the receivers, and the receivers of the holders. */
static gab_status spread_plan(gab_node_restart *node_restart, const home *here, transfers *plan)
{
  const gab_members *now = gab_world_members(node_restart->world);
  const int32_t m = gab_members_count(now), n = gab_members_count(&node_restart->then),
                me = my_index(node_restart);
  notice *notices = NULL;
  gab_rank *targets = NULL;
  gab_buffer arrivals = {0};
  size_t arrival_count = 0;
  gab_status status = GAB_NEW_ARRAY(&notices, (size_t)here->count + 1, GAB_MEMORY_OTHER);
  if (status == GAB_OK) status = GAB_NEW_ARRAY(&targets, (size_t)here->count + 1, GAB_MEMORY_OTHER);
  notice *list = notices;
  gab_rank *to = targets;
  for (int32_t k = 0; status == GAB_OK && k < here->count; k++) {
    const int32_t index = me + k * m;
    list[k] = (notice){index, here->holders[k]};
    to[k] = gab_members_rank(now, gab_falls_to(index, n, m));
  }
  if (status == GAB_OK)
    status = send_notices(node_restart, list, to, (size_t)here->count, &arrivals, &arrival_count);
  for (int32_t k = 0; status == GAB_OK && k < here->count; k++) {
    const gab_rank target = to[k];
    to[k] = list[k].other;
    list[k].other = target;
  }
  if (status == GAB_OK)
    status =
        send_notices(node_restart, list, to, (size_t)here->count, &plan->departures, &plan->departure_count);
  gab_reader in = gab_reader_of_buffer(&arrivals);
  for (size_t i = 0; i < arrival_count && status == GAB_OK; i++) {
    gab_rank from;
    notice what;
    status = next_notice(&in, &from, &what);
    if (status == GAB_OK) plan->arrivals[what.index - plan->first].from = what.other;
  }
  gab_buffer_release(&arrivals);
  gab_free(&notices);
  gab_free(&targets);
  return status;
}

/* The images of this round that are sent to other ranks. */
static gab_status list_departures(gab_node_restart *node_restart, const transfers *plan, int32_t round,
                                  gab_buffer *messages, gab_image_moves *moves)
{
  const int32_t m = gab_members_count(gab_world_members(node_restart->world)),
                n = gab_members_count(&node_restart->then);
  gab_reader in = gab_reader_of_buffer(&plan->departures);
  for (size_t i = 0; i < plan->departure_count; i++) {
    gab_rank from;
    notice what;
    GAB_TRY(next_notice(&in, &from, &what));
    const int32_t first = gab_first_falling_to(gab_falls_to(what.index, n, m), n, m);
    if (what.index - first != round || what.other == gab_world_rank(node_restart->world)) continue;
    const gab_rank rank = gab_members_rank(&node_restart->then, what.index);
    const gab_reader bytes = find_piece(node_restart, rank, node_restart->age)->header.bytes;
    GAB_TRY(gab_message_begin(&messages[i]));
    GAB_TRY(gab_put_bytes(&messages[i], bytes.at, gab_reader_left(&bytes)));
    GAB_TRY(gab_image_moves_send(moves, what.other, &messages[i], GAB_IMAGE_SENT));
  }
  return GAB_OK;
}

static gab_status exchange_round(gab_node_restart *node_restart, transfers *plan, int32_t round)
{
  gab_buffer *messages;
  GAB_TRY(GAB_NEW_ARRAY(&messages, plan->departure_count + 1, GAB_MEMORY_OTHER));
  for (size_t i = 0; i < plan->departure_count; i++) gab_buffer_init(&messages[i], GAB_MEMORY_MESSAGE);
  gab_image_moves moves = {.port = node_restart->port};
  gab_status status = GAB_OK;
  arrival *mine = round < plan->count ? &plan->arrivals[round] : NULL;
  if (mine && mine->from != gab_world_rank(node_restart->world))
    status = gab_image_moves_receive(&moves, mine->from, &mine->message, NULL);
  if (status == GAB_OK) status = list_departures(node_restart, plan, round, messages, &moves);
  status = gab_image_moves_run(&moves, status);
  gab_image_moves_release(&moves);
  for (size_t i = 0; i < plan->departure_count; i++) gab_buffer_release(&messages[i]);
  gab_free(&messages);
  return status;
}

/* Each with its checksum, verified when it was read or received. */
static gab_status list_images(const gab_node_restart *node_restart, transfers *plan)
{
  for (int32_t k = 0; k < plan->count; k++) {
    const gab_rank rank = gab_members_rank(&node_restart->then, plan->first + k);
    plan->ranks[k] = rank;
    if (plan->arrivals[k].from == gab_world_rank(node_restart->world)) {
      plan->images[k] = find_piece(node_restart, rank, node_restart->age)->header.bytes;
      continue;
    }
    gab_image_header header;
    if (!gab_image_recognise(gab_message_reader(&plan->arrivals[k].message), &header) || header.rank != rank)
      GAB_FAIL(GAB_ERR_CORRUPT, "the image of rank %" GAB_PRI_RANK " came over damaged", rank);
    plan->images[k] = header.bytes;
  }
  return GAB_OK;
}

static gab_status allocate(const gab_node_restart *node_restart, transfers *plan)
{
  const int32_t m = gab_members_count(gab_world_members(node_restart->world)),
                n = gab_members_count(&node_restart->then);
  const int32_t me = my_index(node_restart);
  plan->first = gab_first_falling_to(me, n, m);
  while (plan->first + plan->count < n && gab_falls_to(plan->first + plan->count, n, m) == me) plan->count++;
  plan->rounds = (n + m - 1) / m;
  const size_t capacity = (size_t)plan->count + 1;
  GAB_TRY(GAB_NEW_ARRAY(&plan->arrivals, capacity, GAB_MEMORY_OTHER));
  for (int32_t k = 0; k < plan->count; k++) gab_buffer_init(&plan->arrivals[k].message, GAB_MEMORY_OTHER);
  GAB_TRY(GAB_NEW_ARRAY(&plan->images, capacity, GAB_MEMORY_OTHER));
  GAB_TRY(GAB_NEW_ARRAY(&plan->ranks, capacity, GAB_MEMORY_OTHER));
  return GAB_OK;
}

static void release(transfers *plan)
{
  for (int32_t k = 0; plan->arrivals && k < plan->count; k++) gab_buffer_release(&plan->arrivals[k].message);
  gab_free(&plan->arrivals);
  gab_free(&plan->images);
  gab_free(&plan->ranks);
  gab_buffer_release(&plan->departures);
}

static gab_status fetch(gab_node_restart *node_restart, transfers *plan)
{
  home here = {0};
  bool whole;
  gab_status status = is_whole(node_restart, &here, &whole);
  if (status == GAB_OK) status = spread_plan(node_restart, &here, plan);
  gab_free(&here.holders);
  for (int32_t round = 0; round < plan->rounds && status == GAB_OK; round++)
    status = exchange_round(node_restart, plan, round);
  if (status == GAB_OK) status = list_images(node_restart, plan);
  return status;
}

gab_status gab_node_restart_load(gab_node_restart *node_restart, gab_checkpoint *checkpoint,
                                 gab_restart_report *report)
{
  if (node_restart->step < 0) GAB_FAIL(GAB_ERR_STATE, "no snapshot is whole in the memory of the nodes");
  const double start = gab_seconds();
  transfers plan = {0};
  gab_world_enter(node_restart->world, GAB_FAULT_POINT_RECOVERY);
  gab_status status = allocate(node_restart, &plan);
  if (status == GAB_OK) status = fetch(node_restart, &plan);
  if (status == GAB_OK) {
    const gab_assigned_images assigned = {.then = &node_restart->then,
                                          .format = GAB_CHECKPOINT_FORMAT,
                                          .serial = node_restart->serial,
                                          .highest = node_restart->highest,
                                          .step = node_restart->step,
                                          .images = plan.images,
                                          .ranks = plan.ranks,
                                          .count = (size_t)plan.count,
                                          .replicated = gab_reader_of_buffer(&node_restart->replicated)};
    status = gab_assigned_images_restore(checkpoint, &assigned);
    *report = (gab_restart_report){.step = node_restart->step,
                                   .members = gab_members_count(&node_restart->then),
                                   .images = (uint64_t)plan.count,
                                   .seconds = gab_seconds() - start};
    for (int32_t k = 0; k < plan.count; k++) report->bytes += gab_reader_left(&plan.images[k]);
  }
  release(&plan);
  gab_world_enter(node_restart->world, GAB_FAULT_POINT_RECOVERY);
  return status;
}

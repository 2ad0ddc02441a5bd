/* SPDX-License-Identifier: Apache-2.0 */
/* Approximation of lost blocks from the known faces, round by round. */
#include "blockforest/migration/reconstruct.h"

#include "blockforest/forest/forest_impl.h"
#include "blockforest/forest/tasks_impl.h"
#include "core/messages/collective.h"
#include "core/base/lower_bound_impl.h"

enum { MOST_ROWS = 64 }; /* of a table: 56 in 3D if all neighbours are finer */

typedef struct lost_block {
  gab_block *block;
  uint64_t unknown; /* bits of the rows of its table whose blocks have no known state */
  bool is_due;      /* approximated in this round */
} lost_block;

typedef struct work {
  gab_forest *forest;
  lost_block *lost; /* ascending by id */
  size_t count, left;
  gab_reconstruction *report;
} work;

/* Message about block `of` to the owner of its neighbour `to`. */
typedef struct message {
  gab_block_id to, of;
} message;

const char *gab_forest_irreplaceable(const gab_forest *forest)
{
  for (int k = 0; k < forest->kind_count; k++)
    if (gab_kind_is_stored(&forest->kinds[k]) && (!forest->kinds[k].reconstruct || !forest->kinds[k].gather))
      return forest->kinds[k].name;
  return NULL;
}

static gab_status list_lost(work *job)
{
  gab_forest *forest = job->forest;
  for (size_t i = 0; i < forest->block_count; i++) job->left += forest->blocks[i]->is_unset;
  GAB_TRY(GAB_NEW_ARRAY(&job->lost, job->left, GAB_MEMORY_OTHER));
  for (size_t i = 0; i < forest->block_count; i++) {
    if (!forest->blocks[i]->is_unset) continue;
    if (forest->blocks[i]->neighbour_count > MOST_ROWS)
      GAB_FAIL(GAB_ERR_STATE, "block " GAB_PRI_BLOCK " has %zu neighbours", forest->blocks[i]->id,
               forest->blocks[i]->neighbour_count);
    job->lost[job->count++].block = forest->blocks[i];
  }
  return GAB_OK;
}

/* ---------------------------------------------------------------- known blocks */

static lost_block *find_lost(const work *job, gab_block_id id)
{
  size_t at = 0;
  GAB_LOWER_BOUND(size_t, at, job->count, i, job->lost[i].block->id < id);
  return at < job->count && job->lost[at].block->id == id ? &job->lost[at] : NULL;
}

static void hear(const work *job, const message *said, bool known)
{
  lost_block *lost = find_lost(job, said->to);
  for (size_t r = 0; lost && r < lost->block->neighbour_count; r++) {
    if (lost->block->neighbours[r].id != said->of) continue;
    if (known) lost->unknown &= ~(UINT64_C(1) << r);
    else lost->unknown |= UINT64_C(1) << r;
  }
}

static gab_status route(const work *job, const message *said, const gab_rank *targets, size_t count,
                        bool known)
{
  gab_buffer received;
  size_t received_count = 0;
  gab_buffer_init(&received, GAB_MEMORY_OTHER);
  gab_status status =
      gab_world_route(job->forest->world, said, targets, count, sizeof *said, &received, &received_count);
  gab_reader in = gab_reader_of_buffer(&received);
  for (size_t i = 0; i < received_count && status == GAB_OK; i++) {
    int32_t from;
    message heard;
    status = gab_get_i32(&in, &from);
    if (status == GAB_OK) status = gab_get_bytes(&in, &heard, sizeof heard);
    if (status == GAB_OK) hear(job, &heard, known);
  }
  gab_buffer_release(&received);
  return status;
}

/* Informs the neighbours of lost blocks that these are unknown (the first time), or known after their round.
 * Collective. */
static gab_status tell_neighbours(const work *job, bool known)
{
  message *messages = NULL;
  gab_rank *targets = NULL;
  size_t rows = 0, count = 0;
  for (size_t i = 0; i < job->count; i++) rows += job->lost[i].block->neighbour_count;
  gab_status status = GAB_NEW_ARRAY(&messages, rows, GAB_MEMORY_OTHER);
  if (status == GAB_OK) status = GAB_NEW_ARRAY(&targets, rows, GAB_MEMORY_OTHER);
  for (size_t i = 0; i < job->count && status == GAB_OK; i++) {
    const gab_block *block = job->lost[i].block;
    if (known && !job->lost[i].is_due) continue;
    for (size_t r = 0; r < block->neighbour_count; r++) {
      messages[count] = (message){.to = block->neighbours[r].id, .of = block->id};
      targets[count++] = block->neighbours[r].owner;
    }
  }
  if (status == GAB_OK) status = route(job, messages, targets, count, known);
  gab_free(&messages);
  gab_free(&targets);
  return status;
}

static uint32_t known_directions(const lost_block *lost)
{
  uint32_t there = 0, unknown = 0;
  for (size_t r = 0; r < lost->block->neighbour_count; r++) {
    const uint32_t bit = UINT32_C(1) << lost->block->neighbours[r].direction;
    there |= bit;
    if (lost->unknown >> r & 1) unknown |= bit;
  }
  return there & ~unknown;
}

static uint32_t face_directions(void)
{
  uint32_t faces = 0;
  for (int axis = 0; axis < 3; axis++)
    for (int side = -1; side <= 1; side += 2) {
      int offset[3] = {0, 0, 0};
      offset[axis] = side;
      faces |= UINT32_C(1) << gab_direction_of(offset[0], offset[1], offset[2]);
    }
  return faces;
}

/* ---------------------------------------------------------------- rounds */

static gab_status approximate(void *context, size_t index)
{
  const work *job = context;
  const lost_block *lost = &job->lost[index];
  const gab_forest *forest = job->forest;
  if (!lost->is_due) return GAB_OK;
  for (int k = 0; k < forest->kind_count; k++) {
    const gab_block_data_kind *kind = &forest->kinds[k];
    if (gab_kind_is_stored(kind))
      GAB_TRY(
          kind->reconstruct(kind->user, forest, lost->block, lost->block->data[k], known_directions(lost)));
  }
  return GAB_OK;
}

static uint64_t faces_known(const lost_block *lost, uint32_t faces)
{
  uint64_t count = 0;
  for (uint32_t left = known_directions(lost) & faces; left; left &= left - 1) count++;
  return count;
}

/* Those of which most is known go first: they tell the others. @param[out] more  the same on all: something
 * was left to be approximated */
static gab_status begin_round(work *job, bool *more)
{
  const uint32_t faces = face_directions();
  uint64_t left = job->left, best = 0;
  for (size_t i = 0; i < job->count; i++) {
    const uint64_t known = job->lost[i].block->is_unset ? faces_known(&job->lost[i], faces) : 0;
    if (known > best) best = known;
  }
  GAB_TRY(gab_world_sum_u64(job->forest->world, &left, 1));
  GAB_TRY(gab_world_max_u64(job->forest->world, &best, 1));
  *more = left > 0;
  if (job->report->rounds == 0) job->report->blocks = left;
  if (best == 0 && left > 0) job->report->blind = left;
  for (size_t i = 0; i < job->count; i++) {
    lost_block *lost = &job->lost[i];
    lost->is_due = lost->block->is_unset && faces_known(lost, faces) == best;
  }
  return GAB_OK;
}

static gab_status do_round(work *job)
{
  gab_forest *forest = job->forest;
  gab_world_enter(forest->world, GAB_FAULT_POINT_RECOVERY);
  for (int k = 0; k < forest->kind_count; k++)
    if (gab_kind_is_stored(&forest->kinds[k])) GAB_TRY(forest->kinds[k].gather(forest->kinds[k].user));
  GAB_TRY(gab_tasks_run(job->count, approximate, job));
  for (size_t i = 0; i < job->count; i++) {
    if (!job->lost[i].is_due) continue;
    job->lost[i].block->is_unset = false;
    job->left--;
  }
  job->report->rounds++;
  return tell_neighbours(job, true);
}

gab_status gab_forest_reconstruct(gab_forest *forest, gab_reconstruction *report)
{
  *report = (gab_reconstruction){.rounds = 0};
  const char *irreplaceable = gab_forest_irreplaceable(forest);
  if (irreplaceable)
    GAB_FAIL(GAB_ERR_STATE, "lost blocks with data `%s' cannot be approximated", irreplaceable);
  work job = {.forest = forest, .report = report};
  bool more = true;
  gab_status status = list_lost(&job);
  if (status == GAB_OK) status = tell_neighbours(&job, false);
  while (status == GAB_OK) {
    status = begin_round(&job, &more);
    if (status != GAB_OK || !more) break;
    status = do_round(&job);
  }
  gab_free(&job.lost);
  return status;
}

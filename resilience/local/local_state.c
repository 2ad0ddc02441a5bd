/* SPDX-License-Identifier: Apache-2.0 */
/* The image of local recovery: image of the rank and replicated entities, as in a snapshot; the history of the run,
 * which a rank that is restored alone gets from nowhere else; and earlier takeovers of the rank, for the report. */
#include "resilience/disk/disk_impl.h"
#include "resilience/local/local_run_impl.h"

/* ---------------------------------------------------------------- packing */

static gab_status put_part(gab_buffer *out, const gab_buffer *part)
{
  GAB_TRY(gab_put_u64(out, part->size));
  return gab_put_bytes(out, part->data, part->size);
}

/* As gab_checkpoint_begin(), but local and without messages. */
static gab_status pack_snapshot(gab_local_run *run)
{
  gab_checkpoint *checkpoint = run->loop->protection->checkpoint;
  gab_snapshot *next = gab_checkpoint_next(checkpoint);
  gab_world_enter(run->world, GAB_FAULT_POINT_SNAPSHOT);
  next->complete = next->told = false;
  if (checkpoint->before_overwrite) checkpoint->before_overwrite(checkpoint->overwrite_user, next);
  next->serial = checkpoint->snapshots[checkpoint->valid].serial + 1;
  next->step = run->loop->step;
  next->blocks = checkpoint->forest_blocks;
  next->own_blocks = gab_forest_block_count(checkpoint->forest);
  GAB_TRY(gab_members_copy(&next->members, &run->members));
  return gab_image_pack(checkpoint, next);
}

static gab_status put_life(const gab_claim *life, gab_buffer *out)
{
  GAB_TRY(gab_put_i64(out, life->restored_step));
  GAB_TRY(gab_put_i64(out, life->lost_step));
  return gab_put_f64(out, life->seconds);
}

/* Claims of all processes of this rank in this generation, this one included. */
static gab_status put_lives(const gab_local_run *run, gab_buffer *out)
{
  const gab_claim *claim = gab_world_claim(run->world);
  GAB_TRY(gab_put_u64(out, (uint64_t)run->earlier_count + (claim != NULL)));
  for (int i = 0; i < run->earlier_count; i++) GAB_TRY(put_life(&run->earlier[i], out));
  return claim ? put_life(claim, out) : GAB_OK;
}

static gab_status put_image(const gab_local_run *run, const gab_snapshot *next, const gab_buffer *history,
                            gab_buffer *image)
{
  gab_buffer_clear(image);
  GAB_TRY(gab_buffer_reserve(image,
                             6 * sizeof(uint64_t) + next->own.size + next->replicated.size + history->size));
  GAB_TRY(gab_put_u64(image, next->blocks));
  GAB_TRY(gab_put_u64(image, next->own_blocks));
  GAB_TRY(gab_put_u64(image, run->log_steps));
  GAB_TRY(put_lives(run, image));
  GAB_TRY(put_part(image, &next->own));
  GAB_TRY(put_part(image, &next->replicated));
  return put_part(image, history);
}

static gab_status pack_image(gab_local_run *run, const gab_snapshot *next, gab_buffer *image)
{
  gab_buffer history;
  gab_buffer_init(&history, GAB_MEMORY_OTHER);
  gab_status status = gab_protection_pack_history(run->loop, &history);
  if (status == GAB_OK) status = put_image(run, next, &history, image);
  gab_buffer_release(&history);
  return status;
}

gab_status gab_local_pack(gab_local_run *run, gab_buffer *image)
{
  gab_checkpoint *checkpoint = run->loop->protection->checkpoint;
  GAB_TRY(pack_snapshot(run));
  const gab_status status = pack_image(run, gab_checkpoint_next(checkpoint), image);
  checkpoint->valid = !checkpoint->valid; /* the next snapshot gets the next number */
  return status;
}

/* The image has the number of the last common snapshot, so a rank that resumes from it numbers the next one as all
 * others do. */
gab_status gab_local_pack_own(gab_local_run *run, gab_buffer *image)
{
  const gab_checkpoint *checkpoint = run->loop->protection->checkpoint;
  gab_snapshot snapshot = {.serial = checkpoint->snapshots[checkpoint->valid].serial,
                           .step = run->loop->step,
                           .blocks = checkpoint->forest_blocks,
                           .own_blocks = gab_forest_block_count(checkpoint->forest)};
  gab_world_enter(run->world, GAB_FAULT_POINT_SNAPSHOT);
  gab_members_init(&snapshot.members, 0);
  gab_buffer_init(&snapshot.own, GAB_MEMORY_SNAPSHOT);
  gab_buffer_init(&snapshot.replicated, GAB_MEMORY_SNAPSHOT);
  gab_status status = gab_members_copy(&snapshot.members, &run->members);
  if (status == GAB_OK) status = gab_image_pack(checkpoint, &snapshot);
  if (status == GAB_OK) status = pack_image(run, &snapshot, image);
  gab_buffer_release(&snapshot.replicated);
  gab_buffer_release(&snapshot.own);
  gab_members_release(&snapshot.members);
  return status;
}

/* ---------------------------------------------------------------- unpacking */

static gab_status get_part(gab_reader *in, gab_reader *part)
{
  size_t bytes;
  GAB_TRY(gab_get_count(in, 1, &bytes));
  return gab_get_view(in, bytes, part);
}

enum { LIFE_BYTES = 24 };

static gab_status take_lives(gab_local_run *run, gab_reader in)
{
  run->earlier_count = 0;
  while (gab_reader_left(&in) > 0 && run->earlier_count < GAB_MOST_CLAIMS - 1) {
    gab_claim *life = &run->earlier[run->earlier_count++];
    *life =
        (gab_claim){.rank = gab_world_rank(run->world), .process = GAB_NO_PROCESS, .whole_from = INT64_MAX};
    GAB_TRY(gab_get_i64(&in, &life->restored_step));
    GAB_TRY(gab_get_i64(&in, &life->lost_step));
    GAB_TRY(gab_get_f64(&in, &life->seconds));
  }
  gab_world_claim_earlier(run->world, run->earlier, run->earlier_count);
  return GAB_OK;
}

gab_status gab_local_cut(gab_reader image, gab_local_parts *parts)
{
  size_t lives;
  GAB_TRY(gab_get_u64(&image, &parts->blocks));
  GAB_TRY(gab_get_u64(&image, &parts->own_blocks));
  GAB_TRY(gab_get_u64(&image, &parts->log_steps));
  GAB_TRY(gab_get_count(&image, LIFE_BYTES, &lives));
  GAB_TRY(gab_get_view(&image, LIFE_BYTES * lives, &parts->lives));
  GAB_TRY(get_part(&image, &parts->own));
  GAB_TRY(get_part(&image, &parts->replicated));
  GAB_TRY(get_part(&image, &parts->history));
  gab_reader own = parts->own;
  gab_reader envelope;
  GAB_TRY(gab_get_view(&own, GAB_ENVELOPE_BYTES, &envelope));
  if (!gab_image_recognise(own, &parts->header))
    GAB_FAIL(GAB_ERR_CORRUPT, "image of a rank: its hash does not match; it has changed in memory");
  return GAB_OK;
}

static gab_status fill(gab_buffer *to, gab_reader from)
{
  gab_buffer_clear(to);
  return gab_put_bytes(to, from.at, gab_reader_left(&from));
}

static gab_rank same_owner(void *context, gab_rank then)
{
  (void)context;
  return then;
}

/* The tables of owners do not change: ranks keep their blocks on a replacement process. */
static gab_status restore(gab_checkpoint *checkpoint, const gab_snapshot *snapshot, gab_rank rank)
{
  gab_image_list list;
  gab_reader forest, entities;
  GAB_TRY(gab_image_open(&snapshot->own, snapshot, rank, rank, &forest, &entities));
  gab_reader replicated = gab_reader_of_buffer(&snapshot->replicated);
  if (!gab_checksum_matches(&replicated))
    GAB_FAIL(GAB_ERR_CORRUPT, "replicated entities of an image: their hash does not match");
  GAB_TRY(gab_images_begin(&list, 1));
  list.count = 1;
  list.images[0] = (gab_image_view){.rank = rank, .forest = forest, .entities = entities};
  list.replicated = replicated;
  gab_status status = gab_images_restore_blocks(checkpoint, &list, same_owner, NULL);
  if (status == GAB_OK) status = gab_images_restore_entities(checkpoint, &list);
  gab_images_release(&list);
  return status;
}

gab_status gab_local_unpack(gab_local_run *run)
{
  gab_timeloop *loop = run->loop;
  gab_checkpoint *checkpoint = loop->protection->checkpoint;
  gab_snapshot *snapshot = &checkpoint->snapshots[0];
  gab_local_parts parts;
  GAB_TRY(gab_local_cut(gab_reader_of_buffer(&run->restart.image), &parts));
  if (parts.header.rank != gab_world_rank(run->world) || parts.header.step != run->restart.checkpoint)
    GAB_FAIL(GAB_ERR_CORRUPT,
             "received an image of rank %" GAB_PRI_RANK ", step %" GAB_PRI_STEP
             ", expected rank %" GAB_PRI_RANK ", step %" GAB_PRI_STEP,
             parts.header.rank, parts.header.step, gab_world_rank(run->world), run->restart.checkpoint);
  if (run->is_taking_over) GAB_TRY(take_lives(run, parts.lives));
  GAB_TRY(gab_protection_unpack_history(loop, &parts.history));
  for (int i = 0; i < 2; i++) checkpoint->snapshots[i].complete = checkpoint->snapshots[i].told = false;
  checkpoint->valid = 0;
  checkpoint->forest_blocks = parts.blocks;
  run->log_steps = parts.log_steps;
  snapshot->serial = parts.header.serial;
  snapshot->step = parts.header.step;
  snapshot->blocks = parts.blocks;
  GAB_TRY(gab_members_copy(&snapshot->members, &run->members));
  GAB_TRY(fill(&snapshot->own, parts.own));
  GAB_TRY(fill(&snapshot->replicated, parts.replicated));
  GAB_TRY(restore(checkpoint, snapshot, parts.header.rank));
  snapshot->own_blocks = gab_forest_block_count(checkpoint->forest);
  loop->furthest = loop->step;
  loop->monitored = loop->step; /* as on all other ranks: monitors have checked this step */
  gab_world_set_step(run->world, loop->step);
  gab_buffer_release(&run->restart.image);
  run->restart.has_image = false;
  return GAB_OK;
}

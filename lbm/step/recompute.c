/* SPDX-License-Identifier: Apache-2.0 */
/* Blocks that are computed twice, to detect errors of a core or flipped bits.
 *
 * The unit is the sweep of one block in one sub-step of its level: after ghosts, links and corrections, all its input is in
 * the field of the block. A copy of the field is kept, and the step continues. When all blocks of the level have been
 * swept, the copy is swept too, by another thread if there are several. Both fields must then be equal bit by bit; this
 * also detects a bit that flips in the field between the sweep and the comparison.
 *
 * From then to the next sweep of the block, in the next sub-step or step, the populations that its cells have sent must not
 * change: their hash is compared. */
#include "lbm/sparse/sparse_impl.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

/* A block before the sweep. */
typedef struct kept_block {
  gab_lbm_block *block;
  gab_lbm_block before; /* with the fields below */
  gab_field from, to;   /* from: for a block in a fused field a list of arrivals; to: only with two fields */
  const gab_lbm_job *jobs;
  size_t parts;
  const double *ramp;
  uint64_t different; /* bytes */
} kept_block;

/* Contents of a block after its sweep. */
typedef struct mark {
  gab_block_id id;
  int level;
  uint64_t hash, now;
} mark;

struct gab_lbm_recompute {
  double share;   /* requested ... */
  gab_step asked; /* ... in this step */
  kept_block *kept;
  size_t count;
  double ramp[GAB_SIDE_FACTORS]; /* in the sub-step of the kept blocks */
  mark *marks;
  size_t mark_count;
  gab_step marked;   /* step of the marks */
  uint64_t revision; /* of the forest then */
  gab_sample_report report;
  char words[256];   /* findings; "": none yet */
  uint64_t found_in; /* revision of the forest then: it increases in a rollback */
};

static gab_status make(gab_lbm *lbm)
{
  if (lbm->recompute) return GAB_OK;
  GAB_TRY(GAB_NEW(&lbm->recompute, GAB_MEMORY_OTHER));
  return GAB_OK;
}

gab_status gab_lbm_request_recomputation(gab_lbm *lbm, double share)
{
  if (!(share >= 0 && share <= 1))
    GAB_FAIL(GAB_ERR_ARGUMENT, "%g is not a share of the blocks in [0, 1]", share);
  GAB_TRY(make(lbm));
  lbm->recompute->share = share;
  lbm->recompute->asked = lbm->step;
  return GAB_OK;
}

static bool is_asked(const gab_lbm *lbm)
{
  return lbm->recompute && lbm->recompute->share > 0 && lbm->recompute->asked == lbm->step;
}

static void drop_kept(gab_lbm_recompute *recompute)
{
  for (size_t i = 0; i < recompute->count; i++) {
    gab_free(&recompute->kept[i].from.data);
    gab_free(&recompute->kept[i].to.data);
  }
  gab_free(&recompute->kept);
  recompute->count = 0;
}

static void drop_marks(gab_lbm_recompute *recompute)
{
  gab_free(&recompute->marks);
  recompute->mark_count = 0;
}

void gab_lbm_recompute_release(gab_lbm *lbm)
{
  if (!lbm->recompute) return;
  drop_kept(lbm->recompute);
  drop_marks(lbm->recompute);
  gab_free(&lbm->recompute);
}

bool gab_lbm_recompute_waits(const gab_lbm *lbm)
{
  return is_asked(lbm) || (lbm->recompute && lbm->recompute->mark_count > 0);
}

gab_sample_report gab_lbm_recomputation(const gab_lbm *lbm)
{
  return lbm->recompute ? lbm->recompute->report : (gab_sample_report){0};
}

/* Keeps the first warning. */
GAB_PRINTF(2, 3) static void log_warning(gab_lbm *lbm, const char *format, ...)
{
  gab_lbm_recompute *recompute = lbm->recompute;
  const uint64_t revision = gab_forest_revision(lbm->forest);
  if (recompute->words[0] && recompute->found_in == revision) return;
  va_list arguments;
  va_start(arguments, format);
  vsnprintf(recompute->words, sizeof recompute->words, format, arguments);
  va_end(arguments);
  recompute->found_in = revision;
}

/* ------------------------------------------------------------------------------------------ the sample */

static bool has(const gab_lbm *lbm, const gab_lbm_substep *at, const gab_lbm_block *block)
{
  if (!gab_sample_has(lbm->recompute->share, block->id, lbm->step)) return false;
  const uint64_t wanted = gab_sample_substep(block->id, lbm->step, UINT64_C(1) << at->level);
  return ldexp(at->time - (double)lbm->step, at->level) == (double)wanted;
}

bool gab_lbm_recompute_is_due(const gab_lbm *lbm, const gab_lbm_substep *at)
{
  const gab_lbm_jobs *jobs = &lbm->stage[at->level].plan.jobs;
  if (!is_asked(lbm)) return false;
  for (size_t i = 0; i < jobs->count; i += jobs->list[i].parts)
    for (const gab_lbm_block *block = jobs->list[i].block; block; block = block->next)
      if (has(lbm, at, block)) return true;
  return false;
}

static gab_status copy_field(const gab_field *from, gab_field *to)
{
  const size_t bytes = from->map.elements * gab_precision_bytes(from->shape.precision);
  *to = *from;
  to->data = NULL;
  GAB_TRY(gab_alloc(bytes, GAB_MEMORY_FIELD, &to->data));
  memcpy(to->data, from->data, bytes);
  return GAB_OK;
}

/* Copies the arrivals in the fluid cells, row by row, between a field and a list. */
static void move_arrivals(const gab_lbm_block *block, const gab_field *field, unsigned char *list,
                          bool into_field)
{
  const size_t each = gab_precision_bytes(field->shape.precision);
  for (int q = 0; q < field->shape.components; q++)
    for (size_t k = 0; k < block->run_count; k++) {
      const size_t bytes = (size_t)block->runs[k].length * each;
      unsigned char *row =
          (unsigned char *)field->data + gab_place(block->runs[k].start, block->now->arriving[q]) * each;
      if (into_field) memcpy(row, list, bytes);
      else memcpy(list, row, bytes);
      list += bytes;
    }
}

/* For a block in a fused field copies all that its sweep reads, not the fused field. */
static gab_status copy_arrivals(const gab_lbm_model *model, const gab_lbm_block *block, gab_field *to)
{
  *to = *block->src;
  to->data = NULL;
  GAB_TRY(gab_alloc(gab_lbm_packed_size(model, block), GAB_MEMORY_FIELD, &to->data));
  move_arrivals(block, block->src, to->data, false);
  return GAB_OK;
}

static gab_status keep(gab_lbm *lbm, gab_lbm_block *block, const gab_lbm_job *job)
{
  gab_lbm_recompute *recompute = lbm->recompute;
  GAB_TRY(gab_list_reserve(&recompute->kept, recompute->count, sizeof(kept_block)));
  kept_block *made = &recompute->kept[recompute->count];
  *made = (kept_block){
      .block = block, .before = *block, .jobs = job, .parts = job->parts, .ramp = recompute->ramp};
  GAB_TRY(block->in_fused ? copy_arrivals(&lbm->model, block, &made->from)
                          : copy_field(block->src, &made->from));
  recompute->count++;
  return block->dst ? copy_field(block->dst, &made->to) : GAB_OK;
}

gab_status gab_lbm_recompute_keep(gab_lbm *lbm, const gab_lbm_substep *at)
{
  const gab_lbm_jobs *jobs = &lbm->stage[at->level].plan.jobs;
  const double start = gab_seconds();
  drop_kept(lbm->recompute); /* of a step that was ended by a fault */
  gab_lbm_ramps(lbm, at->time, lbm->recompute->ramp);
  for (size_t i = 0; i < jobs->count; i += jobs->list[i].parts)
    for (gab_lbm_block *block = jobs->list[i].block; block; block = block->next)
      if (has(lbm, at, block)) GAB_TRY(keep(lbm, block, &jobs->list[i]));
  lbm->recompute->report.seconds += gab_seconds() - start;
  return GAB_OK;
}

/* ------------------------------------------------------------------------------------------ at rest */

static gab_status hash_of(const gab_lbm *lbm, const gab_lbm_block *block, uint64_t *hash)
{
  gab_buffer packed;
  gab_buffer_init(&packed, GAB_MEMORY_OTHER);
  gab_status status = gab_lbm_pack(&lbm->model, block, &packed);
  if (status == GAB_OK) *hash = gab_hash64_fast(packed.data, packed.size, block->id);
  gab_buffer_release(&packed);
  return status;
}

/* @param[in] level  only this one; -1: all */
static gab_status hash_marks(const gab_lbm *lbm, int level)
{
  gab_lbm_recompute *recompute = lbm->recompute;
  bool starved = false;
#pragma omp parallel for schedule(dynamic)
  for (size_t i = 0; i < recompute->mark_count; i++) {
    const gab_block *place = gab_forest_find(lbm->forest, recompute->marks[i].id);
    if (level >= 0 && recompute->marks[i].level != level) continue;
    if (place && hash_of(lbm, gab_lbm_block_of(lbm, place), &recompute->marks[i].now) == GAB_OK) continue;
#pragma omp atomic write
    starved = true;
  }
  if (starved) GAB_FAIL(GAB_ERR_MEMORY, "no memory to compare blocks with what they were");
  return GAB_OK;
}

/* A block may have moved, or been split: then the revision differs. */
static gab_status compare_marked(gab_lbm *lbm, int level)
{
  gab_lbm_recompute *recompute = lbm->recompute;
  if (recompute->mark_count == 0) return GAB_OK;
  const double start = gab_seconds();
  const gab_step since = lbm->step - recompute->marked;
  if (since < 0 || since > 1 || recompute->revision != gab_forest_revision(lbm->forest)) {
    drop_marks(recompute);
    return GAB_OK;
  }
  GAB_TRY(hash_marks(lbm, level));
  for (size_t i = 0; i < recompute->mark_count; i++) {
    const mark *it = &recompute->marks[i];
    if ((level >= 0 && it->level != level) || it->now == it->hash) continue;
    recompute->report.changed++;
    log_warning(
        lbm, "block " GAB_PRI_BLOCK " of level %d has changed since it was computed in step %" GAB_PRI_STEP,
        it->id, it->level, recompute->marked);
  }
  recompute->report.seconds += gab_seconds() - start;
  return GAB_OK;
}

gab_status gab_lbm_recompute_begin(gab_lbm *lbm, int level)
{
  gab_lbm_recompute *recompute = lbm->recompute;
  size_t left = 0;
  if (!recompute || recompute->mark_count == 0) return GAB_OK;
  GAB_TRY(compare_marked(lbm, level));
  for (size_t i = 0; i < recompute->mark_count; i++)
    if (recompute->marks[i].level != level) recompute->marks[left++] = recompute->marks[i];
  recompute->mark_count = left;
  return GAB_OK;
}

/* The marks of the step before were dropped in the sweep of each level. */
static gab_status mark_sample(gab_lbm *lbm, int level)
{
  gab_lbm_recompute *recompute = lbm->recompute;
  for (size_t i = 0; i < recompute->count; i++) {
    GAB_TRY(gab_list_reserve(&recompute->marks, recompute->mark_count, sizeof(mark)));
    recompute->marks[recompute->mark_count++] = (mark){.id = recompute->kept[i].block->id, .level = level};
  }
  GAB_TRY(hash_marks(lbm, level));
  for (size_t i = 0; i < recompute->mark_count; i++)
    if (recompute->marks[i].level == level) recompute->marks[i].hash = recompute->marks[i].now;
  recompute->marked = lbm->step;
  recompute->revision = gab_forest_revision(lbm->forest);
  return GAB_OK;
}

/* ------------------------------------------------------------------------------------------ once more */

static void sweep_part(const gab_lbm_model *model, kept_block *kept, const gab_lbm_job *job)
{
  for (size_t slab = job->first_slab; slab < job->last_slab; slab++)
    gab_lbm_sweep_slab(model, &kept->before, slab, kept->ramp);
}

/* For a block in a fused field: its sweep writes the populations that its cells send, and nothing else. */
static size_t count_different_sent(const kept_block *kept, const gab_field *again)
{
  const gab_lbm_block *block = kept->block;
  const size_t each = gab_precision_bytes(block->src->shape.precision);
  size_t different = 0;
  for (int q = 0; q < block->src->shape.components; q++)
    for (size_t k = 0; k < block->run_count; k++) {
      const size_t first = gab_place(block->runs[k].start, block->now->sent[q]) * each;
      const unsigned char *a = (const unsigned char *)block->src->data + first,
                          *b = (const unsigned char *)again->data + first;
      const size_t bytes = (size_t)block->runs[k].length * each;
      if (memcmp(a, b, bytes) == 0) continue;
      for (size_t i = 0; i < bytes; i++) different += a[i] != b[i];
    }
  return different;
}

static size_t count_different(const kept_block *kept)
{
  const gab_field *now = kept->block->src, *again = kept->block->dst ? &kept->to : &kept->from;
  const size_t bytes = now->map.elements * gab_precision_bytes(now->shape.precision);
  const unsigned char *a = now->data, *b = again->data;
  size_t different = 0;
  if (memcmp(a, b, bytes) == 0) return 0;
  for (size_t i = 0; i < bytes; i++) different += a[i] != b[i];
  return different;
}

/* Each part goes to the thread after the one that swept it, mostly on another core. By all threads. */
static void sweep_parts(const gab_lbm_model *model, kept_block *kept)
{
  const size_t me = gab_thread_number(), threads = gab_team_size();
  for (size_t part = 0; part < kept->parts; part++)
    if ((kept->jobs[part].by + 1) % threads == me) sweep_part(model, kept, &kept->jobs[part]);
}

/* Blocks in fused fields, one after another, in a separate field. */
static void compute_in_fused(const gab_lbm_model *model, kept_block *kept, gab_field *scratch)
{
  move_arrivals(&kept->before, scratch, kept->from.data, true);
  kept->before.src = scratch;
#pragma omp parallel
  sweep_parts(model, kept);
  kept->different = count_different_sent(kept, scratch);
}

static gab_status compute_all_in_fused(gab_lbm *lbm)
{
  gab_lbm_recompute *recompute = lbm->recompute;
  gab_field scratch = {.map = lbm->model.map};
  size_t i = 0;
  while (i < recompute->count && !recompute->kept[i].block->in_fused) i++;
  if (i == recompute->count) return GAB_OK;
  scratch.shape = recompute->kept[i].from.shape;
  GAB_TRY(gab_alloc(scratch.map.elements * gab_precision_bytes(scratch.shape.precision), GAB_MEMORY_FIELD,
                    &scratch.data));
  for (; i < recompute->count; i++)
    if (recompute->kept[i].block->in_fused) compute_in_fused(&lbm->model, &recompute->kept[i], &scratch);
  gab_free(&scratch.data);
  return GAB_OK;
}

static gab_status compute_again(gab_lbm *lbm)
{
  gab_lbm_recompute *recompute = lbm->recompute;
#pragma omp parallel
  {
    for (size_t i = 0; i < recompute->count; i++) {
      kept_block *kept = &recompute->kept[i];
      if (!kept->block->in_fused) sweep_parts(&lbm->model, kept);
    }
#pragma omp barrier
#pragma omp for schedule(dynamic)
    for (size_t i = 0; i < recompute->count; i++)
      if (!recompute->kept[i].block->in_fused)
        recompute->kept[i].different = count_different(&recompute->kept[i]);
  }
  return compute_all_in_fused(lbm);
}

/* Fields have been switched: the state of blocks is that after the sweep. */
gab_status gab_lbm_recompute_compare(gab_lbm *lbm, const gab_lbm_substep *at)
{
  gab_lbm_recompute *recompute = lbm->recompute;
  const double start = gab_seconds();
  gab_world_enter(lbm->world, GAB_FAULT_POINT_RECOMPUTE);
  for (size_t i = 0; i < recompute->count; i++) {
    kept_block *kept = &recompute->kept[i];
    if (kept->block->in_fused) continue;
    kept->before.src = &kept->from;
    kept->before.dst = kept->block->dst ? &kept->to : NULL;
  }
  GAB_TRY(compute_again(lbm));
  recompute->report.blocks += recompute->count;
  for (size_t i = 0; i < recompute->count; i++) {
    const kept_block *kept = &recompute->kept[i];
    if (kept->different == 0) continue;
    recompute->report.differed++;
    log_warning(lbm,
                "block " GAB_PRI_BLOCK " of level %d, computed twice in step %" GAB_PRI_STEP
                ", differs in %" PRIu64 " bytes",
                kept->block->id, at->level, lbm->step, kept->different);
  }
  gab_status status = mark_sample(lbm, at->level);
  drop_kept(recompute);
  recompute->report.seconds += gab_seconds() - start;
  return status;
}

gab_status gab_lbm_check_recomputed(gab_lbm *lbm, bool at_rest)
{
  gab_lbm_recompute *recompute = lbm->recompute;
  if (!recompute) return GAB_OK;
  if (at_rest) GAB_TRY(compare_marked(lbm, -1));
  const bool found = recompute->words[0] && recompute->found_in == gab_forest_revision(lbm->forest);
  char words[sizeof recompute->words];
  memcpy(words, recompute->words, sizeof words);
  recompute->words[0] = '\0';
  if (found) GAB_FAIL(GAB_ERR_SUSPECT, "%s", words);
  return GAB_OK;
}

/* SPDX-License-Identifier: Apache-2.0 */
/* Blocks that are computed twice, to detect errors of a core or flipped bits.
 *
 * Both sweeps leave their input unchanged except for c, which is kept. After a step they are repeated into other fields, by another
 * thread if there is one, and the results must be the same to the last bit: phi from the former phi and mu, verified by a hash; c
 * and mu from these, the kept c and the new phi with its ghosts. From then to the beginning of the next step phi and c must not
 * change: a hash of them is compared. */
#include "core/system/threads.h"
#include "core/base/log.h"
#include "phasefield/levels/levels_impl.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

typedef struct kept_block {
  size_t index;             /* index among the blocks of this process */
  gab_field *c;             /* as it was ahead of the step */
  gab_field *phi, *mu;      /* results of the second computation */
  uint64_t read;            /* hash of the phi and mu that both are made from */
  const char *different[3]; /* in the phi sweep, in the mu sweep, in the input of both; NULL: nothing */
} kept_block;

typedef struct mark {
  gab_block_id id;
  uint64_t hash, now;
} mark;

struct gab_phasefield_recompute {
  double share;   /* asked for ... */
  gab_step asked; /* ... in this step */
  kept_block *kept;
  size_t count;
  mark *marks;
  size_t mark_count;
  gab_step marked; /* step, place of the window, revision of the forest of the marks */
  int64_t shift;
  uint64_t revision;
  gab_sample_report report;
  char words[256];   /* finding; "": none yet */
  uint64_t found_in; /* revision of the forest then: it grows when the run goes back */
};

gab_status gab_phasefield_request_recomputation(gab_phasefield *phasefield, double share)
{
  if (!(share >= 0 && share <= 1))
    GAB_FAIL(GAB_ERR_ARGUMENT, "%g is not a share of the blocks in [0, 1]", share);
  if (!phasefield->recompute) GAB_TRY(GAB_NEW(&phasefield->recompute, GAB_MEMORY_OTHER));
  phasefield->recompute->share = share;
  phasefield->recompute->asked = phasefield->model.step;
  return GAB_OK;
}

static void drop_kept(gab_phasefield_recompute *recompute)
{
  for (size_t i = 0; i < recompute->count; i++) {
    gab_field_destroy(&recompute->kept[i].c);
    gab_field_destroy(&recompute->kept[i].phi);
    gab_field_destroy(&recompute->kept[i].mu);
  }
  gab_free(&recompute->kept);
  recompute->count = 0;
}

static void drop_marks(gab_phasefield_recompute *recompute)
{
  gab_free(&recompute->marks);
  recompute->mark_count = 0;
}

void gab_phasefield_recompute_release(gab_phasefield *phasefield)
{
  if (!phasefield->recompute) return;
  drop_kept(phasefield->recompute);
  drop_marks(phasefield->recompute);
  gab_free(&phasefield->recompute);
}

gab_sample_report gab_phasefield_recomputation(const gab_phasefield *phasefield)
{
  return phasefield->recompute ? phasefield->recompute->report : (gab_sample_report){0};
}

/* Keeps the first words. */
GAB_PRINTF(2, 3) static void log_warning(gab_phasefield *phasefield, const char *format, ...)
{
  gab_phasefield_recompute *recompute = phasefield->recompute;
  const uint64_t revision = gab_forest_revision(phasefield->forest);
  if (recompute->words[0] && recompute->found_in == revision) return;
  va_list arguments;
  va_start(arguments, format);
  vsnprintf(recompute->words, sizeof recompute->words, format, arguments);
  va_end(arguments);
  recompute->found_in = revision;
}

static gab_block_id id_of(const gab_phasefield *phasefield, size_t index)
{
  return gab_block_get_id(gab_forest_block(phasefield->forest, index));
}

/* ------------------------------------------------------------------------------------------ at rest */

static gab_status hash_of(gab_phasefield *phasefield, mark *which)
{
  const gab_block_data_kind kind = gab_phasefield_block_kind(phasefield);
  const gab_block *place = gab_forest_find(phasefield->forest, which->id);
  gab_buffer packed;
  gab_buffer_init(&packed, GAB_MEMORY_OTHER);
  if (!place) GAB_FAIL(GAB_ERR_STATE, "block " GAB_PRI_BLOCK " is not here", which->id);
  gab_status status = kind.pack(kind.user, gab_block_data(place, phasefield->data), &packed);
  if (status == GAB_OK) which->now = gab_hash64_fast(packed.data, packed.size, which->id);
  gab_buffer_release(&packed);
  return status;
}

static gab_status hash_marks(gab_phasefield *phasefield)
{
  gab_phasefield_recompute *recompute = phasefield->recompute;
  bool failed = false;
#pragma omp parallel for schedule(dynamic)
  for (size_t i = 0; i < recompute->mark_count; i++) {
    if (hash_of(phasefield, &recompute->marks[i]) == GAB_OK) continue;
#pragma omp atomic write
    failed = true;
  }
  if (failed) GAB_FAIL(GAB_ERR_MEMORY, "no memory to compare blocks with what they were");
  return GAB_OK;
}

/* A block may have gone elsewhere, or the window have moved: then it is another state. */
static gab_status compare_marked(gab_phasefield *phasefield)
{
  gab_phasefield_recompute *recompute = phasefield->recompute;
  const gab_phasefield_model *model = &phasefield->model;
  if (recompute->mark_count == 0) return GAB_OK;
  const double start = gab_seconds();
  if (recompute->marked != model->step || recompute->shift != model->shift ||
      recompute->revision != gab_forest_revision(phasefield->forest)) {
    drop_marks(recompute);
    return GAB_OK;
  }
  GAB_TRY(hash_marks(phasefield));
  for (size_t i = 0; i < recompute->mark_count; i++) {
    if (recompute->marks[i].now == recompute->marks[i].hash) continue;
    recompute->report.changed++;
    log_warning(phasefield, "block " GAB_PRI_BLOCK " has changed since the end of step %" GAB_PRI_STEP,
                recompute->marks[i].id, model->step - 1);
  }
  recompute->report.seconds += gab_seconds() - start;
  return GAB_OK;
}

static gab_status mark_sample(gab_phasefield *phasefield)
{
  gab_phasefield_recompute *recompute = phasefield->recompute;
  drop_marks(recompute);
  for (size_t i = 0; i < recompute->count; i++) {
    GAB_TRY(gab_list_reserve(&recompute->marks, recompute->mark_count, sizeof(mark)));
    recompute->marks[recompute->mark_count++] = (mark){.id = id_of(phasefield, recompute->kept[i].index)};
  }
  GAB_TRY(hash_marks(phasefield));
  for (size_t i = 0; i < recompute->mark_count; i++) recompute->marks[i].hash = recompute->marks[i].now;
  recompute->marked = phasefield->model.step;
  recompute->shift = phasefield->model.shift;
  recompute->revision = gab_forest_revision(phasefield->forest);
  return GAB_OK;
}

/* ------------------------------------------------------------------------------------------ ahead of a step
 */

static gab_status hash_read(const gab_field *phi, const gab_field *mu, uint64_t *hash)
{
  const gab_field *fields[] = {phi, mu};
  const gab_box box = gab_field_interior(phi);
  *hash = 0;
  for (int k = 0; k < 2; k++) {
    const size_t bytes = gab_field_box_bytes(fields[k], &box, fields[k]->shape.components);
    void *packed;
    GAB_TRY(gab_alloc(bytes, GAB_MEMORY_OTHER, &packed));
    gab_field_pack_box(fields[k], &box, NULL, fields[k]->shape.components, packed);
    *hash = gab_hash64_fast(packed, bytes, *hash);
    gab_free(&packed);
  }
  return GAB_OK;
}

static gab_status keep(gab_phasefield *phasefield, size_t index)
{
  gab_phasefield_recompute *recompute = phasefield->recompute;
  const gab_phasefield_block *block = gab_phasefield_block_of(phasefield, index);
  GAB_TRY(gab_list_reserve(&recompute->kept, recompute->count, sizeof(kept_block)));
  kept_block *made = &recompute->kept[recompute->count++];
  *made = (kept_block){.index = index};
  GAB_TRY(gab_field_create(&block->c->shape, &made->c));
  GAB_TRY(gab_field_create(&block->phi->shape, &made->phi));
  GAB_TRY(gab_field_create(&block->mu->shape, &made->mu));
  GAB_TRY(hash_read(block->phi, block->mu, &made->read));
  return gab_field_copy(made->c, block->c);
}

gab_status gab_phasefield_recompute_begin(gab_phasefield *phasefield)
{
  gab_phasefield_recompute *recompute = phasefield->recompute;
  if (!recompute) return GAB_OK;
  GAB_TRY(compare_marked(phasefield));
  drop_marks(recompute);
  drop_kept(recompute); /* of a step that a fault has ended */
  if (recompute->share <= 0 || recompute->asked != phasefield->model.step) return GAB_OK;
  const double start = gab_seconds();
  for (size_t i = 0; i < gab_forest_block_count(phasefield->forest); i++)
    if (gab_sample_has(recompute->share, id_of(phasefield, i), recompute->asked))
      GAB_TRY(keep(phasefield, i));
  recompute->report.seconds += gab_seconds() - start;
  return GAB_OK;
}

/* ------------------------------------------------------------------------------------------ behind it */

static bool are_equal(const gab_field *a, const gab_field *b)
{
  const gab_box box = gab_field_interior(a);
  const size_t row = (size_t)(box.hi[0] - box.lo[0]);
  gab_box one = box;
  double mine[256], other[256];
  for (int64_t z = box.lo[2]; z < box.hi[2]; z++)
    for (int64_t y = box.lo[1]; y < box.hi[1]; y++)
      for (int k = 0; k < a->shape.components; k++)
        for (size_t x = 0; x < row; x += 256) {
          const size_t end = x + 256 < row ? x + 256 : row;
          one.lo[0] = (int64_t)x, one.hi[0] = (int64_t)end;
          one.lo[1] = y, one.hi[1] = y + 1;
          one.lo[2] = z, one.hi[2] = z + 1;
          gab_field_pack_box(a, &one, &k, 1, mine);
          gab_field_pack_box(b, &one, &k, 1, other);
          if (memcmp(mine, other, (end - x) * sizeof *mine) != 0) return false;
        }
  return true;
}

/* The fields have changed places: the old ones are where the next will be. */
static gab_status phi_again(const gab_phasefield_model *before, const gab_phasefield_block *block,
                            kept_block *kept)
{
  gab_phasefield_block shadow = *block;
  if (gab_phasefield_is_coarse(block)) return GAB_OK; /* of one phase: it is not swept */
  shadow.model = before;
  shadow.phi = block->phi_new;
  shadow.mu = block->mu_new;
  shadow.phi_new = kept->phi;
  const gab_phasefield_job job = {.block = &shadow, .box = gab_field_interior(block->phi)};
  GAB_TRY(gab_phasefield_run_phi(before, &job));
  if (!are_equal(kept->phi, block->phi)) kept->different[0] = "phi";
  return GAB_OK;
}

static gab_status mu_again(const gab_phasefield_model *before, const gab_phasefield_block *block,
                           kept_block *kept)
{
  gab_phasefield_block shadow = *block;
  shadow.model = before;
  shadow.phi = block->phi_new;
  shadow.phi_new = block->phi;
  shadow.mu = block->mu_new;
  shadow.mu_new = kept->mu;
  shadow.c = kept->c;
  const gab_phasefield_job job = {.block = &shadow, .box = gab_field_interior(block->phi)};
  GAB_TRY(before->kernel->mu(before, &job));
  if (!are_equal(kept->c, block->c)) kept->different[1] = "c";
  else if (!are_equal(kept->mu, block->mu)) kept->different[1] = "mu";
  return GAB_OK;
}

/* The input of the first computation must be unchanged, too. */
static gab_status compare_read(const gab_phasefield *phasefield, kept_block *kept)
{
  const gab_phasefield_block *block = gab_phasefield_block_of(phasefield, kept->index);
  uint64_t hash;
  GAB_TRY(hash_read(block->phi_new, block->mu_new, &hash));
  if (hash != kept->read) kept->different[2] = "what it is computed from";
  return GAB_OK;
}

static gab_status compute_again(gab_phasefield *phasefield)
{
  gab_phasefield_recompute *recompute = phasefield->recompute;
  bool starved = false;
#pragma omp parallel
  {
    const size_t me = gab_thread_number(), threads = gab_team_size();
    for (size_t i = 0; i < 2 * recompute->count; i++) {
      kept_block *kept = &recompute->kept[i / 2];
      const gab_phasefield_block *block = gab_phasefield_block_of(phasefield, kept->index);
      if ((block->by[i % 2] + 1) % threads != me) continue;
      gab_phasefield_model before = *block->model;
      before.step--;
      if ((i % 2 == 0 ? phi_again : mu_again)(&before, block, kept) == GAB_OK) continue;
#pragma omp atomic write
      starved = true;
    }
  }
  if (starved) GAB_FAIL(GAB_ERR_MEMORY, "no memory for the sweep of a phase field");
  return GAB_OK;
}

/* The step is done and counted, its fields have changed places. */
gab_status gab_phasefield_recompute_end(gab_phasefield *phasefield)
{
  gab_phasefield_recompute *recompute = phasefield->recompute;
  if (!recompute || recompute->count == 0) return GAB_OK;
  const double start = gab_seconds();
  gab_world_enter(gab_forest_world(phasefield->forest), GAB_FAULT_POINT_RECOMPUTE);
  GAB_TRY(compute_again(phasefield));
  recompute->report.blocks += recompute->count;
  for (size_t i = 0; i < recompute->count; i++) {
    GAB_TRY(compare_read(phasefield, &recompute->kept[i]));
    const char *const *different = recompute->kept[i].different;
    const char *first = different[2] ? different[2] : different[0] ? different[0] : different[1];
    if (!first) continue;
    recompute->report.differed++;
    log_warning(phasefield,
                "block " GAB_PRI_BLOCK ", computed twice in step %" GAB_PRI_STEP ", differs in %s",
                id_of(phasefield, recompute->kept[i].index), phasefield->model.step - 1, first);
  }
  gab_status status = mark_sample(phasefield);
  drop_kept(recompute);
  recompute->report.seconds += gab_seconds() - start;
  return status;
}

gab_status gab_phasefield_check_recomputed(gab_phasefield *phasefield, bool at_rest)
{
  gab_phasefield_recompute *recompute = phasefield->recompute;
  if (!recompute) return GAB_OK;
  if (at_rest) GAB_TRY(compare_marked(phasefield));
  const bool found = recompute->words[0] && recompute->found_in == gab_forest_revision(phasefield->forest);
  char words[sizeof recompute->words];
  memcpy(words, recompute->words, sizeof words);
  recompute->words[0] = '\0';
  if (found) GAB_FAIL(GAB_ERR_SUSPECT, "%s", words);
  return GAB_OK;
}

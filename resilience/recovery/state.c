/* SPDX-License-Identifier: Apache-2.0 */
/* Checkpoints of programs without blocks: entities over an empty forest. */
#include "resilience/recovery/state_impl.h"

#include "core/messages/collective.h"
#include "core/base/log.h"
#include "resilience/recovery/reinit_impl.h"
#include "resilience/reports/completion.h"
#include "resilience/disk/disk_impl.h"
#include "resilience/disk/restart_impl.h"

#include <string.h>

/* ---------------------------------------------------------------- life */

static gab_status build(gab_state *state, const gab_state_options *options)
{
  const gab_forest_options nothing = {
      .grid = {.dimension = 2, .roots = {1, 1, 1}}, .cells = {2, 2, 1}, .dx = 1}; /* without blocks */
  gab_redundancy redundancy = options->redundancy;
  if (!redundancy.scheme) redundancy.scheme = &gab_scheme_ring;
  GAB_TRY(gab_world_dup(state->world, &state->comm));
  GAB_TRY(gab_forest_create(state->world, &nothing, &state->forest));
  GAB_TRY(gab_checkpoint_create(state->forest, &redundancy, &state->checkpoint));
  state->file_every = options->file_every > 0 ? options->file_every : 1;
  state->file_wait = options->file_wait;
  if (!options->folder) return GAB_OK;
  return gab_disk_create(state->checkpoint, NULL, &(gab_disk_options){.folder = options->folder},
                         &state->disk);
}

gab_status gab_state_create(gab_world *world, const gab_state_options *options, gab_state **state)
{
  *state = NULL;
  gab_state *made;
  GAB_TRY(GAB_NEW(&made, GAB_MEMORY_OTHER));
  made->world = world;
  const gab_status status = build(made, options ? options : &(gab_state_options){.folder = NULL});
  if (status != GAB_OK) gab_state_destroy(&made);
  else gab_reinit_keeps_state();
  *state = made;
  return status;
}

void gab_state_destroy(gab_state **state)
{
  gab_state *gone = *state;
  if (!gone) return;
  gab_disk_destroy(&gone->disk);
  gab_checkpoint_destroy(&gone->checkpoint);
  gab_forest_destroy(&gone->forest);
  gab_free(state);
}

MPI_Comm gab_state_comm(const gab_state *state) { return gab_comm_mpi(state->comm); }
gab_world *gab_state_world(const gab_state *state) { return state->world; }
gab_state_times gab_state_get_times(const gab_state *state) { return state->times; }

/* ---------------------------------------------------------------- parts */

static gab_status pack_item(void *user, gab_buffer *out)
{
  const gab_state_item *item = user;
  if (item->entity.pack) return item->entity.pack(item->entity.user, out);
  return gab_put_bytes(out, item->entity.user, item->bytes);
}

static gab_status unpack_item(void *user, gab_reader *in)
{
  const gab_state_item *item = user;
  if (item->entity.pack) return item->entity.unpack(item->entity.user, in);
  if (gab_reader_left(in) != item->bytes)
    GAB_FAIL(GAB_ERR_CORRUPT, "'%s' has %zu bytes, its saved state %zu", item->name, item->bytes,
             gab_reader_left(in));
  return gab_get_bytes(in, item->entity.user, item->bytes);
}

static gab_status adopt_item(void *user, gab_rank dead, gab_reader *in)
{
  const gab_state_item *item = user;
  return item->entity.adopt ? item->entity.adopt(item->entity.user, dead, in) : GAB_OK;
}

static gab_state_item *find(gab_state *state, const char *name)
{
  for (int i = 0; i < state->item_count; i++)
    if (strcmp(state->items[i].name, name) == 0) return &state->items[i];
  return NULL;
}

/* Registers the next item, whose name and kind are set, with the checkpoint. */
static gab_status register_next(gab_state *state)
{
  gab_state_item *item = &state->items[state->item_count];
  const gab_entity known = {.name = item->name,
                            .kind = item->entity.kind,
                            .user = item,
                            .pack = pack_item,
                            .unpack = unpack_item,
                            .adopt = adopt_item};
  GAB_TRY(gab_checkpoint_add_entity(state->checkpoint, &known));
  state->item_count++;
  return GAB_OK;
}

static gab_status put_item(gab_state *state, const gab_entity *entity, size_t bytes)
{
  if (!entity->name || strlen(entity->name) >= GAB_ENTITY_NAME)
    GAB_FAIL(GAB_ERR_ARGUMENT, "a part of the state needs a name of less than %d characters",
             GAB_ENTITY_NAME);
  gab_state_item *item = find(state, entity->name);
  if (item && item->entity.kind != entity->kind)
    GAB_FAIL(GAB_ERR_ARGUMENT, "'%s' was of another kind before", entity->name);
  const bool is_new = !item;
  if (is_new && state->item_count == GAB_MOST_ENTITIES)
    GAB_FAIL(GAB_ERR_ARGUMENT, "cannot add '%s': there are %d parts already", entity->name,
             GAB_MOST_ENTITIES);
  if (is_new && state->has_saved)
    GAB_FAIL(GAB_ERR_ARGUMENT, "'%s' comes after the first save: the parts of the state are fixed",
             entity->name);
  if (is_new) item = &state->items[state->item_count];
  if (is_new) strcpy(item->name, entity->name);
  item->entity = *entity;
  item->entity.name = item->name;
  item->bytes = bytes;
  return is_new ? register_next(state) : GAB_OK;
}

gab_status gab_state_add(gab_state *state, const char *name, void *memory, size_t bytes)
{
  if (!memory && bytes > 0) GAB_FAIL(GAB_ERR_ARGUMENT, "'%s' lies nowhere", name);
  return put_item(state, &(gab_entity){.name = name, .kind = GAB_ENTITY_PER_RANK, .user = memory}, bytes);
}

gab_status gab_state_add_entity(gab_state *state, const gab_entity *entity)
{
  if (!entity->pack || !entity->unpack)
    GAB_FAIL(GAB_ERR_ARGUMENT, "'%s' needs pack and unpack", entity->name ? entity->name : "");
  if (entity->create || entity->restore ||
      entity->swap) /* a replacement process lacks the buffers of the dead one */
    GAB_FAIL(GAB_ERR_ARGUMENT, "'%s' has buffers of its own, which parts of the state cannot have",
             entity->name ? entity->name : "");
  return put_item(state, entity, 0);
}

/* Whether all parts of the state of another process can be adopted. */
static bool can_adopt(const gab_state *state, const char **what_not)
{
  for (int i = 0; i < state->item_count; i++) {
    const gab_entity *entity = &state->items[i].entity;
    *what_not = entity->name;
    if (entity->kind == GAB_ENTITY_PER_RANK && !entity->adopt) return false;
  }
  return true;
}

/* ---------------------------------------------------------------- saving */

static gab_status write_files(gab_state *state, gab_step step)
{
  if (step % state->file_every != 0) return gab_disk_progress(state->disk);
  GAB_TRY(gab_disk_begin(state->disk, NULL));
  if (!state->file_wait) return gab_disk_progress(state->disk);
  GAB_TRY(gab_disk_wait(state->disk));
  return gab_world_barrier(state->world); /* only the root has waited for all files */
}

static gab_status save(gab_state *state, gab_step step)
{
  gab_world_set_step(state->world, step);
  GAB_TRY(gab_checkpoint_take(state->checkpoint, step));
  state->has_saved = true;
  gab_reinit_has_saved();
  gab_report_progress(state->world, step, 0);
  return GAB_OK;
}

gab_status gab_state_save(gab_state *state, gab_step step)
{
  const double start = gab_seconds();
  gab_status status = save(state, step);
  const double saved = gab_seconds();
  if (status == GAB_OK && state->disk) status = write_files(state, step);
  const double done = gab_seconds();
  state->times.saves++;
  state->times.save += done - start;
  state->times.files += done - saved;
  if (status == GAB_OK)
    gab_log(GAB_LOG_DEBUG, "saved step %" GAB_PRI_STEP " in %.6f s (files %.6f s)", step, done - start,
            done - saved);
  return status;
}

gab_status gab_state_finish(gab_state *state) { return state->disk ? gab_disk_wait(state->disk) : GAB_OK; }

/* ---------------------------------------------------------------- loading */

static gab_status load_memory(gab_state *state, gab_step *step)
{
  gab_restore_report report;
  const gab_members *members = gab_world_members(state->world);
  const char *what_not;
  if (members->gone_count > 0 && !can_adopt(state, &what_not))
    GAB_FAIL(GAB_ERR_LOST, "rank %" GAB_PRI_RANK " is gone, and nobody can take over its '%s'",
             members->gone[0], what_not);
  GAB_TRY(gab_checkpoint_restore(state->checkpoint, &report));
  *step = report.step;
  return GAB_OK;
}

static gab_status check_size(const gab_state *state, const gab_restart *files)
{
  const int32_t now = gab_members_count(gab_world_members(state->world));
  const char *what_not;
  for (size_t i = 0; i < gab_restart_count(files); i++) {
    const int32_t then = gab_members_count(&gab_restart_manifest(files, i)->members);
    if (then != now && !can_adopt(state, &what_not))
      GAB_FAIL(GAB_ERR_INPUT,
               "%s holds checkpoints of %" PRId32 " processes, these are %" PRId32
               ", and '%s' cannot be partitioned again",
               gab_disk_folder(state->disk), then, now, what_not);
  }
  return GAB_OK;
}

/* @return GAB_OK with *step unchanged if there are no files */
static gab_status load_files(gab_state *state, gab_step *step)
{
  gab_restart *files;
  gab_restart_report report = {.step = *step};
  const bool clean = gab_world_epoch(state->world) == 0; /* no files are being written */
  GAB_TRY(gab_restart_find(state->world, gab_disk_folder(state->disk), clean, &files));
  gab_status status = gab_restart_check_none(files);
  if (status == GAB_OK) status = check_size(state, files);
  if (status == GAB_OK && gab_restart_count(files) > 0)
    status = gab_restart_load(files, state->checkpoint, &report);
  gab_restart_destroy(&files);
  GAB_TRY(status);
  if (report.members > 0) gab_disk_went_back(state->disk, report.step);
  *step = report.step;
  return GAB_OK;
}

/* Whether a live process took part in a committed save; then all that were active at that time did. */
static gab_status has_anybody_saved(gab_state *state, bool *saved)
{
  uint64_t here = state->has_saved;
  GAB_TRY(gab_world_max_u64(state->world, &here, 1));
  *saved = here != 0;
  return GAB_OK;
}

static gab_status load(gab_state *state, gab_step *step)
{
  const gab_step nothing = -1;
  gab_step found = nothing;
  gab_status lost = GAB_OK;
  bool saved;
  if (state->disk) gab_disk_abandon(state->disk);
  if (gab_replacements_possible(state->checkpoint))
    GAB_TRY(gab_replacements_find_donor(
        state->checkpoint)); /* holders of copies follow from the present processes */
  GAB_TRY(has_anybody_saved(state, &saved));
  if (saved) lost = load_memory(state, &found);
  if (lost != GAB_OK && (lost != GAB_ERR_LOST || !state->disk)) return lost;
  if (found == nothing && state->disk) GAB_TRY(load_files(state, &found));
  if (found == nothing) { /* a save that was never committed does not count */
    if (saved) GAB_FAIL(GAB_ERR_LOST, "neither memory nor files hold the saved state");
    return gab_snapshots_forget(state->checkpoint, 0);
  }
  *step = found;
  return save(state, found); /* a replacement process has no images yet, neither its own nor copies */
}

gab_status gab_state_load(gab_state *state, gab_step *step)
{
  const double start = gab_seconds();
  const gab_status status = load(state, step);
  state->times.loads++;
  state->times.load += gab_seconds() - start;
  return status;
}

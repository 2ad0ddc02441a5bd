/* SPDX-License-Identifier: Apache-2.0 */
#include "resilience/recovery/fence.h"

#include "blockforest/output/output.h"
#include "core/messages/collective.h"
#include "core/base/log.h"
#include "core/world/quarantine.h"
#include "resilience/recovery/fence_impl.h"

#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/random.h>
#include <unistd.h>

struct gab_fence {
  gab_world *world;
  char folder[GAB_FENCE_PATH]; /* of the tokens */
  uint64_t job;
  gab_process process;
  double patience;
  uint64_t cuts;          /* announced when the token was taken */
  _Atomic uint64_t token; /* last token known to belong to this part; writing threads read it */
};

static gab_claimant claimant_of(const gab_fence *fence)
{
  return (gab_claimant){.folder = fence->folder,
                        .job = fence->job,
                        .process = fence->process,
                        .processes = gab_world_living_processes(fence->world),
                        .members = gab_members_count(gab_world_members(fence->world)),
                        .epoch = gab_world_epoch(fence->world),
                        .patience = fence->patience,
                        .world = fence->world};
}

/* ---------------------------------------------------------------- who is cut off */

static void end_here(const char *why)
{
  fprintf(stderr, "gabion: %s\n", why);
  for (;;) kill(getpid(), SIGKILL);
}

static void obey(gab_verdict what)
{
  if (what == GAB_VERDICT_THEIRS)
    end_here(
        "cut off from the run, which went on without this process: it ends and leaves all files as they are");
  if (what == GAB_VERDICT_NO_FOLDER)
    end_here(
        "this process cannot ask in the folder of the run whether another part of it has gone on: it ends");
}

void gab_fence_check(const gab_fence *fence)
{
  if (!fence) return;
  const gab_claimant self = {.folder = fence->folder, .job = fence->job, .process = fence->process};
  if (gab_token_is_theirs(&self, fence->token)) obey(GAB_VERDICT_THEIRS);
}

void gab_fence_leave_to_active(const gab_fence *fence)
{
  if (!fence) return;
  if (access(fence->folder, F_OK) != 0) obey(GAB_VERDICT_NO_FOLDER);
  if (gab_quarantine_announced() != fence->cuts)
    end_here(
        "cut off from the run, of which only spare processes are here: it ends and leaves all files as they are");
}

/* ---------------------------------------------------------------- asking for the next token */

/* The lowest process of the members, which has been in the run at least as long as any other. */
static gab_rank find_claimant(const gab_world *world)
{
  const gab_members *members = gab_world_members(world);
  gab_rank claimant = gab_members_rank(members, 0);
  for (int32_t i = 1; i < gab_members_count(members); i++) {
    const gab_rank rank = gab_members_rank(members, i);
    if (gab_members_process(members, rank) < gab_members_process(members, claimant)) claimant = rank;
  }
  return claimant;
}

/* Broadcasts the verdict of `from`. */
static gab_status spread(gab_fence *fence, gab_rank from, gab_verdict *what)
{
  gab_buffer words;
  uint32_t code = (uint32_t)*what;
  uint64_t token = fence->token;
  gab_buffer_init(&words, GAB_MEMORY_OTHER);
  gab_status status = GAB_OK;
  if (gab_world_rank(fence->world) == from) {
    status = gab_put_u32(&words, code);
    if (status == GAB_OK) status = gab_put_u64(&words, token);
    if (status == GAB_OK) status = gab_put_u64(&words, fence->job);
    if (status == GAB_OK) status = gab_put_u64(&words, fence->cuts);
  }
  if (status == GAB_OK) status = gab_world_broadcast(fence->world, from, &words);
  gab_reader in = gab_reader_of_buffer(&words);
  if (status == GAB_OK) status = gab_get_u32(&in, &code);
  if (status == GAB_OK) status = gab_get_u64(&in, &token);
  if (status == GAB_OK) status = gab_get_u64(&in, &fence->job);
  if (status == GAB_OK) status = gab_get_u64(&in, &fence->cuts);
  if (status == GAB_OK) fence->token = token;
  if (status == GAB_OK) *what = (gab_verdict)code;
  gab_buffer_release(&words);
  return status;
}

/* Without a cut announced since the last token, the other processes have died: no other part can continue. */
static gab_status ask(gab_fence *fence, uint64_t *token, bool can_go_on, gab_verdict *what)
{
  gab_claimant self = claimant_of(fence);
  const uint64_t cuts = gab_quarantine_announced();
  if (gab_quarantine_is_watched() && cuts == fence->cuts) self.patience = 0;
  GAB_TRY(gab_token_ask(&self, token, can_go_on, what));
  if (*what == GAB_VERDICT_OURS) fence->cuts = cuts;
  return GAB_OK;
}

gab_status gab_fence_claim(gab_fence *fence, bool can_go_on)
{
  gab_verdict what = GAB_VERDICT_OURS;
  uint64_t known = fence->token;
  uint32_t flags = 1;
  GAB_TRY(gab_world_max_u64(fence->world, &known, 1));
  const gab_rank from = find_claimant(fence->world);
  const bool asks = gab_world_rank(fence->world) == from;
  const gab_status asked = asks ? ask(fence, &known, can_go_on, &what) : GAB_OK;
  if (asked == GAB_ERR_FAULT) return asked; /* a process died while this part waited */
  if (asked != GAB_OK) {
    gab_log_all(GAB_LOG_ERROR, "%s", gab_error_message());
    what = GAB_VERDICT_NO_FOLDER;
  }
  fence->token = known;
  gab_status status = spread(fence, from, &what);
  if (status == GAB_OK || asks) obey(what);
  return status == GAB_OK ? gab_world_agree(fence->world, &flags) : status;
}

/* Names no process, so that every finder of the token ends. */
static gab_status ask_for_last(gab_fence *fence, uint64_t *token, gab_verdict *what)
{
  gab_members nobody;
  gab_members_init(&nobody, 0);
  gab_claimant self = claimant_of(fence);
  self.processes = &nobody;
  self.members = 0;
  self.patience = 0;
  return gab_token_ask(&self, token, true, what);
}

gab_status gab_fence_close(gab_fence *fence)
{
  gab_verdict what = GAB_VERDICT_OURS;
  if (!fence) return GAB_OK;
  const gab_rank root = gab_world_root(fence->world);
  const bool asks = gab_world_rank(fence->world) == root;
  uint64_t token = fence->token;
  if (asks && ask_for_last(fence, &token, &what) != GAB_OK) {
    gab_log_all(GAB_LOG_ERROR, "%s", gab_error_message());
    what = GAB_VERDICT_NO_FOLDER;
  }
  if (asks) obey(what);
  fence->token = token;
  const gab_status status = spread(fence, root, &what);
  if (status == GAB_OK || asks) return GAB_OK;
  /* The root died or is cut off, before or after it took the token. */
  const gab_claimant self = claimant_of(fence);
  return gab_token_is_last(&self, token + 1) ? GAB_OK : status;
}

/* ---------------------------------------------------------------- beginning and end */

static gab_status begin_as_root(gab_fence *fence)
{
  uint64_t token;
  if (getrandom(&fence->job, sizeof fence->job, 0) != sizeof fence->job)
    GAB_FAIL(GAB_ERR_IO, "the system has no random number");
  const gab_claimant self = claimant_of(fence);
  GAB_TRY(gab_token_begin(&self, &token));
  fence->token = token;
  return GAB_OK;
}

gab_status gab_fence_begin(gab_world *world, const char *folder, double patience, gab_fence **fence)
{
  gab_fence *made;
  gab_verdict what = GAB_VERDICT_OURS;
  *fence = NULL;
  gab_status status = GAB_NEW(&made, GAB_MEMORY_OTHER);
  if (status == GAB_OK && strlen(folder) + 16 > GAB_FENCE_PATH)
    status = gab_error_set(GAB_ERR_INPUT, __FILE__, __LINE__, "the name of the output folder is too long");
  if (made) *made = (gab_fence){.world = world, .process = gab_world_process(world), .patience = patience};
  if (made) snprintf(made->folder, sizeof made->folder, "%.1180s/fencing", folder);
  if (status == GAB_OK && gab_world_is_root(world)) status = begin_as_root(made);
  status = gab_world_reduce_status(world, status);
  if (status == GAB_OK) status = spread(made, gab_world_root(world), &what);
  *fence = made;
  if (status == GAB_OK) gab_quarantine_set_folder(made->folder);
  if (status != GAB_OK) gab_fence_release(fence);
  return status;
}

void gab_fence_release(gab_fence **fence)
{
  if (*fence) gab_quarantine_set_folder(NULL);
  gab_free(fence);
}

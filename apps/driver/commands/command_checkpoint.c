/* SPDX-License-Identifier: Apache-2.0 */
/* gabion checkpoint: inspects checkpoints on disk, without a run and on one process. */
#include "apps/driver/driver.h"

#include "core/base/log.h"
#include "core/base/timer.h"
#include "resilience/disk/checkpoint_files.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static const char usage[] =
    "usage: gabion checkpoint list DIR\n"
    "       gabion checkpoint verify DIR\n"
    "       gabion checkpoint extract DIR --out TO [--block ID]\n"
    "\n"
    "DIR is the output folder of a run, its folder `checkpoints', or the folder of one step in it.\n"
    "\n"
    "  list      one line per checkpoint: step, format, time, size, processes, whether it is complete\n"
    "            (files with their sizes; verify reads their content)\n"
    "  verify    reads all files and compares them with their hashes; prints the format;\n"
    "            reports damage, then exit code 1\n"
    "  extract   writes parameters.txt (all parameters), state.txt (parameters that the state depends\n"
    "            on), replicated.bin, and for each block block_ID.bin, its serialised block; of the\n"
    "            newest complete checkpoint, or of the given step. Formats: doc/checkpoint-format.md\n"
    "\n"
    "  --out TO  folder to extract to\n"
    "  --block   only this block, by its id as verify and extract write it, e.g. 0x23\n";

/* ---------------------------------------------------------------- which checkpoints */

/* Calls `visit` for DIR itself if it is the folder of a step, else for all in it or in its `checkpoints'. */
static gab_status visit_all(const char *dir, gab_status (*visit)(void *user, gab_step step, const char *path),
                            void *user)
{
  char path[GAB_APP_PATH_LENGTH + 32];
  struct stat info;
  const char *name = strrchr(dir, '/');
  name = name ? name + 1 : dir;
  if (strlen(dir) >= GAB_APP_PATH_LENGTH)
    GAB_FAIL(GAB_ERR_INPUT, "the name of folder %.60s... is too long", dir);
  if (stat(dir, &info) != 0) GAB_FAIL(GAB_ERR_INPUT, "%s: %s", dir, strerror(errno));
  snprintf(path, sizeof path, "%s/manifest.json", dir);
  if (strncmp(name, "step_", 5) == 0 || access(path, F_OK) == 0)
    return visit(user, strncmp(name, "step_", 5) == 0 ? strtoll(name + 5, NULL, 10) : 0, dir);
  snprintf(path, sizeof path, "%s/checkpoints", dir);
  return gab_checkpoint_files_visit(access(path, F_OK) == 0 ? path : dir, visit, user);
}

/* ---------------------------------------------------------------- list */

static void print_line(gab_step step, const gab_manifest *manifest, const char *word)
{
  char when[GAB_DATE_CAPACITY] = "?", format[16] = "?";
  uint64_t bytes = 0;
  if (manifest->step >= 0) gab_local_date(manifest->written, when);
  if (manifest->format > 0) snprintf(format, sizeof format, "%d", manifest->format);
  for (size_t i = 0; i < manifest->file_count; i++) bytes += manifest->files[i].bytes;
  printf("%12" GAB_PRI_STEP "  %6s  %-19s  %10.1f MB  %9" PRId32 "  %s\n", step, format, when,
         1e-6 * (double)bytes, manifest->step >= 0 ? gab_members_count(&manifest->members) : 0, word);
}

static gab_status list_one(void *user, gab_step step, const char *path)
{
  int *count = user;
  gab_manifest manifest;
  gab_manifest_init(&manifest);
  manifest.format = 0; /* until its manifest says which */
  if ((*count)++ == 0)
    printf("%12s  %6s  %-19s  %13s  %9s  %s\n", "step", "format", "written", "size", "processes", "whole");
  gab_status status = gab_manifest_read(path, &manifest);
  if (status == GAB_OK) status = gab_manifest_check_files(&manifest, path);
  char why[600];
  snprintf(why, sizeof why, "no: %.500s", gab_error_message());
  print_line(step, &manifest, status == GAB_OK ? "yes" : why);
  gab_manifest_release(&manifest);
  return GAB_OK;
}

/* ---------------------------------------------------------------- verify */

typedef struct verification {
  int count, broken;
} verification;

static void tell_broken(void *user, const char *message)
{
  int *broken = user;
  (*broken)++;
  printf("    %s\n", message);
}

static gab_status verify_one(void *user, gab_step step, const char *path)
{
  verification *all = user;
  gab_manifest manifest;
  int broken = 0;
  gab_manifest_init(&manifest);
  printf("step %" GAB_PRI_STEP ": %s\n", step, path);
  gab_status status = gab_manifest_read(path, &manifest);
  if (status != GAB_OK) tell_broken(&broken, gab_error_message());
  else status = gab_checkpoint_files_verify(path, &manifest, tell_broken, &broken);
  if (status == GAB_OK && broken == 0)
    printf("    format %d, whole: %" PRIu64 " blocks of %" PRId32 " processes in %zu files\n",
           manifest.format, manifest.blocks, gab_members_count(&manifest.members), manifest.file_count);
  all->count++;
  all->broken += broken > 0;
  gab_manifest_release(&manifest);
  return broken > 0 ? GAB_OK : status;
}

/* ---------------------------------------------------------------- extract */

typedef struct extraction {
  const char *to;
  uint64_t block; /* GAB_NO_BLOCK: all */
  uint64_t written;
  bool done;
} extraction;

static gab_status write_file(const extraction *job, const char *name, const void *bytes, size_t count)
{
  char path[2 * GAB_APP_PATH_LENGTH];
  snprintf(path, sizeof path, "%s/%s", job->to, name);
  FILE *file = fopen(path, "wb");
  if (!file) GAB_FAIL(GAB_ERR_INPUT, "cannot write %s: %s", path, strerror(errno));
  bool fine = fwrite(bytes, 1, count, file) == count;
  fine = fclose(file) == 0 && fine;
  if (!fine) GAB_FAIL(GAB_ERR_IO, "cannot write %s: %s", path, strerror(errno));
  return GAB_OK;
}

static gab_status write_block(void *user, const gab_checkpoint_block *block)
{
  extraction *job = user;
  char name[64];
  if (job->block != GAB_NO_BLOCK && job->block != block->id) return GAB_OK;
  snprintf(name, sizeof name, "block_" GAB_PRI_BLOCK ".bin", block->id);
  job->written++;
  return write_file(job, name, block->record, block->bytes);
}

static gab_status extract(extraction *job, const char *path, const gab_manifest *manifest)
{
  gab_buffer replicated = {0};
  GAB_TRY(write_file(job, "parameters.txt", manifest->parameters.data, manifest->parameters.size));
  GAB_TRY(write_file(job, "state.txt", manifest->state.data, manifest->state.size));
  gab_status status = gab_checkpoint_files_replicated(path, manifest, &replicated);
  if (status == GAB_OK) status = write_file(job, "replicated.bin", replicated.data, replicated.size);
  gab_buffer_release(&replicated);
  GAB_TRY(status);
  return gab_checkpoint_files_blocks(path, manifest, write_block, job);
}

/* The newest checkpoint with all its files; a mismatch of its hashes ends the command. */
static gab_status extract_one(void *user, gab_step step, const char *path)
{
  extraction *job = user;
  gab_manifest manifest;
  if (job->done) return GAB_OK;
  gab_manifest_init(&manifest);
  gab_status status = gab_manifest_read(path, &manifest);
  if (status == GAB_OK) status = gab_manifest_check_files(&manifest, path);
  if (status != GAB_OK) {
    fprintf(stderr, "gabion: step %" GAB_PRI_STEP " cannot be used: %s\n", step, gab_error_message());
    status = GAB_OK;
  } else {
    job->done = true;
    status = extract(job, path, &manifest);
    if (status == GAB_OK)
      printf("step %" GAB_PRI_STEP ": %" PRIu64 " of %" PRIu64 " blocks are in %s\n", step, job->written,
             manifest.blocks, job->to);
  }
  gab_manifest_release(&manifest);
  return status;
}

static gab_status run_extract(const gab_app_options *options)
{
  extraction job = {.to = options->out};
  char *end = NULL;
  if (!options->out) GAB_FAIL(GAB_ERR_INPUT, "extract needs --out TO");
  if (options->block) job.block = strtoull(options->block, &end, 0);
  if (options->block && (*end || job.block == GAB_NO_BLOCK))
    GAB_FAIL(GAB_ERR_INPUT, "'%s': expected the id of a block, e.g. 0x23", options->block);
  if (mkdir(options->out, 0777) != 0 && errno != EEXIST)
    GAB_FAIL(GAB_ERR_INPUT, "cannot make %s: %s", options->out, strerror(errno));
  GAB_TRY(visit_all(options->word, extract_one, &job));
  if (!job.done) GAB_FAIL(GAB_ERR_INPUT, "no complete checkpoint in %s", options->word);
  if (job.written == 0 && job.block != GAB_NO_BLOCK)
    GAB_FAIL(GAB_ERR_INPUT, "no block " GAB_PRI_BLOCK " in it", job.block);
  return GAB_OK;
}

/* ---------------------------------------------------------------- */

static gab_status run(const char *verb, const gab_app_options *options, int *code)
{
  int count = 0;
  verification all = {0};
  if (!options->word)
    GAB_FAIL(GAB_ERR_INPUT, "checkpoint %s needs a folder (gabion checkpoint --help)", verb);
  if (strcmp(verb, "extract") == 0) return run_extract(options);
  if (strcmp(verb, "list") == 0) {
    GAB_TRY(visit_all(options->word, list_one, &count));
    if (count == 0) printf("no checkpoints in %s\n", options->word);
    return GAB_OK;
  }
  GAB_TRY(visit_all(options->word, verify_one, &all));
  if (all.count == 0) GAB_FAIL(GAB_ERR_INPUT, "no checkpoints in %s", options->word);
  *code = all.broken > 0;
  return GAB_OK;
}

int gab_app_command_checkpoint(int argc, char **argv)
{
  static const char *const verbs[] = {"list", "verify", "extract", NULL};
  gab_app_options options;
  const char *verb = argc > 0 ? argv[0] : "";
  int code = 0;
  bool known = false;
  for (int i = 0; verbs[i]; i++) known = known || strcmp(verb, verbs[i]) == 0;
  if (!known) {
    bool asked = strcmp(verb, "--help") == 0 || strcmp(verb, "-h") == 0;
    if (!asked && verb[0]) fprintf(stderr, "gabion: unknown command `checkpoint %s'\n", verb);
    gab_app_usage_put(usage, asked ? stdout : stderr);
    return asked ? 0 : 2;
  }
  gab_status status = gab_app_options_parse(argc - 1, argv + 1, "ob", &options);
  if (status == GAB_OK && options.help) {
    gab_app_usage_put(usage, stdout);
    return 0;
  }
  if (status == GAB_OK) status = run(verb, &options, &code);
  if (status == GAB_OK) return code;
  fprintf(stderr, "gabion: %s\n", gab_error_message());
  return gab_status_exit_code(status);
}

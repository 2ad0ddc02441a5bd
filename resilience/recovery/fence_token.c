/* SPDX-License-Identifier: Apache-2.0 */
/* Files of fencing tokens, and the steps of one process to obtain the next token for its part of the run. */
#include "resilience/recovery/fence_impl.h"

#include "core/system/file.h"
#include "core/system/run_file.h"
#include "core/base/log.h"

#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

enum { PATH_CAPACITY = GAB_FENCE_PATH + 32, MOST_BYTES = 1 << 26, LOOK_EVERY_MS = 20, MOST_FAILURES = 50 };

/* ---------------------------------------------------------------- one token */

/* Tokens call processes seats. */

/* Processes that a token names: those alive in the world of the part that created it. */
typedef struct token {
  uint64_t job;
  gab_members processes;
  int32_t members; /* those of them that ran a rank */
} token;

static void token_path(const gab_claimant *claimant, uint64_t number, char path[PATH_CAPACITY])
{
  snprintf(path, PATH_CAPACITY, "%s/%" PRIu64, claimant->folder, number);
}

static gab_status format_token(const gab_claimant *claimant, uint64_t number, gab_buffer *text)
{
  const gab_members *processes = claimant->processes;
  char line[192], host[64] = "";
  gethostname(host, sizeof host - 1);
  snprintf(line, sizeof line,
           "token %" PRIu64 "\njob %016" PRIx64 "\nepoch %" GAB_PRI_EPOCH "\nhost %s\nmembers %" PRId32
           "\nseats %" PRId32 "\ngone",
           number, claimant->job, claimant->epoch, host, claimant->members, processes->ranks);
  GAB_TRY(gab_put_bytes(text, line, strlen(line)));
  for (int32_t i = 0; i < processes->gone_count; i++) {
    snprintf(line, sizeof line, " %" PRId32, processes->gone[i]);
    GAB_TRY(gab_put_bytes(text, line, strlen(line)));
  }
  return gab_put_bytes(text, " end\n", 5);
}

static const char *behind(const char *text, const char *key)
{
  const char *found = strstr(text, key);
  return found ? found + strlen(key) : NULL;
}

static gab_status parse_token(const char *path, const char *text, token *found)
{
  const char *job = behind(text, "\njob "), *members = behind(text, "\nmembers "),
             *processes = behind(text, "\nseats "), *gone = behind(text, "\ngone");
  if (!job || !members || !processes || !gone || !strstr(gone, " end\n"))
    GAB_FAIL(GAB_ERR_IO, "%s is not a fencing token", path);
  found->job = strtoull(job, NULL, 16);
  found->members = (int32_t)strtol(members, NULL, 10);
  gab_members_init(&found->processes, (gab_rank)strtol(processes, NULL, 10));
  for (char *next;; gone = next) {
    const long process = strtol(gone, &next, 10);
    if (next == gone) return GAB_OK;
    GAB_TRY(gab_members_remove(&found->processes, (gab_rank)process));
  }
}

/* @param[in,out] found  initialised */
static gab_status read_token(const gab_claimant *claimant, uint64_t number, token *found)
{
  char path[PATH_CAPACITY];
  gab_buffer text = {0};
  token_path(claimant, number, path);
  gab_status status = gab_file_read(path, MOST_BYTES, &text);
  if (status == GAB_OK) status = gab_put_u8(&text, 0);
  if (status == GAB_OK) status = parse_token(path, (const char *)text.data, found);
  gab_buffer_release(&text);
  return status;
}

/* @param[out] mine  it names this process  @param[out] members  that the part had; NULL */
static gab_status look_at(const gab_claimant *claimant, uint64_t number, bool *mine, int32_t *members)
{
  token found = {.members = 0};
  gab_members_init(&found.processes, 0);
  const gab_status status = read_token(claimant, number, &found);
  *mine =
      status == GAB_OK && found.job == claimant->job && gab_members_has(&found.processes, claimant->process);
  if (members) *members = found.members;
  gab_members_release(&found.processes);
  return status;
}

/* @param[out] newest  0 if there is none */
static gab_status find_newest(const gab_claimant *claimant, uint64_t *newest)
{
  *newest = 0;
  DIR *entries = opendir(claimant->folder);
  if (!entries) GAB_FAIL(GAB_ERR_IO, "cannot look into %s: %s", claimant->folder, strerror(errno));
  for (struct dirent *entry; (entry = readdir(entries));) {
    char *end;
    const uint64_t number = strtoull(entry->d_name, &end, 10);
    if (*end == '\0' && number > *newest) *newest = number;
  }
  closedir(entries);
  return GAB_OK;
}

static void remove_up_to(const gab_claimant *claimant, uint64_t last)
{
  DIR *entries = opendir(claimant->folder);
  if (!entries) return;
  for (struct dirent *entry; (entry = readdir(entries));) {
    char *end;
    const uint64_t number = strtoull(entry->d_name, &end, 10);
    const bool is_old = *end == '\0' && number > 0 && number <= last;
    const bool is_left =
        strstr(entry->d_name, ".new.") != NULL || /* by a process that died while it wrote the file */
        strncmp(entry->d_name, ".look.", 6) == 0 ||
        strncmp(entry->d_name, "cut-", 4) == 0; /* in an earlier job (core/world/quarantine.h) */
    if (is_old || is_left) unlinkat(dirfd(entries), entry->d_name, 0);
  }
  closedir(entries);
}

/* @param[out] made  false: another process created it first */
static gab_status make_token(const gab_claimant *claimant, uint64_t number, bool *made)
{
  char path[PATH_CAPACITY];
  gab_buffer text = {0};
  *made = false;
  token_path(claimant, number, path);
  gab_status status = format_token(claimant, number, &text);
  if (status == GAB_OK) status = gab_file_create(path, text.data, text.size, made);
  gab_buffer_release(&text);
  return status;
}

/* ---------------------------------------------------------------- asking for the next */

/* The other processes of the part wait for this one, and must not declare it dead. */
static gab_status nap(const gab_claimant *claimant)
{
  if (claimant->world) return gab_world_nap(claimant->world, 1e-3 * LOOK_EVERY_MS);
  nanosleep(&(struct timespec){.tv_nsec = LOOK_EVERY_MS * 1000000L}, NULL);
  return GAB_OK;
}

/* The number after `token`, or the newest if newer tokens have replaced that one; 0: none. */
static gab_status find_next(const gab_claimant *claimant, uint64_t token, uint64_t *next)
{
  char path[PATH_CAPACITY];
  GAB_TRY(find_newest(claimant, next));
  token_path(claimant, token + 1, path);
  if (*next <= token) *next = 0;
  else if (access(path, F_OK) == 0) *next = token + 1;
  return GAB_OK;
}

/* Skips tokens that name this process. @param[out] there  the next token belongs to another part */
static gab_status pass_own(const gab_claimant *claimant, uint64_t *token, bool *there)
{
  for (int failures = 0;;) {
    uint64_t next;
    bool mine;
    *there = false;
    GAB_TRY(find_next(claimant, *token, &next));
    if (next == 0) return GAB_OK;
    const gab_status status = look_at(claimant, next, &mine, NULL);
    if (status != GAB_OK && ++failures == MOST_FAILURES)
      return status; /* else it may have been removed meanwhile */
    if (status != GAB_OK) {
      GAB_TRY(nap(claimant));
      continue;
    }
    *there = !mine;
    if (!mine) return GAB_OK;
    *token = next;
  }
}

/* A part that has lost at least half may be the smaller one: the other part goes first. */
static double time_to_wait(const gab_claimant *claimant, uint64_t token, bool can_go_on)
{
  int32_t before = 0;
  bool mine;
  if (!can_go_on) return 2 * claimant->patience;
  if (look_at(claimant, token, &mine, &before) != GAB_OK) return 0; /* removed after a newer one */
  return 2 * claimant->members <= before ? claimant->patience : 0;
}

gab_status gab_token_ask(const gab_claimant *claimant, uint64_t *token, bool can_go_on, gab_verdict *what)
{
  const double until = gab_seconds() + time_to_wait(claimant, *token, can_go_on);
  for (;;) {
    bool there, made = false;
    GAB_TRY(pass_own(claimant, token, &there));
    *what = GAB_VERDICT_THEIRS;
    if (there) return GAB_OK;
    if (gab_seconds() < until) {
      GAB_TRY(nap(claimant));
      continue;
    }
    GAB_TRY(make_token(claimant, *token + 1, &made));
    *what = GAB_VERDICT_OURS;
    if (!made) continue;
    ++*token;
    GAB_TRY(pass_own(claimant, token, &there)); /* the folder was cleared behind a newer one */
    if (there) *what = GAB_VERDICT_THEIRS;
    return GAB_OK;
  }
}

bool gab_token_is_theirs(const gab_claimant *claimant, uint64_t token)
{
  char path[PATH_CAPACITY];
  bool mine;
  token_path(claimant, token + 1, path);
  return access(path, F_OK) == 0 && look_at(claimant, token + 1, &mine, NULL) == GAB_OK && !mine;
}

bool gab_token_is_last(const gab_claimant *claimant, uint64_t number)
{
  token found = {.members = 0};
  gab_members_init(&found.processes, 0);
  const bool is_last = read_token(claimant, number, &found) == GAB_OK && found.job == claimant->job &&
                       found.processes.ranks == 0;
  gab_members_release(&found.processes);
  return is_last;
}

gab_status gab_token_begin(const gab_claimant *claimant, uint64_t *token)
{
  char why[GAB_RUN_FILE_WHY];
  if (!gab_run_folder_is_safe(claimant->folder, why)) GAB_FAIL(GAB_ERR_IO, "%s", why);
  if (mkdir(claimant->folder, 0777) != 0 && errno != EEXIST)
    GAB_FAIL(GAB_ERR_IO, "cannot make the folder %s: %s", claimant->folder, strerror(errno));
  for (bool made = false; !made;) {
    uint64_t newest;
    GAB_TRY(find_newest(claimant, &newest));
    *token = newest + 1;
    GAB_TRY(make_token(claimant, *token, &made));
  }
  remove_up_to(claimant, *token - 1);
  return GAB_OK;
}

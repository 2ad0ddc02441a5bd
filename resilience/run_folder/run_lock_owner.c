/* SPDX-License-Identifier: Apache-2.0 */
/* The owner of a lock, and whether it is alive. */
#include "resilience/run_folder/run_lock_impl.h"

#include "core/base/text/json.h"
#include "core/system/process.h"
#include "core/base/timer.h"
#include "resilience/reports/completion.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <unistd.h>

/* ---------------------------------------------------------------- processes of this machine */

static lock_process process_of(long pid)
{
  const uint64_t started = gab_process_start(pid);
  return (lock_process){.pid = started ? pid : 0, .started = started};
}

static bool lives(lock_process process) { return gab_process_lives(process.pid, process.started); }

static bool is_named(long pid, const char *name)
{
  char path[64], text[64] = "";
  snprintf(path, sizeof path, "/proc/%ld/comm", pid);
  FILE *file = fopen(path, "r");
  if (!file) return false;
  const bool read = fgets(text, sizeof text, file) != NULL;
  fclose(file);
  text[strcspn(text, "\n")] = '\0';
  return read && strcmp(text, name) == 0;
}

/* The launcher (GABION_LAUNCHER is "PID HOST"), else the mpirun above a process of several. */
static lock_process find_starter(const char *host, int processes)
{
  lock_process found = {.pid = 0};
  const char *launcher = getenv("GABION_LAUNCHER");
  char there[GAB_LOCK_WORD] = "";
  long pid = 0;
  if (launcher && sscanf(launcher, "%ld %127s", &pid, there) == 2) {
    if (strcmp(there, host) == 0 && is_named(pid, "gabion-launch")) found = process_of(pid);
  } else if (processes > 1 &&
             (getenv("PMIX_NAMESPACE") || getenv("PMI_RANK") || getenv("OMPI_COMM_WORLD_SIZE"))) {
    found = process_of(getppid());
  }
  return found;
}

/* "" if unknown. */
static void find_machine(char machine[GAB_LOCK_WORD])
{
  const gab_process_space here = gab_process_space_here();
  machine[0] = '\0';
  if (gab_process_space_is_known(&here)) snprintf(machine, GAB_LOCK_WORD, "%s %s", here.boot, here.numbering);
}

void gab_lock_make_id(char id[GAB_LOCK_WORD])
{
  uint64_t chance = 0;
  if (getrandom(&chance, sizeof chance, 0) != sizeof chance) {
    struct timespec now;
    clock_gettime(CLOCK_REALTIME, &now);
    chance = (uint64_t)now.tv_sec * 1000003 + (uint64_t)now.tv_nsec + ((uint64_t)getpid() << 40);
  }
  snprintf(id, GAB_LOCK_WORD, "%016" PRIx64, chance);
}

void gab_lock_owner_self(const char *run, int processes, double since, lock_owner *owner)
{
  const char *launch = getenv("GABION_LAUNCH_ID");
  *owner = (lock_owner){.attempt = gab_launch_attempt(), .processes = processes, .since = since};
  snprintf(owner->run, sizeof owner->run, "%s", run);
  snprintf(owner->launch, sizeof owner->launch, "%s", launch ? launch : "");
  gethostname(owner->host, sizeof owner->host - 1);
  find_machine(owner->machine);
  owner->root = process_of(getpid());
  owner->starter = find_starter(owner->host, processes);
}

/* ---------------------------------------------------------------- as text */

gab_status gab_lock_owner_format(const lock_owner *owner, gab_buffer *text)
{
  gab_json *json = gab_json_begin(GAB_JSON_LINE);
  gab_json_text(json, "what", "gabion run");
  gab_json_text(json, "run", owner->run);
  gab_json_text(json, "launch", owner->launch);
  gab_json_int(json, "attempt", owner->attempt);
  gab_json_text(json, "host", owner->host);
  gab_json_int(json, "pid", owner->root.pid);
  gab_json_uint(json, "pid_started", owner->root.started);
  gab_json_int(json, "starter", owner->starter.pid);
  gab_json_uint(json, "starter_started", owner->starter.started);
  gab_json_int(json, "processes", owner->processes);
  gab_json_rounded(json, "since", owner->since, 3);
  gab_json_text(json, "machine", owner->machine);
  return gab_json_end(&json, text);
}

bool gab_lock_owner_parse(const char *text, size_t length, lock_owner *owner)
{
  *owner = (lock_owner){.attempt = 0};
  if (length == 0 || text[length - 1] != '\n') return false; /* being written */
  gab_json_document *document = gab_json_read(text, length);
  if (!document) return false;
  gab_json_get_text(document, "/run", owner->run, sizeof owner->run);
  gab_json_get_text(document, "/launch", owner->launch, sizeof owner->launch);
  gab_json_get_text(document, "/host", owner->host, sizeof owner->host);
  gab_json_get_text(document, "/machine", owner->machine, sizeof owner->machine);
  owner->attempt = (int)gab_json_get_int(document, "/attempt");
  owner->root = (lock_process){.pid = (long)gab_json_get_int(document, "/pid"),
                               .started = (uint64_t)gab_json_get_int(document, "/pid_started")};
  owner->starter = (lock_process){.pid = (long)gab_json_get_int(document, "/starter"),
                                  .started = (uint64_t)gab_json_get_int(document, "/starter_started")};
  owner->processes = (int)gab_json_get_int(document, "/processes");
  owner->since = gab_json_get_real(document, "/since");
  gab_json_forget(&document);
  return owner->run[0] != '\0';
}

const char *gab_lock_owner_describe(const lock_owner *owner, char *text, size_t capacity)
{
  char date[GAB_DATE_CAPACITY];
  if (!owner->run[0]) snprintf(text, capacity, "a run that its file does not name");
  else
    snprintf(text, capacity, "run %.32s (process %ld on %s, since %s)", owner->run, owner->root.pid,
             owner->host, gab_local_date(owner->since, date));
  return text;
}

/* ---------------------------------------------------------------- the verdict */

lock_verdict gab_lock_owner_judge(const lock_owner *owner, const lock_owner *self)
{
  const char *before =
      getenv("GABION_SUCCEEDS"); /* an earlier launcher that this one has found dead together with its job */
  if (owner->launch[0] && before && strcmp(owner->launch, before) == 0) return LOCK_BEFORE;
  if (owner->launch[0] && strcmp(owner->launch, self->launch) == 0 && owner->attempt < self->attempt)
    return LOCK_BEFORE;
  const bool here = owner->machine[0] && strcmp(owner->machine, self->machine) == 0;
  if (!here) return LOCK_UNSEEN;
  if (lives(owner->root) || lives(owner->starter)) return LOCK_LIVES;
  /* In a job of several processes the root may be dead and about to be replaced. */
  return owner->processes == 1 || owner->starter.pid > 0 ? LOCK_DEAD : LOCK_UNSEEN;
}

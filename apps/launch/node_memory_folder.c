/* SPDX-License-Identifier: Apache-2.0 */
/* Folder on each node, GABION_NODE_MEMORY, with the state from which the next attempt resumes. The launcher creates
 * it before the start of the run under an unguessable name. It also creates the random id of the run with which all
 * data is stamped (GABION_RUN, in the environment, so that lists of arguments do not show it). A record in the
 * folder names its owner, so that the next launcher of this user can distinguish folders in use, obsolete ones, and
 * those from which the same command can resume. On other nodes `gabion-launch --on-node`, started by the agent, does
 * the same; it reads the record from standard input. */
#include "apps/launch/launch.h"

#include "core/system/own_folder.h"
#include "core/system/process.h"
#include "core/system/shared_file.h"
#include "core/system/leftovers.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#define PREFIX          "gabion-node-"
#define RECORD          "run"
#define KEPT            "kept" /* exists if the launcher has told the user that the same command resumes from here */
#define ENDING_SECONDS  10    /* time for the job of a killed launcher to end */
#define FORGOTTEN_AFTER 86400 /* seconds after which a folder of an unreachable launcher is obsolete */

/* ---------------------------------------------------------------- owner of a folder */

typedef struct record {
  char id[33];             /* of the run */
  char command[17];        /* hash of folder and command line */
  char launch[17];         /* GABION_LAUNCH_ID of the launcher: locks of output folders name it */
  gab_process_space space; /* of the launcher: the scope of its process id */
  long pid;
  unsigned long long start; /* of the launcher's process */
  long long since;          /* seconds since 1970 when the run began */
} record;

#define GONE "gone"
#define FORM "gabion-run 2\nid %s\ncommand %s\nlaunch %s\nboot %s\nspace %s\npid %ld %llu\nsince %lld\n"

/* A folder in the list of a node: state, name, record. */
#define LINE "%s %s %s %s %s %s %s %ld %llu %lld\n"

static bool record_parse(const char *text, record *is)
{
  return sscanf(
             text,
             "gabion-run 2\nid %32s\ncommand %16s\nlaunch %16s\nboot %39s\nspace %39s\npid %ld %llu\nsince %lld",
             is->id, is->command, is->launch, is->space.boot, is->space.numbering, &is->pid, &is->start,
             &is->since) == 8;
}

static void record_print(const record *is, char *text, size_t capacity)
{
  snprintf(text, capacity, FORM, is->id, is->command, is->launch, is->space.boot, is->space.numbering,
           is->pid, is->start, is->since);
}

static bool record_read(int folder, record *is)
{
  char text[512], why[GAB_OWN_WHY];
  const int file = gab_own_file_open(folder, RECORD, O_RDONLY, why);
  const ssize_t got = file >= 0 ? read(file, text, sizeof text - 1) : -1;
  if (file >= 0) close(file);
  if (got <= 0) return false;
  text[got] = '\0';
  return record_parse(text, is);
}

static bool record_write(int folder, const record *is)
{
  char text[512], why[GAB_OWN_WHY];
  record_print(is, text, sizeof text);
  const size_t length = strlen(text);
  const int file = gab_own_file_open(folder, RECORD ".new", O_WRONLY | O_CREAT | O_TRUNC, why);
  bool fine = file >= 0 && write(file, text, length) == (ssize_t)length;
  if (file >= 0) fine = close(file) == 0 && fine;
  return fine && renameat(folder, RECORD ".new", folder, RECORD) == 0;
}

typedef enum owner { OWNER_LIVES, OWNER_GONE, OWNER_UNKNOWN } owner;

static owner owner_of(const record *is)
{
  const gab_process_space here = gab_process_space_here();
  if (is->start == 0 || !gab_process_space_is_same(&here, &is->space)) return OWNER_UNKNOWN;
  return gab_process_lives(is->pid, is->start) ? OWNER_LIVES : OWNER_GONE;
}

/* ---------------------------------------------------------------- on a node */

typedef enum find { FIND_IN_USE, FIND_LEFT, FIND_KEPT, FIND_ENDING, FIND_UNKNOWN, FIND_FORGOTTEN } find;

static bool is_old(int folder)
{
  struct stat status;
  return fstat(folder, &status) == 0 && time(NULL) - status.st_mtime > FORGOTTEN_AFTER;
}

static bool is_kept(int folder) { return faccessat(folder, KEPT, F_OK, AT_SYMLINK_NOFOLLOW) == 0; }

/* Processes of a run hold a shared lock on its folder. Without processes its launcher may be about to restart it.
 * @param[in] folder opened; a folder neither in use nor ending is locked until it is closed @param[in] gone ids of
 * runs with a dead launcher, since launchers of other machines cannot be checked here */
static find look_at(int folder, const char *gone, record *is)
{
  const bool known = record_read(folder, is);
  owner state = known ? owner_of(is) : OWNER_UNKNOWN;
  if (known && state == OWNER_UNKNOWN && strstr(gone, is->id)) state = OWNER_GONE;
  if (state == OWNER_LIVES) return FIND_IN_USE;
  if (flock(folder, LOCK_EX | LOCK_NB) != 0) return known ? FIND_ENDING : FIND_IN_USE;
  if (state == OWNER_GONE) return is_kept(folder) && !is_old(folder) ? FIND_KEPT : FIND_LEFT;
  return is_old(folder) ? FIND_FORGOTTEN : known ? FIND_UNKNOWN : FIND_IN_USE;
}

/* Visits the folders of this user's runs. @param[in] out lists folders without a live launcher, as seen here; NULL:
 * removes obsolete folders @param[in] command of this launcher: its folders from which it does not resume are
 * obsolete; "": none */
static void sweep(const char *parent, const char *gone, const char *command, FILE *out)
{
  static const char *const names[] = {[FIND_LEFT] = "left",
                                      [FIND_KEPT] = "left",
                                      [FIND_ENDING] = "ending",
                                      [FIND_UNKNOWN] = "unknown",
                                      [FIND_FORGOTTEN] = "unknown"};
  char why[GAB_OWN_WHY];
  const int place = open(parent, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  DIR *entries = opendir(parent);
  for (struct dirent *entry; place >= 0 && entries && (entry = readdir(entries));) {
    record is = {.id = ""};
    if (strncmp(entry->d_name, PREFIX, strlen(PREFIX)) != 0) continue;
    const int folder = gab_own_folder_open(place, entry->d_name, false, why);
    if (folder < 0) continue;
    const find found = look_at(folder, gone, &is);
    if (out && found != FIND_IN_USE && is.id[0])
      fprintf(out, LINE, names[found], entry->d_name, is.id, is.command, is.launch, is.space.boot,
              is.space.numbering, is.pid, is.start, is.since);
    const bool is_own = found == FIND_KEPT && strcmp(is.command, command) == 0;
    if (!out && (found == FIND_LEFT || found == FIND_FORGOTTEN || is_own))
      gab_own_folder_remove(place, entry->d_name);
    close(folder);
  }
  if (entries) closedir(entries);
  if (place >= 0) close(place);
}

/* Creates the folder, or takes it over from a dead launcher; then removes obsolete ones. @return false with the
 * reason */
static bool make(const char *parent, const char *name, const record *mine, const char *gone,
                 char why[GAB_OWN_WHY])
{
  char path[2 * LAUNCH_PATH];
  record is = {.id = ""};
  snprintf(path, sizeof path, "%s/%s", parent, name);
  const int folder = gab_own_folder_open(AT_FDCWD, path, true, why);
  if (folder < 0) return false;
  bool fine = !record_read(folder, &is);
  if (!fine && strcmp(is.id, mine->id) == 0) {
    const bool is_mine = is.pid == mine->pid && is.start == mine->start;
    const find found = is_mine ? FIND_IN_USE : look_at(folder, gone, &is);
    fine = is_mine || found == FIND_LEFT || found == FIND_KEPT;
  }
  if (!fine) snprintf(why, GAB_OWN_WHY, "%.150s is in use by another run", path);
  else if (!(fine = record_write(folder, mine)))
    snprintf(why, GAB_OWN_WHY, "cannot write in %.150s: %s", path, strerror(errno));
  else (void)unlinkat(folder, KEPT, 0);
  close(folder);
  sweep(parent, gone, mine->command, NULL);
  return fine;
}

/* Creates the marker, which also sets the time from which the age of the folder counts. */
static bool keep(const char *parent, const char *name)
{
  char path[2 * LAUNCH_PATH], why[GAB_OWN_WHY];
  snprintf(path, sizeof path, "%s/%s", parent, name);
  const int folder = gab_own_folder_open(AT_FDCWD, path, false, why);
  const int file = folder >= 0 ? gab_own_file_open(folder, KEPT, O_WRONLY | O_CREAT, why) : -1;
  if (folder >= 0) close(folder);
  return file >= 0 && close(file) == 0;
}

/* What killed daemons and processes have left on this node. */
static void sweep_leftovers(void)
{
  (void)gab_leftovers_sweep(NULL, NULL);
  (void)gab_shared_file_sweep();
}

int launch_on_node(int count, char **words)
{
  static char text[LAUNCH_SAID];
  char path[2 * LAUNCH_PATH], why[GAB_OWN_WHY];
  record mine;
  const size_t got = fread(text, 1, sizeof text - 1, stdin);
  text[got] = '\0';
  sweep_leftovers();
  if (count == 3 && !strcmp(words[0], "remove")) {
    snprintf(path, sizeof path, "%s/%s", words[1], words[2]);
    return gab_own_folder_remove(AT_FDCWD, path) ? 0 : LAUNCH_NO_COMPLETION;
  }
  if (count == 3 && !strcmp(words[0], "keep")) return keep(words[1], words[2]) ? 0 : LAUNCH_NO_COMPLETION;
  if (count < 2 || !record_parse(text, &mine)) {
    printf("gabion-launch --on-node is for gabion-launch itself\n");
    return LAUNCH_BAD_USAGE;
  }
  if (count == 2 && !strcmp(words[0], "list")) {
    sweep(words[1], "", "", stdout);
    return 0;
  }
  if (count != 3 || strcmp(words[0], "make") != 0) return LAUNCH_BAD_USAGE;
  const char *gone = strstr(text, GONE);
  if (make(words[1], words[2], &mine, gone ? gone : "", why)) return 0;
  printf("%s\n", why);
  return LAUNCH_NO_COMPLETION;
}

/* ---------------------------------------------------------------- on all nodes */

static const char *place(void)
{
  const char *temporary = getenv("TMPDIR");
  return access("/dev/shm", W_OK) == 0 ? "/dev/shm" : temporary && *temporary ? temporary : "/tmp";
}

static uint64_t hash_of(uint64_t hash, const char *text)
{
  for (const char *at = text;; at++) { /* FNV-1a, with the zero at the end */
    hash = (hash ^ (unsigned char)*at) * UINT64_C(1099511628211);
    if (!*at) return hash;
  }
}

static void random_name(char text[33])
{
  unsigned char bytes[16];
  for (size_t have = 0; have < sizeof bytes;) {
    const ssize_t got = getrandom(bytes + have, sizeof bytes - have, 0);
    if (got > 0) have += (size_t)got;
  }
  for (size_t i = 0; i < sizeof bytes; i++) snprintf(text + 2 * i, 3, "%02x", bytes[i]);
}

static record describe_run(const launch_options *options)
{
  record is = {
      .pid = (long)getpid(), .start = gab_process_start((long)getpid()), .since = (long long)time(NULL)};
  char folder[LAUNCH_PATH] = "";
  uint64_t hash = UINT64_C(14695981039346656037);
  is.space = gab_process_space_here();
  random_name(is.id);
  snprintf(is.launch, sizeof is.launch, "%s", getenv("GABION_LAUNCH_ID"));
  if (getcwd(folder, sizeof folder)) hash = hash_of(hash, folder);
  for (char **word = options->program; *word; word++) hash = hash_of(hash, *word);
  snprintf(is.command, sizeof is.command, "%016llx", (unsigned long long)hash);
  return is;
}

/* Answers of all nodes, and conclusions. */
typedef struct survey {
  launch_memory *memory;
  record *mine;
  long long newest;       /* start of the newest run of this command that can be resumed */
  bool ending;            /* the job of another run is still ending */
  char before[17];        /* GABION_LAUNCH_ID of the launcher whose state is resumed */
  char gone[LAUNCH_SAID]; /* ids of runs with a dead launcher */
} survey;

static void read_line(const char *line, survey *all)
{
  char state[8], name[80];
  record is;
  if (sscanf(line, "%7s %79s %32s %16s %16s %39s %39s %ld %llu %lld", state, name, is.id, is.command,
             is.launch, is.space.boot, is.space.numbering, &is.pid, &is.start, &is.since) != 10)
    return;
  if (strcmp(state, "left") != 0 && owner_of(&is) != OWNER_GONE) return;
  const size_t used = strlen(all->gone);
  if (!strstr(all->gone, is.id)) snprintf(all->gone + used, sizeof all->gone - used, " %s", is.id);
  if (strcmp(is.command, all->mine->command) != 0) return;
  if (!strcmp(state, "ending")) all->ending = true;
  else if (is.since > all->newest) {
    all->newest = is.since;
    all->memory->found = true;
    snprintf(all->memory->name, sizeof all->memory->name, "%s", name);
    snprintf(all->mine->id, sizeof all->mine->id, "%s", is.id);
    snprintf(all->before, sizeof all->before, "%s", is.launch);
  }
}

static void read_list(const char *text, survey *all)
{
  for (const char *line = text; line && *line; line = strchr(line, '\n') ? strchr(line, '\n') + 1 : NULL)
    read_line(line, all);
}

static void list_all(const launch_options *options, survey *all)
{
  char text[512];
  record_print(all->mine, text, sizeof text);
  all->ending = false;
  snprintf(all->gone, sizeof all->gone, GONE);
  if (!options->hosts) {
    char *listed = NULL;
    size_t size;
    FILE *out = open_memstream(&listed, &size);
    if (!out) return;
    sweep(all->memory->parent, "", "", out);
    fclose(out);
    read_list(listed, all);
    free(listed);
    return;
  }
  launch_call *calls;
  const char *words[] = {launch_own_path(), "--on-node", "list", all->memory->parent, NULL};
  const int count = launch_call_hosts(options->hosts, options->agent, words, text, &calls);
  for (int i = 0; i < count; i++) read_list(calls[i].said, all);
  launch_calls_free(calls, count);
}

/* Whether the command requests a new start, without resuming. */
static bool starts_anew(const launch_options *options)
{
  for (char **word = options->program; *word; word++)
    if (!strcmp(*word, "--fresh")) return true;
  return false;
}

static void find_left(const launch_options *options, survey *all)
{
  const record fresh = *all->mine;
  const launch_memory nowhere = *all->memory;
  const double until = launch_seconds() + ENDING_SECONDS;
  for (bool told = false;; told = true) {
    list_all(options, all);
    if (starts_anew(options)) { /* existing state is obsolete */
      *all->mine = fresh;
      *all->memory = nowhere;
      return;
    }
    if (!all->ending || launch_seconds() > until) break;
    if (!told) launch_say("waiting for the end of processes of an earlier launcher of this command");
    nanosleep(&(struct timespec){0, 200000000}, NULL);
  }
  if (all->memory->found)
    launch_say("an earlier launcher of this command has left its state in node memory: resuming from"
               " there");
}

/* @return false if a node refused, e.g. since another launcher was faster */
static bool make_all(const launch_options *options, const survey *all)
{
  static char text[2 * LAUNCH_SAID];
  char why[GAB_OWN_WHY];
  const launch_memory *memory = all->memory;
  record_print(all->mine, text, sizeof text);
  strncat(text, all->gone, sizeof text - strlen(text) - 1);
  if (!options->hosts) {
    if (make(memory->parent, memory->name, all->mine, all->gone, why)) return true;
    launch_say("no folder for snapshots: %s", why);
    return false;
  }
  launch_call *calls;
  const char *words[] = {launch_own_path(), "--on-node", "make", memory->parent, memory->name, NULL};
  const int count = launch_call_hosts(options->hosts, options->agent, words, text, &calls);
  bool fine = true;
  for (int i = 0; i < count; i++)
    if (calls[i].code != 0) {
      fine = false;
      calls[i].said[strcspn(calls[i].said, "\n")] = '\0';
      launch_say("node %s: no folder for snapshots could be made%s%s", calls[i].host,
                 calls[i].said[0] ? ": " : "", calls[i].said);
    }
  launch_calls_free(calls, count);
  return fine;
}

void launch_memory_begin(const launch_options *options, launch_memory *memory)
{
  *memory = (launch_memory){.name = ""};
  snprintf(memory->parent, sizeof memory->parent, "%.900s", place());
  sweep_leftovers();
  unsetenv("GABION_SUCCEEDS"); /* of a launcher that started this one */
  if (options->relaunches == 0) {
    sweep(memory->parent, "", "", NULL);
    return;
  }
  char unguessable[33];
  static survey all;
  record mine = describe_run(options);
  random_name(unguessable);
  snprintf(memory->name, sizeof memory->name, PREFIX "%s", unguessable);
  all = (survey){.memory = memory, .mine = &mine, .newest = -1};
  find_left(options, &all);
  const bool made = make_all(options, &all);
  char folder[2 * LAUNCH_PATH];
  snprintf(folder, sizeof folder, "%s/%s", memory->parent, memory->name);
  setenv("GABION_NODE_MEMORY", folder, 1);
  setenv("GABION_RUN", mine.id, 1);
  /* No process of that launcher's job is alive on any node, so its lock of the output folder is void. */
  if (memory->found && made) setenv("GABION_SUCCEEDS", all.before, 1);
}

void launch_memory_end(const char *hosts, const char *agent, const launch_memory *memory)
{
  sweep_leftovers();
  if (!memory->name[0]) return;
  char folder[2 * LAUNCH_PATH];
  snprintf(folder, sizeof folder, "%s/%s", memory->parent, memory->name);
  gab_own_folder_remove(AT_FDCWD, folder);
  if (!hosts) return;
  launch_call *calls;
  const char *words[] = {launch_own_path(), "--on-node", "remove", memory->parent, memory->name, NULL};
  const int count = launch_call_hosts(hosts, agent, words, "", &calls);
  launch_calls_free(calls, count);
}

void launch_memory_keep(const char *hosts, const char *agent, const launch_memory *memory)
{
  (void)keep(memory->parent, memory->name);
  if (!hosts) return;
  launch_call *calls;
  const char *words[] = {launch_own_path(), "--on-node", "keep", memory->parent, memory->name, NULL};
  const int count = launch_call_hosts(hosts, agent, words, "", &calls);
  launch_calls_free(calls, count);
}

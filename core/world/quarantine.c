/* SPDX-License-Identifier: Apache-2.0 */
/* The watch thread and its record of silent addresses. */
#include "core/world/quarantine.h"

#include "core/world/connections.h"
#include "core/system/file.h"
#include "core/base/log.h"

#include <arpa/inet.h>
#include <dirent.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

enum { FOLDER_CAPACITY = 1200, PATH_CAPACITY = FOLDER_CAPACITY + 32, MOST_ADDRESSES = 1024 };
#define LOOKS_AT_EASE 20.0 /* per limit of silence, without silent addresses */
#define LOOKS_IN_NEED 200.0
#define SHORTEST_NAP  0.02
#define LONGEST_NAP   1.0

typedef struct neighbour {
  gab_address address;
  double asked_since; /* time of the first keep-alive on its newest connection */
  double silent;      /* seconds since then, of the least silent connection */
  bool asked;         /* an answer is pending on one of them */
  double noted;       /* time of its last long silence; negative: never */
  bool is_outside;    /* it is ignored */
  double since;       /* start of that */
} neighbour;

static double cut_after; /* seconds; 0: no watch */
static neighbour known[MOST_ADDRESSES];
static size_t known_count;
static gab_address outside[MOST_ADDRESSES];
static size_t outside_count;
static double began;        /* start of the last quarantine */
static bool in_need;        /* some address is silent, or was recently */
static uint64_t last_heard; /* number of the newest announcement at the start, or followed */

static pthread_mutex_t folder_mutex = PTHREAD_MUTEX_INITIALIZER;
static char shared_folder[FOLDER_CAPACITY]; /* under the mutex */

/* ---------------------------------------------------------------- announcements */

static bool take_folder(char folder[FOLDER_CAPACITY])
{
  pthread_mutex_lock(&folder_mutex);
  memcpy(folder, shared_folder, FOLDER_CAPACITY);
  pthread_mutex_unlock(&folder_mutex);
  return folder[0] != '\0';
}

/* Shared file systems cache a missing name until the folder changes. */
static void refresh(const char *folder)
{
  char path[PATH_CAPACITY], host[16] = "";
  gethostname(host, sizeof host - 1);
  snprintf(path, sizeof path, "%s/.look.%s.%d", folder, host, (int)getpid());
  const int file = open(path, O_WRONLY | O_CREAT | O_CLOEXEC, 0600);
  if (file >= 0) close(file);
  unlink(path);
}

/* @return the number of the newest announcement; `otherwise` if unknown */
static uint64_t newest_announcement(uint64_t otherwise)
{
  char folder[FOLDER_CAPACITY];
  uint64_t newest = 0;
  if (!take_folder(folder)) return otherwise;
  refresh(folder);
  DIR *entries = opendir(folder);
  if (!entries) return otherwise;
  for (struct dirent *entry; (entry = readdir(entries));) {
    char *end;
    if (strncmp(entry->d_name, "cut-", 4) != 0) continue;
    const uint64_t number = strtoull(entry->d_name + 4, &end, 10);
    if (*end == '\0' && number > newest) newest = number;
  }
  closedir(entries);
  return newest;
}

static bool is_suspect(const neighbour *one, double now)
{
  const double remembered = (GAB_QUARANTINE_ANNOUNCES - GAB_QUARANTINE_LOOKS + 0.1) * cut_after;
  return !one->is_outside && one->noted >= 0 && now - one->noted <= remembered;
}

/* The content is for people: the silent addresses of the announcing process. */
static void announce(uint64_t number, double now)
{
  char folder[FOLDER_CAPACITY], path[PATH_CAPACITY], text[4096], host[64] = "", address[INET6_ADDRSTRLEN];
  bool made;
  if (!take_folder(folder)) return;
  gethostname(host, sizeof host - 1);
  size_t length = (size_t)snprintf(text, sizeof text, "%s does not hear", host);
  for (size_t i = 0; i < known_count && length + sizeof address + 2 < sizeof text; i++)
    if (is_suspect(&known[i], now))
      length += (size_t)snprintf(text + length, sizeof text - length, " %s",
                                 inet_ntop(AF_INET6, known[i].address.bytes, address, sizeof address));
  length += (size_t)snprintf(text + length, sizeof text - length, "\n");
  snprintf(path, sizeof path, "%s/cut-%" PRIu64, folder, number);
  (void)gab_file_create(path, text, length, &made); /* on failure the limit of the connections remains */
}

/* ---------------------------------------------------------------- looking round */

/* Only silence after a keep-alive counts; the system sends them also while this process is stopped. */
static double asked_silence(const neighbour *one, double now)
{
  return one->silent < now - one->asked_since ? one->silent : now - one->asked_since;
}

static neighbour *find(const gab_address *address)
{
  for (size_t i = 0; i < known_count; i++)
    if (gab_address_equal(&known[i].address, address)) return &known[i];
  if (known_count == MOST_ADDRESSES) return NULL;
  known[known_count] =
      (neighbour){.address = *address, .asked_since = gab_seconds(), .silent = -1, .noted = -1};
  return &known[known_count++];
}

static void look_at(const gab_connection *connection, void *user)
{
  const double now = *(const double *)user;
  const bool is_new =
      gab_connection_limit(connection, GAB_QUARANTINE_LIMIT * cut_after, GAB_QUARANTINE_IDLE * cut_after);
  neighbour *one = connection->is_open ? find(&connection->peer) : NULL;
  if (!one) return;
  if (is_new) one->asked_since = now;
  if (one->silent < 0 || connection->silent < one->silent) one->silent = connection->silent;
  one->asked |= connection->asked;
}

static void look_round(double now)
{
  for (size_t i = 0; i < known_count; i++) known[i].silent = -1, known[i].asked = false;
  gab_connections_visit(look_at, &now);
  for (size_t i = 0; i < known_count; i++) {
    known[i].silent = asked_silence(&known[i], now);
    if (known[i].asked && known[i].silent >= GAB_QUARANTINE_LOOKS * cut_after) known[i].noted = now;
  }
}

/* ---------------------------------------------------------------- quarantine */

static void shut_out(const gab_connection *connection, void *user)
{
  const double now = *(const double *)user;
  const neighbour *one = connection->is_open ? find(&connection->peer) : NULL;
  if (connection->listens || (one && one->is_outside))
    gab_connection_deafen(connection, outside, outside_count);
  if (one && one->is_outside && now - one->since >= GAB_QUARANTINE_LASTS_UNTIL * cut_after)
    gab_connection_end(connection);
}

static void begin_quarantine(double now)
{
  began = now;
  for (size_t i = 0; i < known_count; i++)
    if (is_suspect(&known[i], now)) {
      known[i].is_outside = true;
      known[i].since = now;
      outside[outside_count++] = known[i].address;
    }
}

/* An announcement while no address is silent here concerns other processes. */
static void follow_announcements(double now)
{
  bool suspects = false, announces = false;
  for (size_t i = 0; i < known_count; i++) {
    if (!is_suspect(&known[i], now)) continue;
    suspects = true;
    announces |= known[i].asked && known[i].silent >= GAB_QUARANTINE_ANNOUNCES * cut_after;
  }
  if (suspects && !in_need) last_heard = newest_announcement(UINT64_MAX);
  in_need = suspects;
  if (!suspects || last_heard == UINT64_MAX) return;
  if (announces && newest_announcement(last_heard) == last_heard) announce(last_heard + 1, now);
  const uint64_t newest = newest_announcement(last_heard);
  if (newest <= last_heard) return;
  last_heard = newest;
  begin_quarantine(now);
}

static void nap(void)
{
  const bool hurries = in_need || (outside_count > 0 && gab_seconds() - began <= cut_after);
  double pause = cut_after / (hurries ? LOOKS_IN_NEED : LOOKS_AT_EASE);
  if (pause < SHORTEST_NAP) pause = SHORTEST_NAP;
  if (pause > LONGEST_NAP) pause = LONGEST_NAP;
  nanosleep(&(struct timespec){(time_t)pause, (long)(1e9 * (pause - (double)(time_t)pause))}, NULL);
}

static void *watch(void *user)
{
  (void)user;
  for (;;) {
    nap();
    double now = gab_seconds();
    look_round(now);
    follow_announcements(now);
    if (outside_count > 0) gab_connections_visit(shut_out, &now);
  }
  return NULL;
}

/* ---------------------------------------------------------------- beginning */

/* Starts a thread that watches the connections of this process and closes silent ones. Local; a second call does
 * nothing. @param[in] seconds limit of silence, at least 4, since keep-alives are counted in seconds
 * @return ::GAB_ERR_MEMORY if no thread can be started */
static gab_status watch_connections(double seconds)
{
  pthread_t thread;
  sigset_t all, before;
  if (cut_after > 0) return GAB_OK;
  if (!(seconds > 0 && seconds < 1e9))
    GAB_FAIL(GAB_ERR_ARGUMENT, "%g s is not a valid waiting time for a node", seconds);
  cut_after = seconds;
  sigfillset(&all); /* signals are handled by the computing thread */
  pthread_sigmask(SIG_SETMASK, &all, &before);
  const int error = pthread_create(&thread, NULL, watch, NULL);
  pthread_sigmask(SIG_SETMASK, &before, NULL);
  if (error) cut_after = 0;
  if (error)
    GAB_FAIL(GAB_ERR_MEMORY, "cannot start the thread that watches connections: %s", strerror(error));
  pthread_detach(thread); /* it ends with the process */
  return GAB_OK;
}

gab_status gab_quarantine_watch_as_told(void)
{
  const char *told = getenv("GABION_CUT_AFTER");
  const double seconds = told ? strtod(told, NULL) : 0;
  return seconds > 0 ? watch_connections(seconds) : GAB_OK;
}

bool gab_quarantine_is_watched(void) { return cut_after > 0; }

uint64_t gab_quarantine_announced(void) { return newest_announcement(0); }

void gab_quarantine_set_folder(const char *folder)
{
  pthread_mutex_lock(&folder_mutex);
  snprintf(shared_folder, sizeof shared_folder, "%.1180s", folder ? folder : "");
  pthread_mutex_unlock(&folder_mutex);
}

#include "core/connections.h"

#include <dirent.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <stdbool.h>
#include <stdlib.h>
#include <sys/socket.h>

enum { PROBES_PER_LIMIT = 8 };

static bool has(int descriptor, int option, int first, int second)
{
  int found = 0;
  socklen_t size = sizeof found;
  return getsockopt(descriptor, SOL_SOCKET, option, &found, &size) == 0 &&
         (found == first || found == second);
}

static void set(int descriptor, int level, int option, unsigned value)
{
  (void)setsockopt(descriptor, level, option, &value, sizeof value);
}

static void limit(int descriptor, double seconds)
{
  const unsigned milliseconds = (unsigned)(1e3 * seconds);
  unsigned now = 0;
  socklen_t size = sizeof now;
  if (!has(descriptor, SO_DOMAIN, AF_INET, AF_INET6) || !has(descriptor, SO_TYPE, SOCK_STREAM, SOCK_STREAM) ||
      getsockopt(descriptor, IPPROTO_TCP, TCP_USER_TIMEOUT, &now, &size) != 0 || now == milliseconds)
    return;
  const unsigned between = seconds > PROBES_PER_LIMIT ? (unsigned)(seconds / PROBES_PER_LIMIT) : 1;
  set(descriptor, IPPROTO_TCP, TCP_KEEPIDLE, seconds > 2 ? (unsigned)(seconds / 2) : 1);
  set(descriptor, IPPROTO_TCP, TCP_KEEPINTVL, between);
  set(descriptor, IPPROTO_TCP, TCP_KEEPCNT, PROBES_PER_LIMIT);
  set(descriptor, SOL_SOCKET, SO_KEEPALIVE, 1);
  set(descriptor, IPPROTO_TCP, TCP_USER_TIMEOUT, milliseconds);
}

void gab_connections_limit(double seconds)
{
  if (!(seconds >= 0.1 && seconds < 1e6)) return;
  DIR *descriptors = opendir("/proc/self/fd");
  if (!descriptors) return;
  for (struct dirent *entry; (entry = readdir(descriptors));) {
    char *end;
    const long descriptor = strtol(entry->d_name, &end, 10);
    if (end != entry->d_name && *end == '\0' && descriptor != dirfd(descriptors))
      limit((int)descriptor, seconds);
  }
  closedir(descriptors);
}

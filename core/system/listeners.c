#include "core/system/listeners.h"

#include <arpa/inet.h>
#include <ctype.h>
#include <dirent.h>
#include <netinet/in.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>

bool gab_listener_is(int descriptor)
{
  int listens = 0, domain = 0;
  socklen_t size = sizeof listens;
  if (getsockopt(descriptor, SOL_SOCKET, SO_ACCEPTCONN, &listens, &size) != 0 || !listens) return false;
  size = sizeof domain;
  return getsockopt(descriptor, SOL_SOCKET, SO_DOMAIN, &domain, &size) == 0 &&
         (domain == AF_INET || domain == AF_INET6);
}

void gab_listeners_find(gab_listeners *found)
{
  *found = (gab_listeners){.count = 0};
  DIR *descriptors = opendir("/proc/self/fd");
  if (!descriptors) return;
  for (struct dirent *entry; found->count < GAB_MOST_LISTENERS && (entry = readdir(descriptors));) {
    if (!isdigit((unsigned char)entry->d_name[0])) continue;
    const int descriptor = atoi(entry->d_name);
    if (gab_listener_is(descriptor)) found->descriptor[found->count++] = descriptor;
  }
  closedir(descriptors);
}

static bool is_on_loopback(int descriptor)
{
  struct sockaddr_storage name;
  socklen_t size = sizeof name;
  if (getsockname(descriptor, (struct sockaddr *)&name, &size) != 0) return false;
  if (name.ss_family == AF_INET)
    return ntohl(((struct sockaddr_in *)&name)->sin_addr.s_addr) >> 24 == IN_LOOPBACKNET;
  return name.ss_family == AF_INET6 && IN6_IS_ADDR_LOOPBACK(&((struct sockaddr_in6 *)&name)->sin6_addr);
}

bool gab_listener_restrict(int descriptor)
{
  static const char loopback[] = "lo";
  return is_on_loopback(descriptor) ||
         setsockopt(descriptor, SOL_SOCKET, SO_BINDTODEVICE, loopback, sizeof loopback) == 0;
}

static bool is_among(const gab_listeners *all, int descriptor)
{
  for (int i = 0; i < all->count; i++)
    if (all->descriptor[i] == descriptor) return true;
  return false;
}

int gab_listeners_restrict_new(const gab_listeners *before)
{
  gab_listeners now;
  int open = 0;
  gab_listeners_find(&now);
  for (int i = 0; i < now.count; i++)
    if (!is_among(before, now.descriptor[i]) && !gab_listener_restrict(now.descriptor[i])) open++;
  return open;
}

/* SPDX-License-Identifier: Apache-2.0 */
#include "core/system/listeners.h"

#include <ctype.h>
#include <dirent.h>
#include <linux/filter.h>
#include <net/if.h>
#include <stdlib.h>
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

/* Binding the socket to the interface (SO_BINDTODEVICE) would not do: connections of this machine to one of its other addresses are
 * refused then, and MPI gives those out. */
bool gab_listener_restrict(int descriptor)
{
  const unsigned loopback = if_nametoindex("lo");
  struct sock_filter code[] = {BPF_STMT(BPF_LD | BPF_W | BPF_ABS, (unsigned)SKF_AD_OFF + SKF_AD_IFINDEX),
                               BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, loopback, 0, 1),
                               BPF_STMT(BPF_RET | BPF_K, ~0u), BPF_STMT(BPF_RET | BPF_K, 0)};
  const struct sock_fprog program = {.len = sizeof code / sizeof *code, .filter = code};
  return loopback != 0 && setsockopt(descriptor, SOL_SOCKET, SO_ATTACH_FILTER, &program, sizeof program) == 0;
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

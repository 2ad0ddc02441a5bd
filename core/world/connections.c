/* SPDX-License-Identifier: Apache-2.0 */
#include "core/world/connections.h"

#include "core/memory/memory.h"

#include <dirent.h>
#include <fcntl.h>
#include <linux/filter.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

enum { PROBES_PER_LIMIT = 8, MOST_FILTERED = 1000, SOURCE_IN_HEADER = 12 };
#define LONGEST_PAUSE                                                                                        \
  0.1 /* share of the limit between two retransmissions, if the system supports it (Linux 6.15) */
#ifndef TCP_RTO_MAX_MS
#define TCP_RTO_MAX_MS 44
#endif

/* ---------------------------------------------------------------- what there is */

bool gab_address_equal(const gab_address *a, const gab_address *b)
{
  return memcmp(a->bytes, b->bytes, sizeof a->bytes) == 0;
}

static bool is_within_machine(const gab_address *address)
{
  static const uint8_t same[16] = {[15] = 1}, mapped[13] = {[10] = 0xff, 0xff, 127};
  return memcmp(address->bytes, same, sizeof same) == 0 || memcmp(address->bytes, mapped, sizeof mapped) == 0;
}

/* @return false unless it is an IP address */
static bool take_address(const struct sockaddr_storage *from, gab_address *address)
{
  *address = (gab_address){{0}};
  if (from->ss_family == AF_INET) {
    address->bytes[10] = address->bytes[11] = 0xff;
    memcpy(address->bytes + 12, &((const struct sockaddr_in *)from)->sin_addr, 4);
    return true;
  }
  if (from->ss_family != AF_INET6) return false;
  memcpy(address->bytes, &((const struct sockaddr_in6 *)from)->sin6_addr, 16);
  return true;
}

static int option_of(int descriptor, int option)
{
  int found = -1;
  socklen_t size = sizeof found;
  return getsockopt(descriptor, SOL_SOCKET, option, &found, &size) == 0 ? found : -1;
}

static bool is_tcp(int descriptor)
{
  const int domain = option_of(descriptor, SO_DOMAIN);
  return (domain == AF_INET || domain == AF_INET6) && option_of(descriptor, SO_TYPE) == SOCK_STREAM;
}

/* @return false if its state is unavailable, or both ends are on one machine */
static bool look_at(int descriptor, gab_connection *connection)
{
  struct sockaddr_storage peer = {0}, own = {0};
  struct tcp_info info = {0};
  socklen_t peer_size = sizeof peer, own_size = sizeof own, size = sizeof info;
  gab_address here;
  *connection =
      (gab_connection){.descriptor = descriptor, .listens = option_of(descriptor, SO_ACCEPTCONN) > 0};
  if (connection->listens) return true;
  connection->is_open = getpeername(descriptor, (struct sockaddr *)&peer, &peer_size) == 0;
  if (!connection->is_open) return true;
  if (getsockname(descriptor, (struct sockaddr *)&own, &own_size) != 0 ||
      !take_address(&peer, &connection->peer) || !take_address(&own, &here) ||
      is_within_machine(&connection->peer) || gab_address_equal(&here, &connection->peer) ||
      getsockopt(descriptor, IPPROTO_TCP, TCP_INFO, &info, &size) != 0)
    return false;
  const uint32_t last =
      info.tcpi_last_ack_recv < info.tcpi_last_data_recv ? info.tcpi_last_ack_recv : info.tcpi_last_data_recv;
  connection->silent = 1e-3 * last;
  connection->asked = info.tcpi_unacked > 0 || info.tcpi_probes > 0 || info.tcpi_retransmits > 0;
  return true;
}

void gab_connections_visit(void (*visit)(const gab_connection *connection, void *user), void *user)
{
  DIR *descriptors = opendir("/proc/self/fd");
  if (!descriptors) return;
  for (struct dirent *entry; (entry = readdir(descriptors));) {
    char *end;
    gab_connection connection;
    const long number = strtol(entry->d_name, &end, 10);
    if (end == entry->d_name || *end != '\0' || number == dirfd(descriptors) || !is_tcp((int)number))
      continue;
    const int own =
        fcntl((int)number, F_DUPFD_CLOEXEC, 0); /* the original may be closed and reused at any time */
    if (own < 0) continue;
    if (is_tcp(own) && look_at(own, &connection)) visit(&connection, user);
    close(own);
  }
  closedir(descriptors);
}

/* ---------------------------------------------------------------- actions */

static bool set(int descriptor, int level, int option, unsigned value)
{
  return setsockopt(descriptor, level, option, &value, sizeof value) == 0;
}

bool gab_connection_limit(const gab_connection *connection, double seconds, double idle)
{
  const int descriptor = connection->descriptor;
  unsigned now = 0;
  socklen_t size = sizeof now;
  if (!(seconds >= 0.1 && seconds < 1e6) || connection->listens) return false;
  const unsigned milliseconds = (unsigned)(1e3 * seconds);
  if (getsockopt(descriptor, IPPROTO_TCP, TCP_USER_TIMEOUT, &now, &size) != 0 || now == milliseconds)
    return false;
  const unsigned between = seconds > PROBES_PER_LIMIT ? (unsigned)(seconds / PROBES_PER_LIMIT) : 1;
  const unsigned pause = (unsigned)(LONGEST_PAUSE * milliseconds);
  set(descriptor, IPPROTO_TCP, TCP_KEEPIDLE, idle > 2 ? (unsigned)idle : 1);
  set(descriptor, IPPROTO_TCP, TCP_KEEPINTVL, between);
  set(descriptor, IPPROTO_TCP, TCP_KEEPCNT, PROBES_PER_LIMIT);
  set(descriptor, SOL_SOCKET, SO_KEEPALIVE, 1);
  set(descriptor, IPPROTO_TCP, TCP_RTO_MAX_MS, pause > 1000 ? pause : 1000);
  return set(descriptor, IPPROTO_TCP, TCP_USER_TIMEOUT, milliseconds);
}

static bool is_mapped(const gab_address *address)
{
  static const uint8_t mapped[12] = {[10] = 0xff, 0xff};
  return memcmp(address->bytes, mapped, sizeof mapped) == 0;
}

static void attach(int descriptor, struct sock_filter *code, size_t length)
{
  const struct sock_fprog program = {.len = (unsigned short)length, .filter = code};
  (void)setsockopt(descriptor, SOL_SOCKET, SO_ATTACH_FILTER, &program, sizeof program);
}

/* Filter program: packets from each listed address jump to the following rejection; all others are accepted. */
static void filter_listening(int descriptor, const gab_address *from, size_t count)
{
  enum { LOAD, FIRST };
  size_t length = FIRST;
  struct sock_filter *code;
  if (GAB_NEW_ARRAY(&code, 2 * MOST_FILTERED + 2, GAB_MEMORY_OTHER) != GAB_OK) return;
  code[LOAD] =
      (struct sock_filter)BPF_STMT(BPF_LD | BPF_W | BPF_ABS, (unsigned)SKF_NET_OFF + SOURCE_IN_HEADER);
  for (size_t i = 0; i < count && length < 2 * MOST_FILTERED; i++) {
    uint32_t address;
    memcpy(&address, from[i].bytes + 12, sizeof address);
    if (!is_mapped(&from[i])) continue;
    code[length++] = (struct sock_filter)BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, ntohl(address), 0, 1);
    code[length++] = (struct sock_filter)BPF_STMT(BPF_RET | BPF_K, 0);
  }
  code[length++] = (struct sock_filter)BPF_STMT(BPF_RET | BPF_K, ~0u);
  if (option_of(descriptor, SO_DOMAIN) == AF_INET) attach(descriptor, code, length);
  gab_free(&code);
}

void gab_connection_deafen(const gab_connection *connection, const gab_address *from, size_t count)
{
  struct sock_filter nothing = BPF_STMT(BPF_RET | BPF_K, 0);
  if (connection->listens) filter_listening(connection->descriptor, from, count);
  for (size_t i = 0; i < count && connection->is_open; i++)
    if (gab_address_equal(&connection->peer, &from[i])) attach(connection->descriptor, &nothing, 1);
}

void gab_connection_end(const gab_connection *connection)
{
  const struct sockaddr nowhere = {.sa_family = AF_UNSPEC};
  if (connection->is_open) (void)connect(connection->descriptor, &nowhere, sizeof nowhere);
}

/* SPDX-License-Identifier: Apache-2.0 */
/* A bad cable: helper_bad_link INTERFACE INTERFACE DELAY LOSS carries frames between two network interfaces, each DELAY
 * milliseconds late, and loses LOSS percent of them. For kernels without netem; needs root. Ends when it is killed. */
#include <arpa/inet.h>
#include <linux/if_packet.h>
#include <linux/virtio_net.h>
#include <net/ethernet.h>
#include <net/if.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

/* Frames in transit to one of the ends, the oldest first. With their offloads: fields left to the hardware by the
 * sender. */
enum { FRAMES = 4096, LONGEST = 1 << 17 };
typedef struct frame {
  double due;
  ssize_t size;
  char *bytes;
} frame;
typedef struct way {
  int to;
  frame frames[FRAMES];
  unsigned first, count;
} way;

static double seconds(void)
{
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

static void end(const char *what)
{
  perror(what);
  exit(1);
}

static int open_end(const char *interface)
{
  const int on = 1;
  const int end_of = socket(AF_PACKET, SOCK_RAW, htons(ETH_P_ALL));
  const struct sockaddr_ll address = {.sll_family = AF_PACKET,
                                      .sll_protocol = htons(ETH_P_ALL),
                                      .sll_ifindex = (int)if_nametoindex(interface)};
  if (end_of < 0 || address.sll_ifindex == 0 ||
      setsockopt(end_of, SOL_PACKET, PACKET_VNET_HDR, &on, sizeof on) != 0 ||
      setsockopt(end_of, SOL_PACKET, PACKET_IGNORE_OUTGOING, &on, sizeof on) != 0 ||
      bind(end_of, (const struct sockaddr *)&address, sizeof address) != 0)
    end(interface);
  return end_of;
}

static void take(int from, way *way, double delay, double loss)
{
  static char bytes[LONGEST];
  const ssize_t size = recv(from, bytes, sizeof bytes, MSG_DONTWAIT);
  if (size <= (ssize_t)sizeof(struct virtio_net_hdr) || way->count == FRAMES ||
      100.0 * rand() / (RAND_MAX + 1.0) < loss)
    return;
  frame *kept = &way->frames[(way->first + way->count++) % FRAMES];
  *kept = (frame){.due = seconds() + delay, .size = size, .bytes = malloc((size_t)size)};
  if (!kept->bytes) end("malloc");
  memcpy(kept->bytes, bytes, (size_t)size);
}

static void deliver(way *way)
{
  while (way->count > 0 && way->frames[way->first].due <= seconds()) {
    frame *oldest = &way->frames[way->first];
    (void)!write(way->to, oldest->bytes, (size_t)oldest->size); /* frames that do not fit are lost */
    free(oldest->bytes);
    way->first = (way->first + 1) % FRAMES;
    way->count--;
  }
}

int main(int argc, char **argv)
{
  static way there, back;
  if (argc != 5) return 2;
  const int a = open_end(argv[1]), b = open_end(argv[2]);
  const double delay = 1e-3 * atof(argv[3]), loss = atof(argv[4]);
  there.to = b;
  back.to = a;
  for (;;) {
    struct pollfd ends[2] = {{.fd = a, .events = POLLIN}, {.fd = b, .events = POLLIN}};
    poll(ends, 2, there.count + back.count > 0 ? 1 : -1);
    if (ends[0].revents) take(a, &there, delay, loss);
    if (ends[1].revents) take(b, &back, delay, loss);
    deliver(&there);
    deliver(&back);
  }
}

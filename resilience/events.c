#include "resilience/events.h"

#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

struct gab_events {
  gab_world *world;
  char path[1024]; /* empty: nowhere */
};

gab_status gab_events_create(gab_world *world, const char *folder, gab_events **events)
{
  *events = NULL;
  if (folder && strlen(folder) > 1000) GAB_FAIL(GAB_ERR_INPUT, "the name of folder %s is too long", folder);
  void *memory;
  GAB_TRY(gab_alloc(sizeof(gab_events), GAB_MEMORY_OTHER, &memory));
  gab_events *made = memory;
  made->world = world;
  if (folder) snprintf(made->path, sizeof made->path, "%s/events.jsonl", folder);
  *events = made;
  return GAB_OK;
}

void gab_events_destroy(gab_events **events) { gab_free(events); }

gab_status gab_events_clear(gab_events *events)
{
  if (!events->path[0]) return GAB_OK;
  int file = open(events->path, O_WRONLY | O_CREAT | O_TRUNC, 0666);
  if (file < 0) GAB_FAIL(GAB_ERR_INPUT, "cannot write %s: %s", events->path, strerror(errno));
  close(file);
  return GAB_OK;
}

const char *gab_event_quote(char *out, size_t room, const char *text)
{
  size_t used = 0;
  out[used++] = '"';
  for (const char *at = text; *at && used + 8 < room; at++) {
    const unsigned char c = (unsigned char)*at;
    if (c == '"' || c == '\\') out[used++] = '\\';
    if (c < 0x20) used += (size_t)snprintf(out + used, room - used, "\\u%04x", c);
    else out[used++] = (char)c;
  }
  while (used > 1 && ((unsigned char)out[used - 1] & 0xC0) == 0x80 && used + 8 >= room) used--; /* no cut letter */
  out[used++] = '"';
  out[used] = '\0';
  return out;
}

void gab_event(gab_events *events, const char *event, const char *fields, ...)
{
  if (!events || !events->path[0]) return;
  struct timespec now;
  clock_gettime(CLOCK_REALTIME, &now);
  char line[4096];
  int head = snprintf(line, sizeof line,
                      "{\"time\": %lld.%06ld, \"slot\": %" GAB_PRI_SLOT ", \"epoch\": %" GAB_PRI_EPOCH
                      ", \"step\": %" GAB_PRI_STEP ", \"event\": \"%s\"",
                      (long long)now.tv_sec, now.tv_nsec / 1000, gab_world_slot(events->world),
                      gab_world_epoch(events->world), gab_world_step(events->world), event);
  size_t used = (size_t)head, room = sizeof line - 3; /* for the closing brace and newline */
  if (fields[0]) {
    used += (size_t)snprintf(line + used, room - used, ", ");
    va_list arguments;
    va_start(arguments, fields);
    int more = vsnprintf(line + used, room - used, fields, arguments);
    va_end(arguments);
    if (more < 0 || (size_t)more >= room - used) return; /* a cut line would be no JSON */
    used += (size_t)more;
  }
  line[used++] = '}';
  line[used++] = '\n';
  int file = open(events->path, O_WRONLY | O_CREAT | O_APPEND, 0666);
  if (file < 0) return;
  ssize_t written = write(file, line, used);
  (void)written;
  close(file);
}

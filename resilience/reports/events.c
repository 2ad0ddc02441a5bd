/* SPDX-License-Identifier: Apache-2.0 */
#include "resilience/reports/events_impl.h"

#include "core/base/timer.h"
#include "core/system/run_file.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

struct gab_events {
  gab_world *world;
  char path[1024]; /* empty: nowhere */
};

gab_status gab_events_create(gab_world *world, const char *folder, gab_events **events)
{
  *events = NULL;
  if (folder && strlen(folder) > 1000) GAB_FAIL(GAB_ERR_INPUT, "the name of folder %s is too long", folder);
  gab_events *made;
  GAB_TRY(GAB_NEW(&made, GAB_MEMORY_OTHER));
  made->world = world;
  if (folder) snprintf(made->path, sizeof made->path, "%s/events.jsonl", folder);
  *events = made;
  return GAB_OK;
}

void gab_events_destroy(gab_events **events) { gab_free(events); }

gab_status gab_events_clear(gab_events *events)
{
  if (!events->path[0]) return GAB_OK;
  char why[GAB_RUN_FILE_WHY];
  const int file = gab_run_file_open(events->path, O_WRONLY | O_CREAT | O_TRUNC, why);
  if (file < 0) GAB_FAIL(GAB_ERR_INPUT, "cannot write %s", why);
  close(file);
  return GAB_OK;
}

gab_json *gab_event_begin(gab_events *events, const char *event)
{
  if (!events || !events->path[0]) return NULL;
  gab_json *line = gab_json_begin(GAB_JSON_LINE);
  gab_json_rounded(line, "time", gab_seconds_since_1970(), 6);
  gab_json_int(line, "rank", gab_world_rank(events->world));
  gab_json_uint(line, "epoch", gab_world_epoch(events->world));
  gab_json_int(line, "step", gab_world_step(events->world));
  gab_json_text(line, "event", event);
  return line;
}

void gab_event_end(gab_events *events, gab_json **event)
{
  char why[GAB_RUN_FILE_WHY];
  gab_buffer text = {0};
  if (!*event) return;
  const bool is_whole = gab_json_end(event, &text) == GAB_OK;
  const int file = is_whole ? gab_run_file_open(events->path, O_WRONLY | O_CREAT | O_APPEND, why) : -1;
  if (file >= 0) {
    const ssize_t written = write(file, text.data, text.size);
    /* A full disk may take a part: without the rest of the line it would spoil the next one. */
    const off_t end = lseek(file, 0, SEEK_CUR);
    struct stat info;
    if (written > 0 && (size_t)written < text.size && fstat(file, &info) == 0 && info.st_size == end)
      (void)!ftruncate(file, end - written);
    close(file);
  }
  gab_buffer_release(&text);
}

/* SPDX-License-Identifier: Apache-2.0 */
/* Bytes sent from each process to each other one. */
#include "apps/driver/plan/plan_traffic.h"

#include "core/messages/logged/message_logger.h"
#include "core/messages/collective.h"
#include "core/system/file.h"
#include "core/base/log.h"

#include <stdio.h>
#include <string.h>

enum { MOST_FILE = 1 << 28 };

/* ---------------------------------------------------------------- counting */

static bool is_first(const void *user, gab_step step)
{
  (void)user;
  return step == 0;
}

static gab_status begin(void *user, gab_step step)
{
  gab_app_traffic *traffic = user;
  traffic->since = step;
  traffic->epoch = gab_world_epoch(traffic->world);
  gab_world_forget_sent(traffic->world);
  return GAB_OK;
}

static gab_status put_sent(void *user, gab_rank target, uint64_t messages, uint64_t bytes)
{
  gab_buffer *out = user;
  GAB_TRY(gab_put_i32(out, target));
  GAB_TRY(gab_put_u64(out, messages));
  return gab_put_u64(out, bytes);
}

static gab_status put_text(gab_buffer *out, const char *text)
{
  return gab_put_bytes(out, text, strlen(text));
}

static gab_status write_rows(void *user, gab_rank from, gab_reader in)
{
  gab_buffer *out = user;
  char row[128];
  while (gab_reader_left(&in) > 0) {
    gab_rank to;
    uint64_t messages, bytes;
    GAB_TRY(gab_get_i32(&in, &to));
    GAB_TRY(gab_get_u64(&in, &messages));
    GAB_TRY(gab_get_u64(&in, &bytes));
    snprintf(row, sizeof row, "%" GAB_PRI_RANK ",%" GAB_PRI_RANK ",%" PRIu64 ",%" PRIu64 "\n", from, to,
             messages, bytes);
    GAB_TRY(put_text(out, row));
  }
  return GAB_OK;
}

/* Saves the counts before the gather sends messages. */
static gab_status finish(void *user, gab_step step)
{
  const gab_app_traffic *traffic = user;
  gab_world *world = traffic->world;
  if (traffic->since < 0 || traffic->epoch != gab_world_epoch(world)) {
    gab_log(GAB_LOG_WARNING,
            "%s is not written: traffic is counted in runs from their first step on that meet no fault",
            traffic->path);
    return GAB_OK;
  }
  gab_buffer mine, text;
  char head[128];
  gab_buffer_init(&mine, GAB_MEMORY_OTHER);
  gab_buffer_init(&text, GAB_MEMORY_OTHER);
  snprintf(head, sizeof head,
           "# steps %" GAB_PRI_STEP ", processes %" GAB_PRI_RANK "\nfrom,to,messages,bytes\n",
           step - traffic->since, gab_world_members(world)->ranks);
  gab_status status = put_text(&text, head);
  if (status == GAB_OK) status = gab_world_each_sent(world, put_sent, &mine);
  const gab_status gathered = gab_world_gather(world, &mine, write_rows, &text);
  if (gathered != GAB_OK) status = gathered;
  if (status == GAB_OK && gab_world_is_root(world))
    status = gab_file_replace(traffic->path, text.data, text.size, GAB_FILE_RENAMED);
  gab_buffer_release(&mine);
  gab_buffer_release(&text);
  return status;
}

gab_status gab_app_traffic_add(gab_app_traffic *traffic, const char *path, gab_timeloop *loop,
                               gab_world *world)
{
  *traffic = (gab_app_traffic){.path = path, .world = world, .loop = loop, .since = -1};
  if (!path) return GAB_OK;
  GAB_TRY(gab_timeloop_add_action(loop, "count traffic", is_first, begin, traffic));
  return gab_timeloop_add_finish(loop, "write traffic", finish, traffic);
}

/* ---------------------------------------------------------------- matrices */

gab_status gab_app_flows_put(gab_app_flows *flows, gab_rank from, gab_rank to, double bytes)
{
  GAB_TRY(gab_list_reserve(&flows->flows, flows->count, sizeof *flows->flows));
  flows->flows[flows->count++] = (gab_flow){from, to, bytes};
  return GAB_OK;
}

void gab_app_flows_release(gab_app_flows *flows)
{
  gab_free(&flows->flows);
  flows->count = 0;
}

static gab_status read_rows(const char *path, char *text, gab_app_flows *flows)
{
  int64_t steps = 0;
  int line = 1, used = 0;
  char *at = text;
  if (sscanf(at, "# steps %" SCNd64 ", processes %" SCNd32 "\nfrom,to,messages,bytes%n", &steps,
             &flows->ranks, &used) != 2 ||
      used == 0 || steps < 1 || flows->ranks < 1)
    GAB_FAIL(GAB_ERR_INPUT, "%s:1: no file of `gabion run --traffic', or of a run without steps", path);
  for (at = strchr(at + used, '\n'); at && at[1]; at = strchr(at + 1, '\n')) {
    gab_rank from, to;
    uint64_t messages, bytes;
    line++;
    if (sscanf(at + 1, "%" SCNd32 ",%" SCNd32 ",%" SCNu64 ",%" SCNu64, &from, &to, &messages, &bytes) != 4 ||
        from < 0 || from >= flows->ranks || to < 0 || to >= flows->ranks)
      GAB_FAIL(GAB_ERR_INPUT, "%s:%d: no row of from,to,messages,bytes with processes below %" PRId32, path,
               line + 1, flows->ranks);
    GAB_TRY(gab_app_flows_put(flows, from, to, (double)bytes / (double)steps));
  }
  return GAB_OK;
}

gab_status gab_app_flows_read(const char *path, gab_app_flows *flows)
{
  gab_buffer text;
  *flows = (gab_app_flows){.ranks = 0};
  gab_buffer_init(&text, GAB_MEMORY_OTHER);
  gab_status status = gab_file_read(path, MOST_FILE, &text);
  if (status == GAB_OK) status = gab_put_u8(&text, 0);
  if (status == GAB_OK) status = read_rows(path, (char *)text.data, flows);
  if (status != GAB_OK) gab_app_flows_release(flows);
  gab_buffer_release(&text);
  return status;
}

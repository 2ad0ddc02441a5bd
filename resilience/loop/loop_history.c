/* SPDX-License-Identifier: Apache-2.0 */
/* History that a replacement process needs besides the state: past events, and values that must be equal on all. It
 * is not rolled back. Times are sent as ages, since clocks differ between processes. */
#include "resilience/disk/disk_impl.h"
#include "resilience/loop/timeloop_impl.h"

#include "core/base/log.h"

#include <string.h>

enum { NAME_CAPACITY = 64 };

/* ---------------------------------------------------------------- faults so far */

/* As bytes, since both run the same program; except for the name, which is a pointer. */
static gab_status put_records(const gab_timeloop *loop, gab_buffer *out)
{
  const int count =
      loop->stats.fault_count < GAB_MOST_FAULT_RECORDS ? loop->stats.fault_count : GAB_MOST_FAULT_RECORDS;
  for (int i = 0; i < count; i++) {
    const gab_fault_record *record = &loop->records[i];
    GAB_TRY(gab_put_bytes(out, record, sizeof *record));
    GAB_TRY(gab_put_string(out, record->fault.strategy ? record->fault.strategy : ""));
  }
  return GAB_OK;
}

/* A fault record names a strategy of this run, since all processes of a job have the same list. */
static gab_status find_strategy(const gab_protection_state *protection, const char *name, const char **found)
{
  for (int i = 0; protection && i < protection->strategy_count; i++) {
    *found = protection->strategies[i]->name;
    if (strcmp(*found, name) == 0) return GAB_OK;
  }
  GAB_FAIL(GAB_ERR_STATE, "a fault record names strategy '%s', which this process does not have", name);
}

static gab_status get_records(gab_timeloop *loop, gab_reader *in)
{
  const int count =
      loop->stats.fault_count < GAB_MOST_FAULT_RECORDS ? loop->stats.fault_count : GAB_MOST_FAULT_RECORDS;
  for (int i = 0; i < count; i++) {
    gab_fault_record *record = &loop->records[i];
    char name[NAME_CAPACITY];
    GAB_TRY(gab_get_bytes(in, record, sizeof *record));
    GAB_TRY(gab_get_string(in, name, sizeof name));
    record->fault.lost = NULL;
    record->fault.strategy = NULL;
    if (!name[0]) continue;
    GAB_TRY(find_strategy(loop->protection, name, &record->fault.strategy));
  }
  return GAB_OK;
}

/* ---------------------------------------------------------------- decisions */

static gab_status put_guard(const gab_protection_state *protection, gab_buffer *out)
{
  const double now = gab_seconds();
  const gab_checkpoint_stats snapshots = gab_checkpoint_get_stats(protection->checkpoint);
  GAB_TRY(gab_put_f64(out, now - protection->memory.last));
  GAB_TRY(gab_put_f64(out, now - protection->on_disk.last));
  GAB_TRY(gab_put_i64(out, protection->overlap.lag));
  GAB_TRY(gab_put_f64(out, protection->past_seconds));
  GAB_TRY(gab_put_i32(out, protection->past_losses));
  GAB_TRY(gab_put_i32(out, protection->told));
  GAB_TRY(gab_put_i32(out, protection->replaced));
  GAB_TRY(gab_put_u8(out, protection->separate));
  GAB_TRY(gab_put_i32(out, protection->futile_recoveries));
  GAB_TRY(gab_put_i64(out, protection->suspected));
  GAB_TRY(gab_put_i64(out, protection->furthest));
  GAB_TRY(gab_put_i32(out, protection->tries));
  GAB_TRY(gab_put_u8(out, protection->checkpoint->single));
  GAB_TRY(gab_put_u8(out, protection->checkpoint->meets));
  GAB_TRY(gab_put_bytes(out, &snapshots, sizeof snapshots));
  return protection->disk ? gab_put_bytes(out, &protection->disk->stats, sizeof protection->disk->stats)
                          : GAB_OK;
}

static gab_status get_guard(gab_protection_state *protection, gab_reader *in)
{
  double since_memory, since_disk;
  int64_t lag, suspected, furthest;
  const double now = gab_seconds();
  GAB_TRY(gab_get_f64(in, &since_memory));
  GAB_TRY(gab_get_f64(in, &since_disk));
  GAB_TRY(gab_get_i64(in, &lag));
  GAB_TRY(gab_get_f64(in, &protection->past_seconds));
  GAB_TRY(gab_get_i32(in, &protection->past_losses));
  uint8_t separate;
  GAB_TRY(gab_get_i32(in, &protection->told));
  GAB_TRY(gab_get_i32(in, &protection->replaced));
  GAB_TRY(gab_get_u8(in, &separate));
  protection->separate = separate != 0;
  GAB_TRY(gab_get_i32(in, &protection->futile_recoveries));
  GAB_TRY(gab_get_i64(in, &suspected));
  GAB_TRY(gab_get_i64(in, &furthest));
  GAB_TRY(gab_get_i32(in, &protection->tries));
  uint8_t single, meets;
  GAB_TRY(gab_get_u8(in, &single));
  GAB_TRY(gab_get_u8(in, &meets));
  protection->checkpoint->single = single != 0; /* chosen at the start of the run: gab_protection_start() */
  protection->checkpoint->meets = meets != 0;
  GAB_TRY(gab_get_bytes(in, &protection->checkpoint->stats, sizeof protection->checkpoint->stats));
  protection->memory.last = now - since_memory;
  protection->on_disk.last = now - since_disk;
  protection->overlap.lag = lag;
  protection->suspected = suspected;
  protection->furthest = furthest;
  return protection->disk ? gab_get_bytes(in, &protection->disk->stats, sizeof protection->disk->stats)
                          : GAB_OK;
}

/* ---------------------------------------------------------------- main */

gab_status gab_protection_pack_history(void *user, gab_buffer *out)
{
  const gab_timeloop *loop = user;
  GAB_TRY(gab_put_bytes(out, &loop->stats, sizeof loop->stats));
  GAB_TRY(put_records(loop, out));
  GAB_TRY(gab_put_f64(out, gab_seconds() - loop->started));
  return put_guard(loop->protection, out);
}

gab_status gab_protection_unpack_history(void *user, gab_reader *in)
{
  gab_timeloop *loop = user;
  const gab_local_totals own = loop->stats.local; /* counts of this process, summed over all at the end */
  double age;
  GAB_TRY(gab_get_bytes(in, &loop->stats, sizeof loop->stats));
  const uint64_t faults = loop->stats.local.faults;
  loop->stats.local = own;
  loop->stats.local.faults = faults;
  loop->stats.faults = NULL;
  GAB_TRY(get_records(loop, in));
  GAB_TRY(gab_get_f64(in, &age));
  loop->started = gab_seconds() - age;
  return get_guard(loop->protection, in);
}

/* SPDX-License-Identifier: Apache-2.0 */
/** @file journal.c
 *  @brief Sender-based message log: channels, intervals, and the free list of handed-over buffers. */
#include "core/messages/logged/journal_impl.h"

#include <string.h>

gab_status gab_journal_create(size_t copy_below, gab_journal **journal)
{
  void *memory = NULL;
  *journal = NULL;
  GAB_TRY(gab_alloc(sizeof **journal, GAB_MEMORY_OTHER, &memory));
  *journal = memory;
  (*journal)->copy_below = copy_below;
  (*journal)->interval = -1;
  return GAB_OK;
}

/* ------------------------------------------------------------------------------------ the free list */

void gab_journal_release(gab_kept *message)
{
  gab_buffer_release(&message->memory);
  gab_free(&message);
}

/* Without capacity on the list the buffer stays with the caller, who gives it back. */
static void put_aside(gab_journal *journal, gab_buffer *buffer)
{
  if (journal->free_count == journal->free_capacity) {
    const size_t more = journal->free_capacity ? 2 * journal->free_capacity : 8;
    void *list = journal->free;
    if (gab_realloc(more * sizeof *journal->free, GAB_MEMORY_OTHER, &list) != GAB_OK) return;
    journal->free = list;
    journal->free_capacity = more;
  }
  gab_journal_spare *place = &journal->free[journal->free_count++];
  *place = (gab_journal_spare){.buffer = *buffer};
  *buffer = (gab_buffer){.use = buffer->use};
  gab_buffer_clear(&place->buffer);
  journal->stats.free_bytes += place->buffer.capacity;
}

static void recycle(gab_journal *journal, gab_kept *message)
{
  if (message->handed_over) put_aside(journal, &message->memory);
  gab_journal_release(message);
}

static void take_out(gab_journal *journal, size_t place, gab_buffer *buffer)
{
  journal->stats.free_bytes -= journal->free[place].buffer.capacity;
  *buffer = journal->free[place].buffer;
  journal->free[place] = journal->free[--journal->free_count];
}

/* The smallest that is large enough: messages of a channel tend to be as large as those before. */
static void take_free(gab_journal *journal, size_t bytes, gab_buffer *buffer)
{
  size_t best = journal->free_count;
  for (size_t i = 0; i < journal->free_count; i++) {
    const gab_buffer *candidate = &journal->free[i].buffer;
    if (candidate->capacity < bytes || candidate->use != buffer->use) continue;
    if (best == journal->free_count || candidate->capacity < journal->free[best].buffer.capacity) best = i;
  }
  if (best < journal->free_count) take_out(journal, best, buffer);
}

static void release_unused(gab_journal *journal)
{
  for (size_t i = journal->free_count; i-- > 0;) {
    if (!journal->free[i].old) {
      journal->free[i].old = true;
      continue;
    }
    gab_buffer buffer;
    take_out(journal, i, &buffer);
    gab_buffer_release(&buffer);
  }
}

/* ------------------------------------------------------------------------------------ channels */

static size_t channel_place(const gab_journal *journal, gab_rank target, uint32_t context)
{
  size_t lo = 0, hi = journal->channel_count;
  while (lo < hi) {
    const size_t mid = lo + (hi - lo) / 2;
    const gab_journal_channel *at = &journal->channels[mid];
    if (at->target < target || (at->target == target && at->context < context)) lo = mid + 1;
    else hi = mid;
  }
  return lo;
}

const gab_journal_channel *gab_journal_channel_of(const gab_journal *journal, gab_rank target,
                                                  uint32_t context)
{
  const size_t place = channel_place(journal, target, context);
  if (place == journal->channel_count) return NULL;
  const gab_journal_channel *found = &journal->channels[place];
  return found->target == target && found->context == context ? found : NULL;
}

static gab_status find_channel(gab_journal *journal, gab_rank target, uint32_t context,
                               gab_journal_channel **found)
{
  const size_t place = channel_place(journal, target, context);
  if (!gab_journal_channel_of(journal, target, context)) {
    void *list = journal->channels;
    GAB_TRY(gab_list_reserve(&list, journal->channel_count, sizeof *journal->channels));
    journal->channels = list;
    memmove(journal->channels + place + 1, journal->channels + place,
            (journal->channel_count - place) * sizeof *journal->channels);
    journal->channels[place] = (gab_journal_channel){.target = target, .context = context};
    journal->channel_count++;
  }
  *found = &journal->channels[place];
  return GAB_OK;
}

gab_status gab_journal_reserve(gab_journal_channel *to)
{
  if (to->end < to->capacity) return GAB_OK;
  if (to->first > 0 && to->first >= to->capacity / 2) {
    memmove(to->kept, to->kept + to->first, (to->end - to->first) * sizeof(gab_kept *));
    to->end -= to->first;
    to->first = 0;
    return GAB_OK;
  }
  const size_t more = to->capacity ? 2 * to->capacity : 8;
  void *list = to->kept;
  GAB_TRY(gab_realloc(more * sizeof(gab_kept *), GAB_MEMORY_OTHER, &list));
  to->kept = list;
  to->capacity = more;
  return GAB_OK;
}

uint64_t gab_journal_next(const gab_journal *journal, gab_rank target, uint32_t context)
{
  const gab_journal_channel *found = gab_journal_channel_of(journal, target, context);
  return found ? found->next : 0;
}

uint64_t gab_journal_first(const gab_journal *journal, gab_rank target, uint32_t context)
{
  const gab_journal_channel *found = gab_journal_channel_of(journal, target, context);
  return found ? found->next - (found->end - found->first) : 0;
}

gab_journal_entry *gab_journal_find(const gab_journal *journal, gab_rank target, uint32_t context,
                                    uint64_t number)
{
  const gab_journal_channel *found = gab_journal_channel_of(journal, target, context);
  if (!found || number >= found->next || found->next - number > found->end - found->first) return NULL;
  return &found->kept[found->end - (size_t)(found->next - number)]->entry;
}

/* ------------------------------------------------------------------------------------ logging */

gab_status gab_journal_begin_interval(gab_journal *journal, gab_step checkpoint)
{
  if (checkpoint < journal->interval)
    GAB_FAIL(GAB_ERR_ARGUMENT,
             "the journal is at checkpoint %" GAB_PRI_STEP " already, %" GAB_PRI_STEP " is earlier",
             journal->interval, checkpoint);
  journal->interval = checkpoint;
  return GAB_OK;
}

/* The message's bytes become the journal's: by changing hands, or by copying. */
static gab_status take_bytes(gab_journal *journal, gab_buffer *message, gab_kept *to)
{
  gab_buffer_init(&to->memory, message->use);
  to->handed_over = message->size >= journal->copy_below && message->size > 0 && !message->fixed;
  if (!to->handed_over) {
    GAB_TRY(gab_put_bytes(&to->memory, message->data, message->size));
    journal->stats.copied++;
    journal->stats.copied_bytes += message->size;
    if (message->size > journal->stats.largest_copied) journal->stats.largest_copied = message->size;
    return GAB_OK;
  }
  const size_t bytes = message->size;
  gab_buffer_swap(&to->memory, message);
  to->memory.follower = NULL;
  take_free(journal, bytes, message);
  journal->stats.handed_over++;
  return GAB_OK;
}

gab_status gab_journal_append(gab_journal *journal, gab_rank target, uint32_t context,
                              const gab_journal_label *label, gab_buffer *message, gab_journal_entry **entry)
{
  gab_journal_channel *to;
  void *memory = NULL;
  GAB_TRY(find_channel(journal, target, context, &to));
  GAB_TRY(gab_journal_reserve(to));
  GAB_TRY(gab_alloc(sizeof(gab_kept), GAB_MEMORY_OTHER, &memory));
  gab_kept *made = memory;
  const gab_status status = take_bytes(journal, message, made);
  if (status != GAB_OK) {
    gab_journal_release(made);
    return status;
  }
  made->entry = (gab_journal_entry){.number = to->next++,
                                    .since = journal->interval,
                                    .label = *label,
                                    .data = made->memory.data,
                                    .bytes = made->memory.size};
  to->kept[to->end++] = made;
  gab_journal_stats *stats = &journal->stats;
  stats->messages++;
  stats->bytes += made->entry.bytes;
  stats->logged_bytes += made->entry.bytes;
  if (stats->bytes > stats->peak_bytes) stats->peak_bytes = stats->bytes;
  *entry = &made->entry;
  return GAB_OK;
}

void gab_journal_hold(gab_journal *journal, gab_journal_entry *entry)
{
  (void)journal;
  ((gab_kept *)entry)->holds++;
}

void gab_journal_let_go(gab_journal *journal, gab_journal_entry *entry)
{
  gab_kept *message = (gab_kept *)entry;
  if (--message->holds == 0 && message->dropped) recycle(journal, message);
}

/* ------------------------------------------------------------------------------------ freeing */

static void drop_oldest(gab_journal *journal, gab_journal_channel *from)
{
  gab_kept *message = from->kept[from->first++];
  journal->stats.messages--;
  journal->stats.bytes -= message->entry.bytes;
  message->dropped = true;
  if (message->holds == 0) recycle(journal, message);
}

void gab_journal_free_before(gab_journal *journal, gab_step checkpoint)
{
  release_unused(journal);
  for (size_t i = 0; i < journal->channel_count; i++) {
    gab_journal_channel *at = &journal->channels[i];
    while (at->first < at->end && at->kept[at->first]->entry.since < checkpoint) drop_oldest(journal, at);
  }
}

void gab_journal_free_below(gab_journal *journal, gab_rank target, uint32_t context, uint64_t number)
{
  gab_journal_channel *at = (gab_journal_channel *)gab_journal_channel_of(journal, target, context);
  while (at && at->first < at->end && at->kept[at->first]->entry.number < number) drop_oldest(journal, at);
}

gab_status gab_journal_begin_channel(gab_journal *journal, gab_rank target, uint32_t context, uint64_t next)
{
  gab_journal_channel *made;
  if (gab_journal_channel_of(journal, target, context))
    GAB_FAIL(GAB_ERR_STATE, "the journal has a channel to rank %" GAB_PRI_RANK " in context %" PRIu32, target,
             context);
  GAB_TRY(find_channel(journal, target, context, &made));
  made->next = next;
  return GAB_OK;
}

void gab_journal_forget_target(gab_journal *journal, gab_rank target)
{
  size_t kept = 0;
  for (size_t i = 0; i < journal->channel_count; i++) {
    gab_journal_channel *at = &journal->channels[i];
    if (at->target != target) {
      journal->channels[kept++] = *at;
      continue;
    }
    while (at->first < at->end) drop_oldest(journal, at);
    gab_free(&at->kept);
  }
  journal->channel_count = kept;
}

bool gab_journal_is_full(const gab_journal *journal, size_t limit)
{
  return limit > 0 && journal->stats.bytes > limit;
}

gab_journal_stats gab_journal_statistics(const gab_journal *journal) { return journal->stats; }

static void forget_all(gab_journal *journal)
{
  for (size_t i = 0; i < journal->channel_count; i++) {
    gab_journal_channel *at = &journal->channels[i];
    while (at->first < at->end) drop_oldest(journal, at);
    gab_free(&at->kept);
  }
  gab_free(&journal->channels);
  journal->channel_count = 0;
}

void gab_journal_destroy(gab_journal **journal_pointer)
{
  gab_journal *journal = *journal_pointer;
  if (!journal) return;
  *journal_pointer = NULL;
  for (size_t i = 0; i < journal->channel_count; i++)
    for (size_t k = journal->channels[i].first; k < journal->channels[i].end; k++)
      journal->channels[i].kept[k]->holds = 0;
  forget_all(journal);
  for (size_t i = 0; i < journal->free_count; i++) gab_buffer_release(&journal->free[i].buffer);
  gab_free(&journal->free);
  gab_free(&journal);
}

/* ------------------------------------------------------------------------------------ numbers */

enum { NUMBER_BYTES = 4 + 4 + 8 };

gab_status gab_journal_pack_numbers(const gab_journal *journal, gab_buffer *out)
{
  GAB_TRY(gab_put_u64(out, journal->channel_count));
  for (size_t i = 0; i < journal->channel_count; i++) {
    GAB_TRY(gab_put_i32(out, journal->channels[i].target));
    GAB_TRY(gab_put_u32(out, journal->channels[i].context));
    GAB_TRY(gab_put_u64(out, journal->channels[i].next));
  }
  return GAB_OK;
}

static gab_status read_numbers(gab_journal *journal, gab_reader *in)
{
  size_t count;
  GAB_TRY(gab_get_count(in, NUMBER_BYTES, &count));
  for (size_t i = 0; i < count; i++) {
    gab_rank target;
    uint32_t context;
    uint64_t next;
    gab_journal_channel *made;
    GAB_TRY(gab_get_i32(in, &target));
    GAB_TRY(gab_get_u32(in, &context));
    GAB_TRY(gab_get_u64(in, &next));
    GAB_TRY(find_channel(journal, target, context, &made));
    made->next = next;
  }
  return GAB_OK;
}

gab_status gab_journal_restart(gab_journal *journal, gab_step checkpoint, gab_reader *in)
{
  forget_all(journal);
  journal->interval = checkpoint;
  const gab_status status = read_numbers(journal, in);
  if (status != GAB_OK) forget_all(journal);
  return status;
}

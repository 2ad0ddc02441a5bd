#include "loadbalance/homes_impl.h"

#include "core/collective.h"

#include <stdlib.h>

/* ------------------------------------------------------------------ what is routed */

typedef struct registration {
  gab_block_id id;
  uint64_t weight;
} registration;

typedef struct answer {
  gab_block_id id;
  int64_t slot;
} answer;

/* Items of one size with a target each, then what came. */
typedef struct post {
  void *items;
  gab_slot *targets;
  size_t count;
  gab_buffer received;
  size_t received_count;
} post;

static gab_status post_open(post *mail, size_t most, size_t item_bytes)
{
  void *memory;
  *mail = (post){.received = {.use = GAB_MEMORY_MESSAGE}};
  GAB_TRY(gab_alloc(most * item_bytes, GAB_MEMORY_MESSAGE, &mail->items));
  gab_status status = gab_alloc(most * sizeof(gab_slot), GAB_MEMORY_MESSAGE, &memory);
  if (status != GAB_OK) gab_free(&mail->items);
  else mail->targets = memory;
  return status;
}

static void post_close(post *mail)
{
  gab_free(&mail->items);
  gab_free(&mail->targets);
  gab_buffer_release(&mail->received);
}

static gab_status post_route(gab_world *world, post *mail, size_t item_bytes)
{
  return gab_world_route(world, mail->items, mail->targets, mail->count, item_bytes, &mail->received,
                         &mail->received_count);
}

static gab_status next_item(gab_reader *in, gab_slot *source, void *item, size_t item_bytes)
{
  GAB_TRY(gab_get_i32(in, source));
  return gab_get_bytes(in, item, item_bytes);
}

/* ------------------------------------------------------------------ life and content */

void gab_homes_init(gab_homes *homes, gab_world *world, const gab_forest_options *options,
                    const gab_curve *curve)
{
  *homes = (gab_homes){.world = world, .options = options};
  gab_order_init(&homes->order, &options->grid, curve);
}

void gab_homes_release(gab_homes *homes)
{
  gab_free(&homes->entries);
  homes->count = homes->capacity = 0;
}

static gab_slot home_of(const gab_homes *homes, gab_block_id id)
{
  const gab_members *members = gab_world_members(homes->world);
  uint64_t key = gab_order_key(&homes->order, id);
  return gab_members_slot(members, gab_order_piece(&homes->order, key, gab_members_count(members)));
}

static gab_status add(gab_homes *homes, gab_block_id id, uint64_t weight, gab_slot owner)
{
  if (homes->count == homes->capacity) {
    size_t capacity = homes->capacity ? 2 * homes->capacity : 64;
    void *memory = homes->entries;
    GAB_TRY(gab_realloc(capacity * sizeof *homes->entries, GAB_MEMORY_OTHER, &memory));
    homes->entries = memory;
    homes->capacity = capacity;
  }
  homes->entries[homes->count++] = (gab_home_entry){.key = gab_order_key(&homes->order, id),
                                                    .id = id,
                                                    .weight = weight > 0 ? weight : 1,
                                                    .owner = owner,
                                                    .part = -1,
                                                    .level = gab_block_id_level(&homes->options->grid, id)};
  return GAB_OK;
}

static gab_status add_if_it_exists(void *context, gab_block_id root)
{
  gab_homes *homes = context;
  const gab_forest_options *options = homes->options;
  gab_block_place place = gab_block_id_place(&options->grid, root);
  gab_box cells;
  for (int axis = 0; axis < 3; ++axis) {
    cells.lo[axis] = (int64_t)place.at[axis] * options->cells[axis];
    cells.hi[axis] = cells.lo[axis] + options->cells[axis];
  }
  if (options->exists && !options->exists(options->user, place.level, &cells)) return GAB_OK;
  uint64_t weight = options->weight ? options->weight(options->user, place.level, &cells) : 1;
  return add(homes, root, weight, GAB_NO_SLOT);
}

gab_status gab_homes_survey(gab_homes *homes)
{
  const gab_members *members = gab_world_members(homes->world);
  int32_t piece = gab_members_index(members, gab_world_slot(homes->world));
  return gab_order_visit_piece(&homes->order, piece, gab_members_count(members), add_if_it_exists, homes);
}

static int by_key(const void *a, const void *b)
{
  const gab_home_entry *left = a, *right = b;
  return (left->key > right->key) - (left->key < right->key);
}

static gab_status take_registrations(gab_homes *homes, const post *mail)
{
  gab_reader in = gab_reader_of_buffer(&mail->received);
  for (size_t i = 0; i < mail->received_count; ++i) {
    gab_slot source;
    registration item;
    GAB_TRY(next_item(&in, &source, &item, sizeof item));
    GAB_TRY(add(homes, item.id, item.weight, source));
  }
  if (homes->count > 1) qsort(homes->entries, homes->count, sizeof *homes->entries, by_key);
  return GAB_OK;
}

gab_status gab_homes_register(gab_homes *homes, const gab_block_id *ids, const uint64_t *weights,
                              size_t count)
{
  post mail;
  GAB_TRY(post_open(&mail, count, sizeof(registration)));
  registration *items = mail.items;
  for (; mail.count < count; ++mail.count) {
    items[mail.count] = (registration){ids[mail.count], weights[mail.count]};
    mail.targets[mail.count] = home_of(homes, ids[mail.count]);
  }
  gab_status status = post_route(homes->world, &mail, sizeof(registration));
  if (status == GAB_OK) status = take_registrations(homes, &mail);
  post_close(&mail);
  return status;
}

/* ------------------------------------------------------------------ what the homes tell */

static gab_slot slot_of(const gab_homes *homes, int32_t part)
{
  return gab_members_slot(gab_world_members(homes->world), part);
}

static gab_status take_ids(const post *mail, gab_block_id **ids, size_t *count)
{
  void *memory;
  GAB_TRY(gab_alloc(mail->received_count * sizeof **ids, GAB_MEMORY_OTHER, &memory));
  *ids = memory;
  gab_reader in = gab_reader_of_buffer(&mail->received);
  for (; *count < mail->received_count; ++*count) {
    gab_slot source;
    GAB_TRY(next_item(&in, &source, &(*ids)[*count], sizeof **ids));
  }
  return GAB_OK;
}

gab_status gab_homes_claim(gab_homes *homes, gab_block_id **ids, size_t *count)
{
  post mail;
  *ids = NULL;
  *count = 0;
  GAB_TRY(post_open(&mail, homes->count, sizeof(gab_block_id)));
  gab_block_id *items = mail.items;
  for (; mail.count < homes->count; ++mail.count) {
    items[mail.count] = homes->entries[mail.count].id;
    mail.targets[mail.count] = slot_of(homes, homes->entries[mail.count].part);
  }
  gab_status status = post_route(homes->world, &mail, sizeof(gab_block_id));
  if (status == GAB_OK) status = take_ids(&mail, ids, count);
  if (status != GAB_OK) gab_free(ids);
  post_close(&mail);
  return status;
}

static int ascending(const void *a, const void *b)
{
  gab_block_id left = *(const gab_block_id *)a, right = *(const gab_block_id *)b;
  return (left > right) - (left < right);
}

static gab_status take_parts(const post *mail, const gab_block_id *ids, size_t count, int32_t *parts)
{
  gab_reader in = gab_reader_of_buffer(&mail->received);
  if (mail->received_count != count)
    GAB_FAIL(GAB_ERR_STATE, "the homes placed %zu of %zu blocks", mail->received_count, count);
  for (size_t i = 0; i < count; ++i) {
    gab_slot source;
    answer item;
    GAB_TRY(next_item(&in, &source, &item, sizeof item));
    const gab_block_id *found = bsearch(&item.id, ids, count, sizeof *ids, ascending);
    if (!found)
      GAB_FAIL(GAB_ERR_STATE, "a home speaks of block " GAB_PRI_BLOCK ", which is not here", item.id);
    parts[found - ids] = (int32_t)item.slot;
  }
  return GAB_OK;
}

gab_status gab_homes_ask(gab_homes *homes, const gab_block_id *ids, size_t count, int32_t *parts)
{
  post mail;
  GAB_TRY(post_open(&mail, homes->count, sizeof(answer)));
  answer *items = mail.items;
  for (; mail.count < homes->count; ++mail.count) {
    const gab_home_entry *entry = &homes->entries[mail.count];
    items[mail.count] = (answer){entry->id, entry->part};
    mail.targets[mail.count] = entry->owner;
  }
  gab_status status = post_route(homes->world, &mail, sizeof(answer));
  if (status == GAB_OK) status = take_parts(&mail, ids, count, parts);
  post_close(&mail);
  return status;
}

/* ------------------------------------------------------------------ directory */

static gab_slot target_here(const gab_homes *homes, gab_block_id id)
{
  gab_home_entry wanted = {.key = gab_order_key(&homes->order, id)};
  const gab_home_entry *found = NULL;
  if (homes->count > 0) found = bsearch(&wanted, homes->entries, homes->count, sizeof wanted, by_key);
  return found && found->id == id ? slot_of(homes, found->part) : GAB_NO_SLOT;
}

static gab_status answer_questions(gab_homes *homes, const post *asked, post *told)
{
  gab_reader in = gab_reader_of_buffer(&asked->received);
  answer *items = told->items;
  for (; told->count < asked->received_count; ++told->count) {
    gab_block_id id;
    GAB_TRY(next_item(&in, &told->targets[told->count], &id, sizeof id));
    items[told->count] = (answer){id, target_here(homes, id)};
  }
  return post_route(homes->world, told, sizeof(answer));
}

static gab_status take_answers(const post *told, const gab_block_id *ids, size_t count, gab_slot *owners)
{
  gab_reader in = gab_reader_of_buffer(&told->received);
  if (told->received_count != count)
    GAB_FAIL(GAB_ERR_STATE, "%zu answers to %zu questions", told->received_count, count);
  for (size_t i = 0; i < count; ++i) {
    gab_slot source;
    answer item;
    GAB_TRY(next_item(&in, &source, &item, sizeof item));
    const gab_block_id *found = bsearch(&item.id, ids, count, sizeof *ids, ascending);
    if (!found)
      GAB_FAIL(GAB_ERR_STATE, "an answer about block " GAB_PRI_BLOCK ", which was not asked", item.id);
    owners[found - ids] = (gab_slot)item.slot;
  }
  return GAB_OK;
}

gab_status gab_homes_lookup(void *context, const gab_block_id *ids, size_t count, gab_slot *owners)
{
  gab_homes *homes = context;
  post asked, told = {0};
  GAB_TRY(post_open(&asked, count, sizeof(gab_block_id)));
  gab_block_id *questions = asked.items;
  for (; asked.count < count; ++asked.count) {
    questions[asked.count] = ids[asked.count];
    asked.targets[asked.count] = home_of(homes, ids[asked.count]);
  }
  gab_status status = post_route(homes->world, &asked, sizeof(gab_block_id));
  if (status == GAB_OK) status = post_open(&told, asked.received_count, sizeof(answer));
  if (status == GAB_OK) status = answer_questions(homes, &asked, &told);
  if (status == GAB_OK) status = take_answers(&told, ids, count, owners);
  post_close(&asked);
  post_close(&told);
  return status;
}

gab_status gab_homes_my_weight(gab_homes *homes, uint64_t *weight)
{
  post mail;
  *weight = 0;
  GAB_TRY(post_open(&mail, homes->count, sizeof(uint64_t)));
  uint64_t *sums = mail.items;
  for (size_t i = 0; i < homes->count; ++i) { /* parts ascend along the curve */
    if (i == 0 || homes->entries[i].part != homes->entries[i - 1].part)
      mail.targets[mail.count++] = slot_of(homes, homes->entries[i].part);
    sums[mail.count - 1] += homes->entries[i].weight;
  }
  gab_status status = post_route(homes->world, &mail, sizeof(uint64_t));
  gab_reader in = gab_reader_of_buffer(&mail.received);
  for (size_t i = 0; i < mail.received_count && status == GAB_OK; ++i) {
    gab_slot source;
    uint64_t part;
    status = next_item(&in, &source, &part, sizeof part);
    if (status == GAB_OK) *weight += part;
  }
  post_close(&mail);
  return status;
}

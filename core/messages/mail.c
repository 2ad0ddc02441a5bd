/* SPDX-License-Identifier: Apache-2.0 */
/** @file mail.c
 *  @brief Patterns and mailboxes as a part of images.
 *
 *  Under local recovery, messages in a queue count as delivered, so they must be restored. In a global rollback they were sent
 *  after the checkpoint by processes that roll back and send them again. */
#include "core/messages/mailbox.h"

#include "core/world/world_impl.h"

bool gab_world_has_mail(const gab_world *world) { return world->mailboxes || world->patterns.count > 0; }

void gab_world_close_mail(gab_world *world, bool closed) { world->mail_is_closed = closed; }

/* ------------------------------------------------------------------------------------ packing */

static gab_status check_letter(const gab_world *world, const gab_mail *mail)
{
  if (mail->step >= world->step) return GAB_OK;
  GAB_FAIL(GAB_ERR_STATE,
           "a message from rank %" GAB_PRI_RANK " with tag %" PRIu32 ", sent in step %" GAB_PRI_STEP
           ", has not been received before the checkpoint of step %" GAB_PRI_STEP,
           mail->source, mail->tag, mail->step, world->step);
}

static gab_status pack_queue(const gab_mailbox *mailbox, gab_buffer *out)
{
  const gab_world *world = mailbox->world;
  const bool is_current = mailbox->epoch == world->epoch;
  GAB_TRY(gab_put_u64(out, gab_mailbox_waiting(mailbox)));
  for (const gab_letter *letter = mailbox->first; letter && is_current; letter = letter->next) {
    GAB_TRY(check_letter(world, &letter->about));
    GAB_TRY(gab_put_u64(out, letter->bytes.size));
    GAB_TRY(gab_put_bytes(out, letter->bytes.data, letter->bytes.size));
  }
  return GAB_OK;
}

gab_status gab_world_pack_mail(void *user, gab_buffer *out)
{
  const gab_world *world = user;
  const gab_patterns *patterns = &world->patterns;
  if (patterns->active != GAB_DEFAULT_PATTERN)
    GAB_FAIL(GAB_ERR_STATE,
             "a checkpoint is due within an iteration of pattern %" PRIu32
             ": it has to end in the step in which it began",
             patterns->active);
  GAB_TRY(gab_put_i32(out, world->members.ranks));
  GAB_TRY(gab_put_u64(out, patterns->count));
  for (size_t i = 0; i < patterns->count; i++) GAB_TRY(gab_put_u64(out, patterns->iterations[i]));
  for (const gab_mailbox *mailbox = world->mailboxes; mailbox; mailbox = mailbox->older)
    GAB_TRY(pack_queue(mailbox, out));
  return GAB_OK;
}

/* ------------------------------------------------------------------------------------ unpacking */

static gab_status unpack_letter(gab_mailbox *mailbox, gab_reader *in, bool keep)
{
  size_t bytes;
  gab_reader view;
  gab_buffer message;
  GAB_TRY(gab_get_count(in, 1, &bytes));
  GAB_TRY(gab_get_view(in, bytes, &view));
  if (!keep) return GAB_OK;
  gab_buffer_init(&message, GAB_MEMORY_MESSAGE);
  gab_status status = gab_put_bytes(&message, view.at, gab_reader_left(&view));
  if (status == GAB_OK) status = gab_mailbox_put(mailbox, &message);
  gab_buffer_release(&message);
  return status;
}

gab_status gab_world_unpack_mail(void *user, gab_reader *in)
{
  gab_world *world = user;
  gab_patterns *patterns = &world->patterns;
  const bool alone = world->policy == GAB_POLICY_MARK_DOWN; /* other ranks do not roll back */
  size_t count;
  gab_rank ranks;
  GAB_TRY(gab_get_i32(in, &ranks));
  if (ranks !=
      world->members.ranks) /* a rank without an image in the checkpoint would count its iterations from 0 */
    GAB_FAIL(GAB_ERR_INPUT,
             "a checkpoint of %" GAB_PRI_RANK
             " processes that use mailboxes cannot be continued with %" GAB_PRI_RANK,
             ranks, world->members.ranks);
  GAB_TRY(gab_get_count(in, sizeof *patterns->iterations, &count));
  if (count != patterns->count)
    GAB_FAIL(GAB_ERR_CORRUPT, "a checkpoint knows %zu patterns, the program has declared %zu", count,
             patterns->count);
  patterns->active = GAB_DEFAULT_PATTERN;
  for (size_t i = 0; i < count; i++) GAB_TRY(gab_get_u64(in, &patterns->iterations[i]));
  for (gab_mailbox *mailbox = world->mailboxes; mailbox; mailbox = mailbox->older) {
    size_t letters;
    gab_mailbox_empty(mailbox);
    mailbox->epoch = world->epoch;
    GAB_TRY(gab_get_count(in, sizeof(uint64_t), &letters));
    for (size_t i = 0; i < letters; i++) GAB_TRY(unpack_letter(mailbox, in, alone));
  }
  return GAB_OK;
}

/* SPDX-License-Identifier: Apache-2.0 */
/** @file pattern.c
 *  @brief Communication patterns of an application: counters, the active pattern, and messages of ended iterations. */
#include "core/messages/pattern.h"

#include "core/world/world_impl.h"

static bool is_declared(const gab_world *world, gab_pattern pattern)
{
  return pattern != GAB_DEFAULT_PATTERN && pattern <= world->patterns.count;
}

gab_status gab_pattern_declare(gab_world *world, gab_pattern *pattern)
{
  gab_patterns *patterns = &world->patterns;
  *pattern = GAB_DEFAULT_PATTERN;
  if (world->mail_is_closed)
    GAB_FAIL(GAB_ERR_STATE,
             "a pattern must be declared before the time loop runs, which protects its iterations");
  if (patterns->count == UINT32_MAX) GAB_FAIL(GAB_ERR_STATE, "there are too many patterns");
  GAB_TRY(gab_list_reserve(&patterns->iterations, patterns->count, sizeof *patterns->iterations));
  patterns->iterations[patterns->count++] = 0;
  *pattern = (gab_pattern)patterns->count;
  return GAB_OK;
}

gab_status gab_pattern_begin(gab_world *world, gab_pattern pattern)
{
  gab_patterns *patterns = &world->patterns;
  if (!is_declared(world, pattern))
    GAB_FAIL(GAB_ERR_ARGUMENT, "pattern %" PRIu32 " was not declared: there are %zu", pattern,
             patterns->count);
  if (patterns->active != GAB_DEFAULT_PATTERN)
    GAB_FAIL(GAB_ERR_STATE, "an iteration of pattern %" PRIu32 " cannot begin within one of pattern %" PRIu32,
             pattern, patterns->active);
  patterns->iterations[pattern - 1]++;
  patterns->active = pattern;
  return GAB_OK;
}

gab_status gab_pattern_end(gab_world *world, gab_pattern pattern)
{
  gab_patterns *patterns = &world->patterns;
  if (pattern == GAB_DEFAULT_PATTERN || patterns->active != pattern)
    GAB_FAIL(GAB_ERR_STATE, "pattern %" PRIu32 " has no iteration to end: pattern %" PRIu32 " is active",
             pattern, patterns->active);
  patterns->active = GAB_DEFAULT_PATTERN;
  return gab_mailboxes_check(world);
}

gab_pattern_id gab_pattern_active(const gab_world *world)
{
  const gab_pattern active = world->patterns.active;
  return (gab_pattern_id){active, gab_pattern_iteration(world, active)};
}

uint64_t gab_pattern_iteration(const gab_world *world, gab_pattern pattern)
{
  return is_declared(world, pattern) ? world->patterns.iterations[pattern - 1] : 0;
}

gab_pattern_id gab_port_pattern(const gab_port *port)
{
  return port->has_pattern ? port->pattern : gab_pattern_active(port->world);
}

bool gab_pattern_is_over(const gab_world *world, gab_pattern_id id)
{
  if (!is_declared(world, id.pattern)) return false;
  const uint64_t now = gab_pattern_iteration(world, id.pattern);
  return id.iteration < now || (id.iteration == now && world->patterns.active != id.pattern);
}

static gab_status too_late(const gab_mail *mail)
{
  GAB_FAIL(GAB_ERR_STATE,
           "a message from rank %" GAB_PRI_RANK " with tag %" PRIu32 " belongs to iteration %" PRIu64
           " of pattern %" PRIu32 ", which has ended here: nobody can receive it",
           mail->source, mail->tag, mail->id.iteration, mail->id.pattern);
}

gab_status gab_mailboxes_check(const gab_world *world)
{
  for (const gab_mailbox *mailbox = world->mailboxes; mailbox; mailbox = mailbox->older)
    for (const gab_letter *letter = mailbox->first; letter && mailbox->epoch == world->epoch;
         letter = letter->next)
      if (gab_pattern_is_over(world, letter->about.id)) return too_late(&letter->about);
  return GAB_OK;
}

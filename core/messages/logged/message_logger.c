/* SPDX-License-Identifier: Apache-2.0 */
/** @file message_logger.c
 *  @brief Message loggers of ports: logged ports, counts of sent messages, decisions; and claims of ranks that were taken
 *  without a repair.
 */
#include "core/messages/logged/message_logger.h"

#include "core/messages/collective.h"
#include "core/base/log.h"
#include "core/world/world_impl.h"

void gab_port_set_logged(gab_port *port)
{
  if (port->logged || !port->world) return;
  port->logged = true;
  port->log_context = port->world->logged_ports++;
}

uint32_t gab_world_logged_ports(const gab_world *world) { return world->logged_ports; }

const char *gab_world_logged_name(const gab_world *world, uint32_t context)
{
  for (const gab_port *port = world->ports; port; port = port->next)
    if (port->logged && port->log_context == context) return port->name;
  return "";
}

void gab_world_set_message_logger(gab_world *world, const gab_message_logger *logger)
{
  gab_world_abandon_ports(world);
  world->logger = logger;
}

bool gab_world_has_message_logger(const gab_world *world) { return world->logger != NULL; }

void gab_world_set_rest(gab_world *world, gab_rest_fn call, void *user)
{
  world->rest = call;
  world->rest_user = user;
}

uint64_t gab_world_meetings(const gab_world *world) { return world->meetings; }

bool gab_world_has_own_comms(const gab_world *world) { return world->comms != NULL; }
bool gab_world_has_mailbox(const gab_world *world) { return world->mailboxes != NULL; }
void gab_world_call_repair(gab_world *world) { gab_world_break(world); }
void gab_world_drop_messages(gab_world *world) { gab_world_reset_ports(world); }

/* ------------------------------------------------------------------------------------ counting */

void gab_world_forget_sent(gab_world *world)
{
  for (gab_port *port = world->ports; port; port = port->next)
    for (size_t i = 0; i < port->channel_count; i++)
      port->channels[i].counted = port->channels[i].counted_bytes = 0;
}

void gab_world_count_sent(gab_world *world, bool counts) { world->sent_is_uncounted = !counts; }

gab_status gab_world_each_sent(const gab_world *world, gab_sent_fn call, void *user)
{
  for (const gab_port *port = world->ports; port; port = port->next)
    for (size_t i = 0; port->logged && i < port->channel_count; i++) {
      const gab_channel *channel = &port->channels[i];
      if (channel->counted > 0 && channel->peer != world->rank)
        GAB_TRY(call(user, channel->peer, channel->counted, channel->counted_bytes));
    }
  return GAB_OK;
}

/* ------------------------------------------------------------------------------------ decisions */

gab_status gab_world_decide(gab_world *world, uint64_t *value)
{
  const gab_message_logger *logger = world->logger;
  gab_buffer bytes;
  GAB_TRY(gab_world_check(world));
  if (logger && gab_world_is_root(world)) GAB_TRY(logger->decide(logger->user, value));
  gab_buffer_init(&bytes, GAB_MEMORY_OTHER);
  gab_status status = gab_world_is_root(world) ? gab_put_u64(&bytes, *value) : GAB_OK;
  if (status == GAB_OK) status = gab_world_broadcast(world, gab_world_root(world), &bytes);
  gab_reader in = gab_reader_of_buffer(&bytes);
  if (status == GAB_OK) status = gab_get_u64(&in, value);
  gab_buffer_release(&bytes);
  return status;
}

/* ------------------------------------------------------------------------------------ claims */

gab_status gab_world_take_rank(gab_world *world, gab_rank rank)
{
  if (!gab_world_is_spare(world) || !world->resting || !gab_members_has(&world->members, rank))
    GAB_FAIL(GAB_ERR_STATE, "this process is not a resting spare, or there is no rank %" GAB_PRI_RANK, rank);
  world->rank = rank;
  world->has_claim = true;
  world->earlier_count = 0;
  world->claim = (gab_claim){.rank = rank,
                             .process = world->process,
                             .taken = 1,
                             .restored_step = -1,
                             .lost_step = -1,
                             .whole_from = INT64_MAX};
  gab_log_set_identity(rank, gab_world_is_root(world));
  return GAB_OK;
}

gab_claim *gab_world_claim(gab_world *world) { return world->has_claim ? &world->claim : NULL; }

void gab_world_claim_earlier(gab_world *world, const gab_claim *earlier, int count)
{
  world->earlier_count = count < GAB_MOST_CLAIMS - 1 ? count : GAB_MOST_CLAIMS - 1;
  for (int i = 0; i < world->earlier_count; i++) {
    world->earlier[i] = earlier[i];
    world->earlier[i].taken = 0;
  }
}

const gab_claim *gab_world_claims(const gab_world *world, int *count)
{
  *count = world->claim_count;
  return world->claims;
}

/* Once for each takeover of the rank, so that all count the same incarnations. */
gab_status gab_world_apply_claims(const gab_world *world, gab_members *members)
{
  for (int i = 0; i < world->claim_count; i++) {
    const gab_claim *claim = &world->claims[i];
    if (claim->taken == 0 || gab_members_process(members, claim->rank) == claim->process) continue;
    for (gab_incarnation k = 0; k < claim->taken; k++) {
      GAB_TRY(gab_members_remove(members, claim->rank));
      GAB_TRY(gab_members_return(members, claim->rank, claim->process));
    }
  }
  return GAB_OK;
}

/* All processes in claims are alive. */
gab_status gab_world_settle_claims(gab_world *world)
{
  GAB_TRY(gab_world_apply_claims(world, &world->members));
  if (world->has_claim && gab_members_process(&world->members, world->claim.rank) != world->process)
    GAB_FAIL(GAB_ERR_STATE, "rank %" GAB_PRI_RANK " is run by two processes", world->claim.rank);
  return GAB_OK;
}

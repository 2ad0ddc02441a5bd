/* SPDX-License-Identifier: Apache-2.0 */
/* The transport of images: phases of a set of moves. Contract: image_moves_impl.h; images within a node: image_memory.c. */
#include "resilience/checkpoint/image_moves_impl.h"

#include "core/base/log.h"
#include "core/memory/memory_impl.h"

/* ---------------------------------------------------------------- the list */

gab_status gab_image_moves_send(gab_image_moves *moves, gab_rank to, gab_buffer *image, gab_image_way way)
{
  GAB_TRY(gab_image_unmap(image));
  GAB_TRY(gab_list_reserve(&moves->departures, (size_t)moves->departure_count, sizeof *moves->departures));
  gab_image_departure *departure = &moves->departures[moves->departure_count++];
  *departure = (gab_image_departure){.to = to, .image = image, .way = way};
  gab_buffer_init(&departure->offer, GAB_MEMORY_MESSAGE);
  gab_buffer_init(&departure->answer, GAB_MEMORY_MESSAGE);
  return GAB_OK;
}

gab_status gab_image_moves_receive(gab_image_moves *moves, gab_rank from, gab_buffer *image, gab_copy *copy)
{
  GAB_TRY(gab_list_reserve(&moves->arrivals, (size_t)moves->arrival_count, sizeof *moves->arrivals));
  moves->arrivals[moves->arrival_count++] = (gab_image_arrival){.from = from, .image = image, .copy = copy};
  return GAB_OK;
}

/* ---------------------------------------------------------------- phase by phase */

static gab_status send_one(gab_image_moves *moves, gab_image_departure *departure)
{
  gab_shared_key key;
  if (departure->way == GAB_IMAGE_KEPT)
    return gab_port_send_kept(moves->port, departure->to, departure->image);
  departure->is_offered =
      departure->way == GAB_IMAGE_OFFERED && gab_shared_key_of(departure->image->data, &key);
  if (!departure->is_offered) return gab_port_send(moves->port, departure->to, departure->image);
  GAB_TRY(gab_offer_pack(departure->image, departure->image->size, &departure->offer));
  return gab_port_send(moves->port, departure->to, &departure->offer);
}

gab_status gab_image_moves_post(gab_image_moves *moves)
{
  moves->phase = GAB_IMAGES_SENDING;
  for (int i = 0; i < moves->arrival_count; i++)
    GAB_TRY(
        gab_port_receive(moves->port, moves->arrivals[i].from, moves->arrivals[i].image, GAB_SIZE_UNKNOWN));
  for (int i = 0; i < moves->departure_count; i++) GAB_TRY(send_one(moves, &moves->departures[i]));
  return GAB_OK;
}

static gab_status take_offer(const gab_image_moves *moves, gab_copy *copy)
{
  size_t bytes;
  bool visible;
  if (!gab_offer_open(copy, &copy->image, &bytes, &visible)) { /* the buffer is the image */
    gab_shared_view_close(
        &copy->view); /* image of a rank that may be dead; an open view would keep its memory allocated */
    return GAB_OK;
  }
  copy->decision = !visible ? GAB_OFFER_REFUSED : moves->maps ? GAB_OFFER_SHARED : GAB_OFFER_COPIED;
  if (copy->decision == GAB_OFFER_SHARED) gab_copy_map(copy, bytes);
  if (copy->decision != GAB_OFFER_COPIED) return GAB_OK;
  GAB_TRY(gab_buffer_fit(&copy->image, bytes));
  copy->image.size = bytes;
  return GAB_OK;
}

static gab_status take_offers(gab_image_moves *moves)
{
  for (int i = 0; i < moves->arrival_count; i++)
    if (moves->arrivals[i].copy) GAB_TRY(take_offer(moves, moves->arrivals[i].copy));
  moves->copying = 0;
  moves->copied = 0;
  moves->phase = GAB_IMAGES_COPYING;
  return GAB_OK;
}

static gab_offer_answer decision_of(const gab_image_arrival *arrival)
{
  return arrival->copy ? arrival->copy->decision : GAB_OFFER_NONE;
}

/* Copies one piece of the offered images. @return false if none is left */
static bool copy_some(gab_image_moves *moves)
{
  bool has_copied = false;
  for (; moves->copying < moves->arrival_count; moves->copying++) {
    const gab_image_arrival *arrival = &moves->arrivals[moves->copying];
    if (decision_of(arrival) != GAB_OFFER_COPIED) continue;
    if (has_copied) return true;
    has_copied = true;
    if (!gab_copy_piece(arrival->copy, &moves->copied)) return true;
    moves->copied = 0;
  }
  return false;
}

static gab_status post_answers(gab_image_moves *moves)
{
  moves->phase = GAB_IMAGES_ANSWERS;
  for (int i = 0; i < moves->arrival_count; i++) {
    gab_copy *copy = moves->arrivals[i].copy;
    if (decision_of(&moves->arrivals[i]) == GAB_OFFER_NONE) continue;
    GAB_TRY(gab_message_begin(&copy->answer));
    GAB_TRY(gab_put_u8(&copy->answer, (uint8_t)copy->decision));
    GAB_TRY(gab_port_send(moves->port, moves->arrivals[i].from, &copy->answer));
  }
  for (int i = 0; i < moves->departure_count; i++)
    if (moves->departures[i].is_offered)
      GAB_TRY(gab_port_receive(moves->port, moves->departures[i].to, &moves->departures[i].answer, 1));
  return GAB_OK;
}

static gab_status send_if_refused(gab_image_moves *moves, gab_image_departure *departure)
{
  uint8_t answer = GAB_OFFER_NONE;
  gab_reader in = gab_message_reader(&departure->answer);
  GAB_TRY(gab_get_u8(&in, &answer));
  departure->answered = (gab_offer_answer)answer;
  if (answer != GAB_OFFER_REFUSED) return GAB_OK;
  if (!moves->refusal_logged)
    gab_log_all(GAB_LOG_INFO,
                "rank %" GAB_PRI_RANK
                " runs on this node but cannot see memory of this process: images go there by messages",
                departure->to);
  moves->refusal_logged = true;
  return gab_port_send(moves->port, departure->to, departure->image);
}

static gab_status post_refused(gab_image_moves *moves)
{
  moves->phase = GAB_IMAGES_REFUSED;
  for (int i = 0; i < moves->arrival_count; i++)
    if (decision_of(&moves->arrivals[i]) == GAB_OFFER_REFUSED)
      GAB_TRY(
          gab_port_receive(moves->port, moves->arrivals[i].from, moves->arrivals[i].image, GAB_SIZE_UNKNOWN));
  for (int i = 0; i < moves->departure_count; i++)
    if (moves->departures[i].is_offered) GAB_TRY(send_if_refused(moves, &moves->departures[i]));
  return GAB_OK;
}

/* The step after messages that have all arrived or, without messages, the next piece. */
static gab_status advance(gab_image_moves *moves)
{
  switch (moves->phase) {
  case GAB_IMAGES_SENDING:
    return take_offers(moves);
  case GAB_IMAGES_COPYING:
    return copy_some(moves) ? GAB_OK : post_answers(moves);
  case GAB_IMAGES_ANSWERS:
    return post_refused(moves);
  case GAB_IMAGES_LISTED:
  case GAB_IMAGES_REFUSED:
  case GAB_IMAGES_DONE:
    break;
  }
  moves->phase = GAB_IMAGES_DONE;
  return GAB_OK;
}

gab_status gab_image_moves_progress(gab_image_moves *moves, bool *done)
{
  *done = false;
  while (moves->phase != GAB_IMAGES_DONE) {
    bool is_idle;
    GAB_TRY(gab_port_progress(moves->port, &is_idle));
    if (!is_idle) return GAB_OK;
    GAB_TRY(gab_port_finish(moves->port));
    const bool copies = moves->phase == GAB_IMAGES_COPYING;
    GAB_TRY(advance(moves));
    if (copies && moves->phase == GAB_IMAGES_COPYING) return GAB_OK;
  }
  *done = true;
  return GAB_OK;
}

gab_status gab_image_moves_finish(gab_image_moves *moves)
{
  while (moves->phase != GAB_IMAGES_DONE) {
    GAB_TRY(gab_port_finish(moves->port));
    GAB_TRY(advance(moves));
  }
  return GAB_OK;
}

/* ---------------------------------------------------------------- ends */

gab_status gab_image_moves_end(gab_image_moves *moves, gab_status status)
{
  status = gab_port_give_up(moves->port, status);
  for (int i = 0; i < moves->departure_count; i++) {
    gab_buffer_release(&moves->departures[i].offer);
    gab_buffer_release(&moves->departures[i].answer);
  }
  moves->departure_count = moves->arrival_count = 0;
  moves->phase = GAB_IMAGES_LISTED;
  return status;
}

gab_status gab_image_moves_run(gab_image_moves *moves, gab_status status)
{
  if (status == GAB_OK) status = gab_image_moves_post(moves);
  if (status == GAB_OK) status = gab_image_moves_finish(moves);
  return gab_image_moves_end(moves, status);
}

void gab_image_moves_release(gab_image_moves *moves)
{
  gab_free(&moves->departures);
  gab_free(&moves->arrivals);
}

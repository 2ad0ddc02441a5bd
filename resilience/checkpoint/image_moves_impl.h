/* SPDX-License-Identifier: Apache-2.0 */
/** @file image_moves_impl.h
 *  @brief The transport of images: from the ranks that hold them to the ranks that need them.
 *
 *  Images are sent between processes in sets of moves. The stores at both ends:
 *
 *    source            holder's end                        receiver's end
 *    redundancy.c      own image of a new snapshot         copy at a partner
 *    metadata_images.c own metadata image                  copy at a partner
 *    redundancy_repair.c  whole copy, or own image         copy, or own image, that has changed in memory
 *    replacements.c    copy, or image rebuilt by a group   own image of a replacement process
 *    node_restart.c    file in node memory                 rank to which the image is assigned
 *
 *  Two stores take images in pieces, since no process has memory for another whole image there: parities of coded groups
 *  (redundancy_group.c, redundancy_rebuild.c) and files on disk (disk_send.c, disk_collect.c).
 *
 *  State of a move:
 *
 *    listed      no message yet
 *    under way   the port reads the image at the holder and writes it at the receiver
 *    offered     the receiver knows where the image lies, on the same node; it copies it in pieces, or maps it
 *    refused     the receiver cannot see the image
 *    arrived     the receiver holds the image, or sees it
 *
 *    listed -> under way -> arrived
 *    listed -> offered -> arrived
 *    listed -> offered -> refused -> under way -> arrived
 *
 *  All moves of a set pass through four phases; a phase without messages takes no time:
 *
 *    images    the holder sends the image, or an offer; the receiver waits for either
 *    copying   offered images are copied, piece by piece, or mapped
 *    answers   the receiver answers an offer: copied, shared (mapped) or refused
 *    refused   the holder sends images that were refused
 *
 *  Invariants. (1) Between gab_image_moves_post() and the end of the set nobody writes, moves or releases its images. (2)
 *  After a failure, a death included, a kept image is unchanged; any other image may be lost at its holder. (3) An offered
 *  image is complete before the offer, and is not written again before all ranks have agreed on the snapshot, or the world
 *  has been repaired: then no receiver copies any more. (4) A receiver that answers `copied' holds all bytes. One that
 *  answers `shared' holds none, and maps the image until its rank writes the next snapshot but one. (5) A rank waits for no
 *  later phase and for no later set, so sets in the same order on all ranks do not deadlock. (6) Arrived images are not
 *  verified: verify the hash before use (image_checksum.c).
 *
 *  Stability: internal.
 */
#ifndef GABION_RESILIENCE_IMAGE_MOVES_IMPL_H
#define GABION_RESILIENCE_IMAGE_MOVES_IMPL_H

#include "core/memory/shared_memory.h"
#include "core/messages/port.h"

/* Condition of bytes in memory. */
typedef enum gab_condition {
  GAB_CONDITION_UNKNOWN = 0,
  GAB_CONDITION_WHOLE,
  GAB_CONDITION_CHANGED, /* its hash does not match */
  GAB_CONDITION_OVERWRITTEN, /* intact, but of another snapshot: an image that this rank reads in the memory of another one */
  GAB_CONDITION_ABSENT /* no bytes: a transfer was interrupted */
} gab_condition;

/* Answer to an offered image. The numbers are sent. */
typedef enum gab_offer_answer {
  GAB_OFFER_NONE = 0, /* there was none */
  GAB_OFFER_COPIED,   /* the receiver has copied the bytes */
  GAB_OFFER_SHARED,   /* the receiver reads them in the memory of the holder */
  GAB_OFFER_REFUSED   /* the receiver cannot read them: send them */
} gab_offer_answer;

/* An image of another rank, as it was received: envelope and payload. */
typedef struct gab_copy {
  gab_rank rank;
  int number;           /* number of the copy of that rank's image */
  gab_buffer image;     /* uncompressed or compressed (image_compressed.c); fixed: in `view`, read-only */
  gab_shared_view view; /* view of the memory of that rank; open while it may be needed */
  gab_buffer answer;    /* to the last offer */
  gab_offer_answer decision;
  gab_condition condition;
} gab_copy;

/* ---------------------------------------------------------------- sets of moves */

typedef enum gab_image_way {
  GAB_IMAGE_SENT, /* by messages */
  GAB_IMAGE_KEPT, /* by messages; the image may be the only one (invariant 2), and is kept until the set has ended without a
                   * failure or the world has been repaired */
  GAB_IMAGE_OFFERED /* within a node: offered if the memory is shared; otherwise sent */
} gab_image_way;

typedef struct gab_image_departure {
  gab_rank to;
  gab_buffer *image;
  gab_image_way way;
  bool is_offered;
  gab_buffer offer, answer;
  gab_offer_answer answered;
} gab_image_departure;

typedef struct gab_image_arrival {
  gab_rank from;
  gab_buffer *image;
  gab_copy *copy; /* the copy, if the holder may offer; else NULL */
} gab_image_arrival;

typedef enum gab_image_phase {
  GAB_IMAGES_LISTED,
  GAB_IMAGES_SENDING,
  GAB_IMAGES_COPYING,
  GAB_IMAGES_ANSWERS,
  GAB_IMAGES_REFUSED,
  GAB_IMAGES_DONE
} gab_image_phase;

/* Zero-initialise all but the port. */
typedef struct gab_image_moves {
  gab_port *port;
  bool maps; /* this rank maps offered images instead of copying them */
  gab_image_phase phase;
  gab_image_departure *departures;
  int departure_count;
  gab_image_arrival *arrivals;
  int arrival_count;
  int copying;   /* the arrival being copied */
  size_t copied; /* bytes of it */
  bool refusal_logged;
} gab_image_moves;

/* Lists an image that this rank sends. Local. @param[in] to  at most one image to each rank in a set @param[in,out] image  a message
 * (gab_message_begin()); a mapped one is copied first, since the port writes its envelope there; borrowed until the set ends */
gab_status gab_image_moves_send(gab_image_moves *moves, gab_rank to, gab_buffer *image, gab_image_way way);
/* Lists an image that this rank receives. Local. @param[in] from  at most one image from each rank in a set
 * @param[out] image  replaced; borrowed until the set ends @param[in] copy  NULL: the holder does not offer */
gab_status gab_image_moves_receive(gab_image_moves *moves, gab_rank from, gab_buffer *image, gab_copy *copy);
/* Starts the set. Local. After a failure of this and of the next functions the caller ends the set, or the world is repaired. */
gab_status gab_image_moves_post(gab_image_moves *moves);
/* Advances it without waiting, by one piece of a copy at most. @param[out] done  all images have arrived */
gab_status gab_image_moves_progress(gab_image_moves *moves, bool *done);
/* Waits until all images have arrived. */
gab_status gab_image_moves_finish(gab_image_moves *moves);
/* Ends a set: drops unfinished transfers after a failure, and clears the list, whose memory is kept. Local. @param[in]
 * status  of the set; ::GAB_OK after a repair, which has dropped its messages @return `status` */
gab_status gab_image_moves_end(gab_image_moves *moves, gab_status status);
/* gab_image_moves_post(), gab_image_moves_finish(), gab_image_moves_end(). @param[in] status  of listing the moves: a failure
 * ends the set */
gab_status gab_image_moves_run(gab_image_moves *moves, gab_status status);
/* Releases the list. Not during a set. */
void gab_image_moves_release(gab_image_moves *moves);

/* ---------------------------------------------------------------- image_memory.c: images within a node */

enum { GAB_OFFER_BYTES = 25 + sizeof(gab_shared_key) };

/* Packs an offer: size of the image of this rank, envelope included, and its address if others can read it. Local. */
gab_status gab_offer_pack(const gab_buffer *own, size_t bytes, gab_buffer *offer);
/* Unpacks an offer. @return false if the message is not an offer but an image @param[out] visible  the bytes can be read,
 * and the view of the copy is open */
bool gab_offer_open(gab_copy *copy, const gab_buffer *message, size_t *bytes, bool *visible);
/* Uses the view as the image, which then takes no memory. Local. */
void gab_copy_map(gab_copy *copy, size_t bytes);
/* Copies the next piece of the image in the view. Local. @param[in,out] done  bytes @return true with the last one */
bool gab_copy_piece(gab_copy *copy, size_t *done);
/* Replaces a mapped image by a copy. Local. */
gab_status gab_image_unmap(gab_buffer *image);
/* Forgets a mapped image, without a message. Local. */
void gab_copy_forget(gab_copy *copy);
/* Releases everything. Local. */
void gab_copy_release(gab_copy *copy);
/* Resizes a buffer that will be overwritten to about `bytes`, since images take most of the memory. Present memory is
 * reused, so that the system supplies only the difference. */
gab_status gab_buffer_fit(gab_buffer *buffer, size_t bytes);

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/* Declarations shared by the sources of a checkpoint: taking it (checkpoint.c), images as bytes (image.c), the redundancy
 * scheme (redundancy.c), transport of images (image_moves_impl.h), restoring (restore.c). Internal. */
#ifndef GABION_RESILIENCE_CHECKPOINT_IMPL_H
#define GABION_RESILIENCE_CHECKPOINT_IMPL_H

#include "resilience/checkpoint/checkpoint.h"
#include "resilience/checkpoint/compress.h"
#include "resilience/checkpoint/image_moves_impl.h"
#include "resilience/reports/events.h"

enum {
  GAB_MOST_ENTITIES = 64,
  GAB_ENTITY_NAME = 64,
  GAB_SQUEEZE = 4 << 20 /* compression unit of an image, in bytes */
};

/* Parities that a rank stores for its coded group: hash, then a row of `piece` bytes per parity. */
typedef struct gab_parities {
  gab_group group;                  /* count 0: the scheme has none */
  uint64_t lengths[GAB_MOST_GROUP]; /* bytes of the image of each member */
  size_t piece;                     /* of the longest image */
  gab_buffer rows;
  gab_condition condition;
} gab_parities;

typedef struct gab_snapshot {
  uint64_t serial; /* 1, 2, … ; 0: never taken */
  bool complete;   /* own image, replicated entities and all copies are complete */
  bool
      told; /* received from other ranks by a replacement process: restorable, but no part of it was packed here */
  gab_step step;
  uint64_t blocks; /* of all ranks */
  uint64_t own_blocks;
  gab_members members;
  gab_members
      survivors; /* its ranks minus those that cannot have it, found at a restore: their processes are newer */
  gab_placement placement; /* placement for these members */
  gab_rank *handed;        /* during a recovery: ranks whose replacement process has its image */
  int handed_count;
  bool
      keeps_handed; /* while heads are sent: keep the own image of a snapshot whose head arrived in an earlier recovery */
  gab_buffer own;        /* a message: space for the envelope, then the image */
  bool own_unseen;       /* readable memory was requested and refused */
  gab_buffer replicated; /* hash, then replicated entities */
  gab_condition own_condition, replicated_condition;
  size_t sent_each;   /* bytes of the message to each holder */
  int shared_holders; /* number of holders without a message: they read the image in place */
  gab_copy *copies;
  int copy_count, copy_capacity;
  gab_parities parities;
  int metadata_images; /* index of its set of metadata images */
} gab_snapshot;

/* Metadata images of other ranks, for ranks whose images are all lost (metadata_images.c). */
typedef struct gab_metadata_images {
  bool made;
  uint64_t revision;       /* of the forest; snapshots of the same forest share a set */
  gab_placement placement; /* holders */
  gab_copy *copies;
  int count, capacity;
} gab_metadata_images;

typedef struct gab_registered_entity {
  char name[GAB_ENTITY_NAME];
  gab_entity table;
  uint64_t valid, written; /* serials of the snapshots in its own buffers, if any; 0: none */
} gab_registered_entity;

/* Copies in transit: a set of moves for each copy of an image. */
typedef struct gab_transfer_state {
  gab_image_moves moves; /* with a separate port, since others are used meanwhile */
  int round;             /* copy in transit */
  gab_codec codec;
  gab_buffer compressed; /* compressed image, if there is a codec */
  size_t done;           /* bytes of the own image in it */
  bool posted;           /* the first round was posted */
  bool there;            /* no transfer is in progress */
} gab_transfer_state;

struct gab_checkpoint {
  gab_forest *forest;
  gab_world *world;
  gab_port *port;
  gab_redundancy redundancy;
  gab_domains *domains; /* NULL: unknown */
  gab_events *events;   /* borrowed; NULL: nowhere */
  gab_registered_entity entities[GAB_MOST_ENTITIES];
  int entity_count;
  gab_snapshot snapshots[2];
  bool keeps_metadata_images;
  gab_metadata_images metadata_images[2];
  gab_transfer_state transfer;
  gab_compression compression;
  gab_within_node within_node;
  bool single; /* one buffer: the next snapshot overwrites the valid one ... */
  bool
      meets; /* ... after all ranks have reached it: a monitor that fails before leads back to the valid one */
  double all_sent;        /* bytes put on the network so far */
  bool pending;           /* the other snapshot was begun and is not complete */
  gab_epoch begun_in;     /* a repair since then ended it */
  double pending_seconds; /* time of the caller for it */
  uint64_t
      since; /* serial of the snapshot from which this replacement process received its part. It can restore that
              * one, and earlier ones, only with the help of others. UINT64_MAX: nothing received yet; 0: needs no
              * help */
  gab_rank
      donor; /* in a recovery with replacement processes: a rank that needs no help, equal on all; GAB_NO_RANK: not yet found */
  bool donor_has_snapshot;
  bool all_are_new; /* no process is left that took a snapshot or was active from the start */
  int valid;        /* index of the valid snapshot; the other one is written next */
  uint64_t forest_blocks,
      forest_revision; /* number of all blocks, and the revision at which it was counted */
  bool counted;
  gab_checkpoint_stats stats;
  /* Called before the own image of a snapshot is overwritten; it may take the buffer by gab_buffer_swap(). NULL: not
   * needed. */
  void (*before_overwrite)(void *user, gab_snapshot *snapshot);
  void *overwrite_user;
  /* Called before entities are restored, since these may change files. Collective. NULL: not
   * needed. */
  gab_status (*before_entities)(void *user);
  void *before_entities_user;
  gab_buffer untouched;   /* entities per rank before the first step, for a rank without an image */
  bool untouched_unknown; /* they could not be packed, on a spare */
};

/* ---- checkpoint.c, reserve.c */

/* The snapshot that is written next, or is being written. */
gab_snapshot *gab_checkpoint_next(gab_checkpoint *checkpoint);
/* Ranks that have survived since a snapshot. Local. */
gab_status gab_snapshot_find_survivors(const gab_checkpoint *checkpoint, gab_snapshot *snapshot);
/* ::GAB_ERR_LOST: the only buffer was being overwritten. */
gab_status gab_single_snapshot_torn(void);
/* reserve.c: allocates and touches the memory of the snapshot that is written next: for the image of this rank and for
 * those that it stores, or for the missing part. Collective. */
gab_status gab_checkpoint_reserve(gab_checkpoint *checkpoint);
/* Additional bytes while a snapshot is taken. Local. */
size_t gab_checkpoint_messages(const gab_checkpoint *checkpoint);
/* Discards all snapshots in memory. Later serials exceed `serial` and all earlier ones. Collective. */
gab_status gab_snapshots_forget(gab_checkpoint *checkpoint, uint64_t serial);

/* ---- image.c: the image of a rank as bytes */

/* Upper bound, within a few bytes, of the message of an image whose entities take `entities` bytes. */
size_t gab_image_capacity(const gab_checkpoint *checkpoint, size_t entity_bytes);
/* Packs the own image and the replicated entities of a snapshot whose serial, step and members are set. */
gab_status gab_image_pack(const gab_checkpoint *checkpoint, gab_snapshot *next);
/* Verifies hash and head of the image of `rank` at `holder`, this rank, and returns views of forest and entities.
 * GAB_ERR_CORRUPT names both ranks. */
gab_status gab_image_open(const gab_buffer *message, const gab_snapshot *snapshot, gab_rank rank,
                          gab_rank holder, gab_reader *forest, gab_reader *entities);
/* The same without the leading hash, which differs between builds; files have their own checksum. `image`: the bytes after
 * the envelope of a message. Rank GAB_NO_RANK: any rank and snapshot. `format`: of its checkpoint; in memory
 * GAB_CHECKPOINT_FORMAT. */
gab_status gab_image_cut(gab_reader image, int format, uint64_t serial, gab_step step, gab_rank rank,
                         gab_reader *forest, gab_reader *entities);

/* Identity of an image, from its head. */
typedef struct gab_image_header {
  gab_rank rank; /* owner of the image; GAB_NO_RANK: replicated entities */
  uint64_t serial;
  uint64_t epoch; /* of the snapshot, since serials of unfinished snapshots are reused */
  gab_step step;
  gab_reader bytes; /* all of it, including the checksum */
} gab_image_header;
/* True if `bytes` begin with an image or replicated entities of GAB_CHECKPOINT_FORMAT whose checksum matches. */
bool gab_image_recognise(gab_reader bytes, gab_image_header *header);
/* Reads the head of replicated entities after the checksum: the members of the snapshot. `in` is then at the entities.
 * @param[out] members  initialised */
gab_status gab_replicated_cut(gab_reader *in, int format, gab_members *members);

/* ---- image_compressed.c: compressed images for holders */

/* Begins a message for the compressed image. The next function appends one piece per call from byte *done on, until *done
 * is the size of the image. */
gab_status gab_image_compress_begin(const gab_buffer *own, gab_buffer *compressed);
gab_status gab_image_compress_piece(const gab_buffer *own, gab_codec codec, size_t *done,
                                    gab_buffer *compressed);
/* @param[out] image_bytes  size of the uncompressed image; may be NULL */
bool gab_image_is_compressed(const gab_buffer *message, size_t *image_bytes);
/* Replaces `image` by the decompressed message. */
gab_status gab_image_expand(const gab_buffer *message, gab_buffer *image);

/* ---- restore.c: restores the state from images in memory, files or node memory */

typedef struct gab_image_view {
  gab_rank rank; /* owner of the image */
  gab_reader forest, entities;
} gab_image_view;

/* Images that become the part of this rank: entities of the first one are unpacked, those of the others adopted. */
typedef struct gab_image_list {
  int format; /* of the checkpoint; gab_images_begin() sets GAB_CHECKPOINT_FORMAT, that of images in memory */
  uint64_t serial; /* of the snapshot, if this job took it and this rank restores its own image; else 0 */
  gab_reader replicated; /* after its checksum */
  gab_image_view *images;
  size_t count;
  gab_reader *metadata_images; /* of ranks whose blocks will be approximated */
  size_t metadata_count;
} gab_image_list;

/* Makes an empty list with capacity for `capacity` images; release it on failure too. */
gab_status gab_images_begin(gab_image_list *list, size_t capacity);
void gab_images_release(gab_image_list *list);
/* Replaces the blocks, then the entities, by those of the images; `map` translates owners in neighbour tables. Local. */
gab_status gab_images_restore_blocks(const gab_checkpoint *checkpoint, const gab_image_list *list,
                                     gab_owner_map map, void *context);
gab_status gab_images_restore_entities(gab_checkpoint *checkpoint, const gab_image_list *list);

/* ---- replacements.c: processes that run a rank without its data
 *
 * A restored rank counts as a member only of snapshots after its incarnation began. For earlier ones it gets the head from
 * other ranks, and the image from the restorer of its dead predecessor. Until it holds two own snapshots it is a
 * replacement process.
 *
 * Hand-over of an image from a donor, which holds a copy of it, to the process that replaces a dead one:
 *
 *   kept       the donor holds the image, the replacement nothing
 *   under way  the port reads the donor's image (::GAB_IMAGE_KEPT); the replacement has a part of it
 *   handed     the replacement has all of it, and the hash matches: both hold it
 *   committed  all have agreed on the next snapshot: memory of both may be overwritten by the one after that
 *
 * Invariants. (1) Neither a death nor an error changes the data of the donor: every state but the last returns to `kept',
 * for the next replacement or adoption by the donor. (2) A replacement counts as a holder of its own image from `handed'
 * on, also in the next recovery, so the donor may die then. (3) Before `committed' nobody writes to an image of the
 * snapshot, nor moves or releases it. A donor that only maps the image (::GAB_WITHIN_NODE_SHARE) copies it first, and keeps
 * that copy.
 *
 * The same holds if an image replaces one that has changed in memory (redundancy_repair.c). Images of coded groups are
 * reconstructed from pieces, which are kept; the image is sent, and reconstructed again if the receiver dies. */

/* Whether the members differ from those of the start, so that replacement processes are possible. Equal on all. */
bool gab_replacements_possible(const gab_checkpoint *checkpoint);
/* Finds the donor: the lowest rank with the newest data. Afterwards all know the failure domains of respawned processes. It
 * remains the donor until gab_checkpoint_restore(), or the round of a recovery, has ended. Collective. */
gab_status gab_replacements_find_donor(gab_checkpoint *checkpoint);
/* Sends the heads of the donor's snapshots to ranks that lack them, and informs all which replacement processes have their
 * image. Collective. @return GAB_ERR_LOST on all if no rank holds a snapshot */
gab_status gab_replacements_brief(gab_checkpoint *checkpoint);
/* Number of processes in the failure domains of this process; without domains, more than can exist. Local. */
uint64_t gab_replacements_known_processes(const gab_checkpoint *checkpoint);
/* Extends the domains to all processes. Collective. @param[in] least_known  of gab_replacements_known_processes() on all */
gab_status gab_replacements_place(gab_checkpoint *checkpoint, uint64_t least_known);
/* Makes the world choose spares by the present domains. Local. */
void gab_checkpoint_tell_distances(gab_checkpoint *checkpoint);
typedef struct gab_rescued gab_rescued;
/* Sends images from restorers to replacement processes, replicated entities from the donor. Collective. @return errors of
 * messages; GAB_ERR_CORRUPT here if the received image is incomplete */
gab_status gab_replacements_serve(gab_checkpoint *checkpoint, gab_snapshot *snapshot, gab_rescued *rescued);
/* Whether the process of that rank is a replacement and has its image of the snapshot, as found by
 * gab_replacements_brief(). Local. */
bool gab_replacement_was_handed(const gab_snapshot *snapshot, gab_rank rank);
/* Records that a replacement process has restored it. Local. */
void gab_replacement_settle(gab_checkpoint *checkpoint, gab_snapshot *snapshot);

/* ---- image_memory.c: own images, and their use within a node */

/* Whether this rank would offer its image to a given holder. Local. */
bool gab_offer_is_of_use(const gab_checkpoint *checkpoint, gab_rank holder);
/* gab_buffer_fit() for the own image of a planned snapshot, in memory that other processes can read if these need it. */
gab_status gab_own_image_fit(const gab_checkpoint *checkpoint, gab_snapshot *snapshot, size_t bytes);

/* ---- compression.c */

/* The codec for the own image of the snapshot that is being taken. Local. */
gab_status gab_compression_choose(const gab_checkpoint *checkpoint, const gab_snapshot *next,
                                  gab_codec *codec);

/* ---- redundancy.c: copies and parities of the redundancy scheme */

/* Finds the ranks whose images this rank stores in a snapshot whose members are set. Local. */
gab_status gab_redundancy_plan(gab_checkpoint *checkpoint, gab_snapshot *next, const gab_domains *domains);
/* Sends the own image to its holders, and receives the images that this rank stores, copy after copy. Begins (local for copies),
 * makes progress without waiting, and waits for the end. Parities are complete when the first call returns, since each chunk is
 * summed before the next one is sent; it is collective then. Do not use buffers of images before checkpoint->transfer.there. */
gab_status gab_redundancy_begin(gab_checkpoint *checkpoint, gab_snapshot *next);
gab_status gab_redundancy_help(gab_checkpoint *checkpoint, gab_snapshot *next);
gab_status gab_redundancy_finish(gab_checkpoint *checkpoint, gab_snapshot *next);
/* Begins and finishes. */
gab_status gab_redundancy_exchange(gab_checkpoint *checkpoint, gab_snapshot *next);
/* Bytes that this rank stores for others. */
size_t gab_redundancy_bytes(const gab_snapshot *snapshot);
/* The part of these in the memory of other ranks. */
size_t gab_redundancy_shared_bytes(const gab_snapshot *snapshot);
/* Bytes of these images before compression. */
size_t gab_redundancy_raw_bytes(const gab_snapshot *snapshot);
/* Bytes that this rank transferred to others for the snapshot. */
size_t gab_redundancy_sent(const gab_snapshot *snapshot, gab_rank rank);
void gab_redundancy_release(gab_snapshot *snapshot);

/* ---- metadata_images.c: data for the approximation of blocks without any image */

/* Sends the own metadata image to its holders (more than those of images), and receives the ones that this rank
 * stores; only if the forest differs from that of the valid snapshot. Collective then. Does nothing unless the
 * checkpoint stores metadata images. */
gab_status gab_metadata_images_spread(gab_checkpoint *checkpoint, gab_snapshot *next);
/* The rank that takes the blocks of `then` if metadata images are used: its restorer, or the first live holder of its
 * metadata image. Pure; equal on all. @return GAB_NO_RANK if all of these are lost */
gab_rank gab_metadata_images_restorer(const gab_checkpoint *checkpoint, const gab_snapshot *snapshot,
                                      gab_rank then);
/* Whether each rank has an image or a metadata image, so that only state is lost. Pure. */
bool gab_metadata_images_suffice(const gab_checkpoint *checkpoint, const gab_snapshot *snapshot);
/* Verifies the metadata images that this rank will use. Local. @return false with a message that names a damaged one */
bool gab_metadata_images_are_whole(const gab_checkpoint *checkpoint, const gab_snapshot *snapshot);
/* Appends these to the list. Local. */
gab_status gab_metadata_images_list(const gab_checkpoint *checkpoint, const gab_snapshot *snapshot,
                                    gab_image_list *list);
void gab_metadata_images_init(gab_metadata_images *metadata_images);
void gab_metadata_images_release(gab_metadata_images *metadata_images);
size_t gab_metadata_images_bytes(const gab_metadata_images *metadata_images);

/* ---- redundancy_repair.c: replaces images that changed in memory, and reconstructs those of dead ranks */

/* Images of dead ranks that were reconstructed for this one. */
struct gab_rescued {
  gab_copy *images;
  int count;
};
void gab_rescued_release(gab_rescued *rescued);

/* Resets the recorded condition of a snapshot. */
void gab_condition_forget(gab_snapshot *snapshot);
/* Verifies all data that this rank needs to restore a snapshot. Local. @return true if intact */
bool gab_condition_is_good(const gab_checkpoint *checkpoint, gab_snapshot *snapshot);

/* Replaces images that changed in memory by a copy or from their group, and reconstructs images of dead members of coded
 * groups. Collective over live processes. @param[in] all_good gab_condition_is_good() on all @return ::GAB_ERR_LOST on all,
 * with the names of the images and without changes, if too little is left */
gab_status gab_redundancy_repair(gab_checkpoint *checkpoint, gab_snapshot *snapshot, bool all_good,
                                 gab_rescued *rescued);
/* Expands the compressed copies of dead ranks that this rank will adopt. Local. */
gab_status gab_redundancy_expand(gab_checkpoint *checkpoint, gab_snapshot *snapshot, gab_rescued *rescued);

/* ---- image_checksum.c */

/* A snapshot may stay in memory for hours. It begins with a hash of the rest, so that a flipped bit is detected before a
 * restore. Reserves space for the hash at the present size. */
gab_status gab_checksum_begin(gab_buffer *out);
/* Hashes pieces of appended data while they are in the caches of the appending threads. Meanwhile the buffer must not be
 * reallocated, and appended data must not change. */
typedef struct gab_checksum_trail {
  gab_buffer *out;
  gab_buffer_follower follower;
  size_t start, pieces;
  uint64_t *known; /* hash per piece, 0: not computed */
} gab_checksum_trail;
/* @param[in] at  position of the hash @param[in] bytes  upper bound of the bytes after it */
gab_status gab_checksum_trail_begin(gab_checksum_trail *trail, gab_buffer *out, size_t at, size_t bytes);
/* Also for a zero-initialised one. */
void gab_checksum_trail_end(gab_checksum_trail *trail);
/* Hashes all bytes after the hash at byte `at`, and stores it there. @param[in] trail  or NULL */
void gab_checksum_end(gab_buffer *out, size_t at, const gab_checksum_trail *trail);
/* Verifies the hash. @return false if the following bytes differ from the hashed ones */
bool gab_checksum_matches(gab_reader *in);

/* Appends all entities of a kind, each with name and size. */
gab_status gab_entities_pack(const gab_checkpoint *checkpoint, gab_entity_kind kind, gab_buffer *out);
/* Reads them back. adopting == GAB_NO_RANK: unpack, or restore an entity that has its own buffer of snapshot `serial` (0:
 * none has); else call adopt with the data of that rank. */
gab_status gab_entities_unpack(gab_checkpoint *checkpoint, gab_entity_kind kind, uint64_t serial,
                               gab_reader *in, gab_rank adopting);
/* For entities with their own buffers: write the other buffer; make it the valid one. */
gab_status gab_entities_create(gab_checkpoint *checkpoint, uint64_t serial);
void gab_entities_swap(gab_checkpoint *checkpoint);
/* GAB_ERR_ARGUMENT if an entity cannot be packed. @param[in] what  requires it, for the message */
gab_status gab_entities_check_packed(const gab_checkpoint *checkpoint, const char *what);

/** "none", "auto", "lz4", "zstd". */
const char *gab_compression_name(gab_compression compression);

/** "copy", "share", "send". */
const char *gab_within_node_name(gab_within_node way);

/** Sets the receiver of events about replaced images. @param[in] events  borrowed; NULL: nowhere */
void gab_checkpoint_set_events(gab_checkpoint *checkpoint, gab_events *events);

/** The requested redundancy. */
const gab_redundancy *gab_checkpoint_redundancy(const gab_checkpoint *checkpoint);

/** Stores metadata images of all ranks too (blockforest/migration/reconstruct.h): some hundred bytes
 *  per block, sent only after the grid has changed, to three holders more than the tolerated number
 *  of losses. gab_checkpoint_reconstruct() needs them. Local; before the first snapshot, the same on
 *  all. */
void gab_checkpoint_keep_metadata_images(gab_checkpoint *checkpoint);

/** gab_checkpoint_restore(), but if every snapshot lacks some image, lost blocks are approximated from their neighbours; log and event `reconstruction` report it. Needs a metadata image of every rank. Entities of ranks without an image are dropped. Collective, always with communication. Announces ::GAB_FAULT_POINT_RECOVERY also in every round that approximates blocks.
 *  @return as gab_checkpoint_restore(); ::GAB_ERR_LOST if metadata images are lost, too; ::GAB_ERR_STATE if there is data
 *          that cannot be approximated (gab_forest_irreplaceable()) */
gab_status gab_checkpoint_reconstruct(gab_checkpoint *checkpoint, gab_restore_report *report);

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/* Internal declarations of checkpoints on disk: writer (disk.c, disk_collect.c), its thread (disk_worker.c), hashes
 * and indices (disk_image.c), files (disk_file.c, disk_read.c). */
#ifndef GABION_RESILIENCE_DISK_IMPL_H
#define GABION_RESILIENCE_DISK_IMPL_H

#include "resilience/checkpoint/checkpoint_impl.h"
#include "resilience/disk/disk.h"
#include "resilience/disk/manifest.h"

#include <stdatomic.h>
#include <stdio.h>

enum {
  GAB_DISK_PATH = 4096,
  GAB_DISK_MESSAGE = 512,
  GAB_DISK_COLUMNS = 5 /* of the table of blocks: id, level, offset, bytes, hash */
};

/* ---- disk_worker.c: one thread for work that waits for a disk, in the order of submission */

typedef struct gab_work {
  void (*run)(struct gab_work *work); /* in the thread; must not touch MPI */
  struct gab_work *next;
  bool pending; /* submitted and not done; guarded by the worker */
} gab_work;

typedef struct gab_worker gab_worker;

gab_status gab_worker_create(gab_worker **worker);
/* Waits for all submitted work. */
void gab_worker_destroy(gab_worker **worker);
/* `work` is borrowed until it is done. */
void gab_worker_submit(gab_worker *worker, gab_work *work);
bool gab_worker_is_done(gab_worker *worker, const gab_work *work);
/* Waits until all work is done. */
void gab_worker_drain(gab_worker *worker);

/* ---- disk_image.c: hashes and tables of an image */

typedef struct gab_image_hashes {
  uint64_t image; /* of the bytes */
  uint64_t table; /* of the table of blocks, as stored in the file */
  bool changed;   /* the image had changed in memory before: its checksum does not match */
} gab_image_hashes;

/* XXH64 of pieces of 1 MiB, each with the hash of the previous one as seed (the first: the hash of no bytes with the
 * number of bytes as seed); equal for all builds. If `stop` becomes true meanwhile, the result is undefined. NULL:
 * never. */
uint64_t gab_disk_hash(const unsigned char *bytes, size_t count, const atomic_bool *stop);
/* Appends the table of the blocks in the image of a forest, hashes still 0. */
gab_status gab_disk_table(const gab_forest *forest, const unsigned char *image, size_t bytes,
                          gab_buffer *table);
/* Fills in the hashes of the blocks. */
void gab_disk_hash_table(const unsigned char *image, gab_buffer *table, const atomic_bool *stop);
/* One row of a table, decoded. */
typedef struct gab_disk_row {
  gab_block_id id;
  uint64_t level, offset, bytes, hash;
} gab_disk_row;
gab_disk_row gab_disk_table_row(const unsigned char *table, size_t index);

/* ---- disk_file.c: making the file of a group */

/* Position of the part of a rank in the file. */
typedef struct gab_disk_part {
  gab_rank rank;
  int32_t index; /* of the rank among the members */
  uint64_t bytes, blocks;
  uint64_t image_at, table_at, hashes_at; /* bytes from the start of the file */
  gab_image_hashes hashes;
} gab_disk_part;

typedef struct gab_disk_file {
  char folder[GAB_DISK_PATH], path[GAB_DISK_PATH], temporary[GAB_DISK_PATH];
  gab_step step;
  int32_t group;
  gab_disk_part *parts;
  size_t part_count;
  uint64_t replicated_bytes, replicated_at, replicated_hash_at; /* bytes 0: not in this file */
  uint64_t replicated_hash;
  uint64_t bytes, unsynced;
  int descriptor; /* -1: not open */
  gab_status status;
  char message[GAB_DISK_MESSAGE]; /* of the first failure */
} gab_disk_file;

/* The next three functions run in the thread. The first failure is kept in the file; later calls then do nothing. */
/* Creates folder and file, and reserves its space. */
void gab_disk_file_create(gab_disk_file *file);
void gab_disk_file_write(gab_disk_file *file, uint64_t at, const void *bytes, size_t count);
/* Flushes to the disk and gives the file its name; removes it after a failure. */
void gab_disk_file_finish(gab_disk_file *file);
/* Removes a file that has only its temporary name. */
void gab_disk_file_drop(gab_disk_file *file);
/* Hash of all hashes of the file: starts with the hash of no bytes, the number of parts as seed, and adds the
 * hashes of image and table of each part, then that of the replicated entities, if they are in it. */
uint64_t gab_disk_file_digest(const gab_disk_file *file);
uint64_t gab_disk_digest_begin(size_t parts);
uint64_t gab_disk_digest_add(uint64_t sum, uint64_t hash);

/* "FOLDER/step_000000000100" */
gab_status gab_disk_step_folder(char path[GAB_DISK_PATH], const char *folder, gab_step step);
/* "group_000003.h5" */
void gab_disk_group_name(char name[GAB_MANIFEST_NAME], int32_t group);
gab_status gab_disk_make_folder(const char *path);
/* ---- disk_folder.c: the folder of checkpoints */

/* Calls visit for each folder of a step, newest first. */
gab_status gab_disk_visit(const char *folder,
                          gab_status (*visit)(void *user, gab_step step, const char *path), void *user);
/* Removes the folder of a step: the manifest first, so that a folder that is removed in part does not count as a checkpoint.
 */
gab_status gab_disk_remove_step(const char *path);
/* Renames the folder of an unusable checkpoint, so that it is neither counted nor overwritten. */
void gab_disk_set_aside(const char *folder, gab_step step);
/* Describes one that was set aside; `words` are unchanged if there is none. */
gab_status gab_disk_find_set_aside(const char *folder, char *words, size_t capacity);
gab_status gab_disk_remove_set_aside(const char *folder);
/* Whether the folder of a checkpoint has its manifest, which is written last and removed first; true if unknown. */
bool gab_disk_has_manifest(const char *path);
/* Removes all complete checkpoints up to `step` except the newest `keep`. */
gab_status gab_disk_prune(const char *folder, gab_step step, int keep);
/* Removes files that were being written when their run ended. */
void gab_disk_remove_temporaries(const char *path);

/* ---- disk_read.c: reading the file of a group */

typedef struct gab_disk_reader gab_disk_reader;

/* GAB_ERR_CORRUPT with the name of the file, also if it does not exist; GAB_ERR_IO if it cannot be opened, possibly temporarily. */
gab_status gab_disk_open(const char *path, const gab_manifest *manifest, int32_t group,
                         gab_disk_reader **reader);
void gab_disk_close(gab_disk_reader **reader);
/* Reads the part of a member and compares it with its hashes. Buffers are replaced. `table` may be NULL. */
gab_status gab_disk_read_part(gab_disk_reader *reader, gab_rank rank, gab_buffer *image, gab_buffer *table);
gab_status gab_disk_read_replicated(gab_disk_reader *reader, gab_buffer *replicated);
/* Compares the hashes in the file with the digest in the manifest. */
gab_status gab_disk_check_digest(gab_disk_reader *reader, const gab_manifest *manifest, int32_t group);

/* ---- disk.c, disk_send.c, disk_collect.c, disk_commit.c: the writer */

/* Task of the thread for the file of a group. */
typedef enum gab_disk_task { GAB_DISK_CREATE, GAB_DISK_PUT, GAB_DISK_PUT_OWN, GAB_DISK_FINISH } gab_disk_task;

typedef struct gab_disk_operation {
  gab_work work; /* first: a pointer to it is a pointer to the operation */
  gab_disk_task task;
  gab_disk *disk;
  uint64_t at; /* GAB_DISK_PUT: offset, bytes, count */
  const unsigned char *bytes;
  size_t count;
} gab_disk_operation;

/* A member's part: its image in transit to the aggregator. */
typedef struct gab_disk_sender {
  enum { GAB_SEND_HELLO, GAB_SEND_CHUNKS, GAB_SEND_TRAILER, GAB_SEND_DONE } stage;
  gab_rank aggregator;
  uint64_t sent;
  bool sending; /* `out` is in transit */
  gab_buffer out;
} gab_disk_sender;

/* An aggregator's part: images in transit to its file. */
typedef struct gab_disk_collector {
  enum {
    GAB_COLLECT_HELLO,
    GAB_COLLECT_CREATE,
    GAB_COLLECT_DATA,
    GAB_COLLECT_FINISH,
    GAB_COLLECT_DONE
  } stage;
  gab_disk_file file;
  size_t part;    /* part being received; 0 is the own one */
  uint64_t got;   /* bytes of its image */
  bool receiving; /* into in[turn] */
  int turn;
  gab_buffer in[2];
  gab_disk_operation writing[2]; /* of the contents of `in` */
  gab_disk_operation operation;  /* all other operations */
} gab_disk_collector;

/* The root's part: from the reports of the aggregators to the manifest. */
typedef struct gab_disk_committer {
  enum { GAB_COMMIT_REPORTS, GAB_COMMIT_MANIFEST, GAB_COMMIT_DONE } stage;
  gab_work work;
  gab_disk *disk;
  gab_manifest manifest;
  int32_t next; /* group whose report comes next */
  bool receiving;
  gab_buffer report;
  gab_status status; /* of the whole write: the first failure */
  char message[GAB_DISK_MESSAGE];
  char warning[GAB_DISK_MESSAGE]; /* of removing older ones */
} gab_disk_committer;

struct gab_disk {
  gab_checkpoint *checkpoint;
  gab_world *world;
  gab_events *events;
  const gab_fence *fence; /* NULL: none */
  gab_port *port, *reports;
  gab_worker *worker; /* NULL until the first write */
  char folder[GAB_DISK_PATH];
  int group, keep;
  gab_buffer state, parameters;
  atomic_bool stop; /* the thread abandons its work */

  bool busy; /* this rank takes part in a write */
  gab_step step;
  uint64_t serial, blocks;
  gab_epoch epoch;
  gab_members members;
  int32_t index; /* of this rank among them */
  double started;
  gab_snapshot *pinned; /* snapshot of the image being sent; NULL: it is in `spare`, or none is */
  gab_buffer spare;
  const unsigned char *image;
  size_t image_bytes;
  gab_work hashing;
  gab_buffer table; /* of the own blocks */
  gab_buffer replicated;
  gab_image_hashes hashes;
  uint64_t replicated_hash;
  gab_disk_sender sender;
  gab_disk_collector collector;
  gab_disk_committer committer;
  gab_disk_stats stats;
};

/* Each begins its part of a write (local), and advances it without waiting. */
gab_status gab_disk_sender_begin(gab_disk *disk);
gab_status gab_disk_sender_progress(gab_disk *disk);
gab_status gab_disk_collector_begin(gab_disk *disk);
gab_status gab_disk_collector_progress(gab_disk *disk);
/* Reports the result of a write when the thread is done: stats, events, log. */
void gab_disk_committer_conclude(gab_disk *disk);
/* Reports the file of this aggregator to the root. */
gab_status gab_disk_report(gab_disk *disk);
gab_status gab_disk_committer_begin(gab_disk *disk);
gab_status gab_disk_committer_progress(gab_disk *disk);

/* After a rollback to this step: checkpoints on disk are complete up to it, and later ones do not count. */
void gab_disk_went_back(gab_disk *disk, gab_step step);

/** Local, but opens ports: on all ranks in the same order. No access to the disk. @param[in] checkpoint  borrowed, must
 * outlive the writer @param[in] events  borrowed; may be NULL */
gab_status gab_disk_create(gab_checkpoint *checkpoint, gab_events *events, const gab_disk_options *options,
                           gab_disk **disk);

/** Checked before a checkpoint gets its manifest (fence.h). Local. @param[in] fence  borrowed; NULL: none */
void gab_disk_set_fence(gab_disk *disk, const gab_fence *fence);

/** Waits for the thread, abandons incomplete files. Call it before the checkpoint is destroyed. */
void gab_disk_destroy(gab_disk **disk);

/** Begins to write the valid snapshot. Collective, right after it was taken. @param[out] begun false, the same on all: the
 * previous one is still being written, or this step is on the disk already; may be NULL */
gab_status gab_disk_begin(gab_disk *disk, bool *begun);

/** Advances the write without waiting: call it at the end of each step. Local. Enters ::GAB_FAULT_POINT_DISK_WRITE when
 * part of an image has been sent, and ::GAB_FAULT_POINT_DISK_COMMIT when all of it has (in an aggregator: when its file is
 * complete), before the manifest is written. @return ::GAB_ERR_FAULT if the world broke; failures of the disk are reported,
 * not returned */
gab_status gab_disk_progress(gab_disk *disk);

/** Waits until this rank's part of the write is complete; on the root all of it. */
gab_status gab_disk_wait(gab_disk *disk);

/** True while a write is in progress as far as this rank knows. */
bool gab_disk_is_busy(const gab_disk *disk);

/** Abandons the present write, if any: call it first after the world broke. Local. @return true if there was one; begin it
 * again after the recovery */
bool gab_disk_abandon(gab_disk *disk);

/** Its folder, as given. */
const char *gab_disk_folder(const gab_disk *disk);
gab_disk_stats gab_disk_get_stats(const gab_disk *disk);

#endif

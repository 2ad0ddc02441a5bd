/* SPDX-License-Identifier: Apache-2.0 */
/* Restoring images of an earlier job, from disk (restart.c) or from node memory (node_restart.c): common parts.
 * Internal. */
#ifndef GABION_RESILIENCE_RESTART_IMPL_H
#define GABION_RESILIENCE_RESTART_IMPL_H

#include "resilience/disk/restart.h"
#include "resilience/checkpoint/checkpoint_impl.h"

/* Assignment of old ranks: member i of n in the checkpoint to member floor(i m / n) of the m present ones. */
int32_t gab_falls_to(int32_t index, int32_t then, int32_t now);
/* The first old rank of `member`; its last one precedes the first of member + 1. If `member` has none, both are
 * equal. */
int32_t gab_first_falling_to(int32_t member, int32_t then, int32_t now);

/* Data assigned to this rank; all borrowed. */
typedef struct gab_assigned_images {
  const gab_members *then;  /* of the snapshot */
  int format;               /* of the checkpoint */
  uint64_t serial, highest; /* highest number of all old images; new ones are above it */
  gab_step step;
  const gab_reader *images; /* each with its checksum, already verified */
  const gab_rank *ranks;    /* their ranks, ascending */
  size_t count;
  gab_reader replicated; /* with its checksum, too */
} gab_assigned_images;

/* Drops the snapshots of this job, then replaces the state: the first image is unpacked, the others adopted. Collective. */
gab_status gab_assigned_images_restore(gab_checkpoint *checkpoint, const gab_assigned_images *assigned);

/** Replaces the state by the newest complete checkpoint. Collective. Snapshots in memory are dropped: take one next. Enters
 * ::GAB_FAULT_POINT_RECOVERY. @return ::GAB_ERR_LOST if none is complete, with the defect of the last one tried in the
 * message; ::GAB_ERR_IO or ::GAB_ERR_MEMORY if a rank cannot read a possibly complete one now; ::GAB_ERR_FAULT if the world
 * broke */
gab_status gab_restart_load(const gab_restart *restart, gab_checkpoint *checkpoint,
                            gab_restart_report *report);

#endif

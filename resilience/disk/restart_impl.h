/* SPDX-License-Identifier: Apache-2.0 */
/* What going back to images of an earlier job has in common, whether they come from disk (restart.c) or from the
 * memory of the nodes (node_restart.c). Internal. */
#ifndef GABION_RESILIENCE_RESTART_IMPL_H
#define GABION_RESILIENCE_RESTART_IMPL_H

#include "resilience/disk/restart.h"
#include "resilience/checkpoint/checkpoint_impl.h"

/* Member number i of n then falls to member number floor(i m / n) of the m of now. */
int32_t gab_falls_to(int32_t index, int32_t then, int32_t now);
/* The first that falls to `member`; those of the next one follow behind its own. May be that of another member, if
 * none falls to this one. */
int32_t gab_first_falling_to(int32_t member, int32_t then, int32_t now);

/* What is assigned to this rank; all borrowed. */
typedef struct gab_assigned_images {
  const gab_members *then;  /* of the snapshot */
  int format;               /* of the checkpoint */
  uint64_t serial, highest; /* highest: of all that there are; those to come are above it */
  gab_step step;
  const gab_reader *images; /* each with its checksum, which has been compared */
  const gab_rank *ranks;    /* whose they are, ascending */
  size_t count;
  gab_reader replicated; /* with its checksum, too */
} gab_assigned_images;

/* Forgets the snapshots of this job, then replaces the state: the first image is unpacked, the others adopted.
 * Collective. */
gab_status gab_assigned_images_restore(gab_checkpoint *checkpoint, const gab_assigned_images *assigned);

/** Replaces the state by the newest checkpoint that is whole. Collective. Snapshots in memory are forgotten:
 *  take one next. Announces ::GAB_FAULT_POINT_RECOVERY.
 *  @return ::GAB_ERR_LOST if none is whole, the message naming what is wrong with the last one tried; ::GAB_ERR_IO,
 *  ::GAB_ERR_MEMORY if one may be that somebody cannot read now;
 *  ::GAB_ERR_FAULT if the world broke */
gab_status gab_restart_load(const gab_restart *restart, gab_checkpoint *checkpoint,
                            gab_restart_report *report);

#endif

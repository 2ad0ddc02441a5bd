/* SPDX-License-Identifier: Apache-2.0 */
/* Which ranks go back together in local recovery (resilience.local.clusters): each alone, those of a node, ranges of
 * ranks, or what a file says.
 *
 * Internal. */
#ifndef GABION_RESILIENCE_LOCAL_DIVISION_IMPL_H
#define GABION_RESILIENCE_LOCAL_DIVISION_IMPL_H

#include "core/world/members.h"
#include "resilience/schemes/domains.h"

typedef enum gab_division_kind {
  GAB_DIVISION_RANK, /* each is a cluster by itself */
  GAB_DIVISION_NODE,
  GAB_DIVISION_NUMBER, /* ranges of ranks, in their order, as equal as can be */
  GAB_DIVISION_FILE
} gab_division_kind;

typedef struct gab_division {
  gab_division_kind kind;
  int32_t number;    /* of clusters, of NUMBER */
  gab_domains *file; /* of FILE: its nodes are the clusters */
} gab_division;

/* What a text asks for; a file is not read. @param[in] text  "rank", "node", a number or the path of a file; NULL: rank
 * @return ::GAB_ERR_INPUT */
gab_status gab_division_parse(const char *text, gab_division *division);
/* Whether a run with so many ranks can be divided like that; a file is read. Local. @return ::GAB_ERR_INPUT */
gab_status gab_division_check(const char *text, int32_t ranks, int32_t spares);
/* The same, and reads the file. Collective. @return the status of the root, on all */
gab_status gab_division_make(gab_world *world, const char *text, gab_division *division);
void gab_division_release(gab_division *division);
/* The cluster of the member at a place: equal numbers go back together. Pure, the same on all; time: logarithm of the members.
 * @param[in] nodes  for NODE: of the processes */
gab_rank gab_division_cluster(const gab_division *division, const gab_members *members,
                              const gab_domains *nodes, gab_rank place);

#endif

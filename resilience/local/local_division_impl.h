/* SPDX-License-Identifier: Apache-2.0 */
/* Clusters of local recovery, i.e. ranks that roll back together (resilience.local.clusters): single ranks, the ranks
 * of a node, ranges of ranks, or groups from a file.
 *
 * Internal. */
#ifndef GABION_RESILIENCE_LOCAL_DIVISION_IMPL_H
#define GABION_RESILIENCE_LOCAL_DIVISION_IMPL_H

#include "core/world/members.h"
#include "resilience/schemes/domains.h"

typedef enum gab_division_kind {
  GAB_DIVISION_RANK, /* each rank is a cluster */
  GAB_DIVISION_NODE,
  GAB_DIVISION_NUMBER, /* consecutive ranges of ranks of about equal length */
  GAB_DIVISION_FILE
} gab_division_kind;

typedef struct gab_division {
  gab_division_kind kind;
  int32_t number;    /* NUMBER: of clusters */
  gab_domains *file; /* FILE: its nodes are the clusters */
} gab_division;

/* Parses a text; does not read a file. @param[in] text "rank", "node", a number or the path of a file; NULL: rank
 * @return ::GAB_ERR_INPUT */
gab_status gab_division_parse(const char *text, gab_division *division);
/* Checks whether a run with `ranks` ranks can be divided as the text says; reads the file. Local. @return ::GAB_ERR_INPUT */
gab_status gab_division_check(const char *text, int32_t ranks, int32_t spares);
/* Parses and checks a text, and reads the file. Collective. @return the status of the root, on all */
gab_status gab_division_make(gab_world *world, const char *text, gab_division *division);
void gab_division_release(gab_division *division);
/* Returns the number of the cluster of the member at a place. Pure, the same on all; time: logarithm of the members.
 * @param[in] nodes NODE only: failure domains of the processes */
gab_rank gab_division_cluster(const gab_division *division, const gab_members *members,
                              const gab_domains *nodes, gab_rank place);

#endif

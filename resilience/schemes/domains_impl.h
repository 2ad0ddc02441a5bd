/* SPDX-License-Identifier: Apache-2.0 */
/* What domains.c and domains_find.c share. Internal. */
#ifndef GABION_RESILIENCE_DOMAINS_IMPL_H
#define GABION_RESILIENCE_DOMAINS_IMPL_H

#include "core/base/buffer.h"
#include "resilience/schemes/domains.h"

/* To and from the bytes that the root broadcasts. */
gab_status gab_domains_pack(const gab_domains *domains, gab_buffer *out);
gab_status gab_domains_unpack(gab_reader *in, gab_domains **domains);

/** "none", "node", "chassis", "island"; "" for unset. */
const char *gab_domain_name(gab_domain_kind kind);

/** Finds the domains of all ranks, and of the spares behind them. Collective. @param[in] file  of the user's, see
 *  gab_domains_parse(), read by the root; NULL or "": host names @param[in] wanted  hwloc is asked for the
 *  chassis only if it is this
 *  @return the status of the root, on all: ::GAB_ERR_INPUT with file and line */
gab_status gab_domains_find(gab_world *world, const char *file, gab_domain_kind wanted,
                            gab_domains **domains);

/** From one name per rank, in order of the ranks; NULL: a node of its own. Local. @param[in] names  count of
 *  them */
gab_status gab_domains_from_names(const char *const *names, int32_t count, gab_domains **domains);

/** From the text of a user's file: lines "name ranks", with ranks as in "0-3 8 10-20:2" (every second), which
 *  may be separated by blanks or commas and stand in brackets; a colon may follow the name, so a flat YAML
 *  file is one such; # begins a comment. Every rank of the run has to be named once. Local. @param[in] spares  processes
 *  numbered behind the ranks, which may be named; one that is not counts as a node of its own
 *  @return ::GAB_ERR_INPUT with `source`:line */
gab_status gab_domains_parse(const char *source, const char *text, int32_t ranks, int32_t spares,
                             gab_domains **domains);

/** Reads a file as gab_domains_load() and finds out for how many ranks it is: those that it names, each once. Local.
 *  @return ::GAB_ERR_INPUT with file and line */
gab_status gab_domains_count(const char *path, int32_t *ranks);

/** The same, and behind them `count` processes that came later. The order of those that were there before stays, so that a
 *  placement of them is the same with either. Local; expands the runs for a moment.
 *  @param[in] origins  per replacement process: one of those before that shares all its domains; GAB_NO_PROCESS: a node,
 *  chassis and island of its own
 *  @param[out] extended  owned by the caller */
gab_status gab_domains_extend(const gab_domains *domains, const gab_process *origins, int32_t count,
                              gab_domains **extended);

/** How many ranks they are about, spares included: where a run has spares, "rank" means process here. */
int32_t gab_domains_ranks(const gab_domains *domains);

/** Bytes of the compressed form. */
size_t gab_domains_bytes(const gab_domains *domains);
void gab_domains_each_size(const gab_domains *domains, gab_domain_kind kind, gab_domains_fn call, void *user);

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/* Declarations shared by domains.c and domains_find.c. Internal. */
#ifndef GABION_RESILIENCE_DOMAINS_IMPL_H
#define GABION_RESILIENCE_DOMAINS_IMPL_H

#include "core/base/buffer.h"
#include "resilience/schemes/domains.h"

/* Conversion to and from the bytes that the root broadcasts. */
gab_status gab_domains_pack(const gab_domains *domains, gab_buffer *out);
gab_status gab_domains_unpack(gab_reader *in, gab_domains **domains);

/** "none", "node", "chassis", "island"; "" for unset. */
const char *gab_domain_name(gab_domain_kind kind);

/** Finds the domains of all ranks and of the spares after them. Collective. @param[in] file  the user's file, see
 * gab_domains_parse(), read by the root; NULL or "": host names @param[in] wanted  the chassis is read from hwloc only for
 * this kind @return the status of the root, on all ranks: ::GAB_ERR_INPUT with file and line */
gab_status gab_domains_find(gab_world *world, const char *file, gab_domain_kind wanted,
                            gab_domains **domains);

/** Makes domains from one name per rank, in order of ranks; NULL: a separate node. Local. @param[in] names  count of them */
gab_status gab_domains_from_names(const char *const *names, int32_t count, gab_domains **domains);

/** Parses the text of a user's file: lines "name ranks", ranks as in "0-3 8 10-20:2" (every second), separated by blanks or
 * commas, optionally in brackets. A colon may follow the name, so a flat YAML file is valid; # begins a comment. Every rank
 * of the run must be named once. Local. @param[in] spares  processes numbered after the ranks; an unnamed one is a separate
 * node @return ::GAB_ERR_INPUT with `source`:line */
gab_status gab_domains_parse(const char *source, const char *text, int32_t ranks, int32_t spares,
                             gab_domains **domains);

/** Reads a file as gab_domains_load() does and counts its ranks; each must be named once. Local. @return ::GAB_ERR_INPUT
 * with file and line */
gab_status gab_domains_count(const char *path, int32_t *ranks);

/** Appends `count` processes that joined later. The order of the existing ones is unchanged, and so is their placement.
 * Local; expands the runs temporarily. @param[in] origins  per replacement process: an existing process that shares all its
 * domains; GAB_NO_PROCESS: a separate node, chassis and island @param[out] extended  owned by the caller */
gab_status gab_domains_extend(const gab_domains *domains, const gab_process *origins, int32_t count,
                              gab_domains **extended);

/** Number of ranks, including spares: where a run has spares, "rank" means process here. */
int32_t gab_domains_ranks(const gab_domains *domains);

/** Bytes of the compressed form. */
size_t gab_domains_bytes(const gab_domains *domains);
void gab_domains_each_size(const gab_domains *domains, gab_domain_kind kind, gab_domains_fn call, void *user);

#endif

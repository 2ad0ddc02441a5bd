/* SPDX-License-Identifier: Apache-2.0 */
/* What domains.c and domains_find.c share. Internal. */
#ifndef GABION_RESILIENCE_DOMAINS_IMPL_H
#define GABION_RESILIENCE_DOMAINS_IMPL_H

#include "core/base/buffer.h"
#include "resilience/schemes/domains.h"

/* To and from the bytes that the root broadcasts. */
gab_status gab_domains_pack(const gab_domains *domains, gab_buffer *out);
gab_status gab_domains_unpack(gab_reader *in, gab_domains **domains);

#endif

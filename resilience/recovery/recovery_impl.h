/* SPDX-License-Identifier: Apache-2.0 */
/* Checks of a list of strategies. Stability: internal. */
#ifndef GABION_RESILIENCE_RECOVERY_RECOVERY_IMPL_H
#define GABION_RESILIENCE_RECOVERY_RECOVERY_IMPL_H

#include "resilience/recovery/recovery.h"

/** Whether the strategies of a list can be tried in its order. @return ::GAB_ERR_INPUT with a message: a strategy named
 *  twice; one that fills vacant ranks after one that leaves none (`shrink`); `spare` after `respawn`, which uses the
 *  spares first; one that approximates (`reconstruct`) after one that fills (`spare`, `respawn`) */
gab_status gab_strategies_check(const gab_strategy *const *strategies, int count);

/** Table of the first strategy of a list that recovers single ranks; NULL: none does. Pure.
 *  @param[in] strategies  of gab_protection: ::GAB_MOST_STRATEGIES entries; the list ends at NULL */
const gab_local_recovery *gab_strategies_local(const gab_strategy *const *strategies);

#endif

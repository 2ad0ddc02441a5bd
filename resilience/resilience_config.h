/** @file resilience_config.h
 *  @brief The sections `resilience` and `drills` of parameter files.
 *
 *  Tier: user header.
 */
#ifndef GABION_RESILIENCE_RESILIENCE_CONFIG_H
#define GABION_RESILIENCE_RESILIENCE_CONFIG_H

#include "core/config.h"
#include "resilience/timeloop.h"

#ifdef __cplusplus
extern "C" {
#endif

/** Declares the sections. */
gab_status gab_resilience_declare(gab_config *config);

/** Checks what only a run would find out: names of schemes and strategies, intervals, drills. Local.
 *  @return ::GAB_ERR_INPUT with the place in the file */
gab_status gab_resilience_check(const gab_config *config);

/** Turns a loop's protection on as a checked parameter file says. Collective.
 *  @param[in] rebalance,rebalance_user  used if the file wants rebalancing; NULL: blocks stay
 *  @param[in] folder  for events.jsonl; NULL: no events
 *  @param[in] inject  further drills in the form of gab_drill_parse(), e.g. from the command line
 *  @return ::GAB_ERR_INPUT with the place in the file */
gab_status gab_resilience_protect(gab_timeloop *loop, const gab_config *config, gab_rebalance_fn rebalance,
                                  void *rebalance_user, const char *folder, const char *const *inject,
                                  size_t inject_count);

#ifdef __cplusplus
}
#endif
#endif

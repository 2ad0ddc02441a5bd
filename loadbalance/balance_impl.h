/* SPDX-License-Identifier: Apache-2.0 */
/** @file balance_impl.h
 *  @brief Declarations shared by the strategies.
 *
 *  Stability: internal, never installed.
 */
#ifndef GABION_LOADBALANCE_BALANCE_IMPL_H
#define GABION_LOADBALANCE_BALANCE_IMPL_H

#include "loadbalance/balance.h"

/** Divides a curve. @param[out] part  as gab_balancer.assign */
gab_status gab_balance_along(const gab_curve *curve, const gab_balance_options *options, gab_proxies *proxies,
                             int32_t **part);
/** Moves proxies to members, unless all are there already. Collective. @param[in] part  member indices, one per local proxy
 * @param[in,out] moved  increased by the number of all moves */
gab_status gab_balance_hand_over(gab_proxies *proxies, const int32_t *part, uint64_t *moved);
/** Sets all shares of a report. @param[in] part  NULL: the present owners. Collective. */
gab_status gab_balance_measure(gab_proxies *proxies, int32_t parts, const int32_t *part,
                               gab_balance_report *report);
/** Common cells of a block and a neighbour, in cells of the finer one. */
uint64_t gab_balance_contact(const gab_forest_options *options, const gab_neighbour *row);

static inline uint64_t gab_balance_weight(const gab_proxy *proxy)
{
  return proxy->weight > 0 ? proxy->weight : 1;
}

#endif

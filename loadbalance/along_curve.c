/* SPDX-License-Identifier: Apache-2.0 */
/* The strategies that divide a curve. */
#include "loadbalance/balance_impl.h"
#include "loadbalance/rendezvous_impl.h"

static gab_status cut_curve(const gab_balance_options *options, gab_rendezvous *rendezvous,
                            gab_proxies *proxies, const gab_curve *curve, int32_t **part)
{
  const size_t count = gab_proxies_count(proxies);
  GAB_TRY(gab_rendezvous_register(rendezvous, proxies, curve));
  GAB_TRY(gab_rendezvous_cut(rendezvous, options->parts, options->by == GAB_BALANCE_PER_LEVEL));
  GAB_TRY(GAB_NEW_ARRAY(part, count, GAB_MEMORY_OTHER));
  return gab_rendezvous_ask(rendezvous, *part, count);
}

gab_status gab_balance_along(const gab_curve *curve, const gab_balance_options *options, gab_proxies *proxies,
                             int32_t **part)
{
  gab_rendezvous rendezvous;
  *part = NULL;
  gab_status status = cut_curve(options, &rendezvous, proxies, curve, part);
  gab_rendezvous_release(&rendezvous);
  return status;
}

static gab_status along_morton(const gab_balance_options *options, gab_proxies *proxies, int32_t **part,
                               gab_balance_report *report)
{
  (void)report;
  return gab_balance_along(&gab_curve_morton, options, proxies, part);
}

static gab_status along_hilbert(const gab_balance_options *options, gab_proxies *proxies, int32_t **part,
                                gab_balance_report *report)
{
  (void)report;
  return gab_balance_along(&gab_curve_hilbert, options, proxies, part);
}

const gab_balancer gab_balancer_morton = {
    .name = "morton",
    .doc = "pieces of the Morton curve: cheapest, always within mean + heaviest block",
    .is_built = true,
    .assign = along_morton,
};
const gab_balancer gab_balancer_hilbert = {
    .name = "hilbert",
    .doc = "pieces of the Hilbert curve: as morton, more compact",
    .is_built = true,
    .assign = along_hilbert,
};

/* The strategies by name, and those that cut a curve. */
#include "loadbalance/balance_impl.h"
#include "loadbalance/homes_impl.h"

#include <stdio.h>
#include <string.h>

/* ------------------------------------------------------------------ curves */

static gab_status cut_curve(const gab_balance_options *options, gab_homes *homes, gab_proxies *proxies,
                            gab_block_id *ids, uint64_t *weights, int32_t *part)
{
  size_t count = gab_proxies_count(proxies);
  for (size_t i = 0; i < count; ++i) {
    const gab_proxy *proxy = gab_proxies_get(proxies, i);
    ids[i] = proxy->id;
    weights[i] = gab_balance_weight(proxy);
  }
  GAB_TRY(gab_homes_register(homes, ids, weights, count));
  GAB_TRY(gab_homes_cut(homes, options->parts, options->by == GAB_BALANCE_PER_LEVEL));
  return gab_homes_ask(homes, ids, count, part);
}

gab_status gab_balance_along(const gab_curve *curve, const gab_balance_options *options, gab_proxies *proxies,
                             int32_t **part)
{
  void *ids = NULL, *weights = NULL, *parts = NULL;
  size_t count = gab_proxies_count(proxies);
  gab_homes homes;
  gab_homes_init(&homes, gab_proxies_world(proxies), gab_proxies_options(proxies), curve);
  gab_status status = gab_alloc(count * sizeof(gab_block_id), GAB_MEMORY_OTHER, &ids);
  if (status == GAB_OK) status = gab_alloc(count * sizeof(uint64_t), GAB_MEMORY_OTHER, &weights);
  if (status == GAB_OK) status = gab_alloc(count * sizeof(int32_t), GAB_MEMORY_OTHER, &parts);
  if (status == GAB_OK) status = cut_curve(options, &homes, proxies, ids, weights, parts);
  gab_homes_release(&homes);
  gab_free(&ids);
  gab_free(&weights);
  *part = parts;
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

/* ------------------------------------------------------------------ by name */

enum { MOST_BALANCERS = 32 };
static const gab_balancer *balancers[MOST_BALANCERS] = {&gab_balancer_morton, &gab_balancer_hilbert,
                                                        &gab_balancer_diffusion, &gab_balancer_graph};

const gab_balancer *gab_balancer_at(int index)
{
  return index >= 0 && index < MOST_BALANCERS ? balancers[index] : NULL;
}

gab_status gab_balancer_register(const gab_balancer *balancer)
{
  for (int i = 0; i < MOST_BALANCERS; ++i) {
    if (!balancers[i]) {
      balancers[i] = balancer;
      return GAB_OK;
    }
    if (strcmp(balancers[i]->name, balancer->name) == 0)
      GAB_FAIL(GAB_ERR_ARGUMENT, "there is already a balancing strategy '%s'", balancer->name);
  }
  GAB_FAIL(GAB_ERR_ARGUMENT, "no room for balancing strategy '%s': there are %d already", balancer->name,
           MOST_BALANCERS);
}

const gab_balancer *gab_balancer_by_name(const char *name)
{
  char known[512] = "";
  for (int i = 0; gab_balancer_at(i); ++i) {
    if (strcmp(balancers[i]->name, name) == 0) {
      if (balancers[i]->is_built) return balancers[i];
      gab_error_set(
          GAB_ERR_INPUT, __FILE__, __LINE__,
          "balancing strategy '%s' is not in this build: it needs a library that was not found (%s)", name,
          balancers[i]->doc);
      return NULL;
    }
    size_t used = strlen(known);
    snprintf(known + used, sizeof known - used, "%s%s%s", i ? ", " : "", balancers[i]->name,
             balancers[i]->is_built ? "" : " (not in this build)");
  }
  gab_error_set(GAB_ERR_INPUT, __FILE__, __LINE__, "no balancing strategy '%s' (there are: %s)", name, known);
  return NULL;
}

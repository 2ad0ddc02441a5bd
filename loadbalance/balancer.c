/* SPDX-License-Identifier: Apache-2.0 */
/* The strategies by name. */
#include "loadbalance/balance.h"

#include "core/base/registry_impl.h"

static gab_registry balancers = {
    .kind = "balancing strategy",
    .most = GAB_REGISTRY_MOST,
    .entries = {&gab_balancer_morton, &gab_balancer_hilbert, &gab_balancer_diffusion, &gab_balancer_graph}};

const gab_balancer *gab_balancer_at(int index) { return gab_registry_at(&balancers, index); }

gab_status gab_balancer_register(const gab_balancer *balancer)
{
  if (!balancer->name || !balancer->name[0] || !balancer->assign)
    GAB_FAIL(GAB_ERR_ARGUMENT, "a balancing strategy needs a name and a function that assigns blocks");
  return gab_registry_add(&balancers, balancer);
}

const gab_balancer *gab_balancer_by_name(const char *name)
{
  const gab_balancer *found = gab_registry_require(&balancers, name);
  if (!found || found->is_built) return found;
  gab_error_set(GAB_ERR_INPUT, __FILE__, __LINE__,
                "balancing strategy '%s' is not in this build: it needs a library that was not found (%s)",
                name, found->doc);
  return NULL;
}

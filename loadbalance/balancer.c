/* SPDX-License-Identifier: Apache-2.0 */
/* The strategies by name. */
#include "loadbalance/balance.h"

#include <stdio.h>
#include <string.h>

enum { MOST_BALANCERS = 32 };
static const gab_balancer *balancers[MOST_BALANCERS] = {&gab_balancer_morton, &gab_balancer_hilbert,
                                                        &gab_balancer_diffusion, &gab_balancer_graph};

const gab_balancer *gab_balancer_at(int index)
{
  return index >= 0 && index < MOST_BALANCERS ? balancers[index] : NULL;
}

gab_status gab_balancer_register(const gab_balancer *balancer)
{
  if (!balancer->name || !balancer->name[0] || !balancer->assign)
    GAB_FAIL(GAB_ERR_ARGUMENT, "a balancing strategy needs a name and a function that assigns blocks");
  if (strpbrk(balancer->name, "|/ "))
    GAB_FAIL(GAB_ERR_ARGUMENT, "'%s' cannot be the name of a balancing strategy", balancer->name);
  for (int i = 0; i < MOST_BALANCERS; i++) {
    if (!balancers[i]) {
      balancers[i] = balancer;
      return GAB_OK;
    }
    if (strcmp(balancers[i]->name, balancer->name) == 0)
      GAB_FAIL(GAB_ERR_ARGUMENT, "there is already a balancing strategy '%s'", balancer->name);
  }
  GAB_FAIL(GAB_ERR_ARGUMENT, "cannot add balancing strategy '%s': there are %d already", balancer->name,
           MOST_BALANCERS);
}

const gab_balancer *gab_balancer_by_name(const char *name)
{
  char known[512] = "";
  for (int i = 0; gab_balancer_at(i); i++) {
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

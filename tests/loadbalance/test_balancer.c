/* SPDX-License-Identifier: Apache-2.0 */
/* gabion-test: labels=quick */
#include "loadbalance/balance.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

static void strategies_are_found_by_name(void **state)
{
  (void)state;
  assert_ptr_equal(gab_balancer_by_name("morton"), &gab_balancer_morton);
  assert_ptr_equal(gab_balancer_by_name("hilbert"), &gab_balancer_hilbert);
  assert_ptr_equal(gab_balancer_by_name("diffusion"), &gab_balancer_diffusion);
  assert_null(gab_balancer_by_name("diffusions"));
  assert_non_null(strstr(gab_error_message(), "hilbert, diffusion, graph"));
}

static void graph_partitioning_says_what_is_missing_where_it_is_not_built(void **state)
{
  (void)state;
  const gab_balancer *found = gab_balancer_by_name("graph");
  if (gab_balancer_graph.is_built) assert_ptr_equal(found, &gab_balancer_graph);
  else {
    assert_null(found);
    assert_non_null(strstr(gab_error_message(), "METIS"));
  }
}

static gab_status assign(const gab_balance_options *options, gab_proxies *proxies, int32_t **part,
                         gab_balance_report *report)
{
  (void)options;
  (void)proxies;
  (void)part;
  (void)report;
  return GAB_OK;
}

static const gab_balancer own = {.name = "own", .doc = "of a user", .is_built = true, .assign = assign};
static const gab_balancer copy = {
    .name = "own", .doc = "the name is taken", .is_built = true, .assign = assign};

static void a_user_adds_a_strategy_once(void **state)
{
  (void)state;
  assert_null(gab_balancer_by_name("own"));
  assert_int_equal(gab_balancer_register(&own), GAB_OK);
  assert_ptr_equal(gab_balancer_by_name("own"), &own);
  assert_int_equal(gab_balancer_register(&copy), GAB_ERR_ARGUMENT);
  assert_ptr_equal(gab_balancer_by_name("own"), &own);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(strategies_are_found_by_name),
      cmocka_unit_test(graph_partitioning_says_what_is_missing_where_it_is_not_built),
      cmocka_unit_test(a_user_adds_a_strategy_once),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}

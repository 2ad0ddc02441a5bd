/* SPDX-License-Identifier: Apache-2.0 */
/** @file read_bodies.h
 *  @brief A geometry from the text of a section `bodies`.
 *
 *  Stability: internal.
 */
#ifndef GABION_TESTS_READ_BODIES_H
#define GABION_TESTS_READ_BODIES_H

#include "lbm/setup/lbm_config.h"
#include "lbm_common.h"

typedef struct read_case {
  gab_config *config;
  gab_domain domain;
  gab_lbm_setup setup;
  gab_geometry *geometry;
} read_case;

/* 24 x 20 x 20 cells of width 1. */
static inline void read_bodies(read_case *it, bool is_periodic, const char *bodies)
{
  char text[2048];
  *it = (read_case){.domain = {.dimension = 3, .cells = {24, 20, 20}, .dx = 1, .deepest = 1}};
  for (int axis = 0; axis < 3; axis++) it->domain.periodic[axis] = is_periodic;
  snprintf(text, sizeof text, "fluid: {omega: 1.5}\nbodies:\n%s", bodies);
  REQUIRE_OK(gab_config_create(&it->config));
  REQUIRE_OK(gab_lbm_declare(it->config));
  REQUIRE_OK(gab_config_load_text(it->config, "test.yaml", text, strlen(text)));
  REQUIRE_OK(gab_config_check(it->config));
  REQUIRE_OK(gab_lbm_setup_from_config(it->config, &it->domain, NULL, &it->setup));
  REQUIRE_OK(gab_geometry_create(&it->domain, it->setup.bodies, it->setup.body_count, &it->geometry));
}

static inline void end_case(read_case *it)
{
  gab_geometry_destroy(&it->geometry);
  gab_lbm_setup_release(&it->setup);
  gab_config_destroy(&it->config);
}

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/* Shared by tests of elliptic solvers with exact solutions: a forest with a field for one equation, and its solver. */
#ifndef GABION_TESTS_ELLIPTIC_SETUP_H
#define GABION_TESTS_ELLIPTIC_SETUP_H

#include "blockforest/elliptic/elliptic.h"

#include "blockforest/exchange/block_field.h"
#include "core/messages/collective.h"
#include "tests/blockforest/random_domain.h"

#include <math.h>

enum { F = 0, U, EXACT, COMPONENTS };
#define PI 3.141592653589793

#define VALUE(v)                                                                                             \
  {                                                                                                          \
    GAB_ELLIPTIC_VALUE, v                                                                                    \
  }
#define GRADIENT(g)                                                                                          \
  {                                                                                                          \
    GAB_ELLIPTIC_GRADIENT, g                                                                                 \
  }

typedef struct setup {
  gab_block_field field;
  gab_forest *forest;
  gab_data_id data;
  gab_elliptic *elliptic;
} setup;

static inline void destroy(setup *it)
{
  gab_elliptic_destroy(&it->elliptic);
  gab_forest_destroy(&it->forest);
}

static inline gab_block_component part(const setup *it, int component)
{
  return (gab_block_component){it->data, component};
}

static inline gab_elliptic_result solve(setup *it)
{
  gab_elliptic_result result;
  REQUIRE_OK(gab_elliptic_solve(it->elliptic, part(it, F), part(it, U), &result));
  return result;
}

/* @param[in] text  part of the message */
static inline void refuse(gab_forest *forest, gab_elliptic_options options, gab_status status,
                          const char *text)
{
  gab_elliptic *made;
  REQUIRE(gab_elliptic_create(forest, &options, &made) == status);
  REQUIRE(!made && strstr(gab_error_message(), text));
}

#endif

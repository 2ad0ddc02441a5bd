/* CHECK for tests that end as before tests/mpi_test.h. */
#ifndef GABION_TESTS_CHECK_H
#define GABION_TESTS_CHECK_H

#include "tests/mpi_test.h"

#define failures test_state.failures

#endif

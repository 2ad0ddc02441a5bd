/* SPDX-License-Identifier: Apache-2.0 */
/* A world without MPI: its collective calls, messages to itself, agreements and repairs work, and MPI is never started. */
/* gabion-test: labels=quick */
#include "core/messages/collective.h"
#include "core/messages/port.h"
#include "core/world/alone.h"
#include "core/world/launcher.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static gab_world *world;

static int begin(void **state)
{
  (void)state;
  return gab_world_create_alone(&world) == GAB_OK ? 0 : -1;
}

static int end(void **state)
{
  int started = 1;
  (void)state;
  gab_world_destroy(&world);
  MPI_Initialized(&started);
  return started || world ? -1 : 0;
}

static void it_has_one_member(void **state)
{
  (void)state;
  assert_int_equal(gab_members_count(gab_world_members(world)), 1);
  assert_int_equal(gab_world_rank(world), 0);
  assert_true(gab_world_is_root(world));
  assert_false(gab_world_is_spare(world));
  assert_int_equal(gab_world_spares(world), 0);
}

static void collective_calls_return_ones_own(void **state)
{
  (void)state;
  uint64_t least = 7;
  gab_buffer text = {0};
  assert_int_equal(gab_world_min_u64(world, &least, 1), GAB_OK);
  assert_int_equal(least, 7);
  assert_int_equal(gab_put_u32(&text, 5), GAB_OK);
  assert_int_equal(gab_world_broadcast(world, 0, &text), GAB_OK);
  assert_int_equal(text.size, 4);
  gab_buffer_release(&text);
  uint32_t flags = 5;
  assert_int_equal(gab_world_agree(world, &flags), GAB_OK);
  assert_int_equal(flags, 5);
  assert_int_equal(gab_world_nap(world, 0.001), GAB_OK);
}

static void messages_reach_oneself(void **state)
{
  (void)state;
  gab_port *port;
  gab_buffer out = {0}, in = {0};
  uint32_t value = 0;
  assert_int_equal(gab_port_create(world, "test", &port), GAB_OK);
  assert_int_equal(gab_message_begin(&out), GAB_OK);
  assert_int_equal(gab_put_u32(&out, 42), GAB_OK);
  assert_int_equal(gab_port_send(port, 0, &out), GAB_OK);
  assert_int_equal(gab_port_receive(port, 0, &in, GAB_SIZE_UNKNOWN), GAB_OK);
  assert_int_equal(gab_port_finish(port), GAB_OK);
  gab_reader reader = gab_message_reader(&in);
  assert_int_equal(gab_get_u32(&reader, &value), GAB_OK);
  assert_int_equal(value, 42);
  gab_buffer_release(&out);
  gab_buffer_release(&in);
  gab_port_destroy(&port);
}

static void communicators_are_null(void **state)
{
  (void)state;
  gab_comm *comm;
  assert_int_equal(gab_world_dup(world, &comm), GAB_OK);
  assert_true(gab_comm_mpi(comm) == MPI_COMM_NULL);
  assert_int_equal(gab_world_split(world, 1, &comm), GAB_OK);
  assert_true(gab_comm_mpi(comm) == MPI_COMM_NULL);
}

static void a_failure_is_repaired(void **state)
{
  (void)state;
  gab_status abort_request;
  (void)gab_error_set(GAB_ERR_DIVERGED, __FILE__, __LINE__, "on purpose");
  assert_int_equal(gab_world_raise(world, GAB_ERR_DIVERGED), GAB_ERR_FAULT);
  assert_int_equal(gab_world_check(world), GAB_ERR_FAULT);
  assert_int_equal(gab_world_repair(world, &abort_request), GAB_OK);
  assert_int_equal(abort_request, GAB_ERR_DIVERGED);
  assert_int_equal(gab_world_check(world), GAB_OK);
}

static void mpirun_tells_how_many_there_are(void **state)
{
  (void)state;
  unsetenv("PMI_SIZE");
  unsetenv("OMPI_COMM_WORLD_SIZE");
  assert_int_equal(gab_launcher_processes(), 1);
  setenv("OMPI_COMM_WORLD_SIZE", "3", 1);
  assert_int_equal(gab_launcher_processes(), 3);
  setenv("OMPI_COMM_WORLD_SIZE", "no", 1);
  assert_int_equal(gab_launcher_processes(), 1);
  unsetenv("OMPI_COMM_WORLD_SIZE");
}

/* Set by Open MPI and by MPICH: without this number processes that share cores poll without pause. */
static void mpirun_tells_how_many_are_on_the_node(void **state)
{
  (void)state;
  unsetenv("OMPI_COMM_WORLD_LOCAL_SIZE");
  unsetenv("MPI_LOCALNRANKS");
  assert_int_equal(gab_launcher_local_processes(), 0);
  setenv("MPI_LOCALNRANKS", "4", 1);
  assert_int_equal(gab_launcher_local_processes(), 4);
  setenv("OMPI_COMM_WORLD_LOCAL_SIZE", "3", 1);
  assert_int_equal(gab_launcher_local_processes(), 3);
  unsetenv("OMPI_COMM_WORLD_LOCAL_SIZE");
  unsetenv("MPI_LOCALNRANKS");
}

static void mpirun_tells_the_rank(void **state)
{
  (void)state;
  unsetenv("OMPI_COMM_WORLD_RANK");
  unsetenv("PMI_RANK");
  assert_int_equal(gab_launcher_rank(), -1);
  setenv("PMI_RANK", "2", 1);
  assert_int_equal(gab_launcher_rank(), 2);
  setenv("OMPI_COMM_WORLD_RANK", "0", 1);
  assert_int_equal(gab_launcher_rank(), 0);
  unsetenv("OMPI_COMM_WORLD_RANK");
  unsetenv("PMI_RANK");
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(it_has_one_member),
      cmocka_unit_test(collective_calls_return_ones_own),
      cmocka_unit_test(messages_reach_oneself),
      cmocka_unit_test(communicators_are_null),
      cmocka_unit_test(a_failure_is_repaired),
      cmocka_unit_test(mpirun_tells_how_many_there_are),
      cmocka_unit_test(mpirun_tells_how_many_are_on_the_node),
      cmocka_unit_test(mpirun_tells_the_rank),
  };
  return cmocka_run_group_tests(tests, begin, end);
}

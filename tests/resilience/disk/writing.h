/* SPDX-License-Identifier: Apache-2.0 */
/* An automaton with checkpoints in a folder on disk, for tests of that level. */
#ifndef GABION_TESTS_WRITING_H
#define GABION_TESTS_WRITING_H

#include "tests/faults/automaton.c"
#include "tests/mpi_test.h"

#include "core/messages/collective.h"
#include "resilience/disk/disk_impl.h"
#include "resilience/disk/restart.h"

#include <unistd.h>

typedef struct writing {
  automaton *app;
  gab_checkpoint *checkpoint;
  gab_disk *disk;
  char folder[64];
} writing;

static bool is_root(const writing *w) { return gab_world_is_root(w->app->world); }

/* @param[in] name  of the test: part of the name of the folder, with the number of ranks */
static void begin_writing(writing *w, automaton *app, const char *name)
{
  gab_entity entity = automaton_entity(app);
  *w = (writing){.app = app};
  snprintf(w->folder, sizeof w->folder, "%s-np%" GAB_PRI_RANK ".tmp", name,
           gab_world_members(app->world)->ranks);
  if (is_root(w)) CHECK(gab_restart_remove_all(w->folder) == GAB_OK);
  CHECK(gab_world_barrier(app->world) == GAB_OK);
  CHECK(gab_checkpoint_create(app->forest, &(gab_redundancy){0}, &w->checkpoint) == GAB_OK);
  CHECK(gab_checkpoint_add_entity(w->checkpoint, &entity) == GAB_OK);
  const gab_disk_options options = {
      .folder = w->folder, .group = 2, .state = "a = 1\n", .parameters = "a = 1\nb = 2\n"};
  CHECK(gab_disk_create(w->checkpoint, NULL, &options, &w->disk) == GAB_OK);
}

static void end_writing(writing *w)
{
  gab_disk_destroy(&w->disk);
  gab_checkpoint_destroy(&w->checkpoint);
  CHECK(gab_world_barrier(w->app->world) == GAB_OK);
  if (is_root(w)) CHECK(gab_restart_remove_all(w->folder) == GAB_OK);
  if (is_root(w)) rmdir(w->folder);
}

static bool write_step(writing *w, gab_step step)
{
  bool begun = false;
  CHECK(gab_checkpoint_take(w->checkpoint, step) == GAB_OK);
  CHECK(gab_disk_begin(w->disk, &begun) == GAB_OK);
  return begun;
}

static uint64_t checksum_of(const writing *w)
{
  uint64_t checksum = 0;
  CHECK(gab_forest_checksum(w->app->forest, &checksum) == GAB_OK);
  return checksum;
}

#endif

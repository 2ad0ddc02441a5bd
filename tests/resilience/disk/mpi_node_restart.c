/* SPDX-License-Identifier: Apache-2.0 */
/* What dead processes have left in the memory of a node may be of several tries at the same snapshot: a death ends
 * one, and the survivors take it again under the same number. Images of two tries do not make one snapshot. */
/* gabion-test: np=1,2,3 quick=2 timeout=60 needs=ulfm */
#include "tests/faults/automaton.c"
#include "tests/mpi_test.h"

#include "core/messages/collective.h"
#include "core/base/log.h"
#include "core/memory/node_memory.h"
#include "resilience/checkpoint/checkpoint_impl.h"
#include "resilience/disk/node_restart.h"

#include <dirent.h>
#include <sys/stat.h>
#include <unistd.h>

enum {
  HEADER = 128,
  MOST = 1 << 20
}; /* bytes in a file before the allocated memory (core/memory/node_memory_impl.h) */

static const gab_memory_key key = {{5, 7}};

typedef struct node {
  gab_world *world;
  char top[64], folder[80];
  int left; /* number of files of this process that look like those of a dead one */
} node;

static bool recognise(const unsigned char *bytes, size_t count, gab_image_header *header)
{
  for (size_t at = HEADER; at <= HEADER + GAB_ENVELOPE_BYTES && at < count; at += GAB_ENVELOPE_BYTES)
    if (gab_image_recognise(gab_reader_of(bytes + at, count - at), header)) return true;
  return false;
}

static void leave(node *n, const char *name, bool (*wanted)(const gab_image_header *header))
{
  static unsigned char bytes[MOST];
  char path[512];
  gab_image_header header;
  snprintf(path, sizeof path, "%s/%s", n->folder, name);
  FILE *file = fopen(path, "rb");
  CHECK(file != NULL);
  const size_t count = file ? fread(bytes, 1, MOST, file) : 0;
  if (file) fclose(file);
  if (!recognise(bytes, count, &header) || !wanted(&header)) return;
  /* Process 1 was not started in its seventh tick, so the named process does not exist. */
  snprintf(path, sizeof path, "%s/1-%d-7.mem", n->folder, 1000 * (int)gab_world_rank(n->world) + n->left++);
  file = fopen(path, "wb");
  CHECK(file && fwrite(bytes, 1, count, file) == count && fclose(file) == 0);
}

/* Files of this process as a SIGKILL would leave them now, limited to those that are wanted. */
static void leave_all(node *n, bool (*wanted)(const gab_image_header *header))
{
  char own[32];
  const int length = snprintf(own, sizeof own, "%ld-", (long)getpid());
  DIR *files = opendir(n->folder);
  CHECK(files != NULL);
  for (struct dirent *entry; files && (entry = readdir(files));)
    if (strncmp(entry->d_name, own, (size_t)length) == 0) leave(n, entry->d_name, wanted);
  if (files) closedir(files);
}

static bool of_the_first_try(const gab_image_header *header)
{
  return header->serial == 1 || header->rank == 0;
}
static bool of_the_second_try(const gab_image_header *header)
{
  return header->serial == 1 || header->rank != 0;
}

static uint64_t checksum_of(const automaton *app)
{
  uint64_t sum = 0;
  CHECK(gab_forest_checksum(app->forest, &sum) == GAB_OK);
  return sum;
}

static void break_and_repair(automaton *app)
{
  gab_status abort_request = GAB_OK;
  uint32_t flags = 1;
  CHECK(gab_world_agree(app->world, &flags) == GAB_OK);
  if (gab_world_is_root(app->world)) gab_world_raise(app->world, GAB_ERR_REQUEUE);
  CHECK(gab_world_repair(app->world, &abort_request) == GAB_OK && abort_request == GAB_ERR_REQUEUE);
}

static gab_checkpoint *new_checkpoint(automaton *app)
{
  gab_checkpoint *checkpoint;
  gab_entity entity = automaton_entity(app);
  CHECK(gab_checkpoint_create(app->forest, &(gab_redundancy){0}, &checkpoint) == GAB_OK);
  CHECK(gab_checkpoint_add_entity(checkpoint, &entity) == GAB_OK);
  return checkpoint;
}

/* Snapshot 1, and two attempts at snapshot 2: of the first only the image of rank 0 exists, of the second all others.
 * @return the checksum of snapshot 1 */
static uint64_t leave_two_tries(node *n, automaton *app)
{
  gab_restore_report report;
  CHECK(gab_node_memory_open(n->top, "here", key) == GAB_OK);
  gab_checkpoint *checkpoint = new_checkpoint(app);
  CHECK(gab_checkpoint_take(checkpoint, 5) == GAB_OK);
  const uint64_t first = checksum_of(app);
  CHECK(automaton_step(app, 5) == GAB_OK && gab_checkpoint_take(checkpoint, 6) == GAB_OK);
  leave_all(n, of_the_first_try);
  break_and_repair(app);
  checkpoint->snapshots[checkpoint->valid].complete = false; /* as if no process had completed it */
  CHECK(gab_checkpoint_restore(checkpoint, &report) == GAB_OK && report.step == 5 &&
        checksum_of(app) == first);
  for (gab_step step = 5; step < 7; step++) CHECK(automaton_step(app, step) == GAB_OK);
  CHECK(gab_checkpoint_take(checkpoint, 6) == GAB_OK);
  CHECK(checkpoint->snapshots[checkpoint->valid].serial == 2);
  leave_all(n, of_the_second_try);
  CHECK(gab_world_barrier(app->world) == GAB_OK);
  gab_checkpoint_destroy(&checkpoint);
  return first;
}

static void images_of_two_tries_do_not_make_one_snapshot(node *n, automaton *app)
{
  gab_node_restart *node_restart;
  gab_restart_report report;
  const uint64_t first = leave_two_tries(n, app);
  gab_checkpoint *checkpoint = new_checkpoint(app);
  CHECK(gab_world_barrier(app->world) == GAB_OK);
  CHECK(gab_node_restart_find(app->world, n->folder, key, &node_restart) == GAB_OK);
  CHECK(gab_node_restart_step(node_restart) == 5);
  CHECK(gab_node_restart_load(node_restart, checkpoint, &report) == GAB_OK);
  CHECK(report.step == 5 && checksum_of(app) == first);
  CHECK(gab_checkpoint_take(checkpoint, 5) == GAB_OK);
  CHECK(checkpoint->snapshots[checkpoint->valid].serial == 3); /* a number that no file has */
  gab_node_restart_destroy(&node_restart, true);
  gab_checkpoint_destroy(&checkpoint);
  CHECK(gab_world_barrier(app->world) == GAB_OK);
  gab_node_memory_close(true);
}

int main(void)
{
  automaton app;
  node n = {0};
  umask(S_IRWXG | S_IRWXO); /* files that others could have written are not used */
  REQUIRE_OK(gab_world_create(NULL, NULL, &n.world));
  gab_log_set_level(GAB_LOG_ERROR - 1, GAB_LOG_ERROR);
  snprintf(n.top, sizeof n.top, "mpi_node_restart-np%" GAB_PRI_RANK ".tmp",
           gab_world_members(n.world)->ranks);
  snprintf(n.folder, sizeof n.folder, "%s/here", n.top);
  CHECK(automaton_create(&app, n.world, (const int32_t[3]){3, 2, 2}) == GAB_OK);
  images_of_two_tries_do_not_make_one_snapshot(&n, &app);
  automaton_destroy(&app);
  return test_end(&n.world);
}

/* SPDX-License-Identifier: Apache-2.0 */
/* gab_reinit() around a program that uses nothing else of Gabion and saves its state in files of its own; for script_reinit.sh:
 *
 *   reinit_files FOLDER STEPS [respawn|shrink]
 *
 * Says who it is in each call, and each cleanup. */
#include "core/base/log.h"
#include "resilience/recovery/reinit.h"
#include "resilience/reports/completion.h"
#include "waves.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { SAVE_EVERY = 10 };

typedef struct program {
  const char *folder;
  int steps, rank;
  waves all;
  gab_comm *comm;
} program;

static const char *name_of(const program *p, int step)
{
  static char path[512];
  snprintf(path, sizeof path, "%s/%d-%d", p->folder, p->rank, step);
  return path;
}

static int save(const program *p, int step)
{
  char part[520];
  snprintf(part, sizeof part, "%s.part", name_of(p, step));
  FILE *file = fopen(part, "wb");
  if (!file) return -1;
  const int good = fwrite(&p->all, sizeof p->all, 1, file) == 1;
  return fclose(file) == 0 && good ? rename(part, name_of(p, step)) : -1;
}

/* Whole files only have their name; of which step all have one all have to find out. */
static int newest(const program *p)
{
  int step = p->steps;
  while (step > 0 && access(name_of(p, step), R_OK) != 0) step--;
  return step;
}

static gab_status load(program *p, MPI_Comm comm, gab_world *world, int *step)
{
  *step = newest(p);
  MPI_Allreduce(MPI_IN_PLACE, step, 1, MPI_INT, MPI_MIN, comm);
  GAB_TRY(gab_reinit_test(world)); /* else the number means nothing */
  if (*step == 0) waves_begin(&p->all, comm);
  if (*step == 0) return GAB_OK;
  FILE *file = fopen(name_of(p, *step), "rb");
  const int good = file && fread(&p->all, sizeof p->all, 1, file) == 1;
  if (file) fclose(file);
  if (!good) GAB_FAIL(GAB_ERR_IO, "cannot read %s", name_of(p, *step));
  return GAB_OK;
}

static void say_cleanup(void *user)
{
  printf("cleanup %s\n", (const char *)user);
  fflush(stdout);
}

static gab_status work(gab_world *world, int argc, char **argv, gab_reinit_state state, void *user)
{
  static const char *const states[] = {"new", "reinited", "restarted"};
  program *p = user;
  const MPI_Comm comm = gab_comm_mpi(p->comm);
  int step;
  (void)argc, (void)argv;
  p->rank = (int)gab_world_rank(world);
  GAB_TRY(gab_reinit_add_cleanup(world, say_cleanup, "first"));
  GAB_TRY(gab_reinit_add_cleanup(world, say_cleanup, "second"));
  GAB_TRY(load(p, comm, world, &step));
  printf("rank %d is process %d, %s, from step %d\n", p->rank, (int)getpid(), states[state], step);
  fflush(stdout);
  while (step < p->steps) {
    waves_step(&p->all, comm, step);
    GAB_TRY(gab_reinit_test(world));
    if (++step % SAVE_EVERY == 0 && save(p, step) != 0)
      GAB_FAIL(GAB_ERR_IO, "cannot write %s", name_of(p, step));
  }
  waves_print_sum(&p->all, comm);
  return gab_reinit_test(world);
}

int main(int argc, char **argv)
{
  gab_world *world;
  static program p;
  if (gab_world_create(&argc, &argv, &world) != GAB_OK) return 1;
  const char *way = argc > 3 ? argv[3] : "spare";
  p.folder = argc > 1 ? argv[1] : ".";
  p.steps = argc > 2 ? atoi(argv[2]) : 100;
  gab_reinit_allow_shrinking(world, strcmp(way, "shrink") == 0);
  gab_status status = gab_reinit_allow_respawning(world, strcmp(way, "respawn") == 0);
  if (status == GAB_OK) status = gab_world_dup(world, &p.comm);
  if (status == GAB_OK) status = gab_reinit(world, argc, argv, work, &p);
  if (status != GAB_OK) gab_log(GAB_LOG_ERROR, "%s", gab_error_message());
  const int code = gab_report_completion(world, gab_status_exit_code(status));
  gab_world_destroy(&world);
  return code;
}

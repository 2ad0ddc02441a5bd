/* SPDX-License-Identifier: Apache-2.0 */
/* Tracers in a double gyre, two vortices that swing to and fro (Shadden, Lekien & Marsden 2005, Physica D 212, 271).
 *   gabion-launch -n 4 build/bin/tracers [FOLDER]    leaves fields/tracers.xdmf for ParaView in out/tracers */
#include "gabion/gabion.h"
#include <math.h>

enum { STEPS = 2000, EVERY = 100, SEEDS = 1000 };
static const double pi = 3.14159265358979323846, dt = 0.01;
static gab_forest *forest; /* of a length of 2 and a height of 1, with cells of 1/64 */
static gab_tracers *tracers;

static void set_flow(double t) /* ---- 1. The velocity of all cells. */
{
  const double a = 0.25 * sin(2 * pi * t / 10);
  for (size_t b = 0; b < gab_forest_block_count(forest); b++)
    for (int32_t i = 0; i < 16 * 16; i++) {
      gab_field *u = gab_tracers_velocity(tracers, gab_forest_block(forest, b));
      double at[3];
      gab_block_cell_centre(forest, gab_forest_block(forest, b), i % 16, i / 16, 0, at);
      const double f = (a * at[0] + 1 - 2 * a) * at[0], slope = 2 * a * (at[0] - 1) + 1;
      gab_field_set(u, i % 16, i / 16, 0, 0, -0.1 * pi * sin(pi * f) * cos(pi * at[1]));
      gab_field_set(u, i % 16, i / 16, 0, 1, 0.1 * pi * cos(pi * f) * sin(pi * at[1]) * slope);
    }
}

static gab_status advance(void *which, gab_step step) /* ---- 2. A step, to the time of that velocity. */
{
  set_flow((double)(step + 1) * dt);
  return gab_tracers_step(which, dt, NULL);
}

static gab_status write(void *files, gab_step step)
{
  return step % EVERY ? GAB_OK : gab_particle_output_write(files, step, (double)step * dt);
}

static gab_status run(gab_world *world, int argc, char **argv) /* ---- 3. Seeds, files, the time loop. */
{
  const gab_forest_options grid = {.grid = {2, {8, 4, 1}}, .cells = {16, 16, 1}, .dx = 1. / 64};
  const gab_tracers_options closed = {.name = "tracers", .closed = {true, true, true, true}};
  const gab_particle_output_options to = {.folder = argc > 1 ? argv[1] : "out/tracers", .name = "tracers"};
  gab_particle_output *files;
  gab_timeloop *loop;
  GAB_TRY(gab_forest_create(world, &grid, &forest));
  GAB_TRY(gab_tracers_create(forest, &closed, &tracers));
  GAB_TRY(gab_balance_initial(forest, NULL, NULL));
  set_flow(0);
  GAB_TRY(gab_tracers_exchange(tracers));
  for (uint64_t i = 0; i < SEEDS; i++)
    GAB_TRY(gab_tracers_add(tracers, i, (double[3]){1, ((double)i + 0.5) / SEEDS}, 0, NULL));
  GAB_TRY(gab_output_folder_make(world, to.folder));
  GAB_TRY(gab_particle_output_create(gab_tracers_particles(tracers), &to, &files));
  GAB_TRY(gab_timeloop_create(forest, STEPS, &loop));
  GAB_TRY(gab_timeloop_add_action(loop, "files", NULL, write, files));
  GAB_TRY(gab_timeloop_add_task(loop, "tracers", advance, tracers));
  GAB_TRY(gab_timeloop_protect(loop, &(gab_protection){.every = {.steps = EVERY}}));
  return gab_timeloop_run(loop);
}

int main(int argc, char **argv) { return gab_program_main(argc, argv, run); }

/* SPDX-License-Identifier: Apache-2.0 */
/* A pump that keeps a flow going in a machine room whose failures are known: an entity and a redundancy scheme of one's own.
 *
 *   gabion-launch -n 4 build/bin/pump run apps/tutorial/pump.yaml
 *
 * The solver is the flow of `gabion' and one thing more. The ends of a channel meet, and a force drives the fluid, as much
 * as makes its mean velocity what is asked for (a proportional-integral controller). What the controller remembers is in no block:
 * it is an entity, or a death would leave it ahead of the flow, which goes back to the last checkpoint.
 *
 * The machine room has two rows of cabinets. A row has one power feed, and two cabinets that face each other have one cooling
 * loop; either may fail as a whole:
 *
 *     column    0 1 2 3       `pairwise' puts the copy of 0 at 4, which hangs on the same loop, `ring' at 1, which hangs on
 *     row 0     0 1 2 3       the same feed. The scheme `diagonal' puts it at 5: in the other row, one column further. So a
 *     row 1     4 5 6 7       row may fail, or a column; 0 and 5 at once may not.
 *
 * The places are in the order of the room if the processes are started in it. When the survivors go on alone (strategy `shrink')
 * they close ranks, and the rows are halves of what is left; with spares or `respawn' there are as many as before. */
#include "gabion/app.h"
#include "resilience/schemes/scheme.h"

#include <math.h>
#include <stdio.h>

/* ---- 1. The scheme: places 0 to count - 1, one for each process in the order of the room, become two rows. */
static int most_copies(int32_t count)
{
  if (count < 4) return count > 1; /* there is only the place opposite */
  return count / 2 - 1;            /* as many as there are other columns */
}

static int32_t holder(const gab_scheme_places *places, int32_t place, int copy, int copies)
{
  const int32_t columns = (places->count + 1) / 2; /* of the first row */
  const int32_t others = places->count - columns;  /* of the second, which may be shorter */
  const int32_t row = place / columns, column = place % columns;
  const int32_t cabinet = places->largest; /* so many processes has a node, if that is known; else 1 */
  const int32_t further = others > 1 ? 1 + (cabinet - 1 + copy) % (others - 1) : 0;
  (void)copies;
  return (row == 0 ? columns : 0) + (column + further) % others;
}

static const gab_scheme diagonal = {.name = "diagonal",
                                    .doc = "copies in the other half of all places, never opposite",
                                    .most_copies = most_copies,
                                    .holder = holder};

/* ---- 2. Parameters, in units of the parameter file. */
static const gab_config_key keys[] = {
    {.name = "velocity", .type = GAB_CONFIG_REAL, .unit = "m/s", .doc = "Mean along x that the pump keeps."},
    {.name = "time",
     .type = GAB_CONFIG_REAL,
     .min = 0,
     .min_excluded = true,
     .max = INFINITY,
     .unit = "s",
     .default_text = "0.2",
     .doc = "In which a deviation is made up for: gains 2 / time and 1 / time^2."},
    {.name = "every",
     .type = GAB_CONFIG_INT,
     .min = 1,
     .max = 1e6,
     .default_text = "20",
     .doc = "Steps between corrections."}};
static const gab_config_section section = {
    .path = "pump", .doc = "What drives the fluid.", .keys = keys, .count = 3};

static gab_status declare(gab_config *config)
{
  GAB_TRY(gab_solver_flow.declare(config));
  return gab_app_declare(config, &section, 1);
}

/* ---- 3. The controller. All processes have the same numbers, in cells and steps. */
static struct {
  double integral; /* of what was missing, times its gain */
  double force;    /* on a cell, until the next correction */
} pump;

static gab_status mean_velocity(const gab_app_run *run, double *velocity)
{
  gab_lbm_integrals sums;
  GAB_TRY(gab_lbm_integrate(gab_app_run_flow(run), false, &sums)); /* exact, whoever has which block */
  *velocity = sums.momentum[0] / sums.mass - pump.force / 2;       /* lbm/step/local_force.h says why */
  return GAB_OK;
}

static gab_status correct(void *user, gab_step step)
{
  const gab_app_run *run = user;
  const gab_config *config = run->parameters->config;
  const int64_t every = gab_config_int(config, "pump.every");
  const double dt = run->parameters->dt, time = gab_config_real(config, "pump.time") / dt;
  double velocity;
  if ((step + 1) % every != 0) return GAB_OK;
  GAB_TRY(mean_velocity(run, &velocity));
  const double missing =
      gab_config_real(config, "pump.velocity") * dt / gab_forest_dx(run->forest, 0) - velocity;
  pump.integral += missing * (double)every / (time * time);
  pump.force = 2 * missing / time + pump.integral;
  return GAB_OK;
}

static void push_row(void *user, const gab_block *block, const int32_t first[3], int32_t count,
                     double *const force[3])
{
  (void)user, (void)block, (void)first;
  for (int32_t x = 0; x < count; x++) force[0][x] = pump.force;
}

/* ---- 4. The entity: what has to go back with the blocks, and be handed to processes that are new. */
static gab_status pack(void *user, gab_buffer *out)
{
  (void)user;
  GAB_TRY(gab_put_f64(out, pump.integral));
  return gab_put_f64(out, pump.force);
}

static gab_status unpack(void *user, gab_reader *in)
{
  (void)user;
  GAB_TRY(gab_get_f64(in, &pump.integral));
  return gab_get_f64(in, &pump.force);
}

/* ---- 5. The flow, with a task behind those of its step, and out/pump.csv. */
static gab_status add(gab_app_run *run)
{
  static const gab_local_force push = {.name = "pump", .row = push_row};
  const gab_entity controller = {
      .name = "pump", .kind = GAB_ENTITY_REPLICATED, .pack = pack, .unpack = unpack};
  GAB_TRY(gab_solver_flow.add(run));
  GAB_TRY(gab_lbm_set_local_force(gab_app_run_flow(run), &push));
  GAB_TRY(gab_timeloop_add_entity(run->loop, &controller));
  return gab_timeloop_add_task(run->loop, "pump", correct, run);
}

static gab_status row_of_table(void *user, gab_step step, double time, double *row)
{
  const gab_app_run *run = user;
  const double dx = gab_forest_dx(run->forest, 0), dt = run->parameters->dt;
  (void)step, (void)time;
  GAB_TRY(mean_velocity(run, &row[0]));
  row[0] *= dx / dt;
  row[1] = pump.force * dx / (dt * dt);
  return GAB_OK;
}

static gab_status add_writers(gab_app_run *run)
{
  static const char *const columns[] = {"velocity", "acceleration"};
  const gab_schedule schedule = {.every = gab_config_int(run->parameters->config, "pump.every")};
  GAB_TRY(gab_solver_flow.add_writers(run));
  return gab_output_add_series(run->output, schedule, "pump", columns, 2, row_of_table, run, NULL);
}

int main(int argc, char **argv)
{
  static const char *own[64] = {"pump"}; /* sections that other solvers refuse */
  gab_solver flow = gab_solver_flow;
  const gab_solver *const all[] = {&flow};
  for (int i = 0; i < 62 && flow.own[i]; i++) own[i + 1] = flow.own[i];
  flow.own = own;
  flow.declare = declare;
  flow.add = add;
  flow.add_writers = add_writers;
  if (gab_scheme_register(&diagonal) != GAB_OK) { /* before anything is read: parameter files name it */
    fprintf(stderr, "error: %s\n", gab_error_message());
    return 1;
  }
  return gab_app_main(argc, argv, all, 1);
}

/* SPDX-License-Identifier: Apache-2.0 */
/* gabion-test: timeout=1200 labels=long */
/* Lamellae of three solids in the moving frame have the undercooling of Jackson and Hunt's theory, extended to three
 * phases and to diffusion ahead of a moving front. That theory has a plane front. On the curved front of these
 * lamellae (30 degrees at the junctions) the same sharp interfaces need 2 to 5 % less here. This explains most of the
 * deviation of the phase field from the theory; the rest decreases with epsilon. Called with the word `table' it
 * prints results and expected values. */
#include "curved_front.h"
#include "phase_common.h"
#include "table.h"

static gab_world *world;
static const double gradient = 4e-4;
static const double height = 252, start = 90, keep = 108; /* lengths */

typedef struct front_case {
  double lambda, v, epsilon, dx, dt;
  double plane_tolerance, curved_tolerance;
} front_case;

static void lamellae_state(void *user, const int64_t cell[3], double *phi, double *mu)
{
  (void)mu;
  const front_case *it = user;
  phi[((double)cell[1] + 0.5) * it->dx < start ? (int)(3 * ((double)cell[0] + 0.5) * it->dx / it->lambda)
                                               : 3] = 1;
}

static double height_of(phase_run *it)
{
  gab_phasefield_integrals sums = phase_sums(it);
  const double rows = (sums.cells - sums.fraction[3]) / it->cells[0];
  return (rows + (double)gab_phasefield_get_shift(it->model)) * it->dx;
}

static void run_on(phase_run *it, double time)
{
  const int64_t row = (int64_t)(keep / it->dx);
  const double dt = gab_phasefield_get_options(it->model)->dt;
  for (double done = 0; done < time; done += 50 * dt) {
    int64_t front;
    REQUIRE_OK(gab_phasefield_front(it->model, &front));
    if (front > row) REQUIRE_OK(gab_phasefield_shift(it->model, front - row));
    phase_steps(it, 50);
  }
}

static phase_case lamellae_case(front_case *it)
{
  const int32_t width = (int32_t)lround(it->lambda / it->dx), rows = (int32_t)lround(height / it->dx);
  phase_case given = {.dimension = 2, .cells = {width, rows, 1}, .block = {width, rows, 1}, .dx = it->dx};
  given.options.thermo = symmetric_eutectic();
  given.options.epsilon = it->epsilon;
  given.options.interpolation = GAB_INTERPOLATION_CUBIC;
  equal_interfaces(&given.options, 1, 0.3713 * it->epsilon / 8);
  given.options.triple = 10;
  given.options.dt = it->dt;
  given.options.temperature = (gab_phasefield_temperature){
      1 - plane_front_undercooling(it->lambda, it->v) - gradient * start, gradient, it->v};
  given.options.mu[0] = given.options.mu[1] = 1;
  all_sides(&given.options, GAB_PHASEFIELD_CLOSED);
  given.options.sides[0].kind = given.options.sides[1].kind = GAB_PHASEFIELD_PERIODIC;
  given.options.sides[3] = (gab_phasefield_side){.kind = GAB_PHASEFIELD_RESERVOIR, .mu = {1, 1}};
  given.options.initial = lamellae_state;
  given.options.initial_user = it;
  return given;
}

static void undercooling(front_case lamellae)
{
  phase_case given = lamellae_case(&lamellae);
  phase_run it = phase_open(world, &given);
  run_on(&it, 14400);
  const double before = height_of(&it), then = (double)gab_phasefield_get_step(it.model) * lamellae.dt;
  run_on(&it, 1800);
  const double now = (double)gab_phasefield_get_step(it.model) * lamellae.dt, reached = height_of(&it);
  const double speed = (reached - before) / (now - then);
  const gab_phasefield_temperature *t = &given.options.temperature;
  const double found = 1 - (t->value + gradient * (reached - lamellae.v * now));
  char what[100];
  snprintf(what, sizeof what, "lamellae %g, v %g, epsilon %g: undercooling / Jackson-Hunt", lamellae.lambda,
           lamellae.v, lamellae.epsilon);
  table_row(what, found / plane_front_undercooling(lamellae.lambda, speed), 1, lamellae.plane_tolerance);
  table_row("  undercooling / sharp interfaces on the curved front",
            found / curved_front_undercooling(lamellae.lambda, speed), 1, lamellae.curved_tolerance);
  table_row("  speed of the front / speed of the isotherms", speed / lamellae.v, 1, 0.03);
  phase_close(&it);
}

int main(int argc, char **argv)
{
  if (gab_world_create(NULL, NULL, &world) != GAB_OK) return 1;
  table_begin(argc, argv);
  undercooling((front_case){63, 0.008, 8, 3, 0.5, 0.05, 0.03});
  undercooling((front_case){81, 0.008, 8, 3, 0.5, 0.05, 0.03});
  undercooling((front_case){108, 0.008, 8, 3, 0.5, 0.05, 0.03});
  /* At twice the speed the formula itself is off by 4 %: it takes a thinner interface to be within 5 of it.
   */
  undercooling((front_case){81, 0.016, 8, 3, 0.5, 0.065, 0.03});
  undercooling((front_case){81, 0.016, 4, 1.5, 0.065, 0.05, 0.015});
  gab_world_destroy(&world);
  return table_failures > 0;
}

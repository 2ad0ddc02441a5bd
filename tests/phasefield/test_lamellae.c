/* gabion-test: timeout=600 labels=long */
/* Lamellae of three solids in the moving frame have the undercooling of Jackson and Hunt's theory, extended
 * to three phases and, for their diffusion ahead of a moving front, with q_n = v/2D + sqrt((v/2D)^2 + k_n^2)
 * for k_n. Called with the word `table' it prints what came out and what is expected. */
#include "phase_common.h"
#include "table.h"

static gab_world *world;
static const double pi = 3.14159265358979323846, width_of_cell = 3, gradient = 4e-4;

enum { HEIGHT = 84, START = 30, KEEP = 36 };

static void lamellae_state(void *user, const int64_t cell[3], double *phi, double *mu)
{
  (void)mu;
  const int32_t *width = user;
  phi[cell[1] < START ? 3 * cell[0] / *width : 3] = 1;
}

/* At small Peclet number, here v lambda / 2D = .25 ... .43: at twice the speed the undercooling is 5 to 6 %
 * below. */
/* K1 = .021181 / D times the mean of k_n / q_n, weighted as the modes are; K2 = 2.40914 gamma. */
static double theory(double lambda, double v)
{
  double weights = 0, sum = 0;
  for (int n = 1; n <= 50; ++n) {
    const double k = 2 * pi * n / lambda, q = 0.5 * v + sqrt(0.25 * v * v + k * k);
    const double weight = sin(pi * n / 3) * sin(pi * n / 3) / (n * (double)n * n);
    weights += weight;
    sum += weight * k / q;
  }
  return .021181 * sum / weights * lambda * v + 2.40914 / lambda;
}

static double height_of(phase_run *it)
{
  gab_phasefield_integrals sums = phase_sums(it);
  const double rows = (sums.cells - sums.fraction[3]) / it->cells[0];
  return (rows + (double)gab_phasefield_get_shift(it->model)) * width_of_cell;
}

static void run_on(phase_run *it, int64_t steps)
{
  for (int64_t done = 0; done < steps; done += 50) {
    int64_t front;
    REQUIRE_OK(gab_phasefield_front(it->model, &front));
    if (front > KEEP) REQUIRE_OK(gab_phasefield_shift(it->model, front - KEEP));
    phase_steps(it, 50);
  }
}

static void undercooling(int32_t width, double v)
{
  const double expected = theory(width * width_of_cell, v);
  phase_case given = {
      .dimension = 2, .cells = {width, HEIGHT, 1}, .block = {width, HEIGHT, 1}, .dx = width_of_cell};
  given.options.thermo = symmetric_eutectic();
  given.options.epsilon = 8;
  given.options.interpolation = GAB_INTERPOLATION_CUBIC;
  equal_interfaces(&given.options, 1, 0.3713);
  given.options.triple = 10;
  given.options.dt = 0.6;
  given.options.temperature =
      (gab_phasefield_temperature){1 - expected - gradient * START * width_of_cell, gradient, v};
  given.options.mu[0] = given.options.mu[1] = 1;
  all_sides(&given.options, GAB_PHASEFIELD_CLOSED);
  given.options.sides[0].kind = given.options.sides[1].kind = GAB_PHASEFIELD_PERIODIC;
  given.options.sides[3] = (gab_phasefield_side){.kind = GAB_PHASEFIELD_RESERVOIR, .mu = {1, 1}};
  given.options.initial = lamellae_state;
  given.options.initial_user = &width;
  phase_run it = phase_open(world, &given);
  run_on(&it, 24000);
  const double before = height_of(&it);
  run_on(&it, 3000);
  const double height = height_of(&it), speed = (height - before) / (3000 * given.options.dt);
  const gab_phasefield_temperature *t = &given.options.temperature;
  const double found =
      1 -
      (t->value + gradient * (height - v * ((double)gab_phasefield_get_step(it.model) * given.options.dt)));
  char what[100];
  snprintf(what, sizeof what, "Jackson-Hunt, lambda %g, v %g: undercooling / theory", width * width_of_cell,
           v);
  table_row(what, found / theory(width * width_of_cell, speed), 1, 0.05);
  table_row("  speed of the front / speed of the isotherms", speed / v, 1, 0.03);
  phase_close(&it);
}

int main(int argc, char **argv)
{
  if (gab_world_create(NULL, NULL, &world) != GAB_OK) return 1;
  table_begin(argc, argv);
  undercooling(21, 0.008);
  undercooling(27, 0.008);
  undercooling(36, 0.008);
  gab_world_destroy(&world);
  return table_failures > 0;
}

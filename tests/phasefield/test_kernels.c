/* SPDX-License-Identifier: Apache-2.0 */
/* gabion-test: timeout=100 labels=quick */
/* The fast kernels compute what the readable one does: one step from thousands of random cells of every kind
 * (bulk, faces, edges and corners of the simplex, fractions next to nothing), every term scaled by the
 * largest of its sum, and whole runs. */
#include "phase_common.h"

#include <setjmp.h>
#include <stdarg.h>

#include <cmocka.h>

static gab_world *world;

/* Patches of cells with one, two, three or all phases at random fractions; some fractions are tiny. */
static void random_state(void *user, const int64_t cell[3], double *phi, double *mu)
{
  const phase_case *given = user;
  const int n = given->options.thermo.phases;
  const int64_t patch[3] = {cell[0] / 5, cell[1] / 4, cell[2] / 3};
  const int kind = (int)(noise(1, patch) * 5), first = (int)(noise(2, patch) * n);
  for (int k = 0; k <= kind && k < n; k++) {
    const double size = noise(30 + (uint64_t)k, cell);
    phi[(first + k) % n] = size < 0.1 ? 1e-9 * size : size < 0.2 ? 0 : size;
  }
  if (kind == 0) phi[first] = 1;
  double sum = 0;
  for (int a = 0; a < n; a++) sum += phi[a];
  for (int a = 0; a < n; a++) phi[a] = sum > 0 ? phi[a] / sum : a == first;
  for (int i = 0; i < given->options.thermo.independents; i++) mu[i] += 0.1 * noise(20 + (uint64_t)i, cell);
}

static phase_case random_case(int phases, int dimension)
{
  phase_case given = {.dimension = dimension, .dx = 3};
  const int32_t cells[3] = {43, 24, dimension == 3 ? 15 : 1};
  memcpy(given.cells, cells, sizeof cells);
  memcpy(given.block, cells, sizeof cells);
  given.options.thermo = phases == 4 ? symmetric_eutectic() : simple_system(phases, 0.4, 0.02);
  given.options.epsilon = 8;
  for (int a = 0; a < phases; a++)
    for (int b = 0; b < a; b++) {
      given.options.gamma[a][b] = given.options.gamma[b][a] = 1 + 0.1 * (a + 2 * b);
      given.options.tau[a][b] = given.options.tau[b][a] = 0.7 + 0.2 * (2 * a + b);
    }
  given.options.triple = 9;
  given.options.dt = 0.1;
  given.options.temperature = (gab_phasefield_temperature){0.97, 1e-4, 0.02};
  for (int i = 0; i < 2; i++) given.options.mu[i] = phases == 4 ? 0.95 : 0;
  all_sides(&given.options, GAB_PHASEFIELD_CLOSED);
  given.options.sides[0].kind = given.options.sides[1].kind = GAB_PHASEFIELD_PERIODIC;
  given.options.sides[2 * dimension - 1] =
      (gab_phasefield_side){.kind = GAB_PHASEFIELD_RESERVOIR, .mu = {0.9, 0.95}};
  given.options.initial = random_state;
  return given;
}

typedef struct largest {
  double phi, c, mu;
} largest;

/* The largest difference between two runs of the same case. */
static largest compare(const phase_run *a, const phase_run *b)
{
  largest most = {0, 0, 0};
  const gab_phasefield_view one = gab_phasefield_look(a->model, gab_forest_block(a->forest, 0));
  const gab_phasefield_view other = gab_phasefield_look(b->model, gab_forest_block(b->forest, 0));
  const gab_field *left[] = {one.phi, one.c, one.mu}, *right[] = {other.phi, other.c, other.mu};
  double *into[] = {&most.phi, &most.c, &most.mu};
  const int32_t *cells = one.phi->shape.cells;
  for (int f = 0; f < 3; f++)
    for (int k = 0; k < left[f]->shape.components; k++)
      for (int32_t z = 0; z < cells[2]; z++)
        for (int32_t y = 0; y < cells[1]; y++)
          for (int32_t x = 0; x < cells[0]; x++) {
            double gap = fabs(gab_field_get(left[f], x, y, z, k) - gab_field_get(right[f], x, y, z, k));
            if (!(gap <= *into[f])) *into[f] = gap;
          }
  return most;
}

/* Every pair in its own way; the last one not at all. */
static void make_anisotropic(gab_phasefield_options *options, int phases)
{
  for (int a = 0; a < phases; a++)
    for (int b = 0; b < a; b++) {
      const double delta = a + b == 1 ? 0 : 0.012 * (a + b) * (b % 2 ? -1 : 1);
      options->anisotropy[a][b] = options->anisotropy[b][a] = delta;
      options->kinetic_anisotropy[a][b] = options->kinetic_anisotropy[b][a] = -3 * delta;
    }
}

/* In a step phi is a sum of terms of size 1, c of at most c + dt/dx^2 D chi (difference of mu) and the
 * current that a jump of phi by 1 can make, J dt/dx <= pi/8 epsilon/dx |c_l - c_a|. */
static void compare_kernels(int phases, int dimension, int steps, double tolerance)
{
  for (int variant = 0; variant < 6; variant++) {
    phase_case given = random_case(phases, dimension);
    given.options.initial_user = &given;
    given.options.interpolation = variant % 2 ? GAB_INTERPOLATION_CUBIC : GAB_INTERPOLATION_MOELANS;
    given.options.no_antitrapping = variant == 2;
    if (variant == 3) { /* phases of different curvature, all of them with diffusion, xi that moves with T */
      for (int a = 0; a < phases; a++) {
        gab_phase_energy *phase = &given.options.thermo.phase[a];
        for (int i = 0; i < 2; i++)
          for (int j = 0; j < 2; j++) phase->curvature[i][j] *= 1 + 0.2 * a;
        phase->diffusivity = 0.1 + 0.2 * a;
        phase->linear[0].slope = 0.1 * a;
      }
    }
    if (variant >= 4) make_anisotropic(&given.options, phases);
    given.options.kernel = "reference";
    phase_run slow = phase_open(world, &given);
    given.options.kernel = "fast";
    phase_run fast = phase_open(world, &given);
    assert_string_equal(gab_phasefield_kernel_name(slow.model), "reference");
    assert_true(strncmp(gab_phasefield_kernel_name(fast.model), "fast", 4) == 0);
    phase_steps(&slow, steps);
    phase_steps(&fast, steps);
    REQUIRE_OK(gab_phasefield_check_finite(fast.model));
    largest most = compare(&slow, &fast);
    if (!(most.phi <= tolerance && most.c <= tolerance && most.mu <= 10 * tolerance))
      fail_msg("%d phases, %d dimensions, variant %d, %d steps: phi differs by %g, c by %g, mu by %g", phases,
               dimension, variant, steps, most.phi, most.c, most.mu);
    phase_close(&fast);
    phase_close(&slow);
  }
}

static void one_step_of_random_cells_is_that_of_the_reference(void **state)
{
  (void)state;
  for (int phases = 2; phases <= 4; phases++)
    for (int dimension = 2; dimension <= 3; dimension++) compare_kernels(phases, dimension, 1, 1e-13);
}

static void whole_runs_are_those_of_the_reference(void **state)
{
  (void)state;
  for (int phases = 2; phases <= 4; phases++) compare_kernels(phases, 2, 60, 1e-10);
}

static void kernels_that_are_not_there_are_named(void **state)
{
  (void)state;
  phase_case given = random_case(3, 2);
  gab_forest_options options = {.grid = {.dimension = 2, .roots = {1, 1, 1}},
                                .cells = {8, 8, 1},
                                .periodic = {true, false, false},
                                .dx = 3};
  gab_forest *forest;
  gab_phasefield *made;
  REQUIRE_OK(gab_forest_create(world, &options, &forest));
  given.options.potential = GAB_POTENTIAL_WELL;
  given.options.kernel = "fast";
  assert_int_equal(gab_phasefield_create(forest, &given.options, &made), GAB_ERR_INPUT);
  given.options.kernel = "quick";
  assert_int_equal(gab_phasefield_create(forest, &given.options, &made), GAB_ERR_INPUT);
  assert_non_null(strstr(gab_error_message(), "`quick'"));
  gab_forest_destroy(&forest);
}

int main(void)
{
  if (gab_world_create(NULL, NULL, &world) != GAB_OK) return 1;
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(one_step_of_random_cells_is_that_of_the_reference),
      cmocka_unit_test(whole_runs_are_those_of_the_reference),
      cmocka_unit_test(kernels_that_are_not_there_are_named),
  };
  int failed = cmocka_run_group_tests(tests, NULL, NULL);
  gab_world_destroy(&world);
  return failed;
}

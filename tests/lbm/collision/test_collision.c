/* SPDX-License-Identifier: Apache-2.0 */
/* gabion-test: labels=quick timeout=30 */
/* Collision models are a table: each model is found and has the members that the library reads, and a program can add
 * its own. */
#include "lbm/setup/lbm_config.h"
#include "tests/lbm/lbm_common.h"

#include <setjmp.h>
#include <stdarg.h>

#include <cmocka.h>

static gab_world *world;

static void every_model_says_what_it_is(void **state)
{
  (void)state;
  assert_ptr_equal(gab_collision_at(0), &gab_collision_trt);
  assert_null(gab_collision_at(-1));
  for (int i = 0; gab_collision_at(i); i++) {
    const gab_collision *model = gab_collision_at(i);
    assert_ptr_equal(gab_collision_by_name(model->name), model);
    assert_true(model->title && model->doc && model->kernels && model->magic && model->revision > 0);
    if (model->has_magic) assert_true(model->calmer && model->calmer[0] && model->wave_reynolds > 0);
  }
  assert_null(gab_collision_by_name("entropic"));
  assert_non_null(strstr(gab_error_message(), "trt, srt, mrt"));
}

/* ------------------------------------------------------------------------------------------ user-defined model */

/* MRT with one rate for all moments other than the stress. */
static void equal_rates(gab_lbm_options *options) { options->mrt = (gab_mrt_rates){1.3, 1.3, 1.3, 1.3, 1.3}; }

/* Arguments of the last call of `check`. */
static struct {
  const gab_config *config;
  double dt, energy;
  bool refuses;
} seen;

static gab_status check_own(const gab_config *config, const gab_units *units, const gab_lbm_options *options)
{
  seen.config = config;
  seen.dt = units ? units->dt : 0;
  seen.energy = options->mrt.energy;
  return seen.refuses ? gab_config_fail(config, "lbm.collision", "refused at dt = %g", seen.dt) : GAB_OK;
}

static gab_collision own;
static void make_own(void)
{
  own = gab_collision_mrt;
  own.name = "two_groups";
  own.title = "TwoGroups";
  own.doc = "stress and all else";
  own.keys = own.keys_of_space = NULL;
  own.read = NULL;
  own.fill = equal_rates;
  own.check = check_own;
}

/* The function of a cell: the state becomes equilibrium in one step, with half of the force before and half after. */
static void rest(const gab_lattice *lattice, const gab_collision_rates *rates, bool forced, double *f)
{
  double drho = 0, u[3] = {0, 0, 0};
  (void)forced;
  for (int q = 0; q < lattice->q; q++) {
    drho += f[q];
    for (int axis = 0; axis < 3; axis++) u[axis] += lattice->c[q][axis] * f[q];
  }
  for (int axis = 0; axis < 3; axis++) u[axis] = (u[axis] + rates->force[axis]) / (1 + drho);
  for (int q = 0; q < lattice->q; q++) f[q] = gab_lattice_equilibrium(lattice, q, drho, u);
}

static void unsound_models_are_refused(void **state)
{
  (void)state;
  gab_collision bad = own;
  bad.kernels = NULL;
  assert_int_equal(gab_collision_register(&bad), GAB_ERR_ARGUMENT);
  bad = own;
  bad.name = "a|b";
  assert_int_equal(gab_collision_register(&bad), GAB_ERR_ARGUMENT);
  bad = own;
  bad.name = "mrt";
  assert_int_equal(gab_collision_register(&bad), GAB_ERR_ARGUMENT);
  bad = own;
  bad.title = "MRT"; /* states of the two models would be confused */
  assert_int_equal(gab_collision_register(&bad), GAB_ERR_ARGUMENT);
  bad = own;
  bad.cell = rest; /* the kernels of MRT would not call it */
  assert_int_equal(gab_collision_register(&bad), GAB_ERR_ARGUMENT);
  bad = own;
  bad.kernels = &gab_collision_kernels_of_cell;
  assert_int_equal(gab_collision_register(&bad), GAB_ERR_ARGUMENT);
  assert_null(gab_collision_by_name("two_groups"));
}

static uint64_t hash_of(const gab_lbm_options *options)
{
  flow_case given = {.dimension = 2, .cells = {16, 16, 1}, .block = {8, 16, 1}, .options = *options};
  given.options.initial = noisy_plane;
  given.options.omega = 1.6;
  flow it = flow_open(world, &given);
  flow_run(&it, 20);
  const uint64_t hash = flow_hash(&it);
  flow_close(&it);
  return hash;
}

static void a_model_of_the_user_is_chosen_by_name(void **state)
{
  (void)state;
  assert_int_equal(gab_collision_register(&own), GAB_OK);
  assert_int_equal(gab_collision_register(&own), GAB_ERR_ARGUMENT);
  gab_config *config;
  const char text[] = "lbm: {collision: two_groups}\nfluid: {omega: 1.6}\nunits: {dt: 0.25}\n";
  gab_domain domain = {.dimension = 2, .cells = {16, 16, 1}, .dx = 1, .periodic = {true, true, true}};
  gab_lbm_setup setup = {0};
  REQUIRE_OK(gab_config_create(&config));
  REQUIRE_OK(gab_lbm_declare(config));
  REQUIRE_OK(gab_config_load_text(config, "test.yaml", text, strlen(text)));
  REQUIRE_OK(gab_config_check(config));
  REQUIRE_OK(gab_lbm_setup_from_config(config, &domain, NULL, &setup));
  assert_ptr_equal(setup.options.collision, &own);
  assert_true(seen.config == config && seen.dt == 0.25 && seen.energy == 1.3);
  assert_true(setup.options.mrt.energy == 0); /* defaults are filled in for the check only */
  const gab_lbm_options same = {.collision = &gab_collision_mrt, .mrt = {1.3, 1.3, 1.3, 1.3, 1.3}},
                        other = {.collision = &gab_collision_mrt};
  const uint64_t hash = hash_of(&(gab_lbm_options){.collision = setup.options.collision});
  assert_true(hash == hash_of(&same) && hash != hash_of(&other));
  assert_true(!seen.config && seen.dt == 0 && seen.energy == 1.3); /* of gab_lbm_create() */
  gab_lbm_setup_release(&setup);
  seen.refuses = true;
  assert_int_equal(gab_lbm_setup_from_config(config, &domain, NULL, &setup), GAB_ERR_INPUT);
  assert_string_equal(gab_error_message(), "test.yaml:1:18: lbm.collision: refused at dt = 0.25");
  assert_int_equal(check_own(NULL, NULL, &same), GAB_ERR_INPUT);
  assert_string_equal(gab_error_message(), "lbm.collision: refused at dt = 0");
  seen.refuses = false;
  gab_config_destroy(&config);
}

static double of_omega(const gab_lbm_options *options, double even)
{
  (void)options;
  return even * even;
}

typedef struct difference {
  double largest, fastest;
  double (*of)[4];
  int32_t cells[3];
  bool compares;
} difference;

static void note(void *user, const int64_t cell[3], bool fluid, double density, const double u[3])
{
  difference *to = user;
  const double now[4] = {density, u[0], u[1], u[2]};
  double *then = to->of[(cell[2] * to->cells[1] + cell[1]) * to->cells[0] + cell[0]];
  if (!fluid) return;
  for (int k = 0; k < 4; k++) {
    if (to->compares) to->largest = fmax(to->largest, fabs(now[k] - then[k]));
    else then[k] = now[k];
    if (k > 0) to->fastest = fmax(to->fastest, fabs(now[k]));
  }
}

static void run_and_note(const flow_case *given, difference *to)
{
  flow it = flow_open(world, given);
  flow_run(&it, 60);
  flow_visit(&it, note, to);
  flow_close(&it);
}

/* On all lattices, in 2D and 3D, with a force, walls and a body, in double and in float: with omega = 1 SRT equals
 * `rest' except for terms u F, which are 1e-8 for this force. All available kernels give the same bits; there is none
 * named vector. */
static void a_function_of_one_cell_is_called_for_all(void **state)
{
  static double values[16 * 12 * 12][4];
  const gab_collision cells = {.name = "rest",
                               .title = "Rest",
                               .doc = "all at once",
                               .revision = 1,
                               .kernels = &gab_collision_kernels_of_cell,
                               .cell = rest,
                               .magic = of_omega};
  (void)state;
  for (int i = 0; gab_lattice_at(i); i++)
    for (int precision = 0; precision < 2; precision++) {
      const gab_lattice *lattice = gab_lattice_at(i);
      const int32_t deep = lattice->dimension == 3 ? 12 : 1;
      const gab_body body = {.shape = GAB_SHAPE_SPHERE, .centre = {8, 6, deep / 2.}, .radius = 3.3};
      flow_case given = {.dimension = lattice->dimension,
                         .cells = {16, 12, deep},
                         .block = {8, 6, deep},
                         .bodies = &body,
                         .body_count = 1};
      given.options = (gab_lbm_options){.lattice = lattice,
                                        .precision = precision ? GAB_PRECISION_FLOAT : GAB_PRECISION_DOUBLE,
                                        .mixed = precision,
                                        .collision = &gab_collision_srt,
                                        .omega = 1,
                                        .force = {1e-6, 2e-6, 0}};
      given.options.sides[GAB_SIDE_Y_MIN].kind = given.options.sides[GAB_SIDE_Y_MAX].kind = GAB_SIDE_WALL;
      difference to = {.of = values, .cells = {16, 12, deep}};
      run_and_note(&given, &to);
      assert_true(to.fastest > 1e-5);
      to.compares = true;
      given.options.collision = &cells;
      run_and_note(&given, &to);
      assert_true(to.largest < (precision ? 1e-6 : 1e-9));
      uint64_t hash = 0;
      static const char *const kernels[] = {"in_place", "sparse", "reference"};
      for (int k = 0; k < 3; k++) {
        given.options.kernel = kernels[k];
        flow it = flow_open(world, &given);
        flow_run(&it, 25);
        assert_true(strncmp(gab_lbm_kernel_name(it.lbm), kernels[k], strlen(kernels[k])) == 0);
        if (k > 0) assert_true(flow_hash(&it) == hash);
        hash = flow_hash(&it);
        flow_close(&it);
      }
      given.options.kernel = "vector";
      assert_int_equal(gab_lbm_fields(&given.options), 0);
      assert_non_null(strstr(gab_error_message(), "cell by cell"));
    }
}

static int open_world(void **state)
{
  (void)state;
  make_own();
  return gab_world_create(NULL, NULL, &world) == GAB_OK ? 0 : 1;
}

static int close_world(void **state)
{
  (void)state;
  gab_world_destroy(&world);
  return 0;
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(every_model_says_what_it_is),
      cmocka_unit_test(unsound_models_are_refused),
      cmocka_unit_test(a_model_of_the_user_is_chosen_by_name),
      cmocka_unit_test(a_function_of_one_cell_is_called_for_all),
  };
  return cmocka_run_group_tests(tests, open_world, close_world);
}

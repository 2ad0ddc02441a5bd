/* gabion-test: labels=quick timeout=30 */
/* Collision models are a table: each can be found, has what others ask it for, and a program adds its own. */
#include "lbm/setup/lbm_config.h"
#include "lbm_common.h"

#include <setjmp.h>
#include <stdarg.h>

#include <cmocka.h>

static gab_world *world;

static void every_model_says_what_it_is(void **state)
{
  (void)state;
  assert_ptr_equal(gab_collision_at(0), &gab_collision_trt);
  assert_null(gab_collision_at(-1));
  for (int i = 0; gab_collision_at(i); ++i) {
    const gab_collision *model = gab_collision_at(i);
    assert_ptr_equal(gab_collision_by_name(model->name), model);
    assert_true(model->title && model->doc && model->kernels && model->magic && model->revision > 0);
    if (model->has_magic) assert_true(model->calmer && model->wave_reynolds > 0);
  }
  assert_null(gab_collision_by_name("entropic"));
  assert_non_null(strstr(gab_error_message(), "trt, srt, mrt"));
}

/* ------------------------------------------------------------------------------------------ a user's own */

/* MRT with one rate for all that is not stress. */
static void equal_rates(gab_lbm_options *options) { options->mrt = (gab_mrt_rates){1.3, 1.3, 1.3, 1.3, 1.3}; }

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
  bad.title = "MRT"; /* states of one would be taken for those of the other */
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
  const char text[] = "lbm: {collision: two_groups}\nfluid: {omega: 1.6}\n";
  gab_domain domain = {.dimension = 2, .cells = {16, 16, 1}, .dx = 1, .periodic = {true, true, true}};
  gab_lbm_setup setup = {0};
  REQUIRE_OK(gab_config_create(&config));
  REQUIRE_OK(gab_lbm_declare(config));
  REQUIRE_OK(gab_config_load_text(config, "test.yaml", text, strlen(text)));
  REQUIRE_OK(gab_config_check(config));
  REQUIRE_OK(gab_lbm_setup_from_config(config, &domain, NULL, &setup));
  assert_ptr_equal(setup.options.collision, &own);
  const gab_lbm_options same = {.collision = &gab_collision_mrt, .mrt = {1.3, 1.3, 1.3, 1.3, 1.3}},
                        other = {.collision = &gab_collision_mrt};
  const uint64_t hash = hash_of(&(gab_lbm_options){.collision = setup.options.collision});
  assert_true(hash == hash_of(&same) && hash != hash_of(&other));
  gab_lbm_setup_release(&setup);
  gab_config_destroy(&config);
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
  };
  return cmocka_run_group_tests(tests, open_world, close_world);
}

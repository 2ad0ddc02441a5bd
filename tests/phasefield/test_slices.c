/* SPDX-License-Identifier: Apache-2.0 */
/* gabion-test: timeout=60 labels=quick */
/* Stored temperatures of rows equal computed ones: in order, after a move of the window, after a rollback, and
 * forward again. (All decompositions have the same table, so they would be wrong together.) */
#include "phase_common.h"
#include "phasefield/phasefield_impl.h"

#include <setjmp.h>
#include <stdarg.h>

#include <cmocka.h>

enum { ROWS = 24 };

static gab_world *world;

/* Solid below melt. */
static void layered_state(void *user, const int64_t cell[3], double *phi, double *mu)
{
  const int axis = *(const int *)user - 1;
  (void)mu;
  phi[cell[axis] < ROWS / 2 ? 0 : 3] = 1;
}

static phase_run open_run(int dimension)
{
  phase_case given = {.dimension = dimension, .cells = {8, 8, 8}, .block = {8, 4, 4}, .dx = 3};
  given.cells[dimension - 1] = ROWS;
  if (dimension == 2) given.cells[2] = given.block[2] = 1;
  given.options.thermo = symmetric_eutectic();
  given.options.epsilon = 8;
  equal_interfaces(&given.options, 1, 0.3713);
  given.options.dt = 0.18;
  given.options.temperature = (gab_phasefield_temperature){0.96, 0.06 / 800, 0.016};
  given.options.initial = layered_state;
  given.options.initial_user = &dimension;
  all_sides(&given.options, GAB_PHASEFIELD_CLOSED);
  return phase_open(world, &given);
}

/* Made here, of the temperature. */
static gab_phasefield_slice slice_of(const gab_phasefield_model *model, int64_t row, gab_step step)
{
  gab_phasefield_slice made;
  const gab_phasefield_temperature *t = &model->options.temperature;
  const double x = model->origin + ((double)(row + model->shift) + 0.5) * model->dx;
  const double temperature = t->value + t->gradient * (x - t->velocity * ((double)step * model->options.dt));
  for (int a = 0; a < model->phases; a++) {
    const gab_phase_state state = gab_thermo_state(&model->options.thermo, a, temperature);
    made.base[a] = state.constant;
    for (int i = 0; i < model->independents; i++) {
      made.offset[a][i] = state.offset[i];
      made.base[a] += 0.5 * state.xi[i] * state.offset[i];
    }
  }
  return made;
}

static void check_rows(const phase_run *it)
{
  const gab_phasefield_model *model = &it->model->model;
  assert_true(model->slices->count > 0); /* there is a table */
  for (gab_step step = model->step > 0 ? model->step - 1 : 0; step <= model->step + 1; step++)
    for (int64_t row = -2; row < ROWS + 2; row++) {
      const gab_phasefield_slice got = gab_phasefield_slice_at(model, row, step),
                                 wanted = slice_of(model, row, step);
      for (int a = 0; a < model->phases; a++) {
        assert_true(got.base[a] == wanted.base[a]);
        for (int i = 0; i < model->independents; i++) assert_true(got.offset[a][i] == wanted.offset[a][i]);
      }
    }
}

static void step_and_check(phase_run *it, int count)
{
  for (int i = 0; i < count; i++) {
    phase_steps(it, 1);
    check_rows(it);
  }
}

static void go_to(phase_run *it, const gab_buffer *place)
{
  gab_reader where = gab_reader_of_buffer(place);
  REQUIRE_OK(gab_phasefield_unpack(it->model, &where));
  check_rows(it);
}

static void rows_have_their_temperatures(void **state)
{
  (void)state;
  for (int dimension = 2; dimension <= 3; dimension++) {
    phase_run it = open_run(dimension);
    gab_buffer early = {0}, late = {0};
    step_and_check(&it, 3);
    REQUIRE_OK(gab_phasefield_pack(it.model, &early));
    step_and_check(&it, 2);
    REQUIRE_OK(gab_phasefield_shift(it.model, 1));
    check_rows(&it);
    step_and_check(&it, 3);
    REQUIRE_OK(gab_phasefield_pack(it.model, &late));
    go_to(&it, &early);
    step_and_check(&it, 2);
    for (int i = 0; i < 2; i++) { /* forward, then back where the window has not moved */
      go_to(&it, &late);
      step_and_check(&it, 2);
    }
    gab_buffer_release(&early);
    gab_buffer_release(&late);
    phase_close(&it);
  }
}

int main(void)
{
  if (gab_world_create(NULL, NULL, &world) != GAB_OK) return 1;
  const struct CMUnitTest tests[] = {cmocka_unit_test(rows_have_their_temperatures)};
  int failed = cmocka_run_group_tests(tests, NULL, NULL);
  gab_world_destroy(&world);
  return failed;
}

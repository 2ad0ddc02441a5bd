/* SPDX-License-Identifier: Apache-2.0 */
/* gabion-test: timeout=120 labels=quick threads=2 */
/* Propagation of delays: the numbers of Gamell et al. 2015, section 4, and properties of the recurrence. */
#include "core/base/hash.h"
#include "core/memory/memory.h"
#include "resilience/failure_model/delays.h"

#include <setjmp.h>
#include <stdarg.h>
#include <cmocka.h>
#include <math.h>
#include <omp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---------------------------------------------------------------- random cases and an independent computation */

enum { MOST_PROCESSES = 300, MOST_FAILURES = 60 };

static uint64_t drawn;
static int64_t below(int64_t bound) { return (int64_t)(gab_hash_counter(7, 0, drawn++) % (uint64_t)bound); }

/* A box of up to MOST_PROCESSES, open or periodic, with any of the stencils. */
static gab_neighbourhood random_box(void)
{
  static const int stencils[3][3] = {{2, 2, 2}, {4, 8, 4}, {6, 18, 26}};
  gab_neighbourhood box = {.dimension = (int)below(3) + 1, .extent = {1, 1, 1}};
  const int32_t most[3] = {60, 14, 6};
  for (int axis = 0; axis < box.dimension; axis++) {
    box.extent[axis] = (int32_t)below(most[box.dimension - 1]) + 1;
    box.periodic[axis] = below(2);
  }
  box.neighbours = stencils[box.dimension - 1][below(3)];
  return box;
}

static int32_t away(const gab_neighbourhood *box, int axis, int32_t a, int32_t b)
{
  int32_t d = abs(a - b);
  return box->periodic[axis] && box->extent[axis] - d < d ? box->extent[axis] - d : d;
}

/* Hops between two processes in closed form: as many axes at once as a stencil has. */
static int32_t hops(const gab_neighbourhood *box, int32_t a, int32_t b)
{
  int32_t sum = 0, largest = 0;
  for (int axis = 0; axis < box->dimension; axis++) {
    const int32_t d = away(box, axis, a % box->extent[axis], b % box->extent[axis]);
    a /= box->extent[axis];
    b /= box->extent[axis];
    sum += d;
    if (d > largest) largest = d;
  }
  const int at_once = box->neighbours == 8 || box->neighbours == 18 ? 2 : box->neighbours == 26 ? 3 : 1;
  const int32_t least = (sum + at_once - 1) / at_once;
  return least > largest ? least : largest;
}

static bool are_neighbours(const gab_neighbourhood *box, int32_t a, int32_t b)
{
  return hops(box, a, b) == 1;
}

static void random_failures(gab_step steps, int32_t processes, gab_failures *failures)
{
  for (int64_t k = below(MOST_FAILURES); k > 0; k--)
    assert_int_equal(gab_failures_add(failures, below(steps) + 1, (int32_t)below(processes)), GAB_OK);
  gab_failures_put_in_order(failures);
}

/* Number of exchanges in the steps after `from` up to `to`. */
static gab_step exchanges(gab_step from, gab_step to, int32_t depth)
{
  gab_step count = 0;
  for (gab_step step = from + 1; step <= to; step++) count += (step - 1) % depth == 0;
  return count;
}

static int longest_chain(const gab_neighbourhood *box, const gab_failures *failures, int32_t depth)
{
  int length[MOST_FAILURES] = {0}, longest = 0;
  for (size_t b = 0; b < failures->count; b++) {
    const gab_process_failure *later = &failures->at[b];
    length[b] = 1;
    for (size_t a = 0; a < b; a++) {
      const gab_process_failure *before = &failures->at[a];
      const bool knows = before->step < later->step && hops(box, before->process, later->process) <=
                                                           exchanges(before->step, later->step, depth);
      if (knows && length[a] + 1 > length[b]) length[b] = length[a] + 1;
    }
    if (length[b] > longest) longest = length[b];
  }
  return longest;
}

static void the_largest_overhead_is_the_longest_chain_of_failures(void **state)
{
  (void)state;
  int chains = 0;
  for (int k = 0; k < 3000; k++) {
    gab_failures failures = {0};
    gab_delay_result found;
    gab_delay_model model = {.neighbourhood = random_box(),
                             .steps = below(40) + 1,
                             .step_time = 1,
                             .failed_step_time = 1 + (double)(below(9) + 1) / 4,
                             .ghost_depth = (int32_t)below(4),
                             .spares = -1};
    const int32_t depth = model.ghost_depth > 1 ? model.ghost_depth : 1;
    random_failures(model.steps, gab_neighbourhood_processes(&model.neighbourhood), &failures);
    assert_int_equal(gab_delays_run(&model, &failures, GAB_DELAYS_LOCAL, NULL, NULL, &found), GAB_OK);
    const int longest = longest_chain(&model.neighbourhood, &failures, depth);
    assert_true(found.most == (double)model.steps + (model.failed_step_time - 1) * longest);
    assert_int_equal(found.failures, failures.count);
    chains += longest > 1;
    gab_failures_release(&failures);
  }
  assert_true(chains > 1000); /* otherwise the test is void */
}

/* The recurrence of the paper, optionally with one more number in its maximum. */
static void plain_recurrence(const gab_delay_model *model, const gab_failures *failures, double *times)
{
  const int32_t count = gab_neighbourhood_processes(&model->neighbourhood);
  double before[MOST_PROCESSES];
  size_t next = 0;
  for (int32_t j = 0; j < count; j++) times[j] = 0;
  for (gab_step step = 1; step <= model->steps; step++) {
    memcpy(before, times, (size_t)count * sizeof(double));
    for (int32_t j = 0; j < count; j++) {
      bool waits = model->form == GAB_DELAYS_CAUSAL;
      times[j] = waits ? before[j] : -INFINITY;
      for (int32_t k = 0; k < count; k++)
        if (are_neighbours(&model->neighbourhood, j, k)) times[j] = fmax(times[j], before[k]), waits = true;
      if (!waits) times[j] = before[j];
      const bool fails =
          next < failures->count && failures->at[next].step == step && failures->at[next].process == j;
      times[j] += fails ? model->failed_step_time : model->step_time;
      next += fails;
    }
  }
}

static void compare_times(void *user, gab_step step, const double *times)
{
  const struct {
    const gab_delay_model *model;
    const double *expected;
  } *with = user;
  if (step != with->model->steps) return;
  for (int32_t j = 0; j < gab_neighbourhood_processes(&with->model->neighbourhood); j++)
    assert_true(times[j] == with->expected[j]);
}

static void both_forms_are_the_recurrence_process_by_process(void **state)
{
  (void)state;
  for (int k = 0; k < 300; k++) {
    double expected[MOST_PROCESSES];
    gab_failures failures = {0};
    gab_delay_result found;
    gab_delay_model model = {.neighbourhood = random_box(),
                             .form = k % 2 ? GAB_DELAYS_PRINTED : GAB_DELAYS_CAUSAL,
                             .steps = below(20) + 1,
                             .step_time = 1,
                             .failed_step_time = 5,
                             .spares = -1};
    /* With one or two processes along a periodic axis a process is its own neighbour, which the computation by
     * distance misses. */
    for (int axis = 0; axis < 3; axis++)
      if (model.neighbourhood.extent[axis] < 3) model.neighbourhood.periodic[axis] = false;
    random_failures(model.steps, gab_neighbourhood_processes(&model.neighbourhood), &failures);
    plain_recurrence(&model, &failures, expected);
    struct {
      const gab_delay_model *model;
      const double *expected;
    } with = {&model, expected};
    assert_int_equal(gab_delays_run(&model, &failures, GAB_DELAYS_LOCAL, compare_times, &with, &found),
                     GAB_OK);
    gab_failures_release(&failures);
  }
}

static void a_graph_gives_what_its_box_gives(void **state)
{
  (void)state;
  for (int k = 0; k < 100; k++) {
    int64_t first[MOST_PROCESSES + 1] = {0};
    static int32_t neighbour[MOST_PROCESSES * MOST_PROCESSES];
    gab_failures failures = {0};
    gab_delay_result of_box, of_graph;
    gab_delay_model model = {.neighbourhood = random_box(),
                             .steps = 30,
                             .step_time = 1,
                             .failed_step_time = 5,
                             .noise = 0.1,
                             .seed = (uint64_t)k,
                             .spares = -1};
    const int32_t count = gab_neighbourhood_processes(&model.neighbourhood);
    for (int32_t a = 0; a < count; a++) {
      first[a + 1] = first[a];
      for (int32_t b = 0; b < count; b++)
        if (are_neighbours(&model.neighbourhood, a, b)) neighbour[first[a + 1]++] = b;
    }
    const gab_process_graph graph = {count, first, neighbour};
    random_failures(model.steps, count, &failures);
    assert_int_equal(gab_delays_run(&model, &failures, GAB_DELAYS_LOCAL, NULL, NULL, &of_box), GAB_OK);
    model.neighbourhood = (gab_neighbourhood){.graph = &graph};
    assert_int_equal(gab_delays_run(&model, &failures, GAB_DELAYS_LOCAL, NULL, NULL, &of_graph), GAB_OK);
    assert_memory_equal(&of_box, &of_graph, sizeof of_box);
    gab_failures_release(&failures);
  }
}

/* ---------------------------------------------------------------- numbers of the paper */

static const gab_neighbourhood million = {.dimension = 3, .extent = {100, 100, 100}, .neighbours = 6};
enum { CENTRE_OF_MILLION = 50 + 100 * (50 + 100 * 50) };

static void half_of_a_million_is_reached_after_75_hops(void **state)
{
  (void)state;
  double share[151];
  const gab_delay_model model = {.neighbourhood = million};
  assert_int_equal(gab_delays_reach(&model, CENTRE_OF_MILLION, 150, share), GAB_OK);
  assert_true(fabs(100 * share[50] - 17.18) < 0.005);
  assert_true(fabs(100 * share[75] - 50.75) < 0.005);
  assert_true(share[149] < 1 && share[150] == 1);
}

/* With an exchange every 10 (20) steps a hop takes 10 (20) steps: 75 hops of 10 steps of 0.5 s are 375 s. */
static void deep_ghosts_slow_delays_down(void **state)
{
  (void)state;
  enum { HOPS = 27, STEPS = HOPS * 20 + 19 };
  static double plain[STEPS + 1], deep[STEPS + 1];
  for (int32_t depth = 10; depth <= 20; depth += 10) {
    gab_delay_model model = {.neighbourhood = {.dimension = 3, .extent = {18, 18, 18}, .neighbours = 6}};
    assert_int_equal(gab_delays_reach(&model, 9 + 18 * (9 + 18 * 9), HOPS, plain), GAB_OK);
    model.ghost_depth = depth;
    assert_int_equal(gab_delays_reach(&model, 9 + 18 * (9 + 18 * 9), HOPS * depth + depth - 1, deep), GAB_OK);
    for (int n = 0; n < HOPS * depth + depth; n++) assert_true(deep[n] == plain[n / depth]);
  }
}

typedef struct overheads {
  double local, global;
} overheads;

static overheads figure_3(gab_delays_form form, double probability, int runs)
{
  overheads sum = {0, 0};
  for (int run = 0; run < runs; run++) {
    gab_failures failures = {0};
    gab_delay_result none, local, global;
    const uint64_t seed = gab_hash_counter(2015, (uint64_t)run, 0);
    const gab_delay_model model = {.neighbourhood = {.dimension = 3, .extent = {16, 16, 16}, .neighbours = 6},
                                   .form = form,
                                   .steps = 100,
                                   .step_time = 1,
                                   .failed_step_time = 5,
                                   .noise = 0.1,
                                   .spares = -1,
                                   .seed = seed};
    const gab_failure_draw draw = {.steps = 100, .processes = 4096, .seed = seed};
    assert_int_equal(gab_failures_draw_rate(&draw, probability, &failures), GAB_OK);
    assert_int_equal(gab_delays_run(&model, &failures, GAB_DELAYS_UNDISTURBED, NULL, NULL, &none), GAB_OK);
    assert_int_equal(gab_delays_run(&model, &failures, GAB_DELAYS_LOCAL, NULL, NULL, &local), GAB_OK);
    assert_int_equal(gab_delays_run(&model, &failures, GAB_DELAYS_GLOBAL, NULL, NULL, &global), GAB_OK);
    sum.local += local.mean - none.mean;
    sum.global += global.mean - none.mean;
    gab_failures_release(&failures);
  }
  return sum;
}

/* Means of 600 runs, and three standard deviations of the mean of 30 runs. */
static void local_recovery_costs_the_share_of_global_that_figure_3_has(void **state)
{
  (void)state;
  static const struct {
    double probability, printed, printed_spread, causal, causal_spread;
  } rows[] = {{1e-5, 0.326, 0.051, 0.538, 0.097},
              {5e-5, 0.212, 0.016, 0.292, 0.025},
              {1e-4, 0.167, 0.009, 0.2185, 0.015}};
  for (size_t k = 0; k < sizeof rows / sizeof rows[0]; k++) {
    const overheads printed = figure_3(GAB_DELAYS_PRINTED, rows[k].probability, 30);
    const overheads causal = figure_3(GAB_DELAYS_CAUSAL, rows[k].probability, 30);
    assert_true(fabs(printed.local / printed.global - rows[k].printed) < rows[k].printed_spread);
    assert_true(fabs(causal.local / causal.global - rows[k].causal) < rows[k].causal_spread);
  }
}

/* ---------------------------------------------------------------- the rest of the model */

static gab_delay_model line_of_ten(gab_step steps)
{
  return (gab_delay_model){.neighbourhood = {.dimension = 1, .extent = {10}, .neighbours = 2},
                           .steps = steps,
                           .step_time = 1,
                           .failed_step_time = 5,
                           .spares = -1};
}

static gab_delay_result play(const gab_delay_model *model, const gab_process_failure *list, size_t count,
                             gab_delays_recovery recovery)
{
  gab_delay_result result;
  gab_process_failure copy[8];
  memcpy(copy, list, count * sizeof copy[0]);
  const gab_failures failures = {.at = copy, .count = count};
  assert_int_equal(gab_delays_run(model, &failures, recovery, NULL, NULL, &result), GAB_OK);
  return result;
}

static void global_recovery_charges_a_step_once(void **state)
{
  (void)state;
  const gab_process_failure list[] = {{2, 0}, {2, 4}, {2, 9}, {7, 3}};
  const gab_delay_model model = line_of_ten(20);
  const gab_delay_result global = play(&model, list, 4, GAB_DELAYS_GLOBAL);
  assert_true(global.least == 28 && global.most == 28 && global.mean == 28);
  assert_int_equal(global.global, 2);
  assert_int_equal(global.failures, 4);
  const gab_delay_result none = play(&model, list, 4, GAB_DELAYS_UNDISTURBED);
  assert_true(none.most == 20 && none.failures == 0);
}

static void a_late_failure_is_paid_where_it_happens_alone(void **state)
{
  (void)state;
  const gab_process_failure list[] = {{19, 4}}; /* one step is left: both neighbours are late, too */
  const gab_delay_model model = line_of_ten(20);
  const gab_delay_result local = play(&model, list, 1, GAB_DELAYS_LOCAL);
  assert_true(local.least == 20 && local.most == 24 && local.mean == (7 * 20 + 3 * 24) / 10.0);
}

static void a_reduction_makes_all_wait_for_the_latest(void **state)
{
  (void)state;
  const gab_process_failure list[] = {{3, 0}, {5, 9}};
  gab_delay_model model = line_of_ten(8);
  assert_true(play(&model, list, 2, GAB_DELAYS_LOCAL).most == 12); /* distant failures: delays overlap */
  model.reduce_every = 4;
  const gab_delay_result local = play(&model, list, 2, GAB_DELAYS_LOCAL);
  assert_true(local.least == 16 && local.most == 16); /* after step 4 the first delay has reached all */
}

static void checkpoints_cost_and_shorten_what_is_done_again(void **state)
{
  (void)state;
  const gab_process_failure list[] = {{8, 5}};
  gab_delay_model model = line_of_ten(12);
  model.rework = 0.5;
  assert_true(play(&model, list, 1, GAB_DELAYS_LOCAL).most == 12 + 4 + 0.5 * 7);
  model.checkpoint_every = 5;
  model.checkpoint_time = 0.25;
  assert_true(play(&model, list, 1, GAB_DELAYS_UNDISTURBED).least == 12 + 2 * 0.25);
  assert_true(play(&model, list, 1, GAB_DELAYS_LOCAL).most == 12 + 2 * 0.25 + 4 + 0.5 * 2);
  assert_true(play(&model, list, 1, GAB_DELAYS_GLOBAL).least == 12 + 2 * 0.25 + 4 + 0.5 * 2);
}

static void beyond_the_spares_recovery_is_global(void **state)
{
  (void)state;
  const gab_process_failure list[] = {{2, 0}, {3, 9}, {4, 5}};
  gab_delay_model model = line_of_ten(4);
  const gab_delay_result enough = play(&model, list, 3, GAB_DELAYS_LOCAL);
  assert_true(enough.least == 4 && enough.global == 0);
  model.spares = 2;
  const gab_delay_result one_short = play(&model, list, 3, GAB_DELAYS_LOCAL);
  assert_int_equal(one_short.global, 1);
  assert_true(one_short.least == 8 && one_short.most == 12);
  model.spares = 0;
  assert_true(play(&model, list, 3, GAB_DELAYS_LOCAL).least == 16);
}

static void threads_change_no_bit(void **state)
{
  (void)state;
  gab_delay_result result[3];
  gab_failures failures = {0};
  const gab_delay_model model = {
      .neighbourhood = {.dimension = 3, .extent = {50, 41, 19}, .periodic = {true}, .neighbours = 18},
      .steps = 12,
      .step_time = 1,
      .failed_step_time = 3,
      .noise = 0.3,
      .spares = -1,
      .seed = 5};
  const gab_failure_draw draw = {.steps = 12, .processes = 50 * 41 * 19, .group = 4, .seed = 3};
  assert_int_equal(gab_failures_draw_rate(&draw, 1e-4, &failures), GAB_OK);
  assert_true(failures.count > 10);
  for (int k = 0; k < 3; k++) {
    omp_set_num_threads(1 + 2 * k);
    assert_int_equal(gab_delays_run(&model, &failures, GAB_DELAYS_LOCAL, NULL, NULL, &result[k]), GAB_OK);
    assert_memory_equal(&result[0], &result[k], sizeof result[0]);
  }
  gab_failures_release(&failures);
}

/* ---------------------------------------------------------------- failures */

static void a_rate_gives_the_failures_that_it_says(void **state)
{
  (void)state;
  const double probabilities[] = {1e-4, 0.003, 0.4, 1};
  for (size_t k = 0; k < 4; k++) {
    gab_failures failures = {0};
    const gab_failure_draw draw = {.steps = 500, .processes = 1000, .seed = k};
    assert_int_equal(gab_failures_draw_rate(&draw, probabilities[k], &failures), GAB_OK);
    assert_true(gab_failures_are_valid(&failures, 500, 1000));
    const double expected = 500e3 * probabilities[k], sigma = sqrt(expected * (1 - probabilities[k]));
    assert_true(fabs((double)failures.count - expected) <= 4 * sigma);
    double steps = 0, processes = 0;
    for (size_t i = 0; i < failures.count; i++) {
      steps += (double)failures.at[i].step;
      processes += (double)failures.at[i].process;
    }
    const double count = (double)failures.count,
                 spread = 4 / sqrt(12 * count); /* of the mean of uniform numbers */
    assert_true(fabs(steps / count / 500 - 0.501) < spread);
    assert_true(fabs(processes / count / 1000 - 0.4995) < spread);
    gab_failures_release(&failures);
  }
}

static void a_group_fails_together(void **state)
{
  (void)state;
  gab_failures failures = {0};
  const gab_failure_draw draw = {
      .steps = 300, .processes = 30, .group = 4, .seed = 1}; /* the last one has two */
  assert_int_equal(gab_failures_draw_rate(&draw, 0.01, &failures), GAB_OK);
  assert_true(gab_failures_are_valid(&failures, 300, 30) && failures.count > 20);
  for (size_t i = 0; i < failures.count;) {
    const int32_t first = failures.at[i].process, size = first == 28 ? 2 : 4;
    assert_int_equal(first % 4, 0);
    for (int32_t k = 0; k < size; k++, i++) {
      assert_int_equal(failures.at[i].process, first + k);
      assert_int_equal(failures.at[i].step, failures.at[i - (size_t)k].step);
    }
  }
  gab_failures_release(&failures);
}

static void a_mean_time_between_failures_is_kept(void **state)
{
  (void)state;
  gab_failures failures = {0};
  const gab_failure_draw draw = {.steps = 100000, .processes = 64, .seed = 4};
  assert_int_equal(gab_failures_draw_mtbf(&draw, 20, 0.5, &failures), GAB_OK);
  assert_true(gab_failures_are_valid(&failures, 100000, 64));
  assert_true(fabs((double)failures.count - 2500) < 4 * 50);
  gab_failures_release(&failures);
  assert_true(gab_mtbf_of_all(1000, 8) == 125);
}

static void lists_are_put_in_order_and_said_once(void **state)
{
  (void)state;
  gab_failures failures = {0};
  const gab_process_failure said[] = {{5, 1}, {2, 7}, {5, 0}, {2, 7}, {5, 1}};
  for (size_t k = 0; k < 5; k++)
    assert_int_equal(gab_failures_add(&failures, said[k].step, said[k].process), GAB_OK);
  assert_false(gab_failures_are_valid(&failures, 9, 9));
  gab_failures_put_in_order(&failures);
  assert_int_equal(failures.count, 3);
  assert_true(gab_failures_are_valid(&failures, 5, 8));
  assert_false(gab_failures_are_valid(&failures, 4, 8));
  assert_false(gab_failures_are_valid(&failures, 5, 7));
  gab_failures_release(&failures);
}

static void what_cannot_be_is_refused(void **state)
{
  (void)state;
  gab_delay_model wrong[9];
  gab_delay_result result;
  for (size_t k = 0; k < 9; k++) wrong[k] = line_of_ten(5);
  wrong[0].neighbourhood.neighbours = 4;
  wrong[1].neighbourhood.dimension = 0;
  wrong[2].neighbourhood.extent[0] = 0;
  wrong[3].failed_step_time = 0.5;
  wrong[4].noise = -1;
  wrong[5].step_time = NAN;
  wrong[6].steps = -1;
  wrong[7].neighbourhood = (gab_neighbourhood){.dimension = 3, .extent = {2000, 2000, 2000}, .neighbours = 6};
  wrong[8].rework = INFINITY;
  for (size_t k = 0; k < 9; k++)
    assert_int_equal(gab_delays_run(&wrong[k], NULL, GAB_DELAYS_LOCAL, NULL, NULL, &result),
                     GAB_ERR_ARGUMENT);
  const gab_delay_model model = line_of_ten(5);
  const gab_failures beyond = {.at = &(gab_process_failure){6, 0}, .count = 1};
  assert_int_equal(gab_delays_run(&model, &beyond, GAB_DELAYS_LOCAL, NULL, NULL, &result), GAB_ERR_ARGUMENT);
  gab_failures failures = {0};
  const gab_failure_draw draw = {.steps = 1000000, .processes = 1000000};
  assert_int_equal(gab_failures_draw_rate(&draw, 1.5, &failures), GAB_ERR_ARGUMENT);
  assert_int_equal(gab_failures_draw_rate(&draw, 0.5, &failures), GAB_ERR_ARGUMENT); /* 5e11 of them */
  assert_int_equal(gab_failures_draw_mtbf(&draw, 0, 1, &failures), GAB_ERR_ARGUMENT);
  assert_int_equal(failures.count, 0);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(the_largest_overhead_is_the_longest_chain_of_failures),
      cmocka_unit_test(both_forms_are_the_recurrence_process_by_process),
      cmocka_unit_test(a_graph_gives_what_its_box_gives),
      cmocka_unit_test(half_of_a_million_is_reached_after_75_hops),
      cmocka_unit_test(deep_ghosts_slow_delays_down),
      cmocka_unit_test(local_recovery_costs_the_share_of_global_that_figure_3_has),
      cmocka_unit_test(global_recovery_charges_a_step_once),
      cmocka_unit_test(a_late_failure_is_paid_where_it_happens_alone),
      cmocka_unit_test(a_reduction_makes_all_wait_for_the_latest),
      cmocka_unit_test(checkpoints_cost_and_shorten_what_is_done_again),
      cmocka_unit_test(beyond_the_spares_recovery_is_global),
      cmocka_unit_test(threads_change_no_bit),
      cmocka_unit_test(a_rate_gives_the_failures_that_it_says),
      cmocka_unit_test(a_group_fails_together),
      cmocka_unit_test(a_mean_time_between_failures_is_kept),
      cmocka_unit_test(lists_are_put_in_order_and_said_once),
      cmocka_unit_test(what_cannot_be_is_refused),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}

/* SPDX-License-Identifier: Apache-2.0 */
/* gabion-test: np=1,2,3 quick=2 timeout=60 */
/* Calls that phasefield.h forbids are refused, on all ranks alike, by a message with the reason, and a misused phase
 * field continues unchanged. They are: calls of a step in another order or omitted, forests without blocks or with
 * other data, blocks of another forest. */
#include "core/base/log.h"
#include "phase_common.h"
#include "tests/misuse.h"

#include <string.h>

struct subject {
  gab_world *world;
  phase_case given;
  phase_run it, other;   /* the same twice */
  gab_phasefield *early; /* of a forest without blocks */
  gab_forest *empty;
};

static void layers(void *user, const int64_t cell[3], double *phi, double *mu)
{
  (void)user, (void)mu;
  phi[cell[1] < 6 ? cell[0] / 8 % 2 : 2] = 1;
}

/* ---- order of calls: an aborted and restarted step is correct, too */

static gab_status sweep_phi_without_start(subject *it) { return gab_phasefield_sweep_phi(it->it.model); }
static gab_status sweep_mu_without_step(subject *it) { return gab_phasefield_sweep_mu(it->it.model); }
static gab_status inner_without_step(subject *it) { return gab_phasefield_sweep_mu_inner(it->it.model); }
static gab_status phi_started_without_sweep(subject *it)
{
  return gab_phasefield_exchange_phi_start(it->it.model);
}
static gab_status mu_finished_without_start(subject *it)
{
  return gab_phasefield_exchange_mu_finish(it->it.model);
}
static gab_status phi_finished_without_start(subject *it)
{
  return gab_phasefield_exchange_phi_finish(it->it.model);
}

/* A step up to some call, one that is refused there, and the rest of it. */
typedef gab_status (*step_call)(gab_phasefield *phasefield);
static const step_call calls[] = {gab_phasefield_exchange_mu_start,   gab_phasefield_sweep_phi,
                                  gab_phasefield_exchange_phi_start,  gab_phasefield_exchange_mu_finish,
                                  gab_phasefield_exchange_phi_finish, gab_phasefield_sweep_mu};
enum { CALLS = sizeof calls / sizeof calls[0] };
static gab_status in_a_step(subject *it, int after, step_call wrong)
{
  char words[512];
  for (int i = 0; i <= after; i++) REQUIRE_OK(calls[i](it->it.model));
  const gab_status refusal = wrong(it->it.model);
  snprintf(words, sizeof words, "%s", gab_error_message());
  for (int i = after + 1; i < CALLS; i++) REQUIRE_OK(calls[i](it->it.model));
  REQUIRE_OK(gab_phasefield_step(it->other.model));
  return refusal == GAB_OK ? GAB_OK : gab_error_set(refusal, __FILE__, __LINE__, "%s", words);
}
static gab_status phi_started_before_its_sweep(subject *it)
{
  return in_a_step(it, 0, gab_phasefield_exchange_phi_start);
}
static gab_status mu_started_twice(subject *it) { return in_a_step(it, 0, gab_phasefield_exchange_mu_start); }
static gab_status phi_started_twice(subject *it)
{
  return in_a_step(it, 2, gab_phasefield_exchange_phi_start);
}
static gab_status inner_before_mu_has_come(subject *it)
{
  return in_a_step(it, 2, gab_phasefield_sweep_mu_inner);
}
static gab_status sweep_mu_before_phi_has_come(subject *it)
{
  return in_a_step(it, 3, gab_phasefield_sweep_mu);
}
static gab_status sweep_mu_twice(subject *it) { return in_a_step(it, 5, gab_phasefield_sweep_mu); }

/* ---- forests and shares */

static gab_status step_without_blocks(subject *it) { return gab_phasefield_step(it->early); }
static gab_status two_models_on_a_forest(subject *it)
{
  gab_phasefield *made;
  const gab_status status = gab_phasefield_create(it->empty, &it->given.options, &made);
  REQUIRE(!made);
  return status;
}
static gab_status model_after_the_blocks(subject *it)
{
  gab_phasefield *made;
  const gab_status status = gab_phasefield_create(it->it.forest, &it->given.options, &made);
  REQUIRE(!made);
  return status;
}
static gab_status model_without_a_beginning(subject *it)
{
  gab_phasefield *made;
  gab_phasefield_options options = it->given.options;
  options.initial = NULL;
  return gab_phasefield_create(it->empty, &options, &made);
}
static gab_status window_down(subject *it) { return gab_phasefield_shift(it->it.model, -1); }
static gab_status more_than_all_blocks_twice(subject *it)
{
  return gab_phasefield_request_recomputation(it->it.model, 1.5);
}
static gab_status no_share_of_blocks_twice(subject *it)
{
  return gab_phasefield_request_recomputation(it->it.model, (double)NAN);
}

static const misuse misuses[] = {
    MISUSE(sweep_mu_without_step, STATE, "forest has changed since the exchange"), /* there was none yet */
    MISUSE(mu_started_twice, STATE, "started twice"),
    MISUSE(sweep_phi_without_start, STATE, "sweep_phi() without gab_phasefield_exchange_mu_start()"),
    MISUSE(sweep_mu_without_step, STATE, "sweep_mu() without gab_phasefield_exchange_mu_finish()"),
    MISUSE(inner_without_step, STATE, "sweep_mu_inner() without gab_phasefield_exchange_phi_start()"),
    MISUSE(phi_started_without_sweep, STATE, "exchange_phi_start() without gab_phasefield_sweep_phi()"),
    MISUSE(mu_finished_without_start, STATE, "without a start"),
    MISUSE(phi_finished_without_start, STATE, "without a start"),
    MISUSE(phi_started_before_its_sweep, STATE, "exchange_phi_start() without gab_phasefield_sweep_phi()"),
    MISUSE(phi_started_twice, STATE, "started twice"),
    MISUSE(inner_before_mu_has_come, STATE, "sweep_mu_inner() without gab_phasefield_exchange_mu_finish()"),
    MISUSE(sweep_mu_before_phi_has_come, STATE, "sweep_mu() without gab_phasefield_exchange_phi_finish()"),
    MISUSE(sweep_mu_twice, STATE, "sweep_mu() without gab_phasefield_exchange_mu_finish()"),
    MISUSE(step_without_blocks, STATE, "no blocks"),
    MISUSE(two_models_on_a_forest, ARGUMENT, "registered twice"),
    MISUSE(model_after_the_blocks, STATE, "after the forest was populated"),
    MISUSE(model_without_a_beginning, ARGUMENT, "initial"),
    MISUSE(window_down, ARGUMENT, "-1"),
    MISUSE(more_than_all_blocks_twice, ARGUMENT, "share"),
    MISUSE(no_share_of_blocks_twice, ARGUMENT, "share"),
};

int main(int argc, char **argv)
{
  subject it = {.given = {.dimension = 2, .cells = {16, 24, 1}, .block = {8, 8, 1}, .dx = 3}};
  REQUIRE_OK(gab_world_create(&argc, &argv, &it.world));
  gab_log_set_level((gab_log_level)-1, (gab_log_level)-1); /* handles are complained of in the log, too */
  gab_phasefield_options *options = &it.given.options;
  *options =
      (gab_phasefield_options){.thermo = symmetric_eutectic(), .epsilon = 12, .dt = 0.1, .initial = layers};
  equal_interfaces(options, 1, 1);
  all_sides(options, GAB_PHASEFIELD_CLOSED);
  it.it = phase_open(it.world, &it.given);
  it.other = phase_open(it.world, &it.given);
  const gab_forest_options domain = *gab_forest_get_options(it.it.forest);
  REQUIRE_OK(gab_forest_create(it.world, &domain, &it.empty));
  REQUIRE_OK(gab_phasefield_create(it.empty, options, &it.early));
  are_refused(&it, misuses, sizeof misuses / sizeof misuses[0]);
  for (int i = 0; i < 3; i++) {
    REQUIRE_OK(gab_phasefield_step(it.it.model));
    REQUIRE_OK(gab_phasefield_step(it.other.model));
  }
  uint64_t sums[2];
  REQUIRE_OK(gab_forest_checksum(it.it.forest, &sums[0]));
  REQUIRE_OK(gab_forest_checksum(it.other.forest, &sums[1]));
  CHECK(gab_phasefield_get_step(it.it.model) == gab_phasefield_get_step(it.other.model) &&
        sums[0] == sums[1]);
  REQUIRE_OK(gab_world_check(it.world)); /* nothing of it broke the world */
  gab_phasefield_destroy(&it.early);
  gab_forest_destroy(&it.empty);
  phase_close(&it.it);
  phase_close(&it.other);
  return test_end(&it.world);
}

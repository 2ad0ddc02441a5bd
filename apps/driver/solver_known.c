/* SPDX-License-Identifier: Apache-2.0 */
/* The solvers of this program. */
#include "apps/driver/solver_impl.h"
#include "apps/driver/run/run.h"

static const gab_solver *const *all;
static int all_count;

static int length(const char *const *names)
{
  int count = 0;
  while (names[count]) count++;
  return count;
}

static bool is_complete(const gab_solver *one)
{
  return one->name && one->title && one->own && one->case_bytes >= sizeof(gab_app_case) && one->declare &&
         one->read && one->describe && one->run_bytes >= sizeof(gab_app_run) && one->prepare && one->build &&
         one->add && one->release_run && one->usual_fields && one->usual_slice &&
         length(one->usual_fields) <= GAB_APP_MOST_PICKED;
}

gab_status gab_app_solver_set(const gab_solver *const *solvers, int count)
{
  int without_section = 0;
  for (int i = 0; i < count; i++) {
    if (!is_complete(solvers[i]))
      GAB_FAIL(GAB_ERR_ARGUMENT, "the solver %s lacks required entries (apps/driver/solver.h)",
               solvers[i]->name ? solvers[i]->name : "without a name");
    without_section += !solvers[i]->section;
  }
  if (count < 1 || without_section > 1)
    GAB_FAIL(GAB_ERR_ARGUMENT,
             "%d solvers, %d of them without a section: expected at least one, and at most one without",
             count, without_section);
  all = solvers;
  all_count = count;
  return GAB_OK;
}

const gab_solver *gab_app_solver_at(int index) { return index >= 0 && index < all_count ? all[index] : NULL; }

gab_config_choice gab_app_solver_quantity(const gab_solver *solver, int index)
{
  if (solver->quantities) return solver->quantities(index);
  return (gab_config_choice){.name =
                                 index < length(solver->usual_fields) ? solver->usual_fields[index] : NULL};
}

const gab_solver *gab_app_solver_of(const gab_config *config)
{
  const gab_solver *fallback = all[all_count - 1];
  for (int i = 0; i < all_count; i++) {
    if (!all[i]->section) fallback = all[i];
    else if (gab_config_is_set(config, all[i]->section)) return all[i];
  }
  return fallback;
}

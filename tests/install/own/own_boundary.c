/* SPDX-License-Identifier: Apache-2.0 */
/* A program outside of the source tree, which script_own_boundary.sh builds against the installed library: a channel
 * whose walls slip, by a boundary condition of its own that is chosen in the parameter file.
 *
 *   own_boundary CASE.yaml [section.key=value ...]     prints the checksum and the mean velocity along x
 *   own_boundary help [section] */
#include "navier_slip.h"

#include "core/messages/collective.h"
#include "lbm/lbm.h"
#include "lbm/setup/lbm_config.h"
#include "loadbalance/balance.h"

#include <stdio.h>
#include <string.h>

static const gab_config_key channel_keys[] = {{.name = "steps",
                                               .type = GAB_CONFIG_INT,
                                               .min = 1,
                                               .max = 1e6,
                                               .default_text = "10",
                                               .doc = "time steps"}};
static const gab_config_section channel = {
    .path = "channel", .doc = "A channel.", .keys = channel_keys, .count = 1, .optional = true};

enum { WIDTH = 16 };

static gab_status run(gab_world *world, const gab_config *config)
{
  gab_forest_options grid = {
      .grid = {.dimension = 2, .roots = {2, 2, 1}}, .cells = {WIDTH / 2, WIDTH / 2, 1}, .dx = 1};
  gab_forest *forest;
  gab_lbm *lbm;
  gab_lbm_setup setup;
  GAB_TRY(gab_lbm_periodic_from_config(config, 2, grid.periodic));
  const gab_domain domain = gab_lbm_domain(&grid);
  GAB_TRY(gab_lbm_setup_from_config(config, &domain, NULL, &setup));
  GAB_TRY(gab_forest_create(world, &grid, &forest));
  GAB_TRY(gab_lbm_create(forest, NULL, &setup.options, &lbm));
  GAB_TRY(gab_balance_initial(forest, NULL, NULL));
  for (int64_t step = 0; step < gab_config_int(config, "channel.steps"); step++) GAB_TRY(gab_lbm_step(lbm));
  uint64_t checksum;
  gab_lbm_integrals sums;
  GAB_TRY(gab_forest_checksum(forest, &checksum));
  GAB_TRY(gab_lbm_integrate(lbm, false, &sums));
  if (gab_world_rank(world) == gab_world_root(world))
    printf("checksum %016" PRIx64 " mean %.6e kernel %s\n", checksum, sums.momentum[0] / sums.mass,
           gab_lbm_kernel_name(lbm));
  gab_lbm_destroy(&lbm);
  gab_forest_destroy(&forest);
  gab_lbm_setup_release(&setup);
  return GAB_OK;
}

static gab_status read_case(gab_config *config, int count, char **words)
{
  GAB_TRY(gab_config_load(config, words[1]));
  for (int i = 2; i < count; i++) GAB_TRY(gab_config_override(config, words[i]));
  return gab_config_check(config);
}

int main(int argc, char **argv)
{
  gab_config *config = NULL;
  gab_world *world = NULL;
  gab_status status = argc < 2 ? GAB_ERR_INPUT : GAB_OK;
  if (status == GAB_OK) status = gab_boundary_register(&slip);
  if (status == GAB_OK && gab_boundary_register(&slip) == GAB_OK) status = GAB_ERR_STATE; /* twice */
  if (status == GAB_OK) status = gab_config_create(&config);
  if (status == GAB_OK) status = gab_lbm_declare(config);
  if (status == GAB_OK) status = gab_config_declare(config, &channel);
  if (status == GAB_OK && strcmp(argv[1], "help") == 0)
    return gab_config_write_help(config, stdout, argc > 2 ? argv[2] : NULL) == GAB_OK ? 0 : 2;
  if (status == GAB_OK) status = read_case(config, argc, argv);
  if (status == GAB_OK) status = gab_world_create(&argc, &argv, &world);
  if (status == GAB_OK) status = run(world, config);
  if (status != GAB_OK) fprintf(stderr, "error: %s\n", gab_error_message());
  if (world) gab_world_destroy(&world);
  if (config) gab_config_destroy(&config);
  return status == GAB_OK ? 0 : 2;
}

/* SPDX-License-Identifier: Apache-2.0 */
/* gabion help: the parameters, from the tables. */
#include "apps/driver/driver.h"

#include "core/base/log.h"

static const char usage[] =
    "usage: gabion help                 all parameters\n"
    "       gabion help KEY             a section or key, e.g. faults, lbm, output.slices, domain.cells\n"
    "       gabion help --reference     all parameters as a Markdown page\n";

static gab_status write_help(const gab_app_options *options)
{
  gab_config *config = NULL;
  GAB_TRY(gab_app_config_create(&config));
  gab_status status = options->reference ? gab_config_write_reference(config, stdout)
                                         : gab_config_write_help(config, stdout, options->word);
  gab_config_destroy(&config);
  return status;
}

int gab_app_command_help(int argc, char **argv)
{
  gab_app_options options;
  gab_status status = gab_app_options_parse(argc, argv, "r", &options);
  if (status == GAB_OK && options.help) {
    gab_app_usage_put(usage, stdout);
    return 0;
  }
  if (status == GAB_OK) status = write_help(&options);
  if (status == GAB_OK && fflush(stdout) != 0) status = GAB_ERR_IO;
  if (status != GAB_OK) gab_log(GAB_LOG_ERROR, "%s", gab_error_message());
  return gab_status_exit_code(status);
}

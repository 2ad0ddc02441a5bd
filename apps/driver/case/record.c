/* SPDX-License-Identifier: Apache-2.0 */
/* The case in summary.json. */
#include "apps/driver/driver.h"

void gab_app_put_case(gab_json *json, const gab_app_case *which, double time)
{
  const gab_config *config = which->config;
  const gab_app_options *options = which->options;
  gab_json_text(json, "case", gab_config_name(config));
  gab_json_text(json, "title", gab_config_string(config, "run.title"));
  gab_json_real(json, "dt", which->dt);
  gab_json_real(json, "time", time);
  gab_json_list(json, "settings");
  for (size_t i = 0; i < options->setting_count; i++) gab_json_text(json, NULL, options->settings[i]);
  gab_json_close(json);
  gab_json_list(json, "injections");
  for (size_t i = 0; i < options->injection_count; i++) gab_json_text(json, NULL, options->injections[i]);
  gab_json_close(json);
  gab_config_put_changed(config, "parameters", json);
  gab_config_put_files(config, "files", json);
}

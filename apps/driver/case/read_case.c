/* SPDX-License-Identifier: Apache-2.0 */
/* From a parameter file to a case: on one process (check, plan, info), or on all processes of a run. */
#include "apps/driver/case/common_sections.h"
#include "apps/driver/driver.h"

#include "core/memory/memory.h"
#include "core/messages/collective.h"

/* ---------------------------------------------------------------- parameters */

gab_status gab_app_config_create(gab_config **config)
{
  GAB_TRY(gab_config_create(config));
  const gab_status status = gab_app_declare_all(*config);
  if (status != GAB_OK) gab_config_destroy(config);
  return status;
}

/* Applies the --set of a command line, then checks. */
static gab_status finish(gab_config *config, const gab_app_options *options)
{
  for (size_t i = 0; i < options->setting_count; i++)
    GAB_TRY(gab_config_override(config, options->settings[i]));
  return gab_config_check(config);
}

gab_status gab_app_config_from_file(const gab_app_options *options, gab_config **config)
{
  *config = NULL;
  if (!options->word) GAB_FAIL(GAB_ERR_INPUT, "no case file given");
  GAB_TRY(gab_app_config_create(config));
  gab_status status = gab_config_load(*config, options->word);
  if (status == GAB_OK) status = finish(*config, options);
  if (status != GAB_OK) gab_config_destroy(config);
  return status;
}

/* Only the root needs to have the file: the others get its text. */
static gab_status load(gab_world *world, const char *path, gab_config *config)
{
  gab_status status = GAB_OK;
  gab_buffer text = {0};
  bool root = gab_world_is_root(world);
  if (root) status = gab_config_load(config, path);
  GAB_TRY(gab_world_reduce_status(world, status));
  if (root) {
    size_t length;
    const char *loaded = gab_config_text(config, &length);
    status = gab_put_bytes(&text, loaded, length);
  }
  status = gab_world_reduce_status(world, status);
  if (status == GAB_OK) status = gab_world_broadcast(world, gab_world_root(world), &text);
  if (status == GAB_OK && !root)
    status = gab_config_load_text(config, path, (const char *)text.data, text.size);
  gab_buffer_release(&text);
  return gab_world_reduce_status(world, status);
}

/* Files named in the case, such as pictures: the root hashes them, so that each is read only once for that. */
static gab_status share_hashes(gab_world *world, gab_config *config)
{
  gab_buffer hashes = {0};
  const bool root = gab_world_is_root(world);
  gab_status status = root ? gab_config_hash_files(config, &hashes) : GAB_OK;
  status = gab_world_reduce_status(world, status);
  if (status == GAB_OK) status = gab_world_broadcast(world, gab_world_root(world), &hashes);
  if (status == GAB_OK && !root) status = gab_config_set_file_hashes(config, &hashes);
  gab_buffer_release(&hashes);
  return gab_world_reduce_status(world, status);
}

/* ---------------------------------------------------------------- cases */

/* @param[in] config  owned by the case from now on, for any status */
static gab_status make(gab_config *config, const gab_app_options *options, gab_app_case **found)
{
  const gab_solver *solver = gab_app_solver_of(config);
  void *memory = NULL;
  const gab_status status = gab_alloc(solver->case_bytes, GAB_MEMORY_OTHER, &memory);
  if (status != GAB_OK) {
    gab_config_destroy(&config);
    return status;
  }
  *found = memory;
  **found = (gab_app_case){.solver = solver, .config = config, .options = options};
  return solver->read(*found);
}

gab_status gab_app_case_from_file(const gab_app_options *options, gab_app_case **found)
{
  gab_config *config;
  *found = NULL;
  GAB_TRY(gab_app_config_from_file(options, &config));
  return make(config, options, found);
}

gab_status gab_app_case_share(gab_world *world, const gab_app_options *options, gab_app_case **found)
{
  gab_config *config;
  *found = NULL;
  GAB_TRY(gab_app_config_create(&config));
  gab_status status = load(world, options->word, config);
  if (status == GAB_OK) status = finish(config, options);
  if (status != GAB_OK) {
    gab_config_destroy(&config);
    return status;
  }
  /* Other files, e.g. pictures of geometries, are read here, so errors may differ between processes. */
  GAB_TRY(gab_world_reduce_status(world, make(config, options, found)));
  return share_hashes(world, config);
}

void gab_app_case_destroy(gab_app_case **which)
{
  if (!*which) return;
  if ((*which)->solver->release) (*which)->solver->release(*which);
  gab_config_destroy(&(*which)->config);
  gab_free(which);
}

/* SPDX-License-Identifier: Apache-2.0 */
/* The sections of parameter files that belong to a solidification. */
#include "apps/driver/case/common_sections.h"
#include "apps/driver/solidification/solidification.h"
#include "phasefield/observe/cell_quantity.h"

/* As gab_phasefield_quantities() names them, those of a program among them. */
gab_config_choice gab_app_solidification_quantity(int index)
{
  static const gab_config_choice choices[] = {
      {.name = "phase", .doc = "of a phase field: number of the dominant phase of a cell"},
      {.name = "solid", .doc = "of a phase field: fraction of all solid phases"},
      {.name = "interface", .doc = "of a phase field: sum of phi (1 - phi) over the phases"},
      {.name = "temperature", .doc = "of a phase field"},
      {.name = "phi_NAME", .doc = "of a phase field: fraction of the phase of that name"},
      {.name = "mu_1", .doc = "of a phase field: first chemical potential; mu_2 the second, and so on"},
      {.name = "c_1", .doc = "of a phase field: first concentration; c_2 the second, and so on"},
  };
  const int count = sizeof choices / sizeof choices[0];
  return index < count ? choices[index] : gab_phasefield_own_quantity_choice(index - count);
}

static const gab_config_key slabs_keys[] = {
    {.name = "quantities",
     .type = GAB_CONFIG_STRING,
     .length_min = 1,
     .length_max = 16,
     .choice_at = gab_app_solidification_quantity,
     .default_text = "[phase]",
     .outside = true,
     .doc = "Quantities to write."},
    FIELD_FILE_KEYS,
};

static const gab_config_key profile_keys[] = {SCHEDULE_KEYS};

static const gab_config_section sections[] = {
    {.path = "output.profile",
     .doc = "Means over each layer of cells of a phase field, in profile.csv: fractions, "
            "concentrations, temperature. Rows are counted from the initial position of the window.",
     KEYS(profile_keys)},
    {.path = "output.slabs",
     .doc = "Slabs that leave the moving window of a phase field, in slabs/; gabion assemble joins "
            "them into one field.",
     KEYS(slabs_keys)},
};

gab_status gab_app_solidification_declare(gab_config *config)
{
  GAB_TRY(gab_phasefield_declare(config));
  GAB_TRY(gab_phasefield_refinement_declare(config));
  return gab_app_declare(config, sections, sizeof sections / sizeof sections[0]);
}

/* The sections of parameter files that belong to a solidification. */
#include "apps/driver/case/tables.h"
#include "apps/driver/solidification/solidification.h"

static const gab_config_key slabs_keys[] = {
    {.name = "quantities",
     .type = GAB_CONFIG_STRING,
     .length_min = 1,
     .length_max = 16,
     .default_text = "[phase]",
     .outside = true,
     .doc = "Which of " PHASE_QUANTITY_LIST " are written."},
    FIELD_FILE_KEYS,
};

static const gab_config_key profile_keys[] = {SCHEDULE_KEYS};

static const gab_config_section sections[] = {
    {.path = "output.profile",
     .doc = "Means over each layer of cells of a phase field, in profile.csv: fractions, concentrations, "
            "temperature; "
            "rows are counted from where the window began.",
     KEYS(profile_keys)},
    {.path = "output.slabs",
     .doc =
         "What leaves the moving window of a phase field, in slabs/; gabion assemble makes one field of it.",
     KEYS(slabs_keys)},
};

gab_status gab_app_solidification_declare(gab_config *config)
{
  GAB_TRY(gab_phasefield_declare(config));
  GAB_TRY(gab_phasefield_refinement_declare(config));
  return gab_app_declare(config, sections, sizeof sections / sizeof sections[0]);
}

/* The criteria of refinement that a program has registered: by name, and as tables of the parameter file. */
#include "lbm/levels/refinement_impl.h"

#include <math.h>
#include <string.h>

static const gab_lbm_criterion *registered[GAB_LBM_MOST_OWN_CRITERIA];

/* By gab_criterion_kind. */
static const char *const kind_names[GAB_CRITERION_OWN] = {"bodies", "box", "vorticity", "gradient"};

const gab_lbm_criterion *gab_lbm_criterion_at(int index)
{
  return index >= 0 && index < GAB_LBM_MOST_OWN_CRITERIA ? registered[index] : NULL;
}

const char *gab_lbm_criterion_name(int index)
{
  if (index >= 0 && index < GAB_CRITERION_OWN) return kind_names[index];
  const gab_lbm_criterion *own = gab_lbm_criterion_at(index - GAB_CRITERION_OWN);
  return own ? own->name : NULL;
}

gab_status gab_lbm_criterion_register(const gab_lbm_criterion *criterion)
{
  if (!criterion->name || !criterion->doc || !criterion->value)
    GAB_FAIL(GAB_ERR_ARGUMENT, "criterion '%s' lacks a name, a text or its value",
             criterion->name ? criterion->name : "?");
  if (!criterion->name[0] || strpbrk(criterion->name, "|/ "))
    GAB_FAIL(GAB_ERR_ARGUMENT, "'%s' cannot be the name of a criterion", criterion->name);
  for (int i = 0; gab_lbm_criterion_name(i); i++)
    if (strcmp(gab_lbm_criterion_name(i), criterion->name) == 0)
      GAB_FAIL(GAB_ERR_ARGUMENT, "there is already a criterion '%s'", criterion->name);
  for (int i = 0; i < GAB_LBM_MOST_OWN_CRITERIA; i++)
    if (!registered[i]) {
      registered[i] = criterion;
      return GAB_OK;
    }
  GAB_FAIL(GAB_ERR_ARGUMENT, "no room for criterion '%s': there are %d already", criterion->name,
           (int)GAB_LBM_MOST_OWN_CRITERIA);
}

/* ---------------------------------------------------------------------------------------- tables */

enum { KEYS_OF_ONE = 5 };

static void fill_keys(const gab_lbm_criterion *own, gab_config_key keys[KEYS_OF_ONE])
{
  const gab_config_key value = {
      .type = GAB_CONFIG_REAL, .unit = own->unit, .min = -INFINITY, .max = INFINITY};
  const gab_config_key corner = {.type = GAB_CONFIG_REAL,
                                 .length_min = 2,
                                 .length_max = 3,
                                 .unit = "m",
                                 .default_text = GAB_CONFIG_OPTIONAL};
  keys[0] = (gab_config_key){.name = "level",
                             .type = GAB_CONFIG_INT,
                             .min = 1,
                             .max = GAB_LBM_LEVELS - 1,
                             .default_text = GAB_CONFIG_OPTIONAL,
                             .doc = "Refines up to this level; up to refinement.levels if left out."};
  keys[1] = keys[2] = value;
  keys[1].name = "above";
  keys[1].doc = "A block is refined if its largest value is above this.";
  keys[2].name = "below";
  keys[2].doc = "A block may be coarsened if its largest value is below this; smaller than above.";
  keys[3] = keys[4] = corner;
  keys[3].name = "lo";
  keys[3].doc = "Only blocks beyond this lower corner count.";
  keys[4].name = "hi";
  keys[4].doc = "Only blocks below this upper corner count.";
}

gab_status gab_lbm_criteria_declare(gab_config *config)
{
  static gab_config_key keys[GAB_LBM_MOST_OWN_CRITERIA][KEYS_OF_ONE];
  static gab_config_section sections[GAB_LBM_MOST_OWN_CRITERIA];
  for (int i = 0; gab_lbm_criterion_at(i); i++) {
    const gab_lbm_criterion *own = gab_lbm_criterion_at(i);
    fill_keys(own, keys[i]);
    sections[i] = (gab_config_section){.path = "refinement.criteria",
                                       .doc = own->doc,
                                       .keys = keys[i],
                                       .count = KEYS_OF_ONE,
                                       .is_list = true,
                                       .variant = own->name};
    GAB_TRY(gab_config_declare(config, &sections[i]));
  }
  return GAB_OK;
}

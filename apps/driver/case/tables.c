/* The sections of parameter files that all solvers have: run, domain, balance, output. */
#include "apps/driver/case/tables.h"

#include "apps/driver/driver.h"
#include "resilience/resilience_config.h"

#include <math.h>
#include <string.h>

static const gab_config_key run_keys[] = {
    {.name = "title",
     .type = GAB_CONFIG_STRING,
     .default_text = "\"\"",
     .outside = true,
     .doc = "What the case is, for the log."},
    {.name = "steps",
     .instead_of = "time",
     .type = GAB_CONFIG_INT,
     .min = 0,
     .max = 9e15,
     .default_text = GAB_CONFIG_OPTIONAL,
     .doc = "Time steps to compute; give either this or time."},
    {.name = "time",
     .instead_of = "steps",
     .type = GAB_CONFIG_REAL,
     .min = 0,
     .max = INFINITY,
     .min_excluded = true,
     .default_text = GAB_CONFIG_OPTIONAL,
     .doc = "Physical time to compute; rounded to whole steps."},
    {.name = "processes",
     .type = GAB_CONFIG_INT,
     .min = 1,
     .max = 1e9,
     .default_text = "4",
     .outside = true,
     .doc = "Recommended number of processes, what scripts/run.sh starts; the result is the same with any."},
    {.name = "check_every",
     .type = GAB_CONFIG_INT,
     .min = 0,
     .max = 9e15,
     .default_text = "100",
     .outside = true,
     .doc = "Steps between checks that the numbers still mean something; 0: never."},
};

static const gab_config_key domain_keys[] = {
    {.name = "cells",
     .type = GAB_CONFIG_INT,
     .unit = "cells",
     .min = 1,
     .max = 2147483647,
     .length_min = 2,
     .length_max = 3,
     .doc = "Cells of the domain in x, y, z; two numbers make a run in 2D."},
    {.name = "block",
     .type = GAB_CONFIG_INT,
     .unit = "cells",
     .min = 1,
     .max = 100000,
     .length_min = 2,
     .length_max = 3,
     .doc = "Cells of a block in x, y, z; the domain has to be a whole number of blocks."},
    {.name = "dx",
     .instead_of = "length",
     .type = GAB_CONFIG_REAL,
     .min = 1e-100,
     .max = 1e100,
     .default_text = GAB_CONFIG_OPTIONAL,
     .doc = "Width of a cell; 1 (lattice units) if neither this nor length is given."},
    {.name = "length",
     .instead_of = "dx",
     .type = GAB_CONFIG_REAL,
     .min = 1e-100,
     .max = 1e100,
     .default_text = GAB_CONFIG_OPTIONAL,
     .doc = "Instead of dx: length of the domain in x."},
    {.name = "origin",
     .type = GAB_CONFIG_REAL,
     .length_min = 2,
     .length_max = 3,
     .default_text = "[0, 0, 0]",
     .doc = "Coordinates of the lower corner of the domain."},
};

static gab_config_word balancer_word(int index)
{
  const gab_balancer *one = gab_balancer_at(index);
  return one ? (gab_config_word){.name = one->name, .doc = one->doc} : (gab_config_word){0};
}

static const gab_config_key balance_keys[] = {
    {.name = "strategy",
     .type = GAB_CONFIG_CHOICE,
     .words = balancer_word,
     .default_text = "hilbert",
     .outside = true,
     .doc = "How blocks are shared out."},
    {.name = "weights",
     .type = GAB_CONFIG_CHOICE,
     .choices = "per_level|total",
     .default_text = "per_level",
     .outside = true,
     .doc = "Whether every level is shared out evenly by itself, or only the sum of all work is."},
    {.name = "work",
     .type = GAB_CONFIG_CHOICE,
     .choices = "cells|measured",
     .default_text = "cells",
     .outside = true,
     .doc =
         "What the work of a block is: its cells, of a flow the fluid ones, and the steps they take; or the time that "
         "it took in the steps before. Results do not depend on it."},
    {.name = "every",
     .type = GAB_CONFIG_INT,
     .unit = "steps",
     .min = 0,
     .max = 9e15,
     .default_text = "0",
     .outside = true,
     .doc =
         "With work: measured, steps after which blocks are shared out anew if the work was uneven. 0: only when the "
         "grid changes or a process is lost."},
    {.name = "above",
     .type = GAB_CONFIG_REAL,
     .min = 1,
     .max = 1e6,
     .default_text = "1.1",
     .outside = true,
     .doc =
         "With every: work of the busiest process over the mean above which it is uneven; with weights: per_level, of the "
         "busiest of each level, summed up. Blocks then move if that becomes at least a twentieth less."},
};

/* Quantities of all solvers, one behind the other. @param[out] of  whose it is; NULL behind the last */
static gab_config_word quantity_word(int index, const gab_solver **of)
{
  gab_config_word word = {0};
  for (int i = 0; (*of = gab_app_solver_at(i)); i++) {
    int count = 0;
    while ((word = gab_app_solver_quantity(*of, count)).name && count < index) count++;
    if (word.name) return word;
    index -= count;
  }
  return word;
}

static gab_config_word field_word(int index)
{
  const gab_solver *of;
  gab_config_word word = quantity_word(index, &of);
  for (int i = 0; of && of->usual_fields[i]; i++) word.usual |= strcmp(of->usual_fields[i], word.name) == 0;
  return word;
}

static gab_config_word slice_word(int index)
{
  const gab_solver *of;
  gab_config_word word = quantity_word(index, &of);
  if (of) word.usual = strcmp(of->usual_slice, word.name) == 0;
  return word;
}

static const gab_config_key fields_keys[] = {
    SCHEDULE_KEYS,
    {.name = "final",
     .type = GAB_CONFIG_BOOL,
     .default_text = "true",
     .outside = true,
     .doc = "Whether the last state is written in any case; where the run is continued later, it stays."},
    {.name = "quantities",
     .type = GAB_CONFIG_STRING,
     .length_min = 1,
     .length_max = 16,
     .words = field_word,
     .default_text = GAB_CONFIG_OPTIONAL,
     .outside = true,
     .doc = "What is written."},
    FIELD_FILE_KEYS,
};

static const gab_config_key slice_keys[] = {
    SCHEDULE_KEYS,
    {.name = "quantity",
     .type = GAB_CONFIG_STRING,
     .words = slice_word,
     .default_text = GAB_CONFIG_OPTIONAL,
     .outside = true,
     .doc = "What is shown; of a vector its absolute value, or a component such as velocity.x."},
    {.name = "name",
     .type = GAB_CONFIG_STRING,
     .default_text = GAB_CONFIG_OPTIONAL,
     .outside = true,
     .distinct = true,
     .doc = "First part of the file name: letters, digits and _ - + .; by default quantity and axis."},
    {.name = "axis",
     .type = GAB_CONFIG_CHOICE,
     .choices = "x|y|z",
     .default_text = "z",
     .outside = true,
     .doc = "Normal of the slice; in 2D it is z."},
    {.name = "position",
     .type = GAB_CONFIG_REAL,
     .default_text = GAB_CONFIG_OPTIONAL,
     .outside = true,
     .doc = "Coordinate on that axis; by default the middle of the domain."},
    {.name = "range",
     .type = GAB_CONFIG_REAL,
     .length_min = 2,
     .length_max = 2,
     .default_text = GAB_CONFIG_OPTIONAL,
     .outside = true,
     .doc = "Values at the ends of the colour bar; by default those that occur."},
    {.name = "outlines",
     .type = GAB_CONFIG_BOOL,
     .default_text = "false",
     .outside = true,
     .doc = "Whether the blocks are drawn. In the colours of owners, a phase field is also drawn after each "
            "death as it "
            "was restored, without the blocks of the dead (NAME_lost)."},
    {.name = "outlined",
     .type = GAB_CONFIG_CHOICE,
     .choices = "owner|level",
     .default_text = "owner",
     .outside = true,
     .doc = "What the colours of the outlines tell: who owns a block, or its level of refinement."},
    {.name = "final",
     .type = GAB_CONFIG_BOOL,
     .default_text = "true",
     .outside = true,
     .doc = "Whether the last state is drawn in any case; where the run is continued later, it stays."},
};

static const gab_config_key output_keys[] = {
    {.name = "retry",
     .type = GAB_CONFIG_REAL,
     .unit = "s",
     .min = 0,
     .max = 1e6,
     .default_text = "60",
     .outside = true,
     .doc =
         "How long series, fields and pictures wait and try again when the disk refuses them (full, quota, no answer), "
         "before the run ends and names the file. With gabion-launch --relaunch it then resumes from the memory of the nodes."},
};

static const gab_config_section sections[] = {
    {.path = "run", .doc = "The run as a whole.", KEYS(run_keys)},
    {.path = "domain", .doc = "The grid and how it is cut into blocks.", KEYS(domain_keys)},
    {.path = "balance", .doc = "Which process computes which blocks.", KEYS(balance_keys)},
    {.path = "output", .doc = "All that is written.", KEYS(output_keys)},
    {.path = "output.fields",
     .doc = "Fields on all cells for ParaView (open fields/fields.xdmf).",
     KEYS(fields_keys)},
    {.path = "output.slices", .doc = "Pictures (PNG) of plane slices.", .is_list = true, KEYS(slice_keys)},
};

gab_status gab_app_declare(gab_config *config, const gab_config_section *list, size_t count)
{
  for (size_t i = 0; i < count; i++) GAB_TRY(gab_config_declare(config, &list[i]));
  return GAB_OK;
}

/* Of all solvers, then those that were registered. */
static const gab_monitor *monitor_at(int index)
{
  const gab_solver *solver;
  for (int i = 0; (solver = gab_app_solver_at(i)); i++) {
    const gab_monitor_list list = solver->monitors ? solver->monitors() : (gab_monitor_list){0};
    if ((size_t)index < list.count) return &list.items[index];
    index -= (int)list.count;
  }
  return gab_monitor_at(index);
}

/* One that several solvers have once only. */
static gab_config_word monitor_word(int index)
{
  const gab_monitor *one;
  for (int i = 0; (one = monitor_at(i)); i++) {
    int first = 0;
    while (strcmp(monitor_at(first)->name, one->name) != 0) first++;
    if (first == i && index-- == 0) return (gab_config_word){.name = one->name, .doc = one->doc};
  }
  return (gab_config_word){0};
}

static gab_status declare_all(gab_config *config)
{
  const gab_solver *solver;
  GAB_TRY(gab_app_declare(config, sections, sizeof sections / sizeof sections[0]));
  for (int i = 0; (solver = gab_app_solver_at(i)); i++) GAB_TRY(solver->declare(config));
  GAB_TRY(gab_resilience_declare(config));
  GAB_TRY(gab_config_set_words(config, "resilience.monitors", monitor_word));
  return gab_app_recompute_declare(config);
}

gab_status gab_app_config_create(gab_config **config)
{
  GAB_TRY(gab_config_create(config));
  const gab_status status = declare_all(*config);
  if (status != GAB_OK) gab_config_destroy(config);
  return status;
}

gab_status gab_app_config_finish(gab_config *config, const gab_app_options *options)
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
  if (status == GAB_OK) status = gab_app_config_finish(*config, options);
  if (status != GAB_OK) gab_config_destroy(config);
  return status;
}

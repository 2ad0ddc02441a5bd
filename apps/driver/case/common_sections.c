/* SPDX-License-Identifier: Apache-2.0 */
/* Sections of parameter files common to all solvers: run, domain, balance, output. */
#include "apps/driver/case/common_sections.h"

#include "apps/driver/driver.h"
#include "resilience/resilience_config.h"

#include <math.h>
#include <string.h>

static const gab_config_key run_keys[] = {
    {.name = "title",
     .type = GAB_CONFIG_STRING,
     .default_text = "\"\"",
     .outside = true,
     .doc = "Title of the case, for the log."},
    {.name = "steps",
     .instead_of = "time",
     .type = GAB_CONFIG_INT,
     .min = 0,
     .max = 9e15,
     .default_text = GAB_CONFIG_OPTIONAL,
     .doc = "Number of time steps; give either this or time."},
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
     .doc = "Recommended number of processes, used by scripts/run.sh; the result does not depend on "
            "it."},
    {.name = "check_every",
     .type = GAB_CONFIG_INT,
     .min = 0,
     .max = 9e15,
     .default_text = "100",
     .outside = true,
     .doc = "Interval of the NaN/Inf check, in steps; 0: never."},
};

static const gab_config_key domain_keys[] = {
    {.name = "cells",
     .type = GAB_CONFIG_INT,
     .unit = "cells",
     .min = 1,
     .max = 2147483647,
     .length_min = 2,
     .length_max = 3,
     .doc = "Cells of the domain in x, y, z; two numbers for 2D."},
    {.name = "block",
     .type = GAB_CONFIG_INT,
     .unit = "cells",
     .min = 1,
     .max = 100000,
     .length_min = 2,
     .length_max = 3,
     .doc = "Cells of a block in x, y, z; the domain must be a whole number of blocks."},
    {.name = "dx",
     .instead_of = "length",
     .type = GAB_CONFIG_REAL,
     .min = 1e-100,
     .max = 1e100,
     .default_text = GAB_CONFIG_OPTIONAL,
     .doc = "Width of a cell; default: from length, else 1 (lattice units)."},
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

static gab_config_choice balancer_choice(int index)
{
  const gab_balancer *one = gab_balancer_at(index);
  return one ? (gab_config_choice){.name = one->name, .doc = one->doc} : (gab_config_choice){0};
}

static const gab_config_key balance_keys[] = {
    {.name = "strategy",
     .type = GAB_CONFIG_CHOICE,
     .choice_at = balancer_choice,
     .default_text = "hilbert",
     .outside = true,
     .doc = "How blocks are partitioned."},
    {.name = "weights",
     .type = GAB_CONFIG_CHOICE,
     .choices = "per_level|total",
     .default_text = "per_level",
     .outside = true,
     .doc = "Balance each level by itself (per_level), or only the sum of all work (total)."},
    {.name = "work",
     .type = GAB_CONFIG_CHOICE,
     .choices = "cells|measured",
     .default_text = "cells",
     .outside = true,
     .doc = "Work of a block. cells: its cells (of a flow, the fluid ones) times their steps; "
            "measured: the time of the previous steps. Results do not depend on it."},
    {.name = "every",
     .type = GAB_CONFIG_INT,
     .unit = "steps",
     .min = 0,
     .max = 9e15,
     .default_text = "0",
     .outside = true,
     .doc = "Only with `work: measured`. Interval of rebalancing, in steps. 0: only when the grid "
            "changes or a process is lost."},
    {.name = "above",
     .type = GAB_CONFIG_REAL,
     .min = 1,
     .max = 1e6,
     .default_text = "1.1",
     .outside = true,
     .doc = "Only with `every`. Rebalance if the maximum work per process exceeds this multiple of "
            "the mean (with `weights: per_level`, maxima of all levels added), and only if that ratio"
            " improves by at least 5 %."},
};

/* Concatenated quantities of all solvers. @param[out] of the solver; NULL after the last */
static gab_config_choice quantity_choice(int index, const gab_solver **of)
{
  gab_config_choice choice = {0};
  for (int i = 0; (*of = gab_app_solver_at(i)); i++) {
    int count = 0;
    while ((choice = gab_app_solver_quantity(*of, count)).name && count < index) count++;
    if (choice.name) return choice;
    index -= count;
  }
  return choice;
}

static gab_config_choice field_choice(int index)
{
  const gab_solver *of;
  gab_config_choice choice = quantity_choice(index, &of);
  for (int i = 0; of && of->usual_fields[i]; i++)
    choice.usual |= strcmp(of->usual_fields[i], choice.name) == 0;
  return choice;
}

static gab_config_choice slice_choice(int index)
{
  const gab_solver *of;
  gab_config_choice choice = quantity_choice(index, &of);
  if (of) choice.usual = strcmp(of->usual_slice, choice.name) == 0;
  return choice;
}

static const gab_config_key fields_keys[] = {
    SCHEDULE_KEYS,
    {.name = "final",
     .type = GAB_CONFIG_BOOL,
     .default_text = "true",
     .outside = true,
     .doc = "Write the last state in any case; it stays if the run is resumed later."},
    {.name = "quantities",
     .type = GAB_CONFIG_STRING,
     .length_min = 1,
     .length_max = 16,
     .choice_at = field_choice,
     .default_text = GAB_CONFIG_OPTIONAL,
     .outside = true,
     .doc = "Quantities to write."},
    {.name = "format",
     .type = GAB_CONFIG_CHOICE,
     .choices = "gabion|vtkhdf",
     .length_min = 1,
     .length_max = 2,
     .default_text = "[gabion]",
     .outside = true,
     .doc =
         "Files to write. gabion: one per rank, compressed, with XDMF; a later run can start from them. vtkhdf: one for "
         "all ranks, which VTK and ParaView read with closed isosurfaces (open fields/fields.vtkhdf.series)."},
    FIELD_FILE_KEYS,
};

static const gab_config_key slice_keys[] = {
    SCHEDULE_KEYS,
    {.name = "quantity",
     .type = GAB_CONFIG_STRING,
     .choice_at = slice_choice,
     .default_text = GAB_CONFIG_OPTIONAL,
     .outside = true,
     .doc = "Quantity to draw; of a vector its magnitude, or a component such as velocity.x."},
    {.name = "name",
     .type = GAB_CONFIG_STRING,
     .default_text = GAB_CONFIG_OPTIONAL,
     .outside = true,
     .distinct = true,
     .doc = "Prefix of the file name: letters, digits and _ - + .; default: quantity and axis."},
    {.name = "axis",
     .type = GAB_CONFIG_CHOICE,
     .choices = "x|y|z",
     .default_text = "z",
     .outside = true,
     .doc = "Normal of the slice; z in 2D."},
    {.name = "position",
     .type = GAB_CONFIG_REAL,
     .default_text = GAB_CONFIG_OPTIONAL,
     .outside = true,
     .doc = "Coordinate on that axis; default: the middle of the domain."},
    {.name = "range",
     .type = GAB_CONFIG_REAL,
     .length_min = 2,
     .length_max = 2,
     .default_text = GAB_CONFIG_OPTIONAL,
     .outside = true,
     .doc = "Limits of the colour bar; default: minimum and maximum."},
    {.name = "outlines",
     .type = GAB_CONFIG_BOOL,
     .default_text = "false",
     .outside = true,
     .doc = "Draw outlines of the blocks. With `outlined: owner`, a phase field is also drawn after "
            "each death as it was restored, without the blocks of the dead (NAME_lost)."},
    {.name = "outlined",
     .type = GAB_CONFIG_CHOICE,
     .choices = "owner|level",
     .default_text = "owner",
     .outside = true,
     .doc = "Colour of the outlines: owner of the block, or its level."},
    {.name = "tracers",
     .type = GAB_CONFIG_BOOL,
     .default_text = "false",
     .outside = true,
     .doc = "Draw tracers as dots; in 3D those in the cells of the slice. Of flows."},
    {.name = "final",
     .type = GAB_CONFIG_BOOL,
     .default_text = "true",
     .outside = true,
     .doc = "Draw the last state in any case; it stays if the run is resumed later."},
};

static const gab_config_key output_keys[] = {
    {.name = "retry",
     .type = GAB_CONFIG_REAL,
     .unit = "s",
     .min = 0,
     .max = 1e6,
     .default_text = "60",
     .outside = true,
     .doc = "Time during which refused writes of series, fields and pictures are retried (disk full, "
            "quota, no answer). Then the run ends and names the file; with gabion-launch --relaunch "
            "it resumes from node memory."},
};

static const gab_config_section sections[] = {
    {.path = "run", .doc = "The run as a whole.", KEYS(run_keys)},
    {.path = "domain", .doc = "The grid and its partition into blocks.", KEYS(domain_keys)},
    {.path = "balance", .doc = "Assignment of blocks to ranks.", KEYS(balance_keys)},
    {.path = "output", .doc = "Output.", KEYS(output_keys)},
    {.path = "output.fields",
     .doc = "Fields on all cells for ParaView (open fields/fields.xdmf or fields/fields.vtkhdf.series).",
     KEYS(fields_keys)},
    {.path = "output.slices", .doc = "Pictures (PNG) of plane slices.", .is_list = true, KEYS(slice_keys)},
};

gab_status gab_app_declare(gab_config *config, const gab_config_section *list, size_t count)
{
  for (size_t i = 0; i < count; i++) GAB_TRY(gab_config_declare(config, &list[i]));
  return GAB_OK;
}

/* Sections of all solvers, then registered ones. */
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

/* A monitor of several solvers is listed once. */
static gab_config_choice monitor_choice(int index)
{
  const gab_monitor *one;
  for (int i = 0; (one = monitor_at(i)); i++) {
    int first = 0;
    while (strcmp(monitor_at(first)->name, one->name) != 0) first++;
    if (first == i && index-- == 0) return (gab_config_choice){.name = one->name, .doc = one->doc};
  }
  return (gab_config_choice){0};
}

gab_status gab_app_declare_all(gab_config *config)
{
  const gab_solver *solver;
  GAB_TRY(gab_app_declare(config, sections, sizeof sections / sizeof sections[0]));
  GAB_TRY(gab_config_declare(config, &gab_config_constants));
  for (int i = 0; (solver = gab_app_solver_at(i)); i++) GAB_TRY(solver->declare(config));
  GAB_TRY(gab_resilience_declare(config));
  GAB_TRY(gab_config_set_choices(config, "resilience.monitors", monitor_choice));
  return gab_app_recompute_declare(config);
}

/* SPDX-License-Identifier: Apache-2.0 */
/* The tables of the sections that describe a flow. */
#include "lbm/setup/initial_flows_impl.h"
#include "lbm/setup/lbm_config.h"

#include "lbm/sides/side_impl.h"
#include "lbm/kernels/kernel_family.h"
#include "lbm/setup/patches_impl.h"
#include "lbm/setup/rheology_keys.h"
#include "lbm/setup/statistics_keys.h"

#include <ctype.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#define COUNT(list) (sizeof(list) / sizeof(list)[0])

#define MRT_RATE(key, text)                                                                                  \
  {                                                                                                          \
    .name = (key), .type = GAB_CONFIG_REAL, .min = 0, .max = 2, .min_excluded = true,                        \
    .default_text = GAB_CONFIG_OPTIONAL, .doc = (text)                                                       \
  }

/* "auto", and the names of all lattices in small letters. */
static gab_config_choice lattice_choice(int index)
{
  static char names[GAB_MOST_LATTICES][GAB_LATTICE_MOST_LETTERS + 1];
  if (index == 0) return (gab_config_choice){.name = "auto", .doc = "d2q9 in 2D, d3q19 in 3D"};
  const gab_lattice *lattice = gab_lattice_at(index - 1);
  if (!lattice) return (gab_config_choice){0};
  char *name = names[index - 1];
  for (size_t i = 0; i <= strlen(lattice->name); i++)
    name[i] = (char)tolower((unsigned char)lattice->name[i]);
  return (gab_config_choice){.name = name, .doc = lattice->doc};
}

static gab_config_choice kernel_choice(int index)
{
  const gab_kernel_family *kernel = gab_kernel_family_at(index);
  return (gab_config_choice){.name = kernel ? kernel->name : NULL, .doc = kernel ? kernel->doc : NULL};
}

static gab_config_choice collision_choice(int index)
{
  const gab_collision *model = gab_collision_at(index);
  return model ? (gab_config_choice){.name = model->name, .doc = model->doc} : (gab_config_choice){0};
}

static const gab_config_key lbm_keys[] = {
    {.name = "lattice",
     .type = GAB_CONFIG_CHOICE,
     .choice_at = lattice_choice,
     .default_text = "auto",
     .doc = "The lattice."},
    {.name = "collision",
     .type = GAB_CONFIG_CHOICE,
     .choice_at = collision_choice,
     .default_text = "trt",
     .doc = "Collision model."},
    {.name = "magic",
     .type = GAB_CONFIG_REAL,
     .min = 0,
     .max = 10,
     .min_excluded = true,
     .default_text = "0.1875",
     .doc = "Magic parameter (1/omega - 1/2)(1/omega_odd - 1/2); 3/16 places half-way walls exactly. "
            "TRT; MRT only if given, instead of rate_energy_flux and rate_third."},
    MRT_RATE("rate_energy",
             "Only with `collision: mrt`. Relaxation rate of the energy; sets the bulk viscosity. "
             "Default: 1.64 in 2D (Lallemand & Luo 2000), 1.19 in 3D (d'Humieres et al. 2002), as for "
             "all rates here."),
    MRT_RATE("rate_energy_square",
             "Only with `collision: mrt`. Relaxation rate of the energy square. Default: 1.54 in 2D, "
             "1.4 in 3D."),
    MRT_RATE("rate_energy_flux",
             "Only with `collision: mrt`. Relaxation rate of the energy flux. Default: 1.9 in 2D, 1.2 "
             "in 3D, or from magic."),
    MRT_RATE("rate_stress",
             "Only with `collision: mrt` in 3D. Relaxation rate of the stress-like moments of fourth "
             "order. Default: 1.4."),
    MRT_RATE("rate_third",
             "Only with `collision: mrt` in 3D. Relaxation rate of the third-order moments other than "
             "the energy flux. Default: 1.98, or from magic."),
    {.name = "open_speed",
     .type = GAB_CONFIG_REAL,
     .min = 0,
     .max = INFINITY,
     .unit = "m/s",
     .default_text = GAB_CONFIG_OPTIONAL,
     .doc = "TRT, and MRT with magic: flow speed up to which velocity, pressure and outflow sides are"
            " stable; reduces magic where needed. Default: twice the largest speed in this file, if "
            "its cell Reynolds number exceeds 10; 0: magic unchanged."},
    {.name = "precision",
     .type = GAB_CONFIG_CHOICE,
     .choices = "double|float|mixed",
     .default_text = "double",
     .doc = "Precision of stored populations and arithmetic. mixed: stored as float, collisions in "
            "double; half of the memory, and rounding errors only in storage."},
    {.name = "kernel",
     .type = GAB_CONFIG_CHOICE,
     .choice_at = kernel_choice,
     .default_text = "auto",
     .outside = true,
     .doc = "Kernel family; all families of the library give the same bits."},
    {.name = "fused_blocks",
     .type = GAB_CONFIG_INT,
     .min = 0,
     .max = 16,
     .default_text = "0",
     .outside = true,
     .doc = "Number of blocks of a process that share one field, row by row (fused blocks); adjacent "
            "ones along x need no ghosts. The bits do not depend on it. In-place kernel only. 0: rows"
            " of 128 cells, at most 1 + an eighth of the blocks of a process, or the even number "
            "above. 1: one field per block; then all blocks without messages are computed during the "
            "exchange."},
    {.name = "temporal_blocking",
     .type = GAB_CONFIG_INT,
     .min = 0,
     .max = 8,
     .default_text = "0",
     .outside = true,
     .doc = "Temporal blocking: maximum number of steps per sweep through memory, where no output, "
            "monitor, checkpoint or force needs a state in between. The bits do not depend on it. 0: "
            "by the size of the caches, at most 4, and 1 if all cells fit into them; 1: off. Needs "
            "the in-place kernel, one level, no ghosts from messages or across periodic ends other "
            "than x, and no program that adds work to each step; else steps are taken one by one."},
};
static const gab_config_section lbm_section = {.path = "lbm",
                                               .doc = "The lattice Boltzmann method.",
                                               .keys = lbm_keys,
                                               .count = COUNT(lbm_keys),
                                               .optional = true};

#define POSITIVE .min = 0, .max = INFINITY, .min_excluded = true

static const gab_config_key fluid_keys[] = {
    {.name = "density",
     .type = GAB_CONFIG_REAL,
     POSITIVE,
     .unit = "kg/m^3",
     .default_text = "1",
     .doc = "Reference density of the fluid."},
    {.name = "viscosity",
     .instead_of = "reynolds",
     .type = GAB_CONFIG_REAL,
     POSITIVE,
     .unit = "m^2/s",
     .default_text = GAB_CONFIG_OPTIONAL,
     .doc =
         "Kinematic viscosity; alternatives: reynolds, or omega and the time step, or consistency with a fluid.model."},
    {.name = "reynolds",
     .instead_of = "viscosity",
     .type = GAB_CONFIG_REAL,
     POSITIVE,
     .default_text = GAB_CONFIG_OPTIONAL,
     .doc = "Velocity * length / viscosity, instead of the viscosity."},
    {.name = "velocity",
     .type = GAB_CONFIG_REAL,
     POSITIVE,
     .unit = "m/s",
     .default_text = GAB_CONFIG_OPTIONAL,
     .doc = "Reference velocity, for reynolds, units.lattice_velocity and coefficients."},
    {.name = "length",
     .type = GAB_CONFIG_REAL,
     POSITIVE,
     .unit = "m",
     .default_text = GAB_CONFIG_OPTIONAL,
     .doc = "Reference length, for reynolds and coefficients."},
    {.name = "omega",
     .type = GAB_CONFIG_REAL,
     .min = 0,
     .max = 2,
     .min_excluded = true,
     .max_excluded = true,
     .default_text = GAB_CONFIG_OPTIONAL,
     .doc = "Relaxation rate, instead of the viscosity or the time step."},
    {.name = "acceleration",
     .type = GAB_CONFIG_REAL,
     .length_min = 2,
     .length_max = 3,
     .unit = "m/s^2",
     .default_text = "[0, 0, 0]",
     .doc = "Body force per mass."},
    {.name = "mean_velocity",
     .type = GAB_CONFIG_REAL,
     .length_min = 2,
     .length_max = 3,
     .unit = "m/s",
     .default_text = "[0, 0, 0]",
     .doc =
         "Mean velocity of the fluid along periodic axes, which a body force is adjusted to hold; acceleration is its start. A component "
         "of 0 is not controlled."},
    {.name = "mean_velocity_every",
     .type = GAB_CONFIG_INT,
     .min = 1,
     .max = 1000000,
     .default_text = "10",
     .unit = "steps",
     .doc = "Interval at which that force is adjusted."},
};
static const gab_config_section fluid_section = {.path = "fluid",
                                                 .doc = "Fluid and reference scales.",
                                                 .keys = fluid_keys,
                                                 .count = COUNT(fluid_keys),
                                                 .optional = true};

static const gab_config_key units_keys[] = {
    {.name = "dt",
     .instead_of = "lattice_velocity",
     .type = GAB_CONFIG_REAL,
     POSITIVE,
     .unit = "s",
     .default_text = GAB_CONFIG_OPTIONAL,
     .doc = "Time step; alternatives: lattice_velocity, or fluid.omega and the viscosity."},
    {.name = "lattice_velocity",
     .instead_of = "dt",
     .type = GAB_CONFIG_REAL,
     .min = 0,
     .max = 0.4,
     .min_excluded = true,
     .unit = "cells per step",
     .default_text = GAB_CONFIG_OPTIONAL,
     .doc = "Value of fluid.velocity in cells per step, which determines the time step; usual values:"
            " 0.02 to 0.1."},
};
static const gab_config_section units_section = {.path = "units",
                                                 .doc = "Time step; the cell width follows from the domain.",
                                                 .keys = units_keys,
                                                 .count = COUNT(units_keys),
                                                 .optional = true};

/* ------------------------------------------------------------------------------------------ bodies */

static const gab_config_key common_body_keys[] = {
    {.name = "name",
     .type = GAB_CONFIG_STRING,
     .distinct = true,
     .default_text = "\"\"",
     .doc = "Name of the body in forces.csv, at most 31 characters."},
    {.name = "velocity",
     .type = GAB_CONFIG_REAL,
     .length_min = 2,
     .length_max = 3,
     .unit = "m/s",
     .default_text = "[0, 0, 0]",
     .doc = "Velocity of its surface; the body itself does not move."},
    {.name = "spin",
     .type = GAB_CONFIG_REAL,
     .length_min = 1,
     .length_max = 3,
     .unit = "rad/s",
     .default_text = GAB_CONFIG_OPTIONAL,
     .doc =
         "Angular velocity of its surface, about x, y, z; in 2D one number, about z. Added to the velocity."},
    {.name = "spin_centre",
     .type = GAB_CONFIG_REAL,
     .length_min = 2,
     .length_max = 3,
     .unit = "m",
     .default_text = GAB_CONFIG_OPTIONAL,
     .doc = "Point about which it spins; default: the middle of the body."},
    {.name = "rotation",
     .type = GAB_CONFIG_REAL,
     .length_min = 1,
     .length_max = 3,
     .unit = "degrees",
     .default_text = GAB_CONFIG_OPTIONAL,
     .doc = "The body is rotated about x, then y, then z by these angles; in 2D one angle, about z."},
    {.name = "rotation_centre",
     .type = GAB_CONFIG_REAL,
     .length_min = 2,
     .length_max = 3,
     .unit = "m",
     .default_text = GAB_CONFIG_OPTIONAL,
     .doc = "Point about which it is rotated; default: the middle of the body."},
    {.name = "copies",
     .type = GAB_CONFIG_INT,
     .length_min = 2,
     .length_max = 3,
     .min = 1,
     .max = 1 << 20,
     .default_text = GAB_CONFIG_OPTIONAL,
     .doc = "How often it is there along each axis, itself included."},
    {.name = "copy_offset",
     .type = GAB_CONFIG_REAL,
     .length_min = 2,
     .length_max = 3,
     .unit = "m",
     .default_text = GAB_CONFIG_OPTIONAL,
     .doc = "Distance from one copy to the next along each axis."},
    {.name = "torque_point",
     .type = GAB_CONFIG_REAL,
     .length_min = 2,
     .length_max = 3,
     .unit = "m",
     .default_text = GAB_CONFIG_OPTIONAL,
     .doc =
         "Point that its torque in forces.csv is about; default: spin_centre if it spins, else the middle of the body with its "
         "copies, and of the domain along axes where it is endless."},
};
#define WALL_KEY                                                                                             \
  {                                                                                                          \
    .name = "wall", .type = GAB_CONFIG_CHOICE, .choices = "interpolated|staircase",                          \
    .default_text = "interpolated",                                                                          \
    .doc = "Position of the wall: at the exact surface, or half-way between cells."                          \
  }
#define INSIDE_KEY                                                                                           \
  {                                                                                                          \
    .name = "inside", .type = GAB_CONFIG_CHOICE, .choices = "solid|fluid", .default_text = "solid",          \
    .doc = "fluid: the surroundings of the shape are solid, e.g. for pipes."                                 \
  }
#define CENTRE_KEY                                                                                           \
  {                                                                                                          \
    .name = "centre", .type = GAB_CONFIG_REAL, .length_min = 2, .length_max = 3, .unit = "m",                \
    .doc = "Centre of the body."                                                                             \
  }
#define RADIUS_KEY                                                                                           \
  {                                                                                                          \
    .name = "radius", .type = GAB_CONFIG_REAL, POSITIVE, .unit = "m", .doc = "Radius of the body."           \
  }
#define CORNER_KEYS                                                                                          \
  {.name = "lo",                                                                                             \
   .type = GAB_CONFIG_REAL,                                                                                  \
   .length_min = 2,                                                                                          \
   .length_max = 3,                                                                                          \
   .unit = "m",                                                                                              \
   .doc = "Lower corner."},                                                                                  \
  {                                                                                                          \
    .name = "hi", .type = GAB_CONFIG_REAL, .length_min = 2, .length_max = 3, .unit = "m",                    \
    .doc = "Upper corner."                                                                                   \
  }

static const gab_config_key set_keys[] = {
    {.name = "of",
     .type = GAB_CONFIG_STRING,
     .length_min = 1,
     .length_max = GAB_CONFIG_ANY_LENGTH,
     .doc = "Names of bodies before it in the list. They are parts of the set only."},
    WALL_KEY,
    INSIDE_KEY,
};
static const gab_config_key box_keys[] = {CORNER_KEYS, WALL_KEY, INSIDE_KEY};
static const gab_config_key sphere_keys[] = {CENTRE_KEY, RADIUS_KEY, WALL_KEY, INSIDE_KEY};
static const gab_config_key cylinder_keys[] = {
    CENTRE_KEY,
    RADIUS_KEY,
    {.name = "axis",
     .type = GAB_CONFIG_CHOICE,
     .choices = "x|y|z",
     .default_text = "z",
     .doc = "Direction of its axis; z in 2D."},
    {.name = "length",
     .type = GAB_CONFIG_REAL,
     POSITIVE,
     .unit = "m",
     .default_text = GAB_CONFIG_OPTIONAL,
     .doc = "Length along the axis, centred; default: infinite."},
    WALL_KEY,
    INSIDE_KEY,
};
static const gab_config_key mask_keys[] = {
    {.name = "file",
     .type = GAB_CONFIG_STRING,
     .file = GAB_CONFIG_FILE_BY_CASE,
     .doc = "PNG file; its dark pixels are the body."},
    CORNER_KEYS,
    INSIDE_KEY,
};
#define BODY(kind, text, list)                                                                               \
  {                                                                                                          \
    .path = "bodies", .doc = text, .keys = list, .count = COUNT(list), .is_list = true, .variant = kind      \
  }

static const gab_config_section body_sections[] = {
    {.path = "bodies",
     .doc = "Solid bodies in the flow; the first one that covers a cell owns it.",
     .keys = common_body_keys,
     .count = COUNT(common_body_keys),
     .is_list = true},
    BODY("box", "A box along the axes.", box_keys),
    BODY("sphere", "A sphere; a disc in 2D.", sphere_keys),
    BODY("cylinder", "A cylinder along an axis; a disc in 2D.", cylinder_keys),
    BODY("union", "All that is in any of its parts.", set_keys),
    BODY("intersection", "What all of its parts have in common.", set_keys),
    BODY("difference", "The first of its parts without the others.", set_keys),
    BODY("mask", "Dark pixels of a picture, in 2D; always a staircase.", mask_keys),
};

/* ------------------------------------------------------------------------------------------ initial state */

static const gab_config_key uniform_keys[] = {
    {.name = "velocity",
     .type = GAB_CONFIG_REAL,
     .length_min = 2,
     .length_max = 3,
     .unit = "m/s",
     .default_text = "[0, 0, 0]",
     .doc = "Initial velocity."},
};
static const gab_config_key vortex_keys[] = {
    {.name = "velocity", .type = GAB_CONFIG_REAL, POSITIVE, .unit = "m/s", .doc = "Amplitude."},
};
#define FORMULA(its_name, its_unit, its_doc)                                                                 \
  {                                                                                                          \
    .name = its_name, .type = GAB_CONFIG_EXPRESSION, .variables = "x|y|z", .min = -INFINITY,                 \
    .max = INFINITY, .unit = its_unit, .default_text = GAB_CONFIG_OPTIONAL, .doc = its_doc                   \
  }
static const gab_config_key formula_keys[] = {
    FORMULA("velocity_x", "m/s", "Initial velocity along x at a point in m; left out: 0."),
    FORMULA("velocity_y", "m/s", "The same along y."),
    FORMULA("velocity_z", "m/s", "The same along z."),
    FORMULA("pressure", "Pa", "Initial pressure, relative to the reference pressure; left out: 0."),
    GAB_PROJECT_KEY,
    GAB_CONSISTENT_KEY("false"),
};
static const gab_config_section initial_sections[] = {
    {.path = "initial",
     .doc = "Uniform state.",
     .keys = uniform_keys,
     .count = COUNT(uniform_keys),
     .optional = true,
     .variant = "uniform",
     .variant_is_default = true},
    {.path = "initial",
     .doc = "One period of the Taylor-Green vortices over the domain.",
     .keys = vortex_keys,
     .count = COUNT(vortex_keys),
     .optional = true,
     .variant = "taylor_green"},
    {.path = "initial",
     .doc = "Formulas of the position. The velocity has to be free of divergence, or is projected.",
     .keys = formula_keys,
     .count = COUNT(formula_keys),
     .optional = true,
     .variant = "formula"},
};

/* A table for each kind of each side, and for each condition that a program has registered. */
static gab_status declare_sides(gab_config *config)
{
  enum { MOST_KINDS = GAB_SIDE_OWN + GAB_MOST_BOUNDARIES };
  static gab_config_section sections[GAB_SIDE_COUNT][MOST_KINDS];
  for (int side = 0; side < GAB_SIDE_COUNT; side++)
    for (int i = 0; gab_boundary_name(i); i++) {
      const gab_side_descriptor *kind = i < GAB_SIDE_OWN ? gab_side_kinds[i] : NULL;
      const gab_boundary *own = gab_boundary_at(i - GAB_SIDE_OWN);
      sections[side][i] = (gab_config_section){.path = gab_side_paths[side],
                                               .doc = kind ? kind->doc : own->doc,
                                               .keys = kind ? kind->keys : own->keys,
                                               .count = kind ? kind->key_count : own->key_count,
                                               .optional = true,
                                               .variant = gab_boundary_name(i),
                                               .variant_is_default = kind == &gab_side_periodic};
      GAB_TRY(gab_config_declare(config, &sections[side][i]));
    }
  return GAB_OK;
}

/* A table for each shape with a descriptor. Those without exact surface are staircases. */
static gab_status declare_shapes(gab_config *config)
{
  static const gab_config_key of_all[] = {INSIDE_KEY, WALL_KEY};
  static gab_config_key keys[2 * GAB_MOST_BODY_SHAPES][GAB_MOST_BODY_SHAPE_KEYS + COUNT(of_all)];
  static gab_config_section sections[2 * GAB_MOST_BODY_SHAPES];
  for (int i = 0; gab_body_shape_at(i); i++) {
    const gab_body_shape *own = gab_body_shape_at(i);
    memcpy(keys[i], own->keys, own->key_count * sizeof own->keys[0]);
    memcpy(keys[i] + own->key_count, of_all, sizeof of_all);
    sections[i] = (gab_config_section){.path = "bodies",
                                       .doc = own->doc,
                                       .keys = keys[i],
                                       .count = own->key_count + COUNT(of_all) - !own->distance,
                                       .is_list = true,
                                       .variant = own->name};
    GAB_TRY(gab_config_declare(config, &sections[i]));
  }
  return GAB_OK;
}

/* ------------------------------------------------------------------------------------------ porous regions */

static const gab_config_key porous_keys[] = {
    {.name = "name",
     .type = GAB_CONFIG_STRING,
     .distinct = true,
     .default_text = "\"\"",
     .doc = "Name of the region in porous.csv, at most 31 characters."},
    {.name = "permeability",
     .type = GAB_CONFIG_REAL,
     POSITIVE,
     .length_min = 1,
     .length_max = 3,
     .unit = "m^2",
     .default_text = GAB_CONFIG_OPTIONAL,
     .doc =
         "Permeability K of Darcy's law: pressure gradient = density * viscosity / K * superficial velocity. One number, "
         "or one for each axis. Needed but by parts of sets."},
    {.name = "forchheimer",
     .type = GAB_CONFIG_REAL,
     .min = 0,
     .max = INFINITY,
     .length_min = 1,
     .length_max = 3,
     .unit = "1/m",
     .default_text = "[0]",
     .doc =
         "Coefficient beta of Forchheimer's term: density * beta * speed * velocity is added to the pressure gradient. One "
         "number, or one for each axis. beta = c_F / sqrt(K), or half of an inertial resistance factor."},
};

/* Keys of bodies that regions have, too: no walls. */
static size_t copy_keys(const gab_config_key *from, size_t count, gab_config_key *to)
{
  static const char *const of_walls[] = {"name", "velocity",     "spin",  "spin_centre",
                                         "wall", "torque_point", "inside"};
  size_t kept = 0;
  for (size_t i = 0; i < count; i++) {
    bool is_of_wall = false;
    for (size_t k = 0; k < COUNT(of_walls); k++) is_of_wall |= strcmp(from[i].name, of_walls[k]) == 0;
    if (!is_of_wall) to[kept++] = from[i];
  }
  return kept;
}

/* The shapes of bodies. */
static gab_status declare_porous(gab_config *config)
{
  enum { MOST_KEYS = GAB_MOST_BODY_SHAPE_KEYS, MOST = COUNT(body_sections) + 2 * GAB_MOST_BODY_SHAPES };
  static gab_config_key common[COUNT(porous_keys) + COUNT(common_body_keys)], keys[MOST][MOST_KEYS];
  static gab_config_section sections[MOST];
  size_t count = 0;
  memcpy(common, porous_keys, sizeof porous_keys);
  const size_t more = copy_keys(common_body_keys, COUNT(common_body_keys), common + COUNT(porous_keys));
  sections[count] = (gab_config_section){
      .path = "porous",
      .doc =
          "Porous regions, with a drag by the law of Darcy and Forchheimer; the first one that covers a cell counts.",
      .keys = common,
      .count = COUNT(porous_keys) + more,
      .is_list = true};
  GAB_TRY(gab_config_declare(config, &sections[count++]));
  for (size_t i = 1; i < COUNT(body_sections); i++, count++) {
    sections[count] = body_sections[i];
    sections[count].count = copy_keys(body_sections[i].keys, body_sections[i].count, keys[count]);
  }
  for (int i = 0; gab_body_shape_at(i); i++, count++) {
    const gab_body_shape *own = gab_body_shape_at(i);
    sections[count] = (gab_config_section){.doc = own->doc, .is_list = true, .variant = own->name};
    sections[count].count = copy_keys(own->keys, own->key_count, keys[count]);
  }
  for (size_t i = 1; i < count; i++) {
    sections[i].path = "porous";
    sections[i].keys = keys[i];
    GAB_TRY(gab_config_declare(config, &sections[i]));
  }
  return GAB_OK;
}

gab_status gab_lbm_declare(gab_config *config)
{
  GAB_TRY(gab_config_declare(config, &lbm_section));
  for (int i = 0; gab_collision_at(i); i++)
    if (gab_collision_at(i)->section) GAB_TRY(gab_config_declare(config, gab_collision_at(i)->section));
  GAB_TRY(gab_config_declare(config, &fluid_section));
  GAB_TRY(gab_rheology_declare(config));
  GAB_TRY(gab_config_declare(config, &units_section));
  GAB_TRY(gab_statistics_declare(config));
  GAB_TRY(declare_sides(config));
  GAB_TRY(gab_lbm_declare_patches(config));
  for (size_t i = 0; i < COUNT(body_sections); i++) GAB_TRY(gab_config_declare(config, &body_sections[i]));
  GAB_TRY(declare_shapes(config));
  GAB_TRY(gab_lbm_declare_body_patches(config));
  GAB_TRY(declare_porous(config));
  for (size_t i = 0; i < COUNT(initial_sections); i++)
    GAB_TRY(gab_config_declare(config, &initial_sections[i]));
  return gab_initial_flows_declare(config);
}

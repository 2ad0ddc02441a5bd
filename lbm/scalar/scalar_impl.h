/* SPDX-License-Identifier: Apache-2.0 */
/** @file scalar_impl.h
 *  @brief Shared parts of a scalar that a flow carries: its fields, cells, fluxes and borders.
 *
 *  Stability: internal.
 */
#ifndef GABION_LBM_SCALAR_IMPL_H
#define GABION_LBM_SCALAR_IMPL_H

#include "lbm/scalar/scalar.h"

#include "blockforest/exchange/block_field.h"
#include "blockforest/exchange/coupling.h"
#include "lbm/step/local_force.h"

#include <math.h>

/* Components of its field. The eddy diffusivity, in cells and steps of level 0, follows the momentum if the scalar has one. */
enum { SCALAR_VALUE, SCALAR_MOMENTUM };

/* Bits of scalar_cells.closed: one for each side of a cell through which nothing is carried, and the cell itself. */
enum { SCALAR_SOLID = 1 << 6, SCALAR_CONDUCTS = 1 << 7 /* and solid */ };

/* A face between a fluid or conducting cell and a solid one of the same level that does not conduct, or from the fluid to a conducting one. */
typedef struct scalar_face {
  int32_t cell[3]; /* the fluid or conducting one */
  int side, body;
  double distance; /* from its centre to the wall, in cells of its level */
  double area;     /* of the wall that belongs to it, in faces of its level */
} scalar_face;

/* Flow that a condition with a given velocity lets through a face at a side of the domain. */
typedef struct scalar_inflow {
  size_t face;    /* among the ghost cells beyond the side, x fastest */
  int32_t factor; /* of GAB_SIDE_FACTORS */
  double flow;    /* into the domain, per face and step of its level, at factor 1 and density 1 */
} scalar_inflow;

/* Conduction through a side of a cell if that or the next cell is solid. Resistances for the diffusivity of the fluid, in cells. */
typedef struct scalar_path {
  double fluid, solid; /* both 0: nothing is conducted */
  int32_t beyond;      /* at the end of a block: gab_geometry_cell() of the next coarser level there */
} scalar_path;

/* Derived block data: geometry, given inflow and source of a block. */
typedef struct scalar_cells {
  uint8_t *closed; /* x fastest; NULL: all cells and those around are fluid */
  uint8_t
      *beyond;  /* bits of sides at the end of the block where the cell of the next coarser level is solid */
  uint8_t *far; /* bits of sides two cells from which there is a solid one; of bounded scalars */
  int32_t *
      bodies; /* of each cell: the body that conducts in it; -1: fluid; -2: another solid. NULL: none does here */
  scalar_path *paths; /* with `bodies': of each cell and side */
  scalar_face *faces;
  size_t face_count;
  scalar_inflow *inflows; /* by side, then by face */
  size_t inflow_start[7]; /* of each side; the last one is their number */
  double *source;         /* per step of level 0; NULL: none that stays */
} scalar_cells;

struct gab_lbm_scalar {
  gab_lbm_scalar_options options;
  gab_forest *forest;
  gab_lbm *lbm;
  int dimension, finest, substeps;
  gab_local_force force;
  gab_lbm_scalar *before; /* the scalar that drove the flow before this one, and still does */
  gab_block_field shape;
  /* Ghosts of `next' hold no values of cells: NaN, or the flux along the axis through a face at the end of a block that is not one
   * between blocks of one level. */
  gab_data_id now, next, cells;
  gab_exchange *within;
  gab_coupling **between;           /* one per level of the coarser blocks */
  uint64_t revision;                /* of the forest for which ghosts of `next' were cleared */
  double factors[GAB_SIDE_FACTORS]; /* of the sides of the flow, in the step under way */
};

static inline bool scalar_has_bit(const uint8_t *bits, size_t cell, int bit)
{
  return bits && bits[cell] >> bit & 1;
}

/* A solid cell without a value. */
static inline bool scalar_is_empty(const scalar_cells *cells, size_t cell)
{
  return cells->closed && (cells->closed[cell] & (SCALAR_SOLID | SCALAR_CONDUCTS)) == SCALAR_SOLID;
}

/* The body that conducts in a cell; NULL: none. */
static inline const gab_lbm_scalar_wall *scalar_conductor(const gab_lbm_scalar *it, const scalar_cells *cells,
                                                          size_t cell)
{
  return cells->bodies && cells->bodies[cell] >= 0 ? &it->options.bodies[cells->bodies[cell]] : NULL;
}

/* Values of a row of cells along x. */
static inline const double *scalar_row(const gab_field *now, int32_t y, int32_t z)
{
  return (const double *)now->data + gab_field_index(&now->map, 0, y, z, SCALAR_VALUE);
}

/* Index of a cell in scalar_cells. */
static inline size_t scalar_cell_at(const gab_field *now, const int32_t x[3])
{
  const int32_t *cells = now->shape.cells;
  return ((size_t)x[2] * (size_t)cells[1] + (size_t)x[1]) * (size_t)cells[0] + (size_t)x[0];
}

/* Component of the eddy diffusivity; 0: there is none. */
static inline int scalar_eddies(const gab_lbm_scalar *it)
{
  return it->options.turbulent_prandtl > 0 ? SCALAR_MOMENTUM + it->dimension : 0;
}

/* In cells of the level of a block. */
static inline gab_box scalar_domain(const gab_lbm_scalar *it, const gab_block *block)
{
  gab_box domain = gab_forest_domain_cells(it->forest);
  for (int axis = 0; axis < it->dimension; axis++) domain.hi[axis] <<= gab_block_level(it->forest, block);
  return domain;
}

/* A sub-step in cells of a level that are 2^-level as wide: how much faster is carried, and conducted. */
typedef struct scalar_rates {
  double carries, conducts;
  double passes;  /* flux per area of level 0 */
  double spreads; /* eddy diffusivity of level 0 */
} scalar_rates;

static inline scalar_rates scalar_rates_of(const gab_lbm_scalar *it, const gab_block *block)
{
  const int level = gab_block_level(it->forest, block);
  return (scalar_rates){ldexp(0.25, level) / it->substeps,
                        ldexp(it->options.diffusivity, 2 * level) / it->substeps,
                        ldexp(1, level) / it->substeps, ldexp(1, 2 * level) / it->substeps};
}

/* The rates at a face with the eddy diffusivities of both of its cells. */
static inline scalar_rates scalar_rates_between(scalar_rates at, double eddies, double others)
{
  at.conducts += 0.5 * at.spreads * (eddies + others);
  return at;
}

/* The rates between a cell and a wall or a side. */
static inline scalar_rates scalar_rates_in(const gab_lbm_scalar *it, const gab_block *block, scalar_rates at,
                                           const int32_t x[3])
{
  const gab_field *now = gab_block_data(block, it->now);
  const gab_lbm_scalar_wall *body =
      scalar_conductor(it, gab_block_data(block, it->cells), scalar_cell_at(now, x));
  if (body) at.conducts *= body->conductivity;
  else if (scalar_eddies(it))
    at.conducts += at.spreads * gab_field_get(now, x[0], x[1], x[2], scalar_eddies(it));
  return at;
}

/* Flux through the face between a cell and the one before it along an axis. */
static inline double scalar_flux(const double *t, const double *j, ptrdiff_t before, scalar_rates at)
{
  return at.carries * (j[0] + j[before]) * (t[0] + t[before]) - at.conducts * (t[0] - t[before]);
}

/* A slope that two differences allow (van Leer 1974). */
static inline double scalar_limited(double a, double b)
{
  const double product = a * b;
  return product > 0 ? 2 * product / (a + b) : 0;
}

/* As scalar_flux() with a limited value at the face. @param[in] lower_ends, upper_ends  no value may be read two
 * cells below the face, or two above it */
static inline double scalar_bounded_flux(const double *t, const double *j, ptrdiff_t before, scalar_rates at,
                                         bool lower_ends, bool upper_ends)
{
  const double speed = 2 * at.carries * (j[0] + j[before]), rise = t[0] - t[before];
  const double below = lower_ends ? 0 : t[before] - t[2 * before], above = upper_ends ? 0 : t[-before] - t[0];
  const double from_below = t[before] + 0.5 * scalar_limited(below, rise),
               from_above = t[0] - 0.5 * scalar_limited(rise, above);
  return speed * (speed >= 0 ? from_below : from_above) - at.conducts * rise;
}

/* ---- scalar_cells.c */

/** The kind of block data of a scalar_cells. */
gab_block_data_kind gab_lbm_scalar_cells_kind(gab_lbm_scalar *it);
/** Conduction from a wall of a body into a cell in a sub-step: conductance (value - T), and a flux. Pure. */
typedef struct scalar_contact {
  double conductance, value, flux;
} scalar_contact;
/** @param[in] at  scalar_rates_in() the cell */
scalar_contact gab_lbm_scalar_contact_of(const gab_lbm_scalar *it, const scalar_face *face, scalar_rates at);

/** The source in a cell, per step of level 0. Only with a source. */
double gab_lbm_scalar_source_at(const gab_lbm_scalar *it, const gab_block *block, const int32_t x[3],
                                double step);

/* ---- scalar_borders.c */

gab_status gab_lbm_scalar_borders_create(gab_lbm_scalar *it);
void gab_lbm_scalar_borders_destroy(gab_lbm_scalar *it);
/** Fills ghosts within levels, and the fluxes through borders between them. Collective among neighbours. */
gab_status gab_lbm_scalar_exchange(gab_lbm_scalar *it);
/** Fluxes through the sides of the domain at a block. Local. */
void gab_lbm_scalar_fill_sides(const gab_lbm_scalar *it, const gab_block *block);
bool gab_lbm_scalar_is_at_side(const gab_lbm_scalar *it, const gab_block *block, int side);

/* ---- scalar_move.c */

/** The values one sub-step later, into `next`. Local. */
void gab_lbm_scalar_move_block(const gab_lbm_scalar *it, const gab_block *block, double step);
/** The flux through the lower face of a cell along an axis, from values before the sub-step; that of the upper one by
 *  the cell behind it. */
double gab_lbm_scalar_flux_at(const gab_lbm_scalar *it, const gab_block *block, const int32_t cell[3],
                              int side);
/** The values one sub-step later, into `next`, and ghosts of the present ones. Collective among neighbours.
 *  @param[in] flow_step  step of the velocities of sides @param[in] step  of the source, also parts of one */
gab_status gab_lbm_scalar_find_next(gab_lbm_scalar *it, double flow_step, double step);

#endif

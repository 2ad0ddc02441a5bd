/* SPDX-License-Identifier: Apache-2.0 */
/** @file output_quantity.h
 *  @brief Quantities for output: a named value per cell, evaluated block by block.
 *
 *  The solvers supply quantities (density, velocity, temperature, flags). The writers (volume files, pictures, probes)
 *  know only this description.
 *
 *  Stability: stable; extender where marked.
 */
#ifndef GABION_BLOCKFOREST_OUTPUT_QUANTITY_H
#define GABION_BLOCKFOREST_OUTPUT_QUANTITY_H

#include "blockforest/forest/forest.h"

#ifdef __cplusplus
extern "C" {
#endif

/** A quantity per cell. Receivers copy it; strings and `user` are borrowed as long as they use it. */
typedef struct gab_quantity {
  const char *name; /**< letters, digits, `_` and `-`; e.g. "velocity" */
  const char *unit; /**< for readers, e.g. "m/s"; NULL or "" if it has none */
  int components;   /**< 1 (scalar) or 3 (vector) */
  bool diverging; /**< has a meaningful zero between two signs: pictures use a colour map symmetric about 0 */
  /** A function of the state of each cell alone. Otherwise its writer first updates ghosts and other data around cells:
   *  gab_output_looks_around(). */
  bool pointwise;

  /** Fills one block: values[((z * ny + y) * nx + x) * components + component]. Not a number (NaN) marks a cell
   *  without a value, e.g. a solid one. Local, no communication; one thread at a time. */
  gab_status (*evaluate)(void *user, const gab_forest *forest, const gab_block *block, double *values);
  void *user;
  const char *doc; /**< a few words, for help; may be NULL */
} gab_quantity;

/** Precision of numbers in files. */
typedef enum gab_output_precision { GAB_OUTPUT_FLOAT = 0, GAB_OUTPUT_DOUBLE } gab_output_precision;

/** A list of selectable quantities. */
typedef struct gab_quantity_list {
  const gab_quantity *items; /**< borrowed */
  size_t count;
} gab_quantity_list;

/** A scalar of a quantity: one component, or the Euclidean norm of a vector. A scalar quantity has only
 *  ::GAB_COMPONENT_X; ::GAB_COMPONENT_MAGNITUDE means the same there (no absolute value is taken). */
typedef enum gab_component {
  GAB_COMPONENT_X = 0,
  GAB_COMPONENT_Y,
  GAB_COMPONENT_Z,
  GAB_COMPONENT_MAGNITUDE
} gab_component;

/** The scalar of one cell. @param[in] cell_values  the quantity's components of that cell */
double gab_quantity_scalar(const gab_quantity *quantity, gab_component component, const double *cell_values);

/** Size of the array of evaluate() for one block: cells of a block (equal for all) * components, in doubles. */
size_t gab_quantity_block_values(const gab_forest *forest, const gab_quantity *quantity);

/** ::GAB_ERR_ARGUMENT unless name, components and evaluate are as documented. */
GAB_EXTENDER gab_status gab_quantity_check(const gab_quantity *quantity);

/** Finds a quantity by name. @return ::GAB_ERR_INPUT with a list of the known names */
gab_status gab_quantity_find(gab_quantity_list list, const char *name, const gab_quantity **quantity);

/** Finds "velocity" (its magnitude), "velocity.x", "velocity.y", "velocity.z" and "velocity.magnitude".
 *  @return ::GAB_ERR_INPUT if the quantity or the component does not exist */
gab_status gab_quantity_find_scalar(gab_quantity_list list, const char *name, const gab_quantity **quantity,
                                    gab_component *component);

/** The owner rank of the block, for every cell. A property of the run, not of its state: it depends on the number of
 *  processes. @return a static object */
GAB_EXTENDER const gab_quantity *gab_quantity_owner(void);
/** The refinement level of the block. @return a static object */
GAB_EXTENDER const gab_quantity *gab_quantity_level(void);

#ifdef __cplusplus
}
#endif
#endif

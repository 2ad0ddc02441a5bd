/* SPDX-License-Identifier: Apache-2.0 */
/** @file own_quantity.h
 *  @brief User-defined quantities of a program, chosen by name in its parameter files: the common registry.
 *
 *  It handles names, texts, and the order after the built-in quantities. The arguments of a quantity depend on the
 *  solver, so each solver has its own descriptor, with a function of one of its cells:
 *  | solver | descriptor, and how it is registered |
 *  |---|---|
 *  | a flow | gab_lbm_quantity, gab_lbm_quantity_register() (lbm/observe/cell_quantity.h) |
 *  | a phase field | gab_phasefield_quantity, gab_phasefield_quantity_register() (phasefield/observe/cell_quantity.h) |
 *  | an equation of a program | gab_stencil_quantity, gab_stencil.quantities (apps/driver/stencil/stencil.h) |
 *
 *  Stability: extender.
 */
#ifndef GABION_BLOCKFOREST_OWN_QUANTITY_H
#define GABION_BLOCKFOREST_OWN_QUANTITY_H

#include "blockforest/output/output_quantity.h"
#include "core/config/config.h"

#ifdef __cplusplus
extern "C" {
#endif

enum { GAB_MOST_OWN_QUANTITIES = 16 };

/** `user` of an own quantity in a list, when it is evaluated. */
typedef struct gab_own_quantity {
  void *of;               /**< the run, or another object of the solver */
  const void *descriptor; /**< of the quantity */
} gab_own_quantity;

/** Adds a quantity to those of a solver, before the configuration is declared, the same on all processes.
 *  @param[in] solver  borrowed until the process ends; at most #GAB_MOST_OWN_QUANTITIES in total
 *  @param[in] quantity  copied; `user` is the descriptor, `evaluate` is called with a ::gab_own_quantity
 *  @param[in] taken  the built-in quantities of the solver
 *  @return ::GAB_ERR_ARGUMENT if the name is taken or invalid, a member is missing, or the table is full */
gab_status gab_own_quantity_register(const char *solver, const gab_quantity *quantity,
                                     gab_quantity_list taken);
/** @return the index-th quantity of a solver, in the order of registration; NULL past the end */
const gab_quantity *gab_own_quantity_at(const char *solver, int index);
/** Its name and description, for gab_config_choice_fn. */
gab_config_choice gab_own_quantity_choice(const char *solver, int index);
/** Appends the registered quantities of a solver. @param[in,out] items  with capacity for #GAB_MOST_OWN_QUANTITIES
 *  more
 *  @param[out] own  must live as long as the items; NULL: to look up names only @return the new count */
size_t gab_own_quantities_append(const char *solver, void *of, gab_own_quantity own[GAB_MOST_OWN_QUANTITIES],
                                 gab_quantity *items, size_t count);

#ifdef __cplusplus
}
#endif
#endif

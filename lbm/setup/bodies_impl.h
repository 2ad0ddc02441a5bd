/* SPDX-License-Identifier: Apache-2.0 */
/** @file bodies_impl.h
 *  @brief Bodies of a parameter file.
 *
 *  Stability: internal.
 */
#ifndef GABION_LBM_BODIES_IMPL_H
#define GABION_LBM_BODIES_IMPL_H

#include "lbm/boundaries/shapes/shapes_impl.h"
#include "lbm/setup/units.h"

/** Reads the section `bodies` or, without walls, `porous`. A body that a set names is a part of that set only. @param[out] bodies  owned, to be released by
 *  gab_lbm_release_bodies() and freed by gab_free(), after a failure, too
 *  @return ::GAB_ERR_INPUT with the place in the file */
gab_status gab_lbm_read_bodies(const gab_config *config, const char *list, int dimension, const char *folder,
                               const gab_units *units, gab_body **bodies, size_t *count);
/** Largest speed of its wall in the domain, in cells per step. */
double gab_lbm_body_speed(const gab_body *body, const gab_domain *domain);
/** Frees what they own. */
void gab_lbm_release_bodies(gab_body *bodies, size_t count);

#endif

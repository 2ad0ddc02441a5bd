/* SPDX-License-Identifier: Apache-2.0 */
/* Internal declarations of refinement criteria. */
#ifndef GABION_LBM_REFINEMENT_IMPL_H
#define GABION_LBM_REFINEMENT_IMPL_H

#include "lbm/levels/refinement/refinement.h"
#include "lbm/lbm_impl.h"

/* Declares the tables of registered criteria. */
gab_status gab_lbm_criteria_declare(gab_config *config);

#endif

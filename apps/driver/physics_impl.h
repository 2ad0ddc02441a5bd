/** @file physics_impl.h
 *  @brief Which physics there are, and the cases of all.
 *
 *  Tier: internal.
 */
#ifndef GABION_APPS_DRIVER_PHYSICS_IMPL_H
#define GABION_APPS_DRIVER_PHYSICS_IMPL_H

#include "apps/driver/physics.h"

/* ---------------------------------------------------------------- physics_known.c */

/** Says which physics there are, before anything is read. @param[in] physics  of `count`, borrowed for ever; a case that is
 *  none of the others' is of the one without a section
 *  @return ::GAB_ERR_ARGUMENT, without any, if an entry lacks what it has to have, or several have no section */
gab_status gab_app_physics_set(const gab_physics *const *physics, int count);
/** @return the index-th of all physics, NULL behind the last */
const gab_physics *gab_app_physics_at(int index);
/** What runs of a physics have to write: the index-th, without a name behind the last. */
gab_config_word gab_app_physics_quantity(const gab_physics *physics, int index);
/** What a checked parameter file is about. */
const gab_physics *gab_app_physics_of(const gab_config *config);

/* ---------------------------------------------------------------- physics.c */

/** Makes the case of a checked parameter file and reads it. Local. @param[in] config, options  borrowed
 *  @param[out] found  to be destroyed by gab_app_case_destroy() whatever the status */
gab_status gab_app_case_create(const gab_config *config, const gab_app_options *options,
                               gab_app_case **found);
void gab_app_case_destroy(gab_app_case **which);
/** The live monitors of its physics. */
gab_monitor_list gab_app_case_monitors(const gab_app_case *which);
/** What a slice shows: as output.slices says, else what is usual for the physics. */
const char *gab_app_slice_quantity(const gab_app_case *which, size_t index);

#endif

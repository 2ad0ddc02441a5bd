/* SPDX-License-Identifier: Apache-2.0 */
/* Initial states from files. Stability: internal. */
#ifndef GABION_PHASEFIELD_SETUP_INITIAL_IMPL_H
#define GABION_PHASEFIELD_SETUP_INITIAL_IMPL_H

#include "phasefield/setup/initial.h"

/** The reading part. @param[out] as_stored  whether the file has c, otherwise mu
 *  @return ::GAB_ERR_INPUT with the missing dataset, or the size of the domain of the file */
gab_status gab_phasefield_start_file_open(const char *path, const gab_forest_options *forest,
                                          const gab_thermo *thermo, bool *as_stored,
                                          gab_phasefield_start_file **file);
void gab_phasefield_start_file_close(gab_phasefield_start_file **file);

/** NaN for unreadable values. */
void gab_phasefield_start_file_cell(gab_phasefield_start_file *file, const int64_t cell[3], double *phi,
                                    double *mu);
gab_status gab_phasefield_start_file_status(gab_phasefield_start_file *file);

#endif

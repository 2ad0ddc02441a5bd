/* SPDX-License-Identifier: Apache-2.0 */
/* Initial states from files. Stability: internal. */
#ifndef GABION_PHASEFIELD_SETUP_INITIAL_IMPL_H
#define GABION_PHASEFIELD_SETUP_INITIAL_IMPL_H

#include "phasefield/setup/initial.h"

/** The part of it that reads. @param[out] as_stored  whether there is c, else it is mu
 *  @return ::GAB_ERR_INPUT that says what is missing, or how large the domain of the file is */
gab_status gab_phasefield_start_file_open(const char *path, const gab_forest_options *forest,
                                          const gab_thermo *thermo, bool *as_stored,
                                          gab_phasefield_start_file **file);
void gab_phasefield_start_file_close(gab_phasefield_start_file **file);

/** NaN for what cannot be read. */
void gab_phasefield_start_file_cell(gab_phasefield_start_file *file, const int64_t cell[3], double *phi,
                                    double *mu);
gab_status gab_phasefield_start_file_status(gab_phasefield_start_file *file);

#endif

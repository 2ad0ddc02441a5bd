/* SPDX-License-Identifier: Apache-2.0 */
/** @file library_impl.h
 *  @brief Libraries that are opened at run time, and their functions.
 *
 *  Stability: internal.
 */
#ifndef GABION_CORE_LIBRARY_IMPL_H
#define GABION_CORE_LIBRARY_IMPL_H

#include "core/base/status.h"

/** Opens the first library of a list that ends with NULL. @return NULL if there is none */
void *gab_device_library(const char *const *names);
/** One function of a library, and where its address goes. */
typedef struct gab_device_symbol {
  const char *name;
  void *address; /* of a pointer to a function */
} gab_device_symbol;
/** Fills in the addresses of all symbols. @return ::GAB_ERR_INPUT with the first that is missing */
gab_status gab_device_symbols(void *library, const char *title, const gab_device_symbol *symbols,
                              size_t count);

#endif

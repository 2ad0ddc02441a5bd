/* SPDX-License-Identifier: Apache-2.0 */
#include "core/device/library_impl.h"

#include <dlfcn.h>
#include <string.h>

void *gab_device_library(const char *const *names)
{
  for (; *names; names++) {
    void *library = dlopen(*names, RTLD_NOW | RTLD_LOCAL);
    if (library) return library;
  }
  return NULL;
}

gab_status gab_device_symbols(void *library, const char *title, const gab_device_symbol *symbols,
                              size_t count)
{
  for (size_t i = 0; i < count; i++) {
    void *address = dlsym(library, symbols[i].name);
    if (!address)
      GAB_FAIL(GAB_ERR_INPUT, "%s has no function %s: use a newer version", title, symbols[i].name);
    memcpy(symbols[i].address, &address, sizeof address);
  }
  return GAB_OK;
}

#include "phasefield/phasefield_impl.h"

#include <string.h>

const gab_phasefield_kernel *gab_phasefield_kernel_find(const char *name, int phases, int independents)
{
  (void)phases, (void)independents;
  if (!name || strcmp(name, "auto") == 0 || strcmp(name, "reference") == 0)
    return &gab_phasefield_kernel_reference;
  (void)gab_error_set(GAB_ERR_INPUT, __FILE__, __LINE__, "there is no kernel `%s': auto, fast or reference",
                      name);
  return NULL;
}

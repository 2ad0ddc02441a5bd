#include "lbm/lbm_impl.h"

#include <string.h>

const gab_kernel *gab_kernel_find(const char *family, gab_kernel_variant wanted)
{
  int index = gab_kernel_index(wanted);
  if (!family || strcmp(family, "auto") == 0 || strcmp(family, "in_place") == 0)
    return &gab_kernels_in_place[index];
  if (strcmp(family, "vector") == 0) return &gab_kernels_vector[index];
  if (strcmp(family, "reference") == 0) return &gab_kernels_reference[index];
  gab_error_set(GAB_ERR_INPUT, __FILE__, __LINE__,
                "there is no kernel \"%s\"; known are auto, in_place, vector, reference", family);
  return NULL;
}

/* SPDX-License-Identifier: Apache-2.0 */
#include "phasefield/phasefield_impl.h"

#include <string.h>

static const gab_phasefield_kernel *const fast[] = {&gab_phasefield_kernel_4_3, &gab_phasefield_kernel_3_2,
                                                    &gab_phasefield_kernel_2_2};

const gab_phasefield_kernel *gab_phasefield_kernel_find(const char *name, const gab_phasefield_model *model)
{
  const bool automatic = !name || strcmp(name, "auto") == 0;
  if (automatic || strcmp(name, "fast") == 0)
    for (size_t i = 0; i < sizeof fast / sizeof fast[0]; i++)
      if (fast[i]->phases == model->phases && fast[i]->independents == model->independents &&
          (!fast[i]->obstacle_only || model->options.potential == GAB_POTENTIAL_OBSTACLE))
        return fast[i];
  if (automatic || strcmp(name, "reference") == 0) return &gab_phasefield_kernel_reference;
  if (strcmp(name, "fast") == 0)
    (void)gab_error_set(
        GAB_ERR_INPUT, __FILE__, __LINE__,
        "there is no fast kernel for %d phases of %d components with this potential: there are "
        "4 of 3, 3 of 2 and 2 of 2 with the obstacle",
        model->phases, model->independents + 1);
  else
    (void)gab_error_set(GAB_ERR_INPUT, __FILE__, __LINE__, "unknown kernel `%s': auto, fast or reference",
                        name);
  return NULL;
}

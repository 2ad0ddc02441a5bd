/** @file kernel_names.h
 *  @brief The kernels that a flow may be computed with, by name: what parameter files, help, `info` and messages list.
 *
 *  Tier: user header.
 */
#ifndef GABION_LBM_KERNEL_NAMES_H
#define GABION_LBM_KERNEL_NAMES_H

#ifdef __cplusplus
extern "C" {
#endif

typedef struct gab_kernel_entry {
  const char *name; /**< "in_place": gab_lbm_options.kernel, lbm.kernel in parameter files */
  const char *doc;  /**< a clause */
} gab_kernel_entry;

/** The index-th that can be chosen, "auto", which chooses itself, first; NULL behind the last. Pure. */
const gab_kernel_entry *gab_kernel_entry_at(int index);

#ifdef __cplusplus
}
#endif
#endif

/* SPDX-License-Identifier: Apache-2.0 */
/** @file version.h
 *  @brief The version of the headers and of the library, and the mark of deprecated functions.
 *
 *  The three numbers below are the version of Gabion; CMake reads them here. Guarantees of a version: CONTRIBUTING.md.
 *
 *  Not thread safe; call before threads start.
 *
 *  Stability: stable.
 */
#ifndef GABION_CORE_VERSION_H
#define GABION_CORE_VERSION_H

#include "core/base/status.h"

#ifdef __cplusplus
extern "C" {
#endif

/** Version of these headers. */
#define GABION_VERSION_MAJOR 0
#define GABION_VERSION_MINOR 2
#define GABION_VERSION_PATCH 0

/** True, also in `#if`, if these headers are of this version or a later one. */
#define GABION_VERSION_AT_LEAST(major, minor, patch)                                                         \
  (GABION_VERSION_MAJOR > (major) ||                                                                         \
   (GABION_VERSION_MAJOR == (major) &&                                                                       \
    (GABION_VERSION_MINOR > (minor) ||                                                                       \
     (GABION_VERSION_MINOR == (minor) && GABION_VERSION_PATCH >= (patch)))))

/** @return the version of the linked library, e.g. "0.2.0". Never NULL. */
const char *gab_version(void);

/** Records the version of the headers that a program was compiled with; #GAB_WITH_VERSION calls it. Major and minor number
 *  must equal those of the library: gab_world_create() and gab_app_main() check that. Local. */
void gab_version_record_headers(int major, int minor);

/** @return ::GAB_ERR_STATE, with both versions in the message, if headers of another version were recorded. Local. */
GAB_EXTENDER gab_status gab_version_check_headers(void);

/** Records the version of the headers, then evaluates a call of a function with which programs start. The headers of
 * gab_world_create(), gab_program_main(), gab_state_main(), gab_app_main() and gab_stencil_main() wrap them in it. */
#define GAB_WITH_VERSION(call) (gab_version_record_headers(GABION_VERSION_MAJOR, GABION_VERSION_MINOR), call)

/** Before a declaration: compilers warn about its use. A stable function is deprecated in at least one minor version before
 * it is removed. @param message  version and replacement: "since 0.3: use gab_forest_block()" */
#if defined(__GNUC__)
#define GAB_DEPRECATED(message) __attribute__((deprecated(message)))
#else
#define GAB_DEPRECATED(message)
#endif

#ifdef __cplusplus
}
#endif
#endif

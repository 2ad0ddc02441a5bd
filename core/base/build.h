/* SPDX-License-Identifier: Apache-2.0 */
/** @file build.h
 *  @brief Source version of this library.
 *
 *  Stability: extender.
 */
#ifndef GABION_CORE_BUILD_H
#define GABION_CORE_BUILD_H

#ifdef __cplusplus
extern "C" {
#endif

/** @return the commit, followed by "+" if files had been changed; "" if unknown. Never NULL. */
const char *gab_build_commit(void);

#ifdef __cplusplus
}
#endif
#endif

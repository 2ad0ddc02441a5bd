/* SPDX-License-Identifier: Apache-2.0 */
/** @file build.h
 *  @brief Which sources this library was built from.
 *
 *  Stability: extender.
 */
#ifndef GABION_CORE_BUILD_H
#define GABION_CORE_BUILD_H

#ifdef __cplusplus
extern "C" {
#endif

/** @return the commit, with "+" behind it if files had been changed since; "" if that was not known. Never
 * NULL. */
const char *gab_build_commit(void);

#ifdef __cplusplus
}
#endif
#endif

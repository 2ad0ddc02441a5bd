/* SPDX-License-Identifier: Apache-2.0 */
#include "core/base/build.h"

#if defined __has_include
#if __has_include("gabion_commit.h")
#include "gabion_commit.h" /* made by cmake/commit.cmake with every build */
#endif
#endif
#ifndef GAB_COMMIT
#define GAB_COMMIT ""
#endif

const char *gab_build_commit(void) { return GAB_COMMIT; }

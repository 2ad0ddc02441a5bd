/* SPDX-License-Identifier: Apache-2.0 */
#include "core/system/environment.h"

#include <pwd.h>
#include <stdlib.h>
#include <unistd.h>

void gab_environment_complete(void)
{
  if (getenv("HOME")) return;
  const struct passwd *user = getpwuid(geteuid());
  setenv("HOME", user && user->pw_dir && user->pw_dir[0] ? user->pw_dir : "/", 0);
}

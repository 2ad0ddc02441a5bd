/* SPDX-License-Identifier: Apache-2.0 */
/* The launcher's lines on stderr. */
#include "apps/launch/launch.h"

#include <stdarg.h>

void launch_say(const char *format, ...)
{
  va_list arguments;
  va_start(arguments, format);
  char text[2 * LAUNCH_PATH];
  vsnprintf(text, sizeof text, format, arguments);
  va_end(arguments);
  fprintf(stderr, "gabion-launch: %s\n", text);
}

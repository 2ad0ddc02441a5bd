/* SPDX-License-Identifier: Apache-2.0 */
#include "resilience/reports/program_main.h"

#include "core/base/log.h"
#include "resilience/reports/completion.h"

#include <stdio.h>
#include <stdlib.h>

#undef gab_program_main /* the macro that records the version of a program's headers */
int gab_program_main(int argc, char **argv, gab_program program)
{
  gab_world *world;
  if (gab_world_create(&argc, &argv, &world) != GAB_OK) {
    fprintf(stderr, "%s: %s\n", argv[0], gab_error_message());
    return EXIT_FAILURE;
  }
  const gab_status status = program(world, argc, argv);
  if (status != GAB_OK) gab_log(GAB_LOG_ERROR, "%s: %s", gab_status_name(status), gab_error_message());
  const int code = gab_report_completion(world, gab_status_exit_code(status));
  gab_world_destroy(&world);
  return code;
}

/* SPDX-License-Identifier: Apache-2.0 */
/* gabion assemble: one field of the slabs that left the window and of the final window. */
#include "apps/driver/driver.h"
#include "blockforest/output/fields/slab_writer.h"

#include <string.h>

static const char usage[] =
    "usage: gabion assemble OUT [--linked]\n"
    "\n"
    "Joins the slabs in OUT/slabs, which a phase field with output.slabs has written, and the window\n"
    "at the end of the run into one field: OUT/solid.h5, and OUT/solid.xdmf for ParaView. During a run\n"
    "it uses the slabs that exist.\n"
    "\n"
    "  --linked    only OUT/solid.xdmf, which refers to the files in OUT/slabs\n"
    "  --help, -h  this text\n";

static int complain(const char *what)
{
  fprintf(stderr, "gabion assemble: %s\n", what);
  return gab_status_exit_code(GAB_ERR_INPUT);
}

int gab_app_command_assemble(int argc, char **argv)
{
  const char *out = NULL;
  bool linked = false;
  for (int i = 0; i < argc; i++) {
    if (strcmp(argv[i], "--help") == 0 || strcmp(argv[i], "-h") == 0) {
      gab_app_usage_put(usage, stdout);
      return 0;
    }
    if (strcmp(argv[i], "--linked") == 0) linked = true;
    else if (argv[i][0] == '-' || out) return complain("takes one folder and --linked (--help)");
    else out = argv[i];
  }
  char folder[GAB_APP_PATH_LENGTH + 16], path[GAB_APP_PATH_LENGTH + 16];
  if (!out) return complain("no output folder of a run given (--help)");
  if (strlen(out) >= GAB_APP_PATH_LENGTH) return complain("the name of the folder is too long");
  snprintf(folder, sizeof folder, "%s/slabs", out);
  snprintf(path, sizeof path, "%s/solid", out);
  gab_slabs_assembled whole;
  gab_status status = gab_slabs_assemble(folder, path, linked, &whole);
  if (status != GAB_OK) {
    fprintf(stderr, "gabion assemble: %s\n", gab_error_message());
    return gab_status_exit_code(status);
  }
  printf("%" PRId64 " x %" PRId64 " x %" PRId64 " cells of %zu parts, to be opened with ParaView: %s.xdmf\n",
         whole.cells[0], whole.cells[1], whole.cells[2], whole.parts, path);
  return 0;
}
